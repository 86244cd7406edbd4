// Proofs of a step of three sequences.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "instances/scatter/certificate.h"

namespace stowage::scatter_certificate_test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Two devices of 100 tokens, degrees 1 and 2; a sequence of s tokens takes s ms on one device and
// s / 2 on two; a group costs 10 ms. Lengths 60, 60, 30.
inline ScatterInstance three() {
  ScatterInstance instance{.name = "three"};
  instance.cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}};
  instance.model = {.states_mib = 0, .activation_mib_per_token = 1};
  instance.cost = {.linear_ms = 1, .fixed_ms = 10};
  instance.cost.all_to_all.mib_per_ms[2] = 1;
  instance.lengths = {60, 30, 60};
  return instance;
}

// The area bound in prices: a device-ms is worth half a ms, so a group of degree d pays d / 2 per
// ms of its own, and a micro-batch 10 ms: 10 + 150 / 2 = 85 ms. The prices are lowered slightly, as
// the checker requires.
inline CertificateLeaf area_leaf() {
  const double price = 0.5 * (1 - 1e-9);
  CertificateLeaf leaf{.values = {60 * price, 30 * price}, .micro_batch = 10 * (1 - 1e-9)};
  leaf.intervals = {{.from = 10, .degrees = {{.time = price}, {.time = 2 * price}}},
                    {.from = 1000, .degrees = {{}, {}}}};
  // Beyond 1000 ms each device pays 450 ms for its 100 tokens.
  leaf.intervals[1].degrees[0].tokens = 4.5;
  leaf.intervals[1].degrees[1].tokens = 4.5;
  return leaf;
}

inline ScatterCertificate area_certificate() {
  ScatterCertificate certificate{.bound_ms = 85 * (1 - 1e-8)};
  certificate.nodes.push_back({.leaf = area_leaf()});
  return certificate;
}

// One case with at most one micro-batch of 70 ms or more, and one case with at least two.
inline ScatterCertificate tree_certificate() {
  ScatterCertificate certificate{.bound_ms = 85 * (1 - 1e-8)};
  certificate.nodes.push_back({.is_leaf = false, .from = 70, .at_most = 1, .fewer = 1, .more = 2});
  for (int child = 0; child < 2; ++child) {
    certificate.nodes.push_back({.leaf = area_leaf()});
    certificate.nodes.back().leaf.conditions = {0};
  }
  return certificate;
}

inline std::string first_rule(const ScatterCertificate& certificate) {
  const CertificateCheck check = check_certificate(three(), certificate);
  if (!check.violations.empty()) {
    EXPECT_EQ(check.bound_ms, 0);
    return check.violations.front().rule;
  }
  EXPECT_EQ(check.bound_ms, certificate.bound_ms);
  return "";
}

}  // namespace stowage::scatter_certificate_test
