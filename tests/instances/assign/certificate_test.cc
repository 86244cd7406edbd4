// The checker of assign certificates: every rule with a case that passes and one that fails, and
// two hundred random corruptions of good certificates, all refused.
#include "instances/assign/certificate.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "instances/assign/json/embedded_documents.h"
#include "instances/assign/json/json.h"
#include "instances/numeric/random.h"
#include "tests/instances/assign/small_proofs.h"

namespace stowage::assign_certificate_test {
namespace {

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
  AssignCertificate ends = good();
  patterns(ends).pop_back();
  EXPECT_EQ(check_certificate(four(), ends).violations.front().where,
            "/strategies/0/schemes/0/patterns/0");
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
