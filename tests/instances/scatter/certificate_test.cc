// The checker of certificates: every rule with a case that passes and one that fails, and two
// hundred random corruptions of good certificates, all refused.
#include "instances/scatter/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "instances/numeric/random.h"
#include "instances/scatter/json/embedded_documents.h"
#include "instances/scatter/json/json.h"
#include "tests/instances/scatter/small_proofs.h"

namespace stowage::scatter_certificate_test {
namespace {

using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Certificate, OfTheAreaBoundHolds) {
  EXPECT_EQ(first_rule(area_certificate()), "");
  EXPECT_EQ(first_rule(tree_certificate()), "");
}

// An exchange makes groups of two devices slower: the proof still holds, and a slightly higher
// bound holds too.
TEST(Certificate, ExchangesCount) {
  ScatterInstance slow = three();
  slow.cost.all_to_all.mib_per_token = 1;
  slow.cost.all_to_all.latency_ms[2] = 5;
  EXPECT_THAT(check_certificate(slow, area_certificate()).violations, testing::IsEmpty());
  ScatterCertificate more = area_certificate();
  for (PriceInterval& interval : more.nodes[0].leaf.intervals) interval.degrees[1].time /= 2;
  EXPECT_THAT(check_certificate(slow, more).violations, testing::IsEmpty());
  EXPECT_FALSE(check_certificate(three(), more).violations.empty());
  EXPECT_THAT(certificate_rules(), testing::Contains("certificate_bound"));
}

// Rows are padded to multiples of 3 tokens: 13, 13 and 16 tokens take 42 ms in one row, and would
// take 15, 15 and 18 ms in rows of their own.
TEST(Certificate, RowsArePaddedOnce) {
  ScatterInstance padded{.name = "padded"};
  padded.cluster = {.devices = 1, .memory_mib = 60, .degrees = {1}};
  padded.model = {.activation_mib_per_token = 1};
  padded.cost = {.linear_ms = 1};
  padded.padding = Padding{.row_multiple = 3, .per_degree = false};
  padded.lengths = {13, 13, 16};
  const auto claims = [&](double longer, double shorter, double bound) {
    ScatterCertificate certificate{.bound_ms = bound * (1 - 1e-7), .nodes = {{}}};
    CertificateLeaf& leaf = certificate.nodes[0].leaf;
    leaf.values = {longer, shorter};
    leaf.intervals = {{.degrees = {{.time = 1 - 1e-9}}},
                      {.from = 99, .degrees = {{.tokens = 1.6}}}};
    return check_certificate(padded, certificate).violations.empty();
  };
  EXPECT_TRUE(claims(16 * (1 - 1e-8), 13 * (1 - 1e-8), 42));
  EXPECT_FALSE(claims(18 * (1 - 1e-8), 15 * (1 - 1e-8), 48));
  EXPECT_FALSE(claims(16 * (1 - 1e-8), 13.5, 43));
}

TEST(Certificate, NumbersAreFiniteAndNotNegative) {
  for (const double bad : {kNan, kInf, -1.0}) {
    ScatterCertificate c = area_certificate();
    c.bound_ms = bad;
    EXPECT_EQ(first_rule(c), "certificate_number");
    const auto leaf_with = [&](auto change) {
      c = tree_certificate();
      change(c.nodes[1].leaf);
      return first_rule(c);
    };
    EXPECT_EQ(leaf_with([&](auto& l) { l.micro_batch = bad; }), "certificate_number");
    EXPECT_EQ(leaf_with([&](auto& l) { l.values[1] = bad; }), "certificate_number");
    EXPECT_EQ(leaf_with([&](auto& l) { l.conditions[0] = bad; }), "certificate_number");
    EXPECT_EQ(leaf_with([&](auto& l) { l.intervals[0].degrees[1].time = bad; }),
              "certificate_number");
    EXPECT_EQ(leaf_with([&](auto& l) { l.intervals[1].degrees[0].tokens = bad; }),
              "certificate_number");
    EXPECT_EQ(leaf_with([&](auto& l) {
                l.intervals[0].degrees[0].packing = {{.steps = 1, .price = bad}};
              }),
              "certificate_number");
    c = tree_certificate();
    c.nodes[0].from = bad;
    EXPECT_EQ(first_rule(c), "certificate_number");
  }
}

TEST(Certificate, TreeLeavesNothingOut) {
  ScatterCertificate c;
  EXPECT_EQ(first_rule(c), "certificate_tree");  // no node
  c = tree_certificate();
  c.nodes.pop_back();  // a missing leaf
  EXPECT_EQ(first_rule(c), "certificate_tree");
  c = tree_certificate();
  c.nodes[0].more = 1;  // one case occurs twice, the other never
  EXPECT_EQ(first_rule(c), "certificate_tree");
  c = tree_certificate();
  c.nodes[0].fewer = 0;  // a circle
  EXPECT_EQ(first_rule(c), "certificate_tree");
  c = tree_certificate();
  c.nodes.push_back({.leaf = area_leaf()});  // a node without a parent
  EXPECT_EQ(first_rule(c), "certificate_tree");
}

// Groups of two devices may use a ring, which hides all communication, or an all-to-all.
ScatterInstance three_with_kinds() {
  ScatterInstance instance = three();
  instance.cost.exchange = Exchange{.kinds = {{2, {ExchangeKind::all_to_all, ExchangeKind::ring}}},
                                    .all_to_all_mib_per_token = 1,
                                    .keys_values_mib_per_token = 1,
                                    .inside_mib_per_ms = 10};
  return instance;
}

std::string first_rule_of_levels(std::vector<CertificateLevel> levels,
                                 const ScatterInstance& instance = three_with_kinds()) {
  ScatterCertificate c = area_certificate();
  // Prices for two levels are also needed for three: the entries after the second repeat it.
  for (PriceInterval& interval : c.nodes[0].leaf.intervals) {
    interval.degrees.resize(levels.empty() ? 3 : levels.size(), interval.degrees.back());
  }
  c.levels = std::move(levels);
  const CertificateCheck check = check_certificate(instance, c);
  return check.violations.empty() ? "" : check.violations.front().rule;
}

TEST(Certificate, LevelsLeaveNoFormOut) {
  using enum ExchangeKind;
  EXPECT_EQ(first_rule_of_levels({}), "");
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, all_to_all}, {2, ring}}), "");
  // By its compute time alone a ring is never worse than an all-to-all, which is not hidden.
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring}}), "");
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, all_to_all}}), "certificate_levels");
  EXPECT_EQ(first_rule_of_levels({{2, all_to_all}, {2, ring}}), "certificate_levels");
  EXPECT_EQ(first_rule_of_levels({{2, ring}, {1, none}}), "certificate_levels");
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring}, {2, ring}}), "certificate_levels");
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring}, {2, all_gather}}), "certificate_levels");
  EXPECT_EQ(first_rule_of_levels({{1, ring}, {2, ring}}), "certificate_levels");
  EXPECT_EQ(first_rule_of_levels({{0, none}, {1, none}, {2, ring}}), "certificate_levels");
  EXPECT_EQ(first_rule_of_levels({{-1, none}, {1, none}, {2, ring}}), "certificate_levels");
  for (const int way : {-1, 1, 7}) {  // groups have only one recomputation mode
    EXPECT_EQ(first_rule_of_levels({{1, none, 1, way}, {1, none}, {2, ring}}),
              "certificate_levels");
  }
  for (const double bad : {-0.1, 1.1, kNan, kInf}) {
    EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring, bad}}), "certificate_levels");
  }
}

// Devices of a node count each: two devices in one node pay no more than two nodes of one.
TEST(Certificate, KindsCountTheDevicesOfTheirNodes) {
  for (const int in_node : {1, 2}) {
    ScatterInstance instance = three();
    instance.cluster.devices_per_node = in_node;
    instance.cluster.kinds = {{.nodes = 2 / in_node, .speed = 1, .memory_mib = 100}};
    ScatterCertificate c = area_certificate();
    c.kind_weights = {1};
    EXPECT_TRUE(check_certificate(instance, c).violations.empty()) << in_node;
    // Half as much again for each device-ms.
    CertificateLeaf& leaf = c.nodes[0].leaf;
    for (double& value : leaf.values) value *= 1.5;
    for (PriceInterval& interval : leaf.intervals) {
      for (DegreePrices& price : interval.degrees) price.time *= 1.5;
    }
    c.bound_ms = (10 + 1.5 * 75) * (1 - 1e-8);
    EXPECT_FALSE(check_certificate(instance, c).violations.empty()) << in_node;
  }
}

// All groups of a micro-batch have one mode, so the levels of one mode stand for them.
TEST(Certificate, LevelsOfOneModeLeaveNoFormOut) {
  using enum ExchangeKind;
  ScatterInstance instance = three();
  instance.model.recomputation = {{.name = "none", .activation_mib_per_token = 1},
                                  {.name = "full", .activation_mib_per_token = 1}};
  EXPECT_EQ(first_rule_of_levels({{1, none, 1, 0}, {2, none, 1, 0}}, instance), "");
  EXPECT_EQ(first_rule_of_levels({{1, none, 1, 1}, {2, none, 1, 1}}, instance), "");
  EXPECT_EQ(first_rule_of_levels({{1, none, 1, 0}, {2, none, 1, 1}}, instance),
            "certificate_levels");
  for (const int way : {-1, 2}) {
    EXPECT_EQ(first_rule_of_levels({{1, none, 1, 0}, {2, none, 1, 0}, {2, none, 1, way}}, instance),
              "certificate_levels");
  }
}

// The times of three() in a table: at most 200 tokens of at most 200 tokens each.
ScatterInstance three_measured() {
  ScatterInstance instance = three();
  for (const int degree : {1, 2}) {
    const double more = 10 + 200.0 / degree;
    instance.cost.table[degree] = {
        .tokens = {0, 200}, .squares = {0, 40'000}, .ms = {10, 10, more, more}};
  }
  return instance;
}

TEST(Certificate, PlanesOfLevelsAreBelowTheTimes) {
  const auto rule_of = [](AffineTime one, const ScatterInstance& instance) {
    return first_rule_of_levels(
        {{.degree = 1, .below = one}, {.degree = 2, .below = {.ms = 10, .token_ms = 0.5}}},
        instance);
  };
  const char* rule = "certificate_levels";
  EXPECT_EQ(rule_of({.ms = 10, .token_ms = 1}, three_measured()), "");
  EXPECT_EQ(rule_of({.ms = 10.001, .token_ms = 1}, three_measured()), rule);
  EXPECT_EQ(rule_of({.ms = 10, .token_ms = 1.001}, three_measured()), rule);
  EXPECT_EQ(rule_of({.ms = 10, .token_ms = 1, .square_ms = 1e-6}, three_measured()), rule);
  EXPECT_EQ(rule_of({.ms = 10, .token_ms = 1, .square_ms = -1e-6}, three_measured()), rule);
  EXPECT_EQ(rule_of({.ms = 10, .token_ms = kInf}, three_measured()), rule);
  EXPECT_EQ(rule_of({.ms = 10, .token_ms = 1}, three()), rule);  // nothing is measured
  // Degree 3 has no measured times, and the checker does not look for any.
  EXPECT_EQ(first_rule_of_levels({{.degree = 1}, {.degree = 2}, {.degree = 3}}, three_measured()),
            rule);
  ScatterInstance none = three_measured();
  none.lengths.clear();
  EXPECT_NE(rule_of({.ms = 11, .token_ms = 1}, none), rule);  // of no sequences
  // The more squares, the quicker: the plane is above rows of 60 tokens a sequence, the longest for
  // which there is room, and not above those of 30.
  ScatterInstance quicker = three_measured();
  quicker.cost.table[1].ms.back() = 150;
  quicker.cluster.memory_mib = 60;
  EXPECT_EQ(rule_of({.ms = 10, .token_ms = 0.95}, quicker), rule);
  quicker.cluster.memory_mib = 59;
  EXPECT_NE(rule_of({.ms = 10, .token_ms = 0.95}, quicker), rule);
}

// A ms for each thousand squares of a device: 63.6 and 30.9 ms in place of 60 and 30.
TEST(Certificate, SquaresOfPlanesCount) {
  ScatterInstance instance = three_measured();
  for (auto& [degree, grid] : instance.cost.table) {
    for (std::size_t k : {1, 3}) grid.ms[k] += 40.0 / degree;
  }
  ScatterCertificate c = area_certificate();
  c.levels = {{.degree = 1, .below = {.ms = 10, .token_ms = 1, .square_ms = 1e-3 * (1 - 1e-10)}},
              {.degree = 2, .below = {.ms = 10, .token_ms = 0.5, .square_ms = 5e-4 * (1 - 1e-10)}}};
  const double price = c.nodes[0].leaf.intervals[0].degrees[0].time;
  c.nodes[0].leaf.values = {63.6 * price * (1 - 1e-9), 30.9 * price * (1 - 1e-9)};
  const auto violations_at = [&](Ms bound) {
    c.bound_ms = bound;
    return check_certificate(instance, c).violations.size();
  };
  EXPECT_EQ(violations_at(10 + (2 * 63.6 + 30.9) / 2 - 1e-6), 0U);
  EXPECT_EQ(violations_at(10 + (2 * 63.6 + 30.9) / 2 + 1e-6), 1U);
}

// A ring that holds keys and values of others has room for 100 of the 150 tokens, an all-to-all for
// 200: what prices of rings pay is not enough for what an all-to-all may hold, however fast a ring
// is.
TEST(Certificate, LevelsHaveRoomForWhatOtherFormsHold) {
  using enum ExchangeKind;
  ScatterInstance instance = three_with_kinds();
  instance.model.keys_values_mib_per_token = 1;
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring}}, instance), "certificate_levels");
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, all_to_all}, {2, ring}}, instance), "");
  instance.rules.max_sequences_per_group = 1;  // of which an all-to-all may hold a longer one
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring}}, instance), "certificate_levels");
  instance.model.keys_values_mib_per_token = 0;
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring}}, instance), "");
}

// A ring pads 30 tokens to 32, and an all-to-all does not. So the price of 32 tokens on a ring is
// more than an all-to-all would pay.
TEST(Certificate, LevelsPadNoMoreThanOtherForms) {
  using enum ExchangeKind;
  ScatterInstance instance = three_with_kinds();
  instance.model.keys_values_mib_per_token = 0;
  instance.cost.exchange->inside_mib_per_ms = 1;
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring}}, instance), "");
  instance.padding = Padding{};
  EXPECT_EQ(first_rule_of_levels({{1, none}, {2, ring}}, instance), "certificate_levels");
}

TEST(Certificate, IntervalsCoverAllMakespans) {
  ScatterCertificate c = area_certificate();
  c.nodes[0].leaf.intervals[0].from = 10.5;  // no interval covers 10 ms to 10.5 ms
  EXPECT_EQ(first_rule(c), "certificate_intervals");
  c = area_certificate();
  std::swap(c.nodes[0].leaf.intervals[0], c.nodes[0].leaf.intervals[1]);
  EXPECT_EQ(first_rule(c), "certificate_intervals");
  c = area_certificate();
  c.nodes[0].leaf.intervals.clear();
  EXPECT_EQ(first_rule(c), "certificate_intervals");
  c = area_certificate();
  c.nodes[0].leaf.intervals[1].degrees.pop_back();
  EXPECT_EQ(first_rule(c), "certificate_intervals");
}

TEST(Certificate, ShapesMatch) {
  ScatterCertificate c = area_certificate();
  c.nodes[0].leaf.values.push_back(0);
  EXPECT_EQ(first_rule(c), "certificate_values");
  c = area_certificate();
  c.nodes[0].leaf.conditions.push_back(0);
  EXPECT_EQ(first_rule(c), "certificate_conditions");
  c = tree_certificate();
  c.nodes[2].leaf.conditions.clear();
  EXPECT_EQ(first_rule(c), "certificate_conditions");
}

// Every change that makes a tight proof claim more is refused.
TEST(Certificate, RandomCorruptionsAreRefused) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    ScatterCertificate c = tree_certificate();
    CertificateLeaf& leaf = c.nodes[1 + draw(random, 2)].leaf;
    const double more = 1 + 1e-6 * static_cast<double>(1 + draw(random, 1000000));
    switch (draw(random, 10)) {
      case 0:
        leaf.values[draw(random, 2)] *= more;
        break;
      case 1:
        leaf.micro_batch *= more;
        break;
      case 2:
        for (DegreePrices& degree : leaf.intervals[0].degrees) degree.time *= more;
        break;
      case 3:
        leaf.intervals[0].degrees[draw(random, 2)].time /= more;
        break;
      case 4:
        c.bound_ms *= more;
        break;
      case 5:
        leaf.intervals[0].from *= more;
        break;
      case 6:
        c.nodes.erase(c.nodes.begin() + static_cast<std::ptrdiff_t>(draw(random, 3)));
        break;
      case 7:
        std::swap(leaf.values[0], leaf.values[1]);
        break;
      case 8:
        leaf.values[draw(random, 2)] = draw(random, 2) == 0 ? kNan : kInf;
        break;
      case 9:
        leaf.intervals.erase(leaf.intervals.begin() +
                             static_cast<std::ptrdiff_t>(draw(random, leaf.intervals.size())));
        break;
    }
    EXPECT_NE(first_rule(c), "");
  }
}

TEST(Certificate, ReadsBackWhatItWrites) {
  ScatterCertificate c = tree_certificate();
  c.nodes[1].leaf.intervals[0].degrees[0].packing = {
      {.resource = Resource::tokens, .steps = 3, .price = 0.25},
      {.resource = Resource::time, .threshold = 12.5, .price = 1e-9}};
  JsonWriter json;
  json.begin_object();
  json.text("format", "stowage/outcome");
  json.key("certificate");
  write_json(json, c);
  json.end_object();
  const std::string text = json.take();
  const auto read = read_scatter_certificate(text);
  ASSERT_TRUE(read) << read.errors().front().message;
  ASSERT_TRUE(read->has_value());
  JsonWriter again;
  again.begin_object();
  again.text("format", "stowage/outcome");
  again.key("certificate");
  write_json(again, **read);
  again.end_object();
  EXPECT_EQ(again.take(), text);
  const auto broken = [&](std::string from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto result = read_scatter_certificate(changed);
    return result ? "" : result.errors().front().code + ' ' + result.errors().front().pointer;
  };
  EXPECT_EQ(broken("\"more\": 2", "\"more\": -2"), "E205 /certificate/nodes/0/more");
  EXPECT_THAT(broken("\"of\": \"tokens\"", "\"of\": \"money\""), HasSubstr("E203"));
  EXPECT_THAT(broken("\"bound_ms\"", "\"bound\""), HasSubstr("E20"));
}

}  // namespace
}  // namespace stowage::scatter_certificate_test
