// stowage_bench_orders: finds the single orders of the layout search that fit an instance's
// capacity, as the reference for `auto`. Writes JSON lines to stdout.
//
//   stowage_bench_orders bench/suite.json packing WAT:5 TAW:5 TWA:5 --part report > orders.jsonl
//
// An order is KEYS:SECONDS, of CPU time: letters of heuristics/layout/construct/buffer_orders.h.
// WAT, TAW and TWA are the orders that MiniMalloc publishes; here they order the search of stowage
// with all its rules. Orders are tried in turn until one fits or proves infeasibility; later orders
// are skipped.
#include <CLI/CLI.hpp>
#include <iostream>
#include <stdexcept>
#include <variant>

#include "bench/part.h"
#include "bench/suite.h"
#include "heuristics/layout/construct/buffer_orders.h"
#include "instances/budget.h"
#include "instances/json/writer.h"
#include "instances/layout/neighbours.h"
#include "solvers/layout/tree/tree.h"

namespace stowage::bench {
namespace {

constexpr std::int64_t kBetweenLooks = 256;  // nodes between two checks of the clock

struct AskedOrder {
  std::string keys;
  double seconds = 0;
};

// Parses, for instance, "WAT:5".
AskedOrder parse_order(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon != 3 || text.find_first_not_of("ACLOTUWZ") != colon) {
    throw std::invalid_argument(text + " is no order: three of ACLOTUWZ, a colon, seconds");
  }
  return {.keys = text.substr(0, colon), .seconds = std::stod(text.substr(colon + 1))};
}

std::string_view name_of(LayoutTree::End end) {
  if (end == LayoutTree::End::layout) return "layout";
  return end == LayoutTree::End::exhausted ? "exhausted" : "open";
}

// Returns whether the order decided the instance.
bool try_order(const std::string& name, const LayoutInstance& instance, const AskedOrder& asked) {
  const Budget budget({.time_limit_s = asked.seconds, .clock = BudgetClock::cpu});
  const LayoutTable table(instance);
  const LayoutNeighbours neighbours(table);
  FailedStates failed;
  LayoutTree tree(table, neighbours, static_order(table, asked.keys), *instance.capacity, failed);
  LayoutTree::End end = tree.run(0);
  while (end == LayoutTree::End::open && !budget.exhausted()) end = tree.run(kBetweenLooks);
  JsonWriter json;
  json.begin_object(JsonWriter::Layout::line);
  json.text("instance", name);
  json.text("part", to_string(part_of(name)));
  json.text("order", asked.keys);
  json.text("end", name_of(end));
  json.number("cpu_s", budget.seconds());
  json.integer("nodes", tree.nodes());
  json.end_object();
  std::cout << json.take() << std::flush;
  return end != LayoutTree::End::open;
}

int run(int argc, char** argv) {
  CLI::App app("Runs single orders of the layout search on a suite; JSON lines on stdout");
  std::string file;
  std::string suite;
  std::vector<std::string> texts;
  std::string only;
  std::string part;
  app.add_option("SUITE_FILE", file, "bench/suite.json")->required();
  app.add_option("SUITE", suite, "One of its suites, of layouts with a capacity")->required();
  app.add_option("ORDER", texts, "KEYS:SECONDS")->required();
  app.add_option("--only", only, "Instances whose name contains this");
  app.add_option("--part", part, "The instances of this part, tune or report; default both")
      ->check(CLI::IsMember({"tune", "report"}));
  CLI11_PARSE(app, argc, argv);

  std::vector<AskedOrder> orders;
  for (const std::string& text : texts) orders.push_back(parse_order(text));
  const Result<std::vector<SuiteEntry>> entries = read_suite(file, suite);
  if (!entries) {
    for (const InputError& error : entries.errors()) std::cerr << to_string(error) << '\n';
    return 2;
  }
  for (const SuiteEntry& entry : *entries) {
    if (entry.name.find(only) == std::string::npos) continue;
    if (!part.empty() && to_string(part_of(entry.name)) != part) continue;
    const auto* layout = std::get_if<LayoutInstance>(&entry.instance);
    if (layout == nullptr || !layout->capacity) {
      std::cerr << entry.name << " is no layout with a capacity\n";
      return 2;
    }
    for (const AskedOrder& order : orders) {
      if (try_order(entry.name, *layout, order)) break;
    }
  }
  return 0;
}

}  // namespace
}  // namespace stowage::bench

int main(int argc, char** argv) {
  try {
    return stowage::bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "stowage_bench_orders: " << failure.what() << '\n';
    return 70;
  }
}
