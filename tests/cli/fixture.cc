#include "tests/cli/fixture.h"

#include <stdexcept>

namespace stowage {

void fill_with_examples(const TempDir& dir) {
  dir.write("instance.json", kTinyInstance);
  dir.write("infeasible.json", kInfeasibleInstance);
  dir.write("lengths.txt", length_list());
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
  run({"generate", "assign", "--preset", "llama-7b", "--tokens", "20K", "-o", "assign.json"});
  run({"solve", "layout.json", "-o", "layout-plan.json"});
}

}  // namespace stowage
