// The checker of assign certificates: every rule with a case that passes and one that fails, and
// two hundred random corruptions of good certificates, all refused. Longer than 300 lines: a case
// for each rule, on one instance.
#include "instances/assign/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <string>

#include "instances/assign/json/embedded_documents.h"
#include "instances/assign/json/json.h"
#include "instances/numeric/random.h"

namespace stowage::assign_certificate_test {
namespace {

using testing::Contains;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Strategy "one" has two replicas with one ms per token and 10 ms per row of 100 tokens. Strategy
// "two" has one replica of two stages with the same times. No two of the sequences of 60 tokens
// share a row. So two replicas need two rows each, 140 ms, and one replica with stages needs four
// rows, 280 ms and a bubble of 70 ms.
AssignInstance four() {
  return {
      .name = "four",
      .devices = 2,
      .schemes = {{.name = "one", .linear_ms = 1, .fixed_ms = 10, .max_tokens = 100},
                  {.name = "two", .pp = 2, .linear_ms = 1, .fixed_ms = 10, .max_tokens = 100}},
      .strategies = {{.name = "flat", .replicas = {2, 0}}, {.name = "deep", .replicas = {0, 1}}},
      .lengths = {60, 60, 60, 60}};
}

// A sequence costs a whole budget in any rows that end before 140 ms: one row holds one sequence,
// and two or more rows have less than 120 ms for their work.
SchemePrices one_each(const std::string& scheme) {
  return {scheme,
          {{.least_rows = 1, .most_rows = 1, .longest = 60, .parts = {{.price = 1}}},
           {.least_rows = 2, .longest = 60, .parts = {{.of_rows = false, .price = 1}}}}};
}

AssignCertificate good() {
  return {.bound_ms = 139.99,
          .strategies = {{"flat", "patterns", {one_each("one")}}, {"deep", "rows", {}}}};
}

std::string first_rule(const AssignCertificate& certificate,
                       const AssignInstance& instance = four()) {
  const AssignCertificateCheck check = check_certificate(instance, certificate);
  if (check.violations.empty()) {
    EXPECT_EQ(check.bound_ms, certificate.bound_ms);
    return "";
  }
  EXPECT_EQ(check.bound_ms, 0);
  EXPECT_THAT(assign_certificate_rules(), Contains(check.violations.front().rule));
  return check.violations.front().rule;
}

std::string with(const std::function<void(AssignCertificate&)>& change) {
  AssignCertificate certificate = good();
  change(certificate);
  return first_rule(certificate);
}

RowPattern& pattern(AssignCertificate& c, std::size_t k) {
  return c.strategies[0].schemes[0].patterns[k];
}

TEST(AssignCertificate, OfFourSequencesHolds) {
  EXPECT_EQ(first_rule(good()), "");
  EXPECT_EQ(with([](auto& c) { c.bound_ms = 0; }), "");
}

// Expects that a closed bound proves `bound` ms for one strategy, and nothing above it.
void expect_closed(const AssignInstance& instance, const std::string& by, Ms bound) {
  AssignCertificate certificate{.bound_ms = bound * (1 - 1e-9),
                                .strategies = {{instance.strategies.front().name, by, {}}}};
  EXPECT_EQ(first_rule(certificate, instance), "") << by;
  certificate.bound_ms = bound * (1 + 1e-9);
  EXPECT_EQ(first_rule(certificate, instance), "certificate_closed") << by;
}

// Two replicas with rows of 100 tokens and sequences of 100, 50, 50 and 49 tokens. Either the first
// and the last share a replica, or two of the others share one with a third: 149 tokens in two rows
// in each case.
TEST(AssignCertificate, PairsThatMustMeet) {
  AssignInstance instance = four();
  instance.strategies = {{.name = "flat", .replicas = {2, 0}}};
  instance.lengths = {50, 100, 49, 50};
  expect_closed(instance, "pigeonhole", 149 + 2 * 10);
}

// Three sequences of 60 tokens that only one of two schemes admits, each in a row of its own.
TEST(AssignCertificate, SequencesThatOneSchemeHolds) {
  AssignInstance instance = four();
  instance.schemes[1] = {.name = "small", .linear_ms = 1, .fixed_ms = 10, .max_tokens = 50};
  instance.strategies = {{.name = "mixed", .replicas = {1, 1}}};
  instance.lengths = {60, 60, 60, 50};
  expect_closed(instance, "rows", 3 * 60 + 3 * 10);
}

// Halves of a cap share a row: four of 50 tokens need two rows of 100, and a little more than half
// a row each.
TEST(AssignCertificate, HalvesOfACapShareARow) {
  AssignInstance instance = four();
  instance.strategies = {{.name = "flat", .replicas = {1, 0}}};
  instance.lengths = {50, 50, 50, 50};
  expect_closed(instance, "rows", 4 * 50 + 2 * 10);
  instance.lengths = {51, 51, 51, 51};
  expect_closed(instance, "rows", 4 * 51 + 4 * 10);
  // A sequence that does not fit beside the longest one may still share a row with another.
  instance.lengths = {60, 45, 45};
  expect_closed(instance, "rows", 60 + 45 + 45 + 2 * 10);
}

TEST(AssignCertificate, NumbersAreFiniteAndNotNegative) {
  for (const double bad : {kNan, kInf, -1.0}) {
    EXPECT_EQ(with([&](auto& c) { c.bound_ms = bad; }), "certificate_number");
    EXPECT_EQ(with([&](auto& c) { pattern(c, 0).time = bad; }), "certificate_number");
    EXPECT_EQ(with([&](auto& c) { pattern(c, 1).tokens = bad; }), "certificate_number");
    EXPECT_EQ(with([&](auto& c) { pattern(c, 1).parts[0].price = bad; }), "certificate_number");
  }
}

// Chunks of a cut sequence are in rows shorter than the sequence, so no strategy admits it by its
// length. The closed bounds apply only to whole sequences, so they prove nothing here.
TEST(AssignCertificate, ProvesNothingOfChunks) {
  AssignInstance instance = four();
  instance.constraints.chunks = ChunkRule{.size = 100};
  EXPECT_EQ(first_rule(good(), instance), "certificate_chunks");
  instance.lengths[0] = 1000;
  EXPECT_EQ(first_rule({.bound_ms = 1e6}, instance), "certificate_chunks");
}

TEST(AssignCertificate, EveryStrategyHasOneProof) {
  EXPECT_EQ(with([](auto& c) { c.strategies.pop_back(); }), "certificate_strategy");
  EXPECT_EQ(with([](auto& c) { c.strategies.clear(); }), "certificate_strategy");
  EXPECT_EQ(with([](auto& c) { c.strategies.push_back(c.strategies[1]); }), "certificate_strategy");
  EXPECT_EQ(with([](auto& c) { c.strategies[1].strategy = "wide"; }), "certificate_strategy");
  EXPECT_EQ(with([](auto& c) { c.strategies[1].by = "work"; }), "certificate_strategy");
  // A strategy that does not admit the longest sequence needs no proof.
  AssignInstance instance = four();
  instance.schemes[1].max_tokens = 59;
  AssignCertificate c = good();
  c.strategies.pop_back();
  EXPECT_EQ(first_rule(c, instance), "");
}

TEST(AssignCertificate, EverySchemeHasPrices) {
  EXPECT_EQ(with([](auto& c) { c.strategies[0].schemes.clear(); }), "certificate_scheme");
  EXPECT_EQ(with([](auto& c) { c.strategies[0].schemes[0].scheme = "two"; }), "certificate_scheme");
  EXPECT_EQ(with([](auto& c) { c.strategies[0].schemes.push_back(one_each("one")); }),
            "certificate_scheme");
  EXPECT_EQ(with([](auto& c) { c.strategies[0].schemes.push_back(one_each("two")); }),
            "certificate_scheme");
}

TEST(AssignCertificate, PatternsLeaveNothingOut) {
  const auto patterns = [](AssignCertificate& c) -> std::vector<RowPattern>& {
    return c.strategies[0].schemes[0].patterns;
  };
  const std::string rule = "certificate_pattern";
  EXPECT_EQ(with([&](auto& c) { patterns(c).clear(); }), rule);
  // no pattern for the longest times
  EXPECT_EQ(with([&](auto& c) { patterns(c).pop_back(); }), rule);
  EXPECT_EQ(with([&](auto& c) { patterns(c).erase(patterns(c).begin()); }), rule);
  // patterns for two rows are missing
  EXPECT_EQ(with([&](auto& c) { pattern(c, 1).least_rows = 3; }), rule);
  EXPECT_EQ(with([&](auto& c) { pattern(c, 1).most_rows = 9; }), rule);
  EXPECT_EQ(with([&](auto& c) { pattern(c, 0).most_rows = 0; }), rule);
  EXPECT_EQ(with([&](auto& c) { pattern(c, 1).longest = 59; }), rule);
  EXPECT_EQ(with([&](auto& c) { pattern(c, 0).longest = 59; }), rule);
  AssignCertificate short_one = good();
  pattern(short_one, 0).longest = 59;
  EXPECT_EQ(check_certificate(four(), short_one).violations.front().where,
            "/strategies/0/schemes/0/patterns/0");
  EXPECT_EQ(with([&](auto& c) { pattern(c, 0).parts[0].steps = 0; }), rule);
  EXPECT_EQ(with([&](auto& c) { pattern(c, 0).parts[0].steps = 2'000'000; }), rule);
  // Bands of the longest sequence must ascend.
  EXPECT_EQ(with([&](auto& c) {
              patterns(c).insert(patterns(c).begin(), pattern(c, 0));
              pattern(c, 0).longest = 30;
            }),
            "");
  EXPECT_EQ(with([&](auto& c) { patterns(c).insert(patterns(c).begin(), pattern(c, 0)); }), rule);
  // Ranges of rows do not run backwards, from 4 to 1, even if all rows have a pattern.
  EXPECT_EQ(with([&](auto& c) {
              RowPattern from_two = pattern(c, 1);
              RowPattern from_four = from_two;
              from_two.most_rows = 3;
              from_four.least_rows = 4;
              from_four.most_rows = 1;
              patterns(c).insert(patterns(c).begin() + 1, {from_two, from_four});
            }),
            rule);
}

TEST(AssignCertificate, ClosedBoundsAreWorkedOut) {
  const auto flat_by = [](const char* by, double bound) {
    return with([&](AssignCertificate& c) {
      c.bound_ms = bound;
      c.strategies[0] = {"flat", by, {}};
      c.strategies[1] = {"deep", "rows", {}};
    });
  };
  EXPECT_EQ(flat_by("longest", 69.9), "");
  EXPECT_EQ(flat_by("longest", 70.1), "certificate_closed");
  // two of three sequences share a replica, in two rows
  EXPECT_EQ(flat_by("pigeonhole", 139.9), "");
  EXPECT_EQ(flat_by("pigeonhole", 140.1), "certificate_closed");
  EXPECT_EQ(flat_by("rows", 139.9), "");
  EXPECT_EQ(flat_by("rows", 140.1), "certificate_closed");
  // The bubble of "deep" counts: 240 ms of work, four rows and 70 ms.
  const auto deep_by = [](const char* by, double bound) {
    AssignInstance instance = four();
    instance.strategies.erase(instance.strategies.begin());
    return first_rule({bound, {{"deep", by, {}}}}, instance);
  };
  EXPECT_EQ(deep_by("longest", 139.9), "");
  EXPECT_EQ(deep_by("longest", 140.1), "certificate_closed");
  EXPECT_EQ(deep_by("rows", 349.9), "");
  EXPECT_EQ(deep_by("rows", 350.1), "certificate_closed");
  // Nor does a bound of less than 1 ms hold by itself.
  const auto in_microseconds = [](const char* by, double bound_us) {
    AssignInstance instance = four();
    instance.strategies.pop_back();
    instance.schemes[0].linear_ms /= 1000;
    instance.schemes[0].fixed_ms /= 1000;
    return first_rule({bound_us / 1000, {{"flat", by, {}}}}, instance);
  };
  EXPECT_EQ(in_microseconds("longest", 69.9), "");
  EXPECT_EQ(in_microseconds("longest", 70.1), "certificate_closed");
  EXPECT_EQ(in_microseconds("pigeonhole", 139.9), "");
  EXPECT_EQ(in_microseconds("pigeonhole", 140.1), "certificate_closed");
  EXPECT_EQ(in_microseconds("rows", 139.9), "");
  EXPECT_EQ(in_microseconds("rows", 140.1), "certificate_closed");
  // Row constraints raise the number of rows: four is not a multiple of three, so six are needed.
  AssignInstance instance = four();
  instance.constraints.rows_multiple_of = 3;
  EXPECT_EQ(first_rule({149.9, {{"flat", "rows", {}}, {"deep", "rows", {}}}}, instance), "");
}

TEST(AssignCertificate, SequencesMustCostMoreThanReplicasMaySpend) {
  EXPECT_EQ(with([](auto& c) { c.bound_ms = 140.01; }), "certificate_prices");
  // With half the price in two rows or more, four sequences cost no more than two replicas may
  // spend.
  EXPECT_EQ(with([](auto& c) { pattern(c, 1).parts[0].price = 0.5; }), "certificate_prices");
  EXPECT_EQ(with([](auto& c) { pattern(c, 0).time = 3; }), "certificate_prices");
  EXPECT_EQ(with([](auto& c) { pattern(c, 0).parts.clear(); }), "certificate_prices");
  // With a thousand steps the price is nearly proportional, so halves of a row count as halves.
  EXPECT_EQ(with([](auto& c) { pattern(c, 1).parts[0].steps = 1000; }), "certificate_prices");
  // No sequence fits in 69 ms, so no price is needed.
  EXPECT_EQ(with([](auto& c) {
              c.bound_ms = 69;
              pattern(c, 0).parts.clear();
              pattern(c, 1).parts.clear();
            }),
            "");
}

// Two pipelines "two", and a sequence of 40 tokens on one of them. That pipeline has Z - 70 ms of
// work in two rows, the other has 3/4 (Z - 40) ms in three. Both together can do the 160 ms of all
// sequences from 148.57 ms on; two pipelines of the second kind can do them from 146.67 ms on.
AssignInstance long_and_short() {
  AssignInstance instance = four();
  instance.strategies = {{.name = "deep", .replicas = {0, 2}}};
  instance.lengths = {40, 20, 20, 20, 20, 20, 20};
  return instance;
}

AssignCertificate by_bands() {
  const BandStep leaf{.work_prices = {1, 1}, .token_prices = {0, 0}};
  return {.bound_ms = 148.5,
          .strategies = {{.strategy = "deep",
                          .by = "bands",
                          .bands = {{.scheme = "two", .above = 20}, leaf, leaf}}}};
}

TEST(AssignCertificate, BandsOfTheLongestSequence) {
  const auto with_bands = [](const std::function<void(std::vector<BandStep>&)>& change) {
    AssignCertificate c = by_bands();
    change(c.strategies[0].bands);
    return first_rule(c, long_and_short());
  };
  EXPECT_EQ(with_bands([](auto&) {}), "");
  AssignCertificate c = by_bands();
  c.bound_ms = 148.6;
  EXPECT_EQ(first_rule(c, long_and_short()), "certificate_prices");
  EXPECT_EQ(with_bands([](auto& b) { b = {b[1]}; }), "certificate_prices");
  EXPECT_EQ(with_bands([](auto& b) { b[0].replica = 1; }), "certificate_prices");
  EXPECT_EQ(with_bands([](auto& b) { b[0].above = 19; }), "certificate_prices");
  EXPECT_EQ(with_bands([](auto& b) { b[2].work_prices = {1, 0}; }), "certificate_prices");
  EXPECT_EQ(with_bands([](auto& b) { b[2].token_prices = {1, 1}; }), "certificate_prices");
  for (const double bad : {kNan, kInf, -1.0}) {
    EXPECT_EQ(with_bands([&](auto& b) { b[2].work_prices[0] = bad; }), "certificate_number");
    EXPECT_EQ(with_bands([&](auto& b) { b[1].token_prices[1] = bad; }), "certificate_number");
  }
  const std::string rule = "certificate_bands";
  EXPECT_EQ(with_bands([](auto& b) { b.clear(); }), rule);
  EXPECT_EQ(with_bands([](auto& b) { b.pop_back(); }), rule);
  EXPECT_EQ(with_bands([](auto& b) { b.push_back(b.back()); }), rule);
  EXPECT_EQ(with_bands([](auto& b) { b[0].replica = 2; }), rule);
  EXPECT_EQ(with_bands([](auto& b) { b[0].scheme = "one"; }), rule);
  EXPECT_EQ(with_bands([](auto& b) { b[2].work_prices.pop_back(); }), rule);
  EXPECT_EQ(with_bands([](auto& b) { b[2].token_prices.push_back(0); }), rule);
  EXPECT_EQ(with_bands([](auto& b) { b.insert(b.begin(), 1100, b[0]); }), rule);
  AssignInstance many = long_and_short();
  many.strategies[0].replicas = {0, 65};
  EXPECT_EQ(first_rule(by_bands(), many), rule);
}

// One price per length: within 140 ms no replica holds two of the four sequences. Knapsacks round
// amounts down to 1/2048 of their room, so the proof reaches slightly less.
AssignCertificate by_length() {
  return {.bound_ms = 139.5,
          .strategies = {{.strategy = "flat", .by = "configurations", .prices = {{60, 1}}},
                         {"deep", "rows", {}}}};
}

TEST(AssignCertificate, PricesByLength) {
  const auto with_prices = [](const std::function<void(AssignCertificate&)>& change) {
    AssignCertificate c = by_length();
    change(c);
    return first_rule(c);
  };
  EXPECT_EQ(with_prices([](auto&) {}), "");
  EXPECT_EQ(with_prices([](auto& c) { c.strategies[0].prices[0].price = 1e-6; }), "");
  EXPECT_EQ(with_prices([](auto& c) { c.bound_ms = 140.1; }), "certificate_prices");
  EXPECT_EQ(with_prices([](auto& c) { c.strategies[0].prices[0].price = 0; }),
            "certificate_prices");
  EXPECT_EQ(with_prices([](auto& c) { c.strategies[0].prices.clear(); }), "certificate_prices");
  for (const double bad : {kNan, kInf, -1.0}) {
    EXPECT_EQ(with_prices([&](auto& c) { c.strategies[0].prices[0].price = bad; }),
              "certificate_number");
  }
  const std::string rule = "certificate_lengths";
  EXPECT_EQ(with_prices([](auto& c) { c.strategies[0].prices[0].tokens = 61; }), rule);
  EXPECT_EQ(with_prices([](auto& c) { c.strategies[0].prices.push_back({60, 1}); }), rule);
  EXPECT_EQ(with_prices([](auto& c) { c.strategies[0].prices.push_back({50, 1}); }), rule);
  // Knapsacks of more sequences than that would take too long.
  AssignInstance many = four();
  many.lengths.assign(513, 60);
  EXPECT_EQ(first_rule(by_length(), many), rule);
}

// Rows of 100 tokens and sequences of 40 tokens: the work of a pipeline has room for three
// sequences within 175 ms, while the only row in that time has room for two.
TEST(AssignCertificate, TokensLimitWhatARowIsPaidFor) {
  AssignInstance instance = four();
  instance.schemes[0].fixed_ms = 50;
  instance.strategies = {{.name = "flat", .replicas = {2, 0}}};
  instance.lengths.assign(5, 40);
  AssignCertificate c = by_length();
  c.strategies = {{.strategy = "flat", .by = "configurations", .prices = {{40, 1}}}};
  c.bound_ms = 175;
  EXPECT_EQ(first_rule(c, instance), "");
  instance.schemes[0].max_tokens = 120;
  EXPECT_EQ(first_rule(c, instance), "certificate_prices");
}

// The longest sequence of a pipeline counts in every stage: 60 and 40 tokens in two rows take 120
// ms and the bubble of 70 ms, 40 and 40 tokens take 50 ms less.
TEST(AssignCertificate, TheLongestSequenceLessensTheWorkOfAPipeline) {
  AssignInstance instance = four();
  instance.strategies = {{.name = "deep", .replicas = {0, 2}}};
  instance.schemes[1].max_tokens = 60;
  const auto rule_of = [&](std::vector<Tokens> lengths, Ms bound) {
    instance.lengths = std::move(lengths);
    AssignCertificate c{.bound_ms = bound};
    c.strategies = {{.strategy = "deep", .by = "configurations", .prices = {{40, 1}}}};
    if (instance.lengths.front() == 60)
      c.strategies[0].prices.insert(c.strategies[0].prices.begin(), {60, 1});
    return first_rule(c, instance);
  };
  EXPECT_EQ(rule_of({60, 60, 40}, 189), "");
  EXPECT_EQ(rule_of({60, 60, 40}, 191), "certificate_prices");
  EXPECT_EQ(rule_of({40, 40, 40}, 149), "");
  EXPECT_EQ(rule_of({40, 40, 40}, 151), "certificate_prices");
}

// Only one pipeline holds 60 tokens, so one of its replicas has a pattern with them: 60 and 40
// tokens take 190 ms there. With a single replica other patterns do not matter.
TEST(AssignCertificate, OneReplicaHasTheLongestSequence) {
  const auto prices = [](Tokens longest, double time) {
    return RowPattern{.least_rows = 1, .longest = longest, .time = time};
  };
  const auto rule_of = [&](int replicas, Tokens other_cap, Ms bound) {
    AssignInstance instance = four();
    instance.devices = 3;
    instance.schemes[0].fixed_ms = 200;  // a row of that scheme takes longer than the bound
    instance.schemes[0].max_tokens = other_cap;
    instance.strategies = {{.name = "mixed", .replicas = {1, replicas}}};
    instance.lengths = {60, 40};
    const SchemePrices other{"one", {prices(60, 1)}};
    const SchemePrices own{"two", {prices(40, 5), prices(60, 1)}};
    return first_rule({bound, {{"mixed", "patterns", {other, own}}}}, instance);
  };
  EXPECT_EQ(rule_of(1, 50, 189.9), "");
  EXPECT_EQ(rule_of(1, 50, 190.1), "certificate_prices");
  EXPECT_EQ(rule_of(1, 100, 189.9), "certificate_prices");
  EXPECT_EQ(rule_of(2, 50, 189.9), "certificate_prices");
}

TEST(AssignCertificate, AStepWithoutSequencesHasOnlyZero) {
  AssignInstance instance = four();
  instance.lengths.clear();
  AssignCertificate c = good();
  EXPECT_EQ(first_rule(c, instance), "certificate_closed");
}

// Corruptions that make a tight proof claim more, or omit a part, must be refused.
TEST(AssignCertificate, RandomCorruptionsAreRefused) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    AssignCertificate c = good();
    const double more = 1 + 1e-4 * static_cast<double>(1 + draw(random, 10000));
    RowPattern& any = pattern(c, draw(random, 2));
    switch (draw(random, 10)) {
      case 0:
        c.bound_ms *= more;
        break;
      case 1:
        any.parts[0].price /= 1 + more;
        break;
      case 2:
        any.time += 2 * more;  // every replica spends it, and no sequence brings it in
        any.parts.clear();
        break;
      case 3:
        any.least_rows += 1 + static_cast<std::int64_t>(draw(random, 5));
        break;
      case 4:
        any.longest -= 1 + static_cast<Tokens>(draw(random, 50));
        break;
      case 5:
        any.parts[0].of_rows = !any.parts[0].of_rows;
        if (&any == &pattern(c, 0)) any.parts[0].price = 0;
        break;
      case 6:
        c.strategies.erase(c.strategies.begin() + static_cast<std::ptrdiff_t>(draw(random, 2)));
        break;
      case 7:
        c.strategies[0].by = draw(random, 2) == 0 ? "longest" : "";
        break;
      case 8:
        any.parts[0].price = -more;
        break;
      default:
        any.most_rows = any.most_rows == 0 ? 100 : 0;
        break;
    }
    EXPECT_NE(first_rule(c), "");
  }
}

TEST(AssignCertificate, IsReadAsItWasWritten) {
  AssignCertificate c = good();
  pattern(c, 0).time = 0.1;
  pattern(c, 1).tokens = 1e-300;
  c.strategies.push_back(by_length().strategies[0]);
  JsonWriter json;
  json.begin_object();
  json.key("certificate");
  write_json(json, c);
  json.end_object();
  const std::string text = json.take();
  const auto read = read_assign_certificate(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, c);
  EXPECT_FALSE(*read_assign_certificate("{\"certificate\": null}"));
  for (const auto& [from, to] :
       {std::pair("\"rows\"", "\"cows\""), std::pair("0.1", "-0.1"),
        std::pair("\"steps\": 1", "\"steps\": 1.5"), std::pair("\"strategies\"", "\"strategy\"")}) {
    std::string changed = text;
    const std::size_t place = changed.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    changed.replace(place, std::string(from).size(), to);
    EXPECT_FALSE(read_assign_certificate(changed)) << to;
  }
}

}  // namespace
}  // namespace stowage::assign_certificate_test
