// What a NaN or an infinity in an input of attention may touch: the elements of the results whose
// formula contains it, and nothing else.
//
// The reference finds the elements: those that become NaN if the input does. The other elements
// must keep their bits. Where the reference has a finite value, as the output beside a logit of
// -inf, so must the kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "kernels/attention/reference.h"
#include "tests/kernels/attention_arrays.h"
#include "tests/long_run.h"

namespace stowage::kernels::attention_exactness_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// The results of a run, as doubles: o, lse, dq, dk, dv.
using Results = std::vector<std::vector<double>>;

std::vector<std::vector<float>> computed(AttentionArrays& run) {
  run.forward();
  run.backward();
  const auto logarithms = run.lse.begin() + run.shape.logarithms();
  return {run.o, {run.lse.begin(), logarithms}, run.dq, run.dk, run.dv};
}

Results defined(const AttentionArrays& run) {
  const auto q = widen(run.q), k = widen(run.k), v = widen(run.v), up = widen(run.upstream);
  AttentionOutput out = reference_forward(run.shape, q, k, v);
  AttentionGradients grad = reference_backward(run.shape, q, k, v, up);
  return {out.o, out.lse, grad.dq, grad.dk, grad.dv};
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

struct Counts {
  std::int64_t touched = 0, kept = 0, finite = 0;
};

// Puts `bad` at one place of an input and checks every element of the results.
void expect_only_its_own(AttentionArrays& run, std::vector<float>& input, std::size_t place,
                         float bad, const std::vector<std::vector<float>>& clean, Counts& counts) {
  const float was = input[place];
  input[place] = kNan;
  const Results touched = defined(run);
  input[place] = bad;
  const Results want = std::isnan(bad) ? touched : defined(run);
  const std::vector<std::vector<float>> have = computed(run);
  input[place] = was;
  constexpr const char* kNames[] = {"o", "lse", "dq", "dk", "dv"};
  for (std::size_t t = 0; t < have.size(); ++t) {
    for (std::size_t i = 0; i < have[t].size(); ++i) {
      const auto where = [&] {
        return testing::Message() << kNames[t] << '[' << i << "] is " << have[t][i] << ", was "
                                  << clean[t][i] << ", reference " << want[t][i];
      };
      if (!std::isnan(touched[t][i])) {
        ++counts.kept;
        ASSERT_TRUE(same_bits(have[t][i], clean[t][i])) << where();
      } else if (std::isnan(bad)) {
        ++counts.touched;
        ASSERT_TRUE(std::isnan(have[t][i])) << where();
      } else if (std::isfinite(want[t][i])) {
        ++counts.finite;
        ASSERT_NEAR(have[t][i], want[t][i], 1e-5 * std::max(1.0, std::abs(want[t][i]))) << where();
      } else {
        ++counts.touched;
        ASSERT_FALSE(std::isfinite(have[t][i])) << where();
      }
    }
  }
}

// Every place of every input if `places` is 0, else that many places of each.
Counts expect_exact(const AttentionCase& c, int places) {
  Counts counts;
  AttentionArrays run(c);
  const std::vector<std::vector<float>> clean = computed(run);
  std::mt19937_64 random(3);
  for (auto* input : {&run.q, &run.k, &run.v, &run.upstream}) {
    for (const float bad : {kNan, kInf, -kInf}) {
      const int count = places == 0 ? static_cast<int>(input->size()) : places;
      for (int n = 0; n < count; ++n) {
        const std::size_t place = places == 0 ? static_cast<std::size_t>(n)
                                              : static_cast<std::size_t>(random() % input->size());
        SCOPED_TRACE(testing::Message()
                     << (input == &run.q   ? "q"
                         : input == &run.k ? "k"
                         : input == &run.v ? "v"
                                           : "upstream")
                     << '[' << place << "] = " << bad << ", window " << c.window);
        expect_only_its_own(run, *input, place, bad, clean, counts);
        if (testing::Test::HasFatalFailure()) return counts;
      }
    }
  }
  return counts;
}

TEST(AttentionExactness, EveryPlaceOfShortSequences) {
  for (const int window : {0, 1, 4}) {
    const Counts counts = expect_exact({.heads = 2,
                                        .kv_heads = 1,
                                        .dim = 3,
                                        .lq = {kSanitized ? 5 : 19, 6},
                                        .value_dim = 2,
                                        .window = window},
                                       0);
    EXPECT_GT(counts.kept, 10 * counts.touched / 4);
    EXPECT_GT(counts.touched, 1000);
    EXPECT_GT(counts.finite, 100);
  }
}

// A few queries of many heads, which the kernel for decoding computes, and queries without keys.
TEST(AttentionExactness, FewQueriesAndQueriesThatSeeNoKey) {
  for (const int window : {0, 5, 20}) {
    expect_exact(
        {.heads = 4, .kv_heads = 2, .dim = 4, .lq = {3, 1}, .lk = {37, 9}, .window = window},
        kSanitized ? 3 : 30);
    expect_exact(
        {.heads = 2, .kv_heads = 2, .dim = 4, .lq = {7, 12}, .lk = {3, 0}, .window = window},
        kSanitized ? 3 : 12);
  }
}

// Several tiles of keys, blocks of queries and panels; head widths with and without a rest.
TEST(AttentionExactness, PlacesOfLongerSequences) {
  const int places = in_long_run(kSanitized ? 1 : 5, 60);
  for (const int dim : {16, 20, 130}) {
    for (const int window : {0, 9, 70, 150}) {
      expect_exact({.heads = 1, .kv_heads = 1, .dim = dim, .lq = {210, 33}, .window = window},
                   places);
    }
  }
  expect_exact({.heads = 2, .kv_heads = 1, .dim = 16, .lq = {150}, .soft_cap = 5, .sinks = true},
               places);
}

}  // namespace
}  // namespace stowage::kernels::attention_exactness_test
