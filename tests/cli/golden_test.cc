// Whole answers, byte for byte. STOWAGE_UPDATE_GOLDEN=1 rewrites tests/cli/golden/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "solvers/milp/backends.h"
#include "tests/cli/fixture.h"

namespace stowage::golden_test {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> arguments;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// The cases do not depend on the MILP backend, so every build gives these bytes.
const Case kCases[] = {
    {"help", {"--help"}},
    {"unknown_flag", {"solve", "instance.json", "--gpa", "1"}},
    {"verify_broken_plan", {"verify", "instance.json", "broken.json", "--timeless"}},
    {"verify_bad_instance", {"verify", "bad.json", "broken.json"}},
    {"convert", {"convert", "lengths.txt", "-", "--devices", "16"}},
    {"generate", {"generate", "scatter", "--count", "10", "--seed", "3"}},
    {"generate_chunks",
     {"generate", "assign", "--tokens", "10k", "--chunk-tokens", "1000", "--retained", "2"}},
    {"memory_of_chunks", {"memory", "chunks.json", "--model", "llama-7b"}},
    {"verify_broken_chunks", {"verify", "chunks.json", "broken-chunks.json", "--timeless"}},
    {"generate_lengths",
     {"generate", "order", "--kind", "chunked", "--operators", "12", "--tokens-from", "2",
      "--tokens", "8"}},
    {"solve_lengths", {"solve", "graph.json", "--timeless"}},
    {"explain_lengths", {"explain", "graph.json", "graph-plan.json", "--timeless"}},
    {"convert_a_length",
     {"convert", "graph.json", "-", "--plan", "graph-plan.json", "--tokens", "3"}},
    {"verify_broken_rows", {"verify", "graph.json", "broken-rows.json", "--timeless"}},
};

class Golden : public testing::TestWithParam<Case> {};

// Replaces the text of a build with backends by that of a build without.
std::string without_backend(std::string text) {
  for (const MilpBackend backend : built_backends()) {
    const std::string backend_name(name(backend));
    for (const auto& [with, none] :
         {std::pair("\"solver\": \"" + backend_name + '"', "\"solver\": \"\""),
          std::pair("  " + backend_name + "  seed", "  no MILP backend  seed")}) {
      const std::size_t at = text.find(with);
      if (at != std::string::npos) text.replace(at, with.size(), none);
    }
  }
  return text;
}

// The unchanged bytes of both streams, separated by a line that neither stream can contain.
std::string transcript(const Finished& run) {
  return "exit code " + std::to_string(run.exit_code) + "\n==== stdout\n" +
         without_backend(run.out) + "==== stderr\n" + without_backend(run.err);
}

// Writes the bundled graph whose order depends on the length, a valid plan and an invalid plan. In
// the invalid plan the first row ends too early with a wrong peak, and the last row has a false
// bound.
void write_lengths(const TempDir& dir) {
  dir.write("graph.json", read_text(std::filesystem::path(STOWAGE_SOURCE_DIR) /
                                    "instances/data/order/tiny/another-order-when-long.json"));
  const auto row = [](const std::string& to, const std::string& peaks, const std::string& bound) {
    return R"({"from": 1, "to": )" + to + R"(, "peak_bytes_at_from": )" + peaks +
           R"(, "bound_bytes_at_from": 25, "bound_bytes_at_to": 25, "bound_operator": 2,
 "order": [0, 2, 1, 3, 4]}, {"from": 5, "to": 8, "peak_bytes_at_from": 26,
 "peak_bytes_at_to": 35, "bound_bytes_at_from": )" +
           bound + R"(, "bound_bytes_at_to": 35,
 "bound_operator": 3, "order": [1, 3, 0, 2, 4]})";
  };
  const auto plan = [](const std::string& rows) {
    return R"({"format": "stowage/plan", "version": 1, "problem": "order",
 "name": "another-order-when-long", "instance_hash": "fnv1a64:04a3e2aaa50ca974", "peak_bytes": 35,
 "bound_bytes": 35, "bound_by": "cut", "order": [1, 3, 0, 2, 4], "rows": [)" +
           rows + "]}";
  };
  dir.write("graph-plan.json", plan(row("4", R"(25, "peak_bytes_at_to": 26)", "23")));
  dir.write("broken-rows.json", plan(row("3", R"(24, "peak_bytes_at_to": 25)", "27")));
}

TEST_P(Golden, HasNotChanged) {
  const TempDir dir;
  dir.write("instance.json", kTinyInstance);
  dir.write("lengths.txt", "608\n1040\n16\n");
  write_lengths(dir);
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
