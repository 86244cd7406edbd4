// Whole answers, byte for byte. STOWAGE_UPDATE_GOLDEN=1 rewrites tests/cli/golden/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <ostream>

#include "tests/cli/fixture.h"

namespace stowage::golden_test {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> arguments;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// Nothing that names the MILP backend of the build, so that every build gives these bytes.
const Case kCases[] = {
    {"help", {"--help"}},
    {"help_verify", {"verify", "--help"}},
    {"help_convert", {"convert", "--help"}},
    {"help_schema", {"schema", "--help"}},
    {"unknown_flag", {"solve", "instance.json", "--gpa", "1"}},
    {"verify_broken_plan", {"verify", "instance.json", "broken.json", "--timeless"}},
    {"verify_bad_instance", {"verify", "bad.json", "broken.json"}},
    {"convert", {"convert", "lengths.txt", "-", "--devices", "16"}},
    {"generate", {"generate", "scatter", "--count", "10", "--seed", "3"}},
    {"generate_chunks",
     {"generate", "assign", "--tokens", "10K", "--chunk-tokens", "1000", "--retained", "2"}},
    {"memory_of_chunks", {"memory", "chunks.json", "--model", "llama-7b"}},
    {"verify_broken_chunks", {"verify", "chunks.json", "broken-chunks.json", "--timeless"}},
};

class Golden : public testing::TestWithParam<Case> {};

// Bytes as they are, with a line between stdout and stderr that neither can contain.
std::string transcript(const Finished& run) {
  return "exit code " + std::to_string(run.exit_code) + "\n==== stdout\n" + run.out +
         "==== stderr\n" + run.err;
}

TEST_P(Golden, HasNotChanged) {
  const TempDir dir;
  dir.write("instance.json", kTinyInstance);
  dir.write("lengths.txt", "608\n1040\n16\n");
  dir.write("bad.json", R"({"format": "stowage/instance", "version": 1, "problem": "scatter",
 "cluster": {"devices": 0, "memory": 5, "degrees": [2, 1]}, "lengths": [3, -1]})");
  dir.write("chunks.json", R"({"format": "stowage/instance", "version": 1, "problem": "assign",
 "name": "chunks", "devices": 2, "schemes": {"1x2": {"tp": 1, "pp": 2, "quadratic_ms": 0.01,
 "linear_ms": 0.1, "fixed_ms": 3, "max_tokens": 40}}, "strategies": {"one": {"1x2": 1}},
 "constraints": {"chunks": {"size_tokens": 40}}, "lengths": [90, 30]})");
  dir.write("broken-chunks.json", R"({"format": "stowage/plan", "version": 1, "problem": "assign",
 "name": "chunks", "instance_hash": "none", "strategy": "one", "loss_tokens": 120,
 "objective_ms": 1, "simulated_1f1b_ms": 1, "replicas": [{"scheme": "1x2", "time_ms": 1, "rows": [
 {"sequences": [0], "token_range": [40, 80], "tokens": 40, "loss_tokens": 40, "time_ms": 55,
 "cu_seqlens": [0, 40]},
 {"sequences": [1], "token_range": [0, 30], "tokens": 30, "loss_tokens": 30, "time_ms": 15,
 "cu_seqlens": [0, 30]}]}]})");
  dir.write("broken.json", R"({"format": "stowage/plan", "version": 1, "problem": "scatter",
 "name": "tiny", "instance_hash": "none", "objective_ms": 1, "bound_ms": 2, "bound_by": "",
 "micro_batches": [{"makespan_ms": 1, "groups": [{"degree": 3, "first_rank": 2, "sequences": [0, 99],
 "tokens": 7, "time_ms": 1, "cu_seqlens": [0, 7]}]}]})");
  const Finished run = run_stowage(GetParam().arguments, {.directory = dir.path()});
  const std::filesystem::path file =
      std::filesystem::path(STOWAGE_SOURCE_DIR) / "tests/cli/golden" / (GetParam().name + ".txt");
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << transcript(run);
  }
  EXPECT_EQ(transcript(run), read_text(file)) << file;
}

INSTANTIATE_TEST_SUITE_P(Cli, Golden, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace stowage::golden_test
