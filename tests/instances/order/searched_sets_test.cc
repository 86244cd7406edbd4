// Certificates by a search. By hand: the requirements of each rule. On random graphs: no list of
// commits proves more than is true, and true lists prove the optimum.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "instances/order/certificate.h"
#include "instances/order/json/embedded_documents.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "tests/instances/draw.h"
#include "tests/tiny_order.h"
#include "tests/two_branches.h"

namespace stowage::order_searched_sets_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The last operator writes more than it reads, so that all orders may end with it.
OrderInstance branches() {
  OrderInstance graph = two_branches();
  graph.operators.back().writes = {std::ssize(graph.tensors)};
  graph.tensors.push_back({.size = 5, .output = true});
  return graph;
}

std::vector<std::string> rules_of(const OrderInstance& graph, const OrderCertificate& certificate) {
  std::vector<std::string> rules;
  for (const Violation& violation : check_certificate(graph, certificate).violations) {
    rules.push_back(violation.rule);
  }
  return rules;
}

OrderCertificate certificate_of(Bytes bound, SearchedSets searched) {
  return {.bound_bytes = bound, .searched = std::move(searched)};
}

TEST(SearchedSets, EachRuleIsBroken) {
  const OrderInstance graph = branches();
  ASSERT_EQ(*least_peak(graph), 38);
  const auto rules = [&](SearchedSets searched, Bytes bound = 38) {
    return rules_of(graph, certificate_of(bound, std::move(searched)));
  };
  // No operator can begin below 38, so no commit is possible at the start.
  EXPECT_THAT(rules({.states = 1}), IsEmpty());
  EXPECT_THAT(rules({.states = 100}), IsEmpty());
  // Before the last operator 2 bytes are live, after it 7.
  EXPECT_THAT(rules({.last = {4}, .states = 1}), IsEmpty());
  EXPECT_THAT(rules({.last = {4}, .from_end = true, .states = 100}), IsEmpty());
  EXPECT_THAT(rules({.last = {3, 4}, .states = 1}), ElementsAre("certificate_commit"));
  // A whole branch is a commit, but one of its steps needs 38.
  EXPECT_THAT(rules({.first = {0, 2}, .states = 9}), ElementsAre("certificate_commit"));
  EXPECT_THAT(rules({.first = {0, 2}, .states = 9}, 39), ElementsAre("certificate_search"));
  // Half of a branch is not a commit: 29 bytes are live after it, 18 before.
  EXPECT_THAT(rules({.first = {0}, .states = 9}, 39), ElementsAre("certificate_commit"));
  EXPECT_THAT(rules({.first = {2}, .states = 9}), ElementsAre("certificate_commit"));
  EXPECT_THAT(rules({.first = {0, 0}, .states = 9}, 39), ElementsAre("certificate_commit"));
  EXPECT_THAT(rules({.first = {-1}, .states = 9}), ElementsAre("certificate_commit"));
  EXPECT_THAT(rules({.first = {5}, .states = 9}), ElementsAre("certificate_commit"));
  EXPECT_THAT(rules({.first = {0, 2}, .last = {2}, .states = 9}, 39),
              ElementsAre("certificate_commit"));
  EXPECT_THAT(rules({.states = 9}, 39), ElementsAre("certificate_search"));
  EXPECT_THAT(rules({.from_end = true, .states = 9}, 39), ElementsAre("certificate_search"));
  EXPECT_THAT(rules({.first = {0, 2, 1, 3}, .last = {4}, .states = 9}, 39),
              ElementsAre("certificate_search"));
  // The number of states must be valid.
  EXPECT_THAT(rules({.states = 0}), ElementsAre("certificate_search"));
  EXPECT_THAT(rules({.states = -1}), ElementsAre("certificate_search"));
  EXPECT_THAT(rules({.states = most_states_of(graph) + 1}), ElementsAre("certificate_search"));
  EXPECT_THAT(rules({.states = most_states_of(graph)}), IsEmpty());
}

TEST(SearchedSets, ProveNothingWhereOperatorsRunAgain) {
  OrderInstance graph = branches();
  graph.operators[0].recompute = true;
  EXPECT_THAT(rules_of(graph, certificate_of(38, {.states = 9})), ElementsAre("certificate_bound"));
}

// Returns the number of states with which the certificate passes, or nullopt.
std::optional<std::int64_t> states_of(const OrderInstance& graph, OrderCertificate certificate) {
  for (std::int64_t states = 0; states <= 64; ++states) {
    certificate.searched->states = states;
    if (check_certificate(graph, certificate).violations.empty()) return states;
  }
  return std::nullopt;
}

// A precedence in every better order leaves fewer sets.
TEST(SearchedSets, AreFewerWithForcedPrecedences) {
  int fewer = 0;
  for (std::uint64_t seed = 0; seed < 100 && fewer == 0; ++seed) {
    const OrderInstance graph = tiny_order(seed, 6, false);
    const auto operators = static_cast<std::int64_t>(graph.operators.size());
    OrderCertificate certificate = certificate_of(*least_peak(graph), {});
    const std::optional<std::int64_t> all = states_of(graph, certificate);
    for (std::int64_t pair = 0; pair < operators * operators && all; ++pair) {
      const std::int64_t first = pair / operators;
      const std::int64_t second = pair % operators;
      for (const std::int64_t op : {first, second}) {
        certificate.forced = {{.first = first, .second = second, .op = op}};
        const std::optional<std::int64_t> some = states_of(graph, certificate);
        if (some && *some < *all) ++fewer;
      }
    }
  }
  EXPECT_GT(fewer, 0);
}

// Operators that do not raise the peak run at once, in any order in which they become ready.
// Planners state the number of the sets that are left, so that the checker must count as many.
TEST(SearchedSets, AreAsFewAsBefore) {
  for (const bool from_end : {false, true}) {
    std::int64_t all = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const OrderInstance graph = tiny_order(seed, 8, false);
      all +=
          states_of(graph, certificate_of(*least_peak(graph), {.from_end = from_end})).value_or(64);
    }
    EXPECT_EQ(all, from_end ? 4492 : 5386);
  }
}

TEST(SearchedSets, AreReadAndWritten) {
  const auto text_of = [](const OrderCertificate& certificate) {
    JsonWriter json;
    json.begin_object();
    json.key("certificate");
    write_json(json, certificate);
    json.end_object();
    return json.take();
  };
  for (const bool from_end : {false, true}) {
    const OrderCertificate certificate =
        certificate_of(7, {.first = {0, 2}, .last = {1}, .from_end = from_end, .states = 3});
    const auto read = read_order_certificate(text_of(certificate));
    ASSERT_TRUE(read);
    EXPECT_EQ(**read, certificate);
  }
  const std::string_view both = R"({"certificate": {"bound_bytes": 1, "op": 0, "tensors": [],
      "searched": {"first": [], "last": [], "states": 1}}})";
  const auto read = read_order_certificate(both);
  ASSERT_FALSE(read);
  ASSERT_EQ(read.errors().size(), 2U);
  EXPECT_EQ(read.errors()[0].pointer, "/certificate/op");
  EXPECT_EQ(read.errors()[1].pointer, "/certificate/tensors");
  const auto neither = read_order_certificate(R"({"certificate": {"bound_bytes": 1}})");
  ASSERT_FALSE(neither);
  EXPECT_EQ(neither.errors().size(), 3U);
}

// Returns the bytes that are live after a closed set of operators.
Bytes live_behind(const OrderTable& table, const std::vector<int>& ops) {
  OrderMemory memory(table);
  for (const int op : ops) memory.run(op);
  return memory.live();
}

// Returns whether no set on the way from the empty set to `ops`, or from the other operators to
// all, has fewer live bytes than the whole, by trying all.
bool is_commit(const OrderTable& table, const std::vector<int>& order, std::size_t from,
               std::size_t to) {
  const std::size_t count = to - from;
  const bool head = from == 0;
  const std::vector<int> before(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(from));
  const std::vector<int> behind(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(to));
  const Bytes least = live_behind(table, head ? behind : before);
  for (unsigned set = 0; set < 1U << count; ++set) {
    OrderMemory memory(table);
    bool downset = true;
    for (const int op : before) memory.run(op);
    for (std::size_t k = 0; k < count && downset; ++k) {
      if ((set >> k & 1U) == 0) continue;
      downset = memory.ready(order[from + k]);
      if (downset) memory.run(order[from + k]);
    }
    if (downset && memory.live() < least) return false;
  }
  return true;
}

// Operators after `last` would be missing in all sets.
TEST(SearchedSets, EndWithAnEnd) {
  const OrderInstance graph{
      .tensors = {{.size = 10}, {.size = 1}, {.size = 1}, {.size = 12, .output = true}},
      .operators = {{.writes = {0}},
                    {.reads = {0}, .writes = {1}},
                    {.writes = {2}, .workspace = 15, .after = {0}},
                    {.reads = {1, 2}, .writes = {3}}}};
  ASSERT_EQ(*least_peak(graph), 17);
  EXPECT_THAT(rules_of(graph, certificate_of(20, {.last = {1}, .states = 9})),
              ElementsAre("certificate_commit"));
}

std::vector<std::int64_t> part(const std::vector<int>& order, std::size_t from, std::size_t to) {
  return {order.begin() + static_cast<std::ptrdiff_t>(from),
          order.begin() + static_cast<std::ptrdiff_t>(to)};
}

// Lists of arbitrary operators.
TEST(SearchedSets, ProveNoMoreThanIsTrue) {
  std::int64_t passed = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    const OrderInstance graph = tiny_order(seed % 1000, 7, false);
    const auto operators = static_cast<std::int64_t>(graph.operators.size());
    Draw draw(seed);
    SearchedSets any{.from_end = draw.coin(), .states = draw.whole(0, 128)};
    for (auto* list : {&any.first, &any.last}) {
      for (std::int64_t k = draw.whole(0, 2); k > 0 && operators > 0; --k) {
        list->push_back(draw.whole(0, operators - 1));
      }
    }
    const Bytes least = *least_peak(graph);
    const OrderCertificate certificate =
        certificate_of(std::max<Bytes>(0, least + draw.whole(-1, 3)), std::move(any));
    const OrderCertificateCheck check = check_certificate(graph, certificate);
    EXPECT_LE(check.bound_bytes, least) << seed;
    passed += check.violations.empty() ? 1 : 0;
  }
  EXPECT_GT(passed, 1000);
}

// Any two ends of any order: an accepted certificate is true, and a true one that can be expressed
// is accepted.
TEST(SearchedSets, PassIfAndOnlyIfTheyAreTrue) {
  std::int64_t passed = 0;
  std::int64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const OrderInstance graph = tiny_order(seed, 8, false);
    const OrderTable table(graph);
    const std::vector<int>& order = table.program_order();
    const Bytes least = *least_peak(graph);
    Draw draw(seed);
    const std::size_t head = draw.coin() ? 0 : draw.below(order.size() + 1);
    const std::size_t tail =
        draw.coin() ? order.size() : head + draw.below(order.size() - head + 1);
    const OrderCertificate certificate = certificate_of(
        std::max<Bytes>(0, least + draw.whole(-2, 2)), {.first = part(order, 0, head),
                                                        .last = part(order, tail, order.size()),
                                                        .from_end = draw.coin(),
                                                        .states = 256});
    const Bytes bound = certificate.bound_bytes;
    const std::vector<Bytes> needs = needs_of(table, order);
    bool good = bound <= least && is_commit(table, order, 0, head) &&
                is_commit(table, order, tail, order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k < head || k >= tail) good = good && needs[k] < bound;
    }
    const OrderCertificateCheck check = check_certificate(graph, certificate);
    EXPECT_LE(check.bound_bytes, least) << seed;
    // The peak may be at the start or the end, where no step runs.
    const bool at_end = least == std::max(table.at_start(), table.at_end());
    if (!at_end) {
      EXPECT_EQ(check.violations.empty(), good) << seed;
    }
    (check.violations.empty() ? passed : refused) += 1;
  }
  EXPECT_GT(passed, 300);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace stowage::order_searched_sets_test
