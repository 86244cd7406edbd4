// Proofs of a step of four sequences.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "instances/assign/certificate.h"

namespace stowage::assign_certificate_test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline constexpr double kInf = std::numeric_limits<double>::infinity();

// Strategy "one" has two replicas with one ms per token and 10 ms per row of 100 tokens. Strategy
// "two" has one replica of two stages with the same times. No two of the sequences of 60 tokens
// share a row. So two replicas need two rows each, 140 ms, and one replica with stages needs four
// rows, 280 ms and a bubble of 70 ms.
inline AssignInstance four() {
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
inline SchemePrices one_each(const std::string& scheme) {
  return {scheme,
          {{.least_rows = 1, .most_rows = 1, .longest = 60, .parts = {{.price = 1}}},
           {.least_rows = 2, .longest = 60, .parts = {{.of_rows = false, .price = 1}}}}};
}

inline AssignCertificate good() {
  return {.bound_ms = 139.99,
          .strategies = {{"flat", "patterns", {one_each("one")}}, {"deep", "rows", {}}}};
}

inline std::string first_rule(const AssignCertificate& certificate,
                              const AssignInstance& instance = four()) {
  const AssignCertificateCheck check = check_certificate(instance, certificate);
  if (check.violations.empty()) {
    EXPECT_EQ(check.bound_ms, certificate.bound_ms);
    return "";
  }
  EXPECT_EQ(check.bound_ms, 0);
  EXPECT_THAT(assign_certificate_rules(), testing::Contains(check.violations.front().rule));
  return check.violations.front().rule;
}

inline std::string with(const std::function<void(AssignCertificate&)>& change) {
  AssignCertificate certificate = good();
  change(certificate);
  return first_rule(certificate);
}

inline RowPattern& pattern(AssignCertificate& c, std::size_t k) {
  return c.strategies[0].schemes[0].patterns[k];
}

// One price per length: within 140 ms no replica holds two of the four sequences. Knapsacks round
// amounts down to 1/2048 of their room, so the proof reaches slightly less.
inline AssignCertificate by_length() {
  return {.bound_ms = 139.5,
          .strategies = {{.strategy = "flat", .by = "configurations", .prices = {{60, 1}}},
                         {"deep", "rows", {}}}};
}

}  // namespace stowage::assign_certificate_test
