// stowage_bench_lengths: measures the savings of a table of orders for all lengths over a single
// order, and the time to select a row. Writes Markdown to stdout.
//
//   stowage_bench_lengths > lengths.md
//
// The graphs are layers of a transformer, forward and backward, from 256 to 65,536 tokens. The
// variants have all updates at the end, recompute each layer before its backward pass, or have
// experts.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <variant>

#include "bench/length_table.h"
#include "bench/record.h"
#include "instances/order/generate/generate.h"
#include "solvers/order/length/length_rows.h"
#include "solvers/solve.h"

namespace stowage::bench {
namespace {

constexpr Tokens kShortest = 256;
constexpr Tokens kLongest = 65536;
constexpr std::int64_t kPicks = 20'000'000;

void print_line(const std::string& name, const LengthLine& line) {
  std::cout << "| " << name;
  for (const double times : {line.program, line.for_shortest, line.for_longest, line.row}) {
    std::cout << " | " << times;
  }
  std::cout << " |\n";
}

void print_graph(const std::string& title, const OrderGenerator& generator, std::int64_t nodes) {
  const OrderInstance graph = *generate_order(generator);
  Budget budget({.node_limit = nodes});
  const Outcome outcome = solve(graph, {}, budget);
  if (!outcome.plan) throw std::runtime_error("no plan: " + outcome.detail);
  const auto& plan = std::get<OrderPlan>(*outcome.plan);
  std::vector<Tokens> lengths;
  for (Tokens length = kShortest; length <= kLongest; length *= 2) lengths.push_back(length);
  std::cout << '\n'
            << title << ": " << graph.operators.size() << " operators, " << plan.rows.size()
            << " rows of a gap of at most " << 100 * worst_gap_of_all(plan.rows) << " %, "
            << outcome.nodes << " nodes.\n\n| tokens | program order | order for " << kShortest
            << " | order for " << kLongest << " | row of the table |\n|---|---:|---:|---:|---:|\n";
  const std::vector<LengthLine> lines = length_table(graph, plan, lengths, nodes);
  for (const LengthLine& line : lines) print_line(std::to_string(line.tokens), line);
  print_line("worst", worst_of(lines));
}

int run(int argc, char** argv) {
  CLI::App app("Compares orders at many lengths, and times the pick of a row; Markdown on stdout");
  std::int64_t nodes = 2'000'000;
  app.add_option("--nodes", nodes, "Of each solve; default 2000000")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  CLI11_PARSE(app, argc, argv);

  std::cout << setup_line(this_setup("")) << '\n' << std::fixed << std::setprecision(3);
  using Kind = OrderGenerator::Kind;
  const auto print = [&](const std::string& title, Kind kind, std::int64_t operators) {
    print_graph(
        title, {.kind = kind, .operators = operators, .tokens = kLongest, .tokens_from = kShortest},
        nodes);
  };
  print("2 layers, updates at the end", Kind::transformer, 56);
  print("2 layers, each computed again", Kind::recompute, 70);
  print("2 layers with 8 experts each", Kind::experts, 200);
  print("32 layers, updates at the end", Kind::transformer, 836);
  std::cout << "\n| rows | CPU ns of a pick |\n|---:|---:|\n" << std::setprecision(1);
  for (const std::int64_t rows : {3, 32, 1024}) {
    std::cout << "| " << rows << " | " << pick_ns(rows, kPicks) << " |\n";
  }
  return 0;
}

}  // namespace
}  // namespace stowage::bench

int main(int argc, char** argv) {
  try {
    return stowage::bench::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "stowage_bench_lengths: " << failure.what() << '\n';
    return 70;
  }
}
