// What the prices of a proof may be: by bands and lengths, for tokens, and in a pipeline.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "instances/assign/certificate.h"
#include "tests/instances/assign/small_proofs.h"

namespace stowage::assign_certificate_test {
namespace {

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
  EXPECT_EQ(check_certificate(many, by_length()).violations.front().where,
            "/strategies/0/prices/0");
}

// Two rows of a replica take 20 ms. If the bound is lower than 20 ms by more than rounding, a
// replica has one row of 10 ms, and the prices of two rows do not matter. In one row six sequences
// of 4 ms cost 0.4 each.
TEST(AssignCertificate, RowsThatTakeTooLongAreNotPaidFor) {
  AssignInstance flat = four();
  flat.strategies.pop_back();
  flat.lengths.assign(6, 4);
  const SchemePrices prices{"one",
                            {{.least_rows = 1, .most_rows = 1, .longest = 4, .time = 1},
                             {.least_rows = 2, .longest = 4, .tokens = 9}}};
  const auto rule_of = [&](Ms bound) {
    return first_rule({bound, {{"flat", "patterns", {prices}}}}, flat);
  };
  EXPECT_EQ(rule_of(20 - 100e-9), "");
  EXPECT_EQ(rule_of(20 - 10e-9), "certificate_prices");
}

// The checker raises the work of replicas and the prices that they spend by 1e-12 of their value,
// and lowers the prices that sequences pay as much. With exact sums the bounds of the proofs below
// would be 130 ms, 260 / 1.75 ms and 70 ms.
TEST(AssignCertificate, SumsAreRoundedTowardsLess) {
  AssignInstance flat = four();
  flat.strategies.pop_back();
  const SchemePrices by_time{"one", {{.least_rows = 1, .longest = 60, .time = 1}}};
  const auto rule_of_patterns = [&](Ms bound) {
    return first_rule({bound, {{"flat", "patterns", {by_time}}}}, flat);
  };
  EXPECT_EQ(rule_of_patterns(130 - 240e-12), "certificate_prices");
  EXPECT_EQ(rule_of_patterns(130 - 480e-12), "");
  const auto rule_of_bands = [](Ms less) {
    AssignCertificate c = by_bands();
    c.bound_ms = 260 / 1.75 - less;
    return first_rule(c, long_and_short());
  };
  EXPECT_EQ(rule_of_bands(180e-12), "certificate_prices");
  EXPECT_EQ(rule_of_bands(360e-12), "");
  const auto rule_of_closed = [&](Ms bound) {
    return first_rule({bound, {{"flat", "longest", {}}}}, flat);
  };
  EXPECT_EQ(rule_of_closed(70 - 35e-12), "certificate_closed");
  EXPECT_EQ(rule_of_closed(70 - 140e-12), "");
}

// Sequences without work pay nothing for time, and so bound nothing by it.
TEST(AssignCertificate, SequencesWithoutWorkPayForNoTime) {
  AssignInstance instance = four();
  instance.schemes[0].linear_ms = 0;
  instance.strategies.pop_back();
  const SchemePrices prices{"one", {{.least_rows = 1, .longest = 60, .time = 1}}};
  EXPECT_EQ(first_rule({1000, {{"flat", "patterns", {prices}}}}, instance), "certificate_prices");
}

// Rows beyond ten thousand are paid for as well, since a replica may have as many rows as it has
// sequences.
TEST(AssignCertificate, RowsWithoutEndAreAllPaidFor) {
  AssignInstance many = four();
  many.schemes[0].fixed_ms = 0;
  many.strategies = {{.name = "flat", .replicas = {1, 0}}};
  many.lengths.assign(20'000, 100);
  const BandStep leaf{.work_prices = {0}, .token_prices = {1}};
  EXPECT_EQ(first_rule({3e6, {{.strategy = "flat", .by = "bands", .bands = {leaf}}}}, many),
            "certificate_prices");
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

// A row holds a sequence of as many tokens as it has: each replica holds one of 100 within 150 ms.
TEST(AssignCertificate, ASequenceMayFillARow) {
  AssignInstance instance = four();
  instance.schemes[0].fixed_ms = 50;
  instance.strategies.pop_back();
  instance.lengths.assign(2, 100);
  const auto rule_of = [&](Ms bound) {
    return first_rule({bound, {{.strategy = "flat", .by = "configurations", .prices = {{100, 1}}}}},
                      instance);
  };
  EXPECT_EQ(rule_of(149), "");
  EXPECT_EQ(rule_of(175), "certificate_prices");
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

}  // namespace
}  // namespace stowage::assign_certificate_test
