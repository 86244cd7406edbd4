// Cuts equal the results of enumeration, their flows pass the check, and no certificate proves more
// than is true.
#include "instances/order/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "instances/order/json/embedded_documents.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/least_live_cut.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "tests/instances/draw.h"
#include "tests/tiny_order.h"

namespace stowage::order_certificate_test {
namespace {

using ::testing::IsEmpty;

bool is_downset(const OrderTable& table, unsigned set) {
  for (int op = 0; op < table.operators(); ++op) {
    if ((set >> op & 1U) == 0) continue;
    for (const int first : table.before(op)) {
      if ((set >> first & 1U) == 0) return false;
    }
  }
  return true;
}

Bytes live_of(const OrderTable& table, unsigned set) {
  Bytes live = 0;
  for (int t = 0; t < table.tensors(); ++t) {
    const int producer = table.producer(t);
    if (producer != OrderTable::kNobody && (set >> producer & 1U) == 0) continue;
    bool needed = table.stays(t);
    for (const int op : table.touchers(t)) needed = needed || (set >> op & 1U) == 0;
    if (needed) live += table.size(t);
  }
  return live;
}

// Returns the operators that must have run before op, and those that cannot have.
std::vector<OrderSide> sides_of(const OrderTable& table, int op) {
  std::vector<OrderSide> side(static_cast<std::size_t>(table.operators()), OrderSide::open);
  // Returns whether b is a direct or indirect predecessor of a.
  const auto needs = [&](int a, int b) {
    std::vector<int> todo = {a};
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      for (const int first : table.before(at)) {
        if (first == b) return true;
        todo.push_back(first);
      }
    }
    return false;
  };
  for (int other = 0; other < table.operators(); ++other) {
    auto& its = side[static_cast<std::size_t>(other)];
    if (needs(op, other)) its = OrderSide::in;
    if (other == op || needs(other, op)) its = OrderSide::out;
  }
  return side;
}

std::optional<OrderCertificate> certificate_of(const OrderTable& table, int op) {
  LeastLive least(table);
  const LeastLive::Cut cut = least.between(sides_of(table, op));
  OrderCertificate certificate{.bound_bytes = cut.live + table.need(op), .op = op};
  for (const auto& arc : cut.tensors) certificate.tensors.push_back({arc[0], arc[1], arc[2]});
  for (const auto& arc : cut.precedences) {
    certificate.precedences.push_back({arc[0], arc[1], arc[2]});
  }
  return certificate;
}

TEST(LeastLive, EqualsEnumerationAndHasTheLargestSet) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const OrderInstance graph = tiny_order(seed, 8, false);
    const OrderTable table(graph);
    for (int op = 0; op < table.operators(); ++op) {
      const std::vector<OrderSide> side = sides_of(table, op);
      Bytes best = -1;
      unsigned largest = 0;
      for (unsigned set = 0; set < 1U << table.operators(); ++set) {
        bool fits = is_downset(table, set);
        for (int other = 0; other < table.operators() && fits; ++other) {
          const OrderSide its = side[static_cast<std::size_t>(other)];
          const bool in = (set >> other & 1U) != 0;
          fits = its == OrderSide::open || in == (its == OrderSide::in);
        }
        if (!fits) continue;
        const Bytes live = live_of(table, set);
        if (best < 0 || live < best) largest = 0;
        if (best < 0 || live <= best) largest |= set;
        best = best < 0 ? live : std::min(best, live);
      }
      LeastLive least(table);
      const LeastLive::Cut cut = least.between(side);
      EXPECT_EQ(cut.live, best) << seed << ' ' << op;
      unsigned found = 0;
      for (int other = 0; other < table.operators(); ++other) {
        if (side[static_cast<std::size_t>(other)] == OrderSide::in) found |= 1U << other;
      }
      for (const int member : cut.open) found |= 1U << member;
      EXPECT_EQ(found, largest) << seed << ' ' << op;
    }
  }
}

TEST(LeastLive, OfAnIntervalAfterItHasRun) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const OrderInstance graph = tiny_order(seed, 8, false);
    const OrderTable table(graph);
    const auto& order = table.program_order();
    Draw draw(seed);
    const std::size_t from = draw.below(order.size() + 1);
    const std::size_t to = from + draw.below(order.size() - from + 1);
    OrderMemory memory(table);
    unsigned low = 0;
    unsigned high = 0;
    for (std::size_t k = 0; k < to; ++k) {
      memory.run(order[k]);
      (k < from ? low : high) |= 1U << order[k];
    }
    high |= low;
    Bytes best = live_of(table, low);
    unsigned largest = 0;
    for (unsigned set = 0; set < 1U << table.operators(); ++set) {
      if ((set & low) != low || (set & ~high) != 0 || !is_downset(table, set)) continue;
      const Bytes live = live_of(table, set);
      if (live < best) largest = 0;
      if (live <= best) largest |= set;
      best = std::min(best, live);
    }
    LeastLive least(table);
    const std::vector<int> open(order.begin() + static_cast<std::ptrdiff_t>(from),
                                order.begin() + static_cast<std::ptrdiff_t>(to));
    unsigned found = low;
    for (const int member : least.largest_least(open, memory)) found |= 1U << member;
    EXPECT_EQ(found, largest) << seed;
  }
}

TEST(OrderCertificate, EveryCutPassesAndIsBelowTheOptimum) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const OrderInstance graph = tiny_order(seed, 8, false);
    const OrderTable table(graph);
    for (int op = 0; op < table.operators(); ++op) {
      const auto certificate = certificate_of(table, op);
      const OrderCertificateCheck check = check_certificate(graph, *certificate);
      for (const Violation& violation : check.violations) ADD_FAILURE() << to_string(violation);
      EXPECT_LE(check.bound_bytes, *least_peak(graph)) << seed;
      JsonWriter json;
      json.begin_object();
      json.key("certificate");
      write_json(json, *certificate);
      json.end_object();
      const auto read = read_order_certificate(json.take());
      ASSERT_TRUE(read);
      EXPECT_EQ(**read, *certificate);
    }
  }
}

// Every change that the check accepts leaves a true claim.
TEST(OrderCertificate, NoLiePasses) {
  std::int64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const OrderInstance graph = tiny_order(seed, 8, false);
    const OrderTable table(graph);
    if (table.operators() == 0) continue;
    Draw draw(seed);
    const auto op = static_cast<int>(draw.below(static_cast<std::size_t>(table.operators())));
    OrderCertificate lie = *certificate_of(table, op);
    for (std::int64_t changes = draw.whole(1, 3); changes > 0; --changes) {
      auto& entries = draw.coin() ? lie.tensors : lie.precedences;
      switch (draw.below(6)) {
        case 5:
          lie.forced.push_back({draw.whole(-1, table.operators()), draw.whole(0, table.operators()),
                                draw.whole(0, table.operators())});
          break;
        case 0:
          lie.bound_bytes += draw.whole(1, 9);
          break;
        case 1:
          lie.op = draw.whole(-1, table.operators());
          break;
        case 2:
          entries.push_back({draw.whole(-1, 9), draw.whole(-1, 9), draw.whole(0, 20)});
          break;
        case 3:
          if (!entries.empty()) entries[draw.below(entries.size())][draw.below(3)] += 1;
          break;
        default:
          if (!entries.empty()) entries.pop_back();
      }
    }
    const OrderCertificateCheck check = check_certificate(graph, lie);
    refused += check.violations.empty() ? 0 : 1;
    EXPECT_LE(check.bound_bytes, *least_peak(graph)) << seed;
  }
  EXPECT_GT(refused, 1000);
}

// x is read by f and g, and f's result is larger. Before g at least x is live.
OrderInstance fork() {
  return {.tensors = {{.size = 10, .input = true}, {.size = 4}, {.size = 2, .output = true}},
          .operators = {{.reads = {0}, .writes = {1}}, {.reads = {0, 1}, .writes = {2}}}};
}

std::vector<std::string> broken(const OrderCertificate& certificate) {
  std::vector<std::string> rules;
  for (const Violation& violation : check_certificate(fork(), certificate).violations) {
    rules.push_back(violation.rule);
  }
  return rules;
}

// With recomputation the set of kept tensors is a choice, and a bound in bytes is not a bound on
// time.
TEST(OrderCertificate, ACutProvesNothingWhereOperatorsRunAgain) {
  const OrderCertificate good{.bound_bytes = 16, .op = 1, .tensors = {{0, 1, 10}, {1, 1, 4}}};
  OrderInstance graph = fork();
  EXPECT_THAT(check_certificate(graph, good).violations, IsEmpty());
  graph.operators[0].recompute = true;
  const OrderCertificateCheck again = check_certificate(graph, good);
  ASSERT_EQ(again.violations.size(), 1U);
  EXPECT_EQ(again.violations[0].rule, "certificate_bound");
  EXPECT_EQ(again.bound_bytes, 0);
  graph = fork();
  graph.objective = OrderObjective::time;
  EXPECT_FALSE(check_certificate(graph, good).violations.empty());
}

// Proofs of these sizes are checked in some seconds, and need some hundred MB.
TEST(OrderCertificate, LimitsOfTheGraph) {
  OrderInstance graph;
  graph.operators.resize(1);
  EXPECT_EQ(most_forced_of(graph), 100'000'000);
  EXPECT_EQ(most_states_of(graph), 1 << 21);
  graph.operators.resize(1000);
  graph.tensors.resize(1000);
  EXPECT_EQ(most_forced_of(graph), 50'000);
  EXPECT_EQ(most_states_of(graph), 200'000);
}

TEST(OrderCertificate, EachRuleIsBroken) {
  using Rules = std::vector<std::string>;
  const OrderCertificate good{.bound_bytes = 16, .op = 1, .tensors = {{0, 1, 10}, {1, 1, 4}}};
  EXPECT_THAT(broken(good), IsEmpty());
  const auto with = [&](auto change) {
    OrderCertificate changed = good;
    change(changed);
    return broken(changed);
  };
  EXPECT_EQ(with([](auto& c) { c.op = 2; }), Rules{"certificate_number"});
  EXPECT_EQ(with([](auto& c) { c.tensors[0].pop_back(); })[0], "certificate_number");
  EXPECT_EQ(with([](auto& c) { c.tensors[0][2] = -1; })[0], "certificate_number");
  // Indices begin at 0; -1 stands for the reader that keeps an output. Bytes are at most 2^53.
  const auto first_of = [&](std::size_t place, std::int64_t value) {
    const Rules rules = with([&](auto& c) { c.tensors[0][place] = value; });
    return rules.empty() ? std::string() : rules[0];
  };
  for (const std::int64_t none : {std::int64_t{-1}, std::int64_t{3}, kMaxExact}) {
    EXPECT_EQ(first_of(0, none), "certificate_number");
  }
  for (const std::int64_t none : {-2, 2}) EXPECT_EQ(first_of(1, none), "certificate_number");
  EXPECT_EQ(first_of(1, 0), "certificate_arc");
  EXPECT_EQ(with([](auto& c) { c.tensors = {{0, 1, kMaxExact}}; }), Rules{"certificate_capacity"});
  EXPECT_EQ(first_of(2, kMaxExact + 1), "certificate_number");
  EXPECT_EQ(with([](auto& c) { c.tensors[0].push_back(0); })[0], "certificate_number");
  for (const auto& [one, other] : {std::pair{-1, 0}, {2, 0}, {1, -1}, {1, 2}}) {
    EXPECT_EQ(with([&](auto& c) {
                c.precedences = {{one, other, 1}};
              }),
              Rules{"certificate_number"});
  }
  EXPECT_EQ(with([](auto& c) { c.tensors[1][1] = -1; })[0], "certificate_arc");
  EXPECT_EQ(with([](auto& c) { c.tensors[0][1] = 0; })[0], "certificate_arc");
  EXPECT_EQ(with([](auto& c) { c.precedences = {{1, 0, 1}}; }), Rules{"certificate_arc"});
  EXPECT_EQ(with([](auto& c) { c.tensors[0][2] = 11; }), Rules{"certificate_capacity"});
  // Arcs without a flow are no fault.
  EXPECT_EQ(with([](auto& c) { c.tensors.push_back({0, 1, 0}); }), Rules{});
  EXPECT_EQ(with([](auto& c) { c.bound_bytes = 17; }), Rules{"certificate_bound"});
  EXPECT_EQ(with([](auto& c) { c.bound_bytes = -1; }), Rules{"certificate_bound"});
  EXPECT_EQ(with([](auto& c) { c.bound_bytes = 0; }), Rules{});
  // Two operators without a common tensor may run in either order.
  const OrderInstance pair{.tensors = {{.size = 3, .input = true}, {.size = 5, .input = true}},
                           .operators = {{.reads = {0}}, {.reads = {1}}}};
  const OrderCertificate leak{.bound_bytes = 5, .op = 1, .tensors = {{0, 0, 3}, {1, 1, 5}}};
  EXPECT_EQ(check_certificate(pair, leak).violations.front().rule, "certificate_conservation");
  // The last one runs after both: a flow from it says nothing of the step of the second one.
  const OrderInstance join{
      .tensors = {{.size = 3}, {.size = 5}, {.size = 7, .output = true}},
      .operators = {{.writes = {0}}, {.writes = {1}}, {.reads = {0, 1}, .writes = {2}}}};
  const OrderCertificate beyond{.bound_bytes = 5, .op = 1, .precedences = {{2, 0, 1}}};
  EXPECT_EQ(check_certificate(join, beyond).violations.front().rule, "certificate_arc");
  std::vector<std::string> all;
  for (const std::string_view rule : order_certificate_rules()) all.emplace_back(rule);
  EXPECT_EQ(all.size(), 8U);
}

}  // namespace
}  // namespace stowage::order_certificate_test
