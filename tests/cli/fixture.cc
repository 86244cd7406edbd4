#include "tests/cli/fixture.h"

#include <stdexcept>

namespace stowage {

void fill_with_examples(const TempDir& dir) {
  dir.write("instance.json", kTinyInstance);
  dir.write("infeasible.json", kInfeasibleInstance);
  dir.write("lengths.txt", length_list());
  dir.write("buffers.1048576.csv", kTable);
  const Finished run =
      run_stowage({"solve", "instance.json", "-o", "plan.json", "--node-limit", "1000"},
                  {.directory = dir.path()});
  if (run.exit_code != 0) throw std::runtime_error("cannot solve the example: " + run.err);
  dir.write("outcome.json", run.out);
}

}  // namespace stowage
