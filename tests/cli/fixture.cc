#include "tests/cli/fixture.h"

#include <stdexcept>

namespace stowage {

void fill_with_examples(const TempDir& dir) {
  dir.write("instance.json", kTinyInstance);
  dir.write("infeasible.json", kInfeasibleInstance);
  dir.write("lengths.txt", length_list());
  dir.write("work.json", R"({"lengths": [900, 400, 1200, 512], "rows": [[[0, 1]], [[2, 3]]]})");
  dir.write("groups.json", R"({"lengths": [100, 64, 80, 8],
      "sample_id_groups": [[[0], [0], [1], [2]], [[3], [3], [3], [3]]]})");
  dir.write("samples.csv", samples_table());
  dir.write("buffers.1048576.csv", kTable);
  dir.write("model.sol", kTinySolution);
  dir.write("layout.sol", kTableSolution);
  const auto run = [&dir](const std::vector<std::string>& arguments) {
    Finished finished = run_stowage(arguments, {.directory = dir.path()});
    if (finished.exit_code == 0) return finished;
    throw std::runtime_error("cannot make the example: " + finished.err);
  };
  dir.write("outcome.json",
            run({"solve", "instance.json", "-o", "plan.json", "--node-limit", "1000"}).out);
  run({"convert", "buffers.1048576.csv", "layout.json"});
  run({"generate", "assign", "--preset", "llama-7b", "--tokens", "20k", "-o", "assign.json"});
  run({"solve", "layout.json", "-o", "layout-plan.json"});
  run({"generate", "strategy", "--preset", "llama-7b", "--nodes", "1", "--sequences", "8",
       "--tokens", "4k", "-o", "strategy.json"});
  dir.write("runs.csv",
            "step_ms,tp,zero,micro_batch_size,tokens\n6000,1,1,1,4096\n7000,2,1,1,4096\n"
            "9000,4,1,1,4096\n16000,2,1,1,8192\n");
}

}  // namespace stowage
