#include "heuristics/order/registry.h"

#include <utility>

#include "heuristics/order/orders.h"
#include "heuristics/order/windows.h"
#include "instances/order/compose.h"
#include "instances/order/memory.h"

namespace stowage {
namespace {

constexpr std::int64_t kFastStates = 200;  // of a stretch
constexpr int kFastWidth = 32;
constexpr std::int64_t kAllFastStates = 20'000;  // of all stretches: some hundredths of a second
constexpr std::int64_t kStates = 1000;           // at first; four times as many each time
constexpr std::int64_t kMostStates = 16'000;
constexpr std::int64_t kAllStates = 200'000;  // of all stretches, each time
constexpr int kWidth = 64;

std::vector<int> fast(const OrderTable& table, const Budget& budget) {
  std::vector<int> order = best_simple_order(table);
  Windows(table).improve(
      order, {.states = kFastStates, .widest = kFastWidth, .all_states = kAllFastStates}, budget);
  return order;
}

std::vector<int> lns(const OrderTable& table, const Budget& budget) {
  std::vector<int> order = best_simple_order(table);
  Windows windows(table);
  int width = kWidth;
  for (std::int64_t states = kStates; states <= kMostStates && !budget.exhausted(); states *= 4) {
    windows.improve(order, {.states = states, .widest = width, .all_states = kAllStates}, budget);
    width *= 2;
  }
  return order;
}

}  // namespace

std::vector<int> best_simple_order(const OrderTable& table) {
  std::vector<int> best = table.program_order();
  Bytes peak = peak_of(table, best);
  const auto keep = [&](std::vector<int> order) {
    const Bytes its = peak_of(table, order);
    if (its >= peak) return;
    best = std::move(order);
    peak = its;
  };
  keep(commit_order(table, table.program_order()));
  std::vector<int> list = list_order(table);
  std::vector<int> deep = depth_first_order(table);
  keep(commit_order(table, list));
  keep(std::move(list));
  keep(commit_order(table, deep));
  keep(std::move(deep));
  return best;
}

std::vector<OrderHeuristic> heuristics(const OrderInstance&) {
  std::vector<OrderHeuristic> all;
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    all.push_back({std::move(name), std::move(summary), std::move(source),
                   [make](const OrderInstance& instance, const OrderTable& table, std::uint64_t,
                          const Budget& budget) -> std::optional<OrderPlan> {
                     OrderPlan plan = compose_order(instance, table, make(table, budget));
                     if (instance.capacity && plan.peak_bytes > *instance.capacity) {
                       return std::nullopt;
                     }
                     return plan;
                   }});
  };
  add("program", "the order of the list", "frameworks that run a graph as it was written",
      [](const OrderTable& table, const Budget&) { return table.program_order(); });
  add("list", "what frees most next", "XLA, hlo_memory_scheduler.cc, ListScheduler",
      [](const OrderTable& table, const Budget&) { return list_order(table); });
  add("dfs", "depth first, heavy subtrees before light ones",
      "XLA, hlo_memory_scheduler.cc, DFSMemoryScheduler",
      [](const OrderTable& table, const Budget&) { return depth_first_order(table); });
  add("online", "first ready, first served", "executors of data-flow runtimes (TensorFlow)",
      [](const OrderTable& table, const Budget&) { return online_order(table); });
  add("commit", "the order of the list, but what raises nothing runs at once", "",
      [](const OrderTable& table, const Budget&) {
        return commit_order(table, table.program_order());
      });
  add("fast", "the best of these, with commits, and short stretches around the peak", "",
      [](const OrderTable& table, const Budget& budget) { return fast(table, budget); });
  add("lns", "the best of these, then longer and longer stretches around the peak again", "",
      [](const OrderTable& table, const Budget& budget) { return lns(table, budget); });
  return all;
}

}  // namespace stowage
