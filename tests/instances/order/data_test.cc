// The bundled graphs agree with their tables and their own members.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "instances/order/generate/generate.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "tests/instances/json_fixture.h"
#include "tests/oracles/order/brute_force.h"
#include "tests/oracles/order/brute_force_again.h"
#include "tests/oracles/order/brute_force_host.h"

namespace stowage::order_data_test {
namespace {

std::vector<std::filesystem::path> bundled(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kInstancesDir / "data" / folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The text between `key` and the end of its line, without a comma.
std::string line_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "";
  std::string line = text.substr(at + key.size(), text.find('\n', at) - at - key.size());
  if (!line.empty() && line.back() == ',') line.pop_back();
  return line;
}

Bytes program_peak(const OrderInstance& graph) {
  const OrderTable table(graph);
  return peak_of(table, table.program_order());
}

// Returns the least objective for the longest length, a whole number, by trying every order or
// every sequence of runs.
std::optional<double> least_of(const OrderInstance& graph) {
  if (graph.host) return brute_force_host(graph);
  if (std::ranges::any_of(graph.operators, &OrderOperator::recompute)) {
    return brute_force_again(graph);
  }
  const auto best = brute_force(at_length(graph, longest_of(graph)));
  return best ? std::optional<double>(objective_of(*best)) : std::nullopt;
}

std::string row_of(const OrderInstance& graph) {
  return "| `" + graph.name + "` | " + std::to_string(graph.operators.size()) + " | " +
         std::to_string(program_peak(graph)) + " | ";
}

TEST(BundledOrders, TinyOnesAreWhatTheTableSays) {
  const std::string readme = file_text(kDocsDir / "benchmarks/instances.md");
  std::size_t seen = 0;
  for (const auto& path : bundled("order/tiny")) {
    ++seen;
    const std::string text = file_text(path);
    const auto graph = read_order_instance(text);
    ASSERT_TRUE(graph) << path << ": " << to_string(graph.errors()[0]);
    EXPECT_EQ(graph->name + ".json", path.filename().string());
    const std::optional<double> best = least_of(*graph);
    const bool infeasible = line_after(text, "\"x-infeasible\": ") == "true";
    EXPECT_EQ(infeasible, !best) << path;
    const bool time = graph->objective == OrderObjective::time;
    std::string optimum = infeasible ? "" : std::to_string(static_cast<std::int64_t>(*best));
    EXPECT_EQ(line_after(text, time ? "\"x-optimal_ms\": " : "\"x-optimal_bytes\": "), optimum)
        << path;
    if (infeasible) optimum = "infeasible";
    if (time) optimum += " ms";
    const std::string note = line_after(text, "\"x-note\": ");
    ASSERT_GT(note.size(), 2U);
    const std::string row =
        row_of(*graph) + optimum + " | " + note.substr(1, note.size() - 2) + " |";
    EXPECT_NE(readme.find('\n' + row + '\n'), std::string::npos) << row;
  }
  EXPECT_EQ(seen, 20U);
}

TEST(BundledOrders, RealOnesAreMadeByTheGenerator) {
  const std::string readme = file_text(kDocsDir / "benchmarks/instances.md");
  std::size_t seen = 0;
  for (const auto& path : bundled("order/real")) {
    ++seen;
    const std::string text = file_text(path);
    const auto graph = read_order_instance(text);
    ASSERT_TRUE(graph) << path << ": " << to_string(graph.errors()[0]);
    EXPECT_NE(readme.find('\n' + row_of(*graph)), std::string::npos) << row_of(*graph);
    OrderGenerator wanted;
    const std::string kind = graph->name.substr(0, graph->name.find('-'));
    for (std::size_t k = 0; k < OrderGenerator::kNames.size(); ++k) {
      if (kind == OrderGenerator::kNames[k]) wanted.kind = static_cast<OrderGenerator::Kind>(k);
    }
    if (graph->tokens) {
      wanted.tokens_from = graph->tokens->from;
      wanted.tokens = graph->tokens->to;
    }
    EXPECT_EQ(write_order_instance(*generate_order(wanted)), text) << path;
  }
  EXPECT_EQ(seen, 6U);
}

}  // namespace
}  // namespace stowage::order_data_test
