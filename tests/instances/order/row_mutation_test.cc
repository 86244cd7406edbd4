// Random valid plans for lengths that are known at run time only, with one change of a row each:
// the verifier must detect each change and name its rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/plan_builder.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/verify.h"
#include "tests/instances/draw.h"
#include "tests/instances/mutation.h"
#include "tests/tiny_order.h"

namespace stowage::order_row_mutation_test {
namespace {

constexpr int kPlans = 200;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Returns a random order that respects the precedences.
std::vector<int> random_order(const OrderTable& table, Draw& draw) {
  std::vector<std::size_t> waits;
  std::vector<int> ready;
  for (int op = 0; op < table.operators(); ++op) {
    waits.push_back(table.before(op).size());
    if (waits.back() == 0) ready.push_back(op);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    std::swap(ready[draw.below(ready.size())], ready.back());
    const int op = ready.back();
    ready.pop_back();
    order.push_back(op);
    for (const int next : table.behind(op)) {
      if (--waits[at(next)] == 0) ready.push_back(next);
    }
  }
  return order;
}

// Recomputes the values of the row's order and ends, with the least of all bounds.
void restate(const OrderInstance& graph, OrderRow& row) {
  const std::vector<int> order(row.order.begin(), row.order.end());
  const OrderTable first(graph, row.from);
  const OrderTable last(graph, row.to);
  row.peak_at_from = peak_of(first, order);
  row.peak_at_to = peak_of(last, order);
  row.bound_at_from = first.at_start();
  row.bound_at_to = last.at_start();
  row.bound_operator = OrderRow::kInputs;
}

// Up to four rows, each with an order of its own.
OrderPlan random_plan(const OrderInstance& graph, Draw& draw) {
  const auto [from, to] = *graph.tokens;
  std::set<Tokens> ends = {to};
  for (int k = 0; k < 3; ++k) ends.insert(draw.whole(from, to));
  const OrderTable table(graph);
  std::vector<OrderRow> rows;
  std::vector<int> order;
  for (const Tokens end : ends) {
    order = random_order(table, draw);
    OrderRow& row = rows.emplace_back();
    row.from = rows.size() == 1 ? from : rows[rows.size() - 2].to + 1;
    row.to = end;
    row.order.assign(order.begin(), order.end());
    restate(graph, row);
  }
  OrderPlan plan = compose_order(graph, table, order);
  plan.rows = std::move(rows);
  return plan;
}

// A plan, and the random row of the next mutation.
struct Site {
  OrderInstance& graph;
  OrderPlan& plan;
  Draw& draw;
  std::size_t k;

  OrderRow& row() const { return plan.rows[k]; }
  bool last() const { return k + 1 == plan.rows.size(); }
  // Recomputes the row for its new ends, which may be outside of the range.
  bool with_ends(Tokens from, Tokens to) const {
    row().from = from;
    row().to = to;
    if (from >= 1 && from <= to) restate(graph, row());
    return true;
  }
};

struct Mutation {
  std::string name;
  std::string rule;                         // the rule that must be reported
  std::string where;                        // with "/K" for the row of the site
  std::function<bool(const Site&)> change;  // returns false if it does not apply here
};

const Mutation kMutations[] = {
    // Lengths in no row, or in two rows.
    {"begins_later", "rows", "/rows/K/from",
     [](const Site& s) {
       return s.row().from < s.row().to && s.with_ends(s.row().from + 1, s.row().to);
     }},
    {"begins_earlier", "rows", "/rows/K/from",
     [](const Site& s) { return s.with_ends(s.row().from - 1, s.row().to); }},
    {"ends_earlier", "rows", "/rows",
     [](const Site& s) {
       return s.row().from < s.row().to && s.with_ends(s.row().from, s.row().to - 1);
     }},
    {"ends_later", "rows", "/rows",
     [](const Site& s) { return s.with_ends(s.row().from, s.row().to + 1); }},
    {"ends_with_the_largest_number", "rows", "/rows/K/to",
     always([](const Site& s) { s.row().to = kMost; })},
    {"begins_with_the_least_number", "rows", "/rows/K/from",
     always([](const Site& s) { s.row().from = std::numeric_limits<std::int64_t>::min(); })},
    {"ends_before_it_begins", "rows", "/rows/K/to",
     [](const Site& s) { return s.with_ends(s.row().from, s.row().from - 1); }},
    {"all_gone", "rows", "/rows", always([](const Site& s) { s.plan.rows.clear(); })},
    {"one_gone", "rows", "/rows",
     always([](const Site& s) { s.plan.rows.erase(s.plan.rows.begin() + std::ptrdiff_t(s.k)); })},
    {"one_twice", "rows", "/rows", always([](const Site& s) {
       s.plan.rows.insert(s.plan.rows.begin() + std::ptrdiff_t(s.k), OrderRow(s.row()));
     })},
    {"the_other_way_around", "rows", "/rows",
     [](const Site& s) {
       std::ranges::reverse(s.plan.rows);
       return s.plan.rows.size() > 1;
     }},
    {"of_fixed_sizes", "rows", "/rows",
     always([](const Site& s) { s.graph = at_length(s.graph, s.graph.tokens->to); })},
    {"of_a_longer_range", "rows", "/rows", always([](const Site& s) { ++s.graph.tokens->to; })},
    {"of_an_earlier_range", "rows", "/rows/0/from",
     always([](const Site& s) { --s.graph.tokens->from; })},
    {"another_order_than_the_plan", "rows", "/order",
     [](const Site& s) {
       std::ranges::reverse(s.plan.order);
       return s.plan.order != s.plan.rows.back().order;
     }},

    // The values of a row at its two ends.
    {"peak_of_from_more", "peak", "/rows/K/peak_bytes_at_from",
     always([](const Site& s) { ++s.row().peak_at_from; })},
    {"peak_of_from_less", "peak", "/rows/K/peak_bytes_at_from",
     always([](const Site& s) { --s.row().peak_at_from; })},
    {"peak_of_to_more", "peak", "/rows/K/peak_bytes_at_to",
     always([](const Site& s) { ++s.row().peak_at_to; })},
    {"peak_of_to_less", "peak", "/rows/K/peak_bytes_at_to",
     always([](const Site& s) { --s.row().peak_at_to; })},
    {"peak_extreme", "peak", "/rows/K/peak_bytes_at_to",
     always([](const Site& s) { s.row().peak_at_to = s.draw.coin() ? kMost : -kMost; })},
    {"peaks_exchanged", "peak", "/rows/K/peak_bytes_at_from",
     [](const Site& s) {
       std::swap(s.row().peak_at_from, s.row().peak_at_to);
       return s.row().peak_at_from != s.row().peak_at_to;
     }},
    {"one_peak_for_both_ends", "peak", "/rows/K/peak_bytes_at_to",
     [](const Site& s) {
       const bool differ = s.row().peak_at_to != s.row().peak_at_from;
       s.row().peak_at_to = s.row().peak_at_from;
       return differ;
     }},
    {"peaks_of_another_row", "peak", "/rows/K/peak_bytes_at_from",
     [](const Site& s) {
       const OrderRow& other = s.plan.rows[s.k == 0 ? s.plan.rows.size() - 1 : 0];
       if (other.peak_at_from == s.row().peak_at_from) return false;
       s.row().peak_at_from = other.peak_at_from;
       s.row().peak_at_to = other.peak_at_to;
       return true;
     }},
    {"bound_of_from_above_the_peak", "bound", "/rows/K/bound_bytes_at_from",
     always([](const Site& s) { s.row().bound_at_from = s.row().peak_at_from + 1; })},
    {"bound_of_to_above_the_peak", "bound", "/rows/K/bound_bytes_at_to",
     always([](const Site& s) { s.row().bound_at_to = s.row().peak_at_to + 1; })},
    {"bound_hidden_by_a_false_peak", "bound", "/rows/K/bound_bytes_at_to",
     always([](const Site& s) {
       s.row().bound_at_to = s.row().peak_at_to + 1;
       s.row().peak_at_to += 2;
     })},
    {"bounds_exchanged", "bound", "/rows/K/bound_bytes_at_from",
     [](const Site& s) {
       s.row().bound_at_to = s.row().peak_at_to;
       std::swap(s.row().bound_at_from, s.row().bound_at_to);
       return s.row().bound_at_from > s.row().peak_at_from;
     }},
    {"bound_negative", "bound", "/rows/K/bound_bytes_at_from",
     always([](const Site& s) { s.row().bound_at_from = -1; })},
    {"bound_extreme", "bound", "/rows/K/bound_bytes_at_to",
     always([](const Site& s) { s.row().bound_at_to = s.draw.coin() ? kMost : -kMost; })},
    {"bound_of_nobody", "bound", "/rows/K/bound_operator", always([](const Site& s) {
       s.row().bound_operator = s.draw.coin() ? std::ssize(s.graph.operators) : kMost;
     })},
    {"bound_of_nobody_below", "bound", "/rows/K/bound_operator", always([](const Site& s) {
       s.row().bound_operator = s.draw.coin() ? OrderRow::kLeft - 1 : -kMost;
     })},

    // The row's order.
    {"an_operator_gone", "once", "/rows/K/order",
     [](const Site& s) {
       if (s.row().order.empty()) return false;
       s.row().order.erase(s.row().order.begin() +
                           std::ptrdiff_t(s.draw.below(s.row().order.size())));
       return true;
     }},
    {"an_operator_twice", "once", "/rows/K/order/",
     [](const Site& s) {
       if (s.row().order.empty()) return false;
       s.row().order.push_back(s.row().order[s.draw.below(s.row().order.size())]);
       return true;
     }},
    {"an_operator_of_nobody", "once", "/rows/K/order/", always([](const Site& s) {
       s.row().order.push_back(s.draw.coin() ? std::ssize(s.graph.operators) : -1);
     })},
    {"a_reader_before_its_writer", "precedence", "/rows/K/order/",
     [](const Site& s) {
       const OrderTable table(s.graph);
       std::vector<std::int64_t>& order = s.row().order;
       for (std::int64_t& op : order) {
         if (table.before(static_cast<int>(op)).empty()) continue;
         const std::int64_t first = table.before(static_cast<int>(op)).front();
         std::swap(op, *std::ranges::find(order, first));
         return true;
       }
       return false;
     }},
    {"the_order_of_another_row", "peak", "/rows/K/peak_bytes_at_to",
     [](const Site& s) {
       OrderRow other = s.row();
       other.order = s.plan.rows[s.k == 0 ? s.plan.rows.size() - 1 : 0].order;
       restate(s.graph, other);
       if (other.peak_at_to == s.row().peak_at_to) return false;
       s.row().order = other.order;
       return true;
     }},
    {"more_than_the_capacity", "capacity", "/rows/K/order/",
     [](const Site& s) {
       s.graph.capacity = s.row().peak_at_to - 1;
       return s.row().peak_at_to > 0;
     }},
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

std::string all_of(const std::vector<Violation>& violations) {
  std::string lines;
  for (const Violation& violation : violations) lines += to_string(violation) + '\n';
  return lines;
}

TEST(RandomOrderRows, AreValid) {
  for (std::uint64_t seed = 0; seed < 10 * kPlans; ++seed) {
    const OrderInstance graph = tiny_growing_order(seed, 9);
    Draw draw(seed);
    ASSERT_EQ(all_of(verify(graph, random_plan(graph, draw))), "") << "seed " << seed;
  }
}

class MutateOrderRows : public testing::TestWithParam<Mutation> {};

TEST_P(MutateOrderRows, IsCaughtUnderItsRule) {
  const Mutation& mutation = GetParam();
  int applied = 0;
  for (std::uint64_t seed = 0; seed < kPlans; ++seed) {
    OrderInstance graph = tiny_growing_order(seed, 9);
    Draw draw(seed);
    OrderPlan plan = random_plan(graph, draw);
    const std::size_t k = draw.below(plan.rows.size());
    if (!mutation.change({graph, plan, draw, k})) continue;
    ++applied;
    std::string where = mutation.where;
    if (const std::size_t place = where.find('K'); place != std::string::npos) {
      where.replace(place, 1, std::to_string(k));
    }
    const std::vector<Violation> violations = verify(graph, plan);
    const bool named = std::ranges::any_of(violations, [&](const Violation& violation) {
      return violation.rule == mutation.rule && violation.where.starts_with(where);
    });
    ASSERT_TRUE(named) << "seed " << seed << " needs " << mutation.rule << " at " << where
                       << ", reported:\n"
                       << all_of(violations);
  }
  EXPECT_GE(applied, kPlans / 5) << "the mutation hardly ever applies";
}

INSTANTIATE_TEST_SUITE_P(Verify, MutateOrderRows, testing::ValuesIn(kMutations),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace stowage::order_row_mutation_test
