// `stowage run` under mpirun: the same bytes as with threads, output from a single rank, and an end
// after every failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/paths.h"
#include "tests/mpi/mpirun.h"

namespace stowage::run_test {
namespace {

using ::testing::HasSubstr;

// Degrees of 1 to 8 for twelve sequences of 8 to 100 tokens.
constexpr char kInstance[] = R"({
  "format": "stowage/instance", "version": 1, "problem": "scatter", "name": "tiny",
  "cluster": {"devices": 8, "memory_mib": 50, "degrees": [1, 2, 4, 8]},
  "model": {"states_mib": 20, "activation_mib_per_token": 1},
  "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 3},
  "lengths": [200, 64, 80, 8, 16, 24, 70, 60, 50, 40, 30, 12]
}
)";

class MpiRun : public testing::Test {
 protected:
  MpiRun() {
    dir_.write("instance.json", kInstance);
    const Finished solved =
        run_stowage({"solve", "instance.json", "--method", "fast", "-o", "plan.json"},
                    {.directory = dir_.path()});
    EXPECT_EQ(solved.exit_code, 0) << solved.err;
  }

  Finished alone(std::vector<std::string> words) const {
    return run_stowage(words, {.directory = dir_.path()});
  }
  Finished on_processes(int processes, std::vector<std::string> words,
                        const std::string& input = "") const {
    words.insert(words.begin(), kStowagePath);
    return mpirun(processes, words, {.input = input, .directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(MpiRun, SaysTheBytesOfThreads) {
  const std::vector<std::string> run = {"run", "instance.json", "plan.json", "--timeless"};
  const Finished threads = alone(run);
  EXPECT_EQ(threads.exit_code, 0) << threads.err;
  EXPECT_THAT(threads.out, HasSubstr(R"("degree": 8)"));
  for (const int processes : {2, 4, 8}) {
    const Finished mpi = on_processes(processes, run);
    EXPECT_EQ(mpi.exit_code, 0) << mpi.err;
    // If a plan has higher degrees than the job has processes, it runs as with --max-ranks.
    std::vector<std::string> limited = run;
    limited.insert(limited.end(), {"--max-ranks", std::to_string(processes)});
    const Finished as_many = alone(limited);
    EXPECT_EQ(mpi.out, as_many.out);
    EXPECT_EQ(mpi.err, as_many.err);  // only rank 0 writes
    if (processes == 8) {
      EXPECT_EQ(mpi.out, threads.out);
    }
  }
}

TEST_F(MpiRun, SaysTheBytesOfThreadsForEveryExchange) {
  for (const std::string exchange : {"ring", "zigzag", "hybrid", "chunked"}) {
    const std::vector<std::string> run = {"run",        "instance.json", "plan.json",
                                          "--timeless", "--exchange",    exchange};
    for (const int processes : {2, 4, 8}) {
      std::vector<std::string> limited = run;
      limited.insert(limited.end(), {"--max-ranks", std::to_string(processes)});
      const Finished threads = alone(processes == 8 ? run : limited);
      const Finished mpi = on_processes(processes, run);
      EXPECT_EQ(mpi.exit_code, 0) << mpi.err;
      EXPECT_EQ(mpi.out, threads.out);
      EXPECT_THAT(mpi.out, HasSubstr("\"exchange\": \"" + exchange + '"'));
    }
  }
}

// Six layers in two stages, two replicas.
constexpr char kStrategy[] = R"({
  "format": "stowage/instance", "version": 1, "problem": "strategy", "name": "two-stages",
  "model": {"hidden": 512, "heads": 8, "vocabulary": 32000, "blocks": [{"count": 6, "ffn": 1408}]},
  "cluster": {"nodes": 1, "devices_per_node": 4, "memory_mib": 8000,
              "mib_per_ms": {"inside": 224, "across": 24}},
  "cost": {"linear_tflops": 193, "attention_tflops": 140},
  "options": {"pp": [2], "tp": [1], "recompute": ["selective"], "micro_batches": [4]},
  "lengths": [64, 40, 33, 20, 64, 40, 33, 20]
}
)";

TEST_F(MpiRun, AStrategySaysTheBytesOfThreads) {
  dir_.write("strategy.json", kStrategy);
  EXPECT_EQ(alone({"solve", "strategy.json", "-o", "stages.json"}).exit_code, 0);
  const std::vector<std::string> run = {"run", "strategy.json", "stages.json", "--timeless"};
  const Finished threads = alone(run);
  EXPECT_EQ(threads.exit_code, 0) << threads.err;
  EXPECT_THAT(threads.out, HasSubstr(R"("dp": 2)"));
  for (const int processes : {4, 5}) {  // one process may be left over
    const Finished mpi = on_processes(processes, run);
    EXPECT_EQ(mpi.exit_code, 0) << mpi.err;
    EXPECT_EQ(mpi.out, threads.out);
    EXPECT_EQ(mpi.err, threads.err);
  }
  const Finished few = on_processes(3, run);
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_THAT(few.err, HasSubstr("the plan has 4 ranks and runs on no fewer; there are 3"));
}

TEST_F(MpiRun, OnlyTheFirstProcessNeedsTheFiles) {
  const Finished mpi =
      on_processes(3, {"run", "instance.json", "-", "--timeless"}, dir_.read("plan.json"));
  EXPECT_EQ(mpi.exit_code, 0) << mpi.err;
}

TEST_F(MpiRun, BadInputEndsAllProcesses) {
  const Finished missing = on_processes(3, {"run", "instance.json", "nowhere.json"});
  EXPECT_EQ(missing.exit_code, 2) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("nowhere.json"));
  const Finished limit = on_processes(3, {"run", "instance.json", "plan.json", "-t", "0"});
  EXPECT_EQ(limit.exit_code, 3) << limit.err;
  EXPECT_THAT(limit.out, HasSubstr("stopped after 0 of"));
}

}  // namespace
}  // namespace stowage::run_test
