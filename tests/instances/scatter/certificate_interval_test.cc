// What the intervals of a leaf of a proof may be worth.
#include <gtest/gtest.h>

#include <string>

#include "instances/scatter/certificate.h"
#include "tests/instances/scatter/small_proofs.h"

namespace stowage::scatter_certificate_test {
namespace {

TEST(Certificate, PackingFunctionsAreDualFeasible) {
  const auto with = [&](const PackingPrice& packing, std::size_t interval) {
    ScatterCertificate c = area_certificate();
    c.nodes[0].leaf.intervals[interval].degrees[0].packing = {packing};
    return first_rule(c);
  };
  EXPECT_EQ(with({.resource = Resource::tokens, .steps = 1}, 0), "");
  EXPECT_EQ(with({.resource = Resource::tokens, .threshold = 50}, 0), "");
  EXPECT_EQ(with({.resource = Resource::tokens, .threshold = 50.5}, 0), "certificate_packing");
  // price of neither resource
  EXPECT_EQ(with({.resource = Resource::tokens}, 0), "certificate_packing");
  EXPECT_EQ(with({.resource = Resource::tokens, .steps = -1}, 0), "certificate_packing");
  EXPECT_EQ(with({.resource = Resource::tokens, .steps = 1, .threshold = kNan}, 0),
            "certificate_packing");
  EXPECT_EQ(with({.resource = Resource::time, .steps = 2}, 0), "");
  EXPECT_EQ(with({.resource = Resource::time, .steps = 2}, 1), "certificate_packing");  // endless
}

// 60 and 60 tokens share no group of 100: two groups, or degree 2. With steps = 1 each counts as
// the whole of a group of degree 1.
TEST(Certificate, PackingPricesCount) {
  ScatterCertificate c = area_certificate();
  c.nodes[0].leaf.intervals[0].degrees[0] = {
      .packing = {{.resource = Resource::tokens, .steps = 1, .price = 1}}};
  // Without this change 30 tokens would pay something on one device.
  EXPECT_EQ(first_rule(c), "certificate_interval");
  c.nodes[0].leaf.values = {1, 0};
  c.nodes[0].leaf.micro_batch = 7.9;
  c.bound_ms = 2 + 7.9 - 1e-6;
  c.nodes[0].leaf.intervals[0].degrees[1] = {.time = 0};
  EXPECT_EQ(first_rule(c), "certificate_interval");  // no payment on two devices
  c.nodes[0].leaf.intervals[0].degrees[1] = {.tokens = 0.01};
  c.nodes[0].leaf.values = {0.6, 0};
  c.bound_ms = 1.2 + 7.9 - 1e-6;
  EXPECT_EQ(first_rule(c), "");
}

// Tests the worth of one packing price of groups of one device to a sequence of 60 and of 30
// tokens: exactly that value is accepted, and no more. The rest of the interval is paid to the last
// ms.
TEST(Certificate, PackingPricesPayWhatTheyAreWorth) {
  const auto with = [](const PackingPrice& packing, std::size_t sort, double value) {
    ScatterCertificate c = area_certificate();
    CertificateLeaf& leaf = c.nodes[0].leaf;
    leaf.intervals[0].degrees[0] = {.packing = {packing}};
    leaf.intervals[0].degrees[1] = {.tokens = 0.02};  // 2 ms on each device
    leaf.micro_batch = (10 - 2 * 2) * (1 - 1e-8);
    leaf.values = {0, 0};
    leaf.values[sort] = value;
    c.bound_ms = 1;
    return first_rule(c);
  };
  const auto expect_worth = [&](const PackingPrice& packing, double of_60, double of_30) {
    SCOPED_TRACE(std::to_string(packing.steps) + " steps, threshold " +
                 std::to_string(packing.threshold));
    const double worth[] = {of_60, of_30};
    for (std::size_t sort = 0; sort < 2; ++sort) {
      EXPECT_EQ(with(packing, sort, worth[sort] * (1 - 1e-8)), "") << sort;
      EXPECT_EQ(with(packing, sort, worth[sort] + 1e-3), "certificate_interval") << sort;
    }
  };
  const auto tokens = [](std::int64_t steps, double threshold) {
    return PackingPrice{
        .resource = Resource::tokens, .steps = steps, .threshold = threshold, .price = 1};
  };
  expect_worth(tokens(1, 0), 1, 0);
  expect_worth(tokens(2, 0), 1.0 / 2, 0);
  expect_worth(tokens(3, 0), 2.0 / 3, 1.0 / 3);
  expect_worth(tokens(9, 0), 5.0 / 9, 2.0 / 9);
  expect_worth(tokens(0, 50), 1, 0);
  expect_worth(tokens(0, 41), 1, 0);
  expect_worth(tokens(0, 40), 0.6, 0);
  expect_worth(tokens(0, 30), 0.6, 0.3);
  // Groups of the interval have 990 ms beyond their overhead.
  expect_worth({.resource = Resource::time, .steps = 20, .price = 1}, 1.0 / 20, 0);
  expect_worth({.resource = Resource::time, .steps = 40, .price = 1}, 2.0 / 40, 1.0 / 40);
  expect_worth({.resource = Resource::time, .threshold = 59, .price = 1}, 60.0 / 990, 0);
  expect_worth({.resource = Resource::time, .threshold = 61, .price = 1}, 0, 0);
}

TEST(Certificate, NoIntervalIsWorthMoreThanItLasts) {
  ScatterCertificate c = area_certificate();
  c.nodes[0].leaf.values[0] *= 1.0001;
  EXPECT_EQ(first_rule(c), "certificate_interval");
  c = area_certificate();
  c.nodes[0].leaf.micro_batch = 10.0001;
  EXPECT_EQ(first_rule(c), "certificate_interval");
  c = area_certificate();
  c.nodes[0].leaf.intervals[0].degrees[1].time *= 1.0001;
  EXPECT_EQ(first_rule(c), "certificate_interval");
  c = area_certificate();
  c.nodes[0].leaf.intervals[1].degrees[0].time = 1e-9;  // without end
  EXPECT_EQ(first_rule(c), "certificate_interval");
}

TEST(Certificate, ConditionsPayWhereTheyApply) {
  ScatterCertificate c = tree_certificate();
  c.nodes[2].leaf.conditions[0] = 1;  // at least two of 70 ms: worth 2 ms, paid from 10 ms on
  EXPECT_EQ(first_rule(c), "certificate_interval");
  c.nodes[2].leaf.micro_batch -= 1.001;
  EXPECT_EQ(first_rule(c), "");
  c.nodes[1].leaf.conditions[0] = 1;  // at most one: costs 1 ms
  EXPECT_EQ(first_rule(c), "certificate_bound");
  c.bound_ms -= 1.001;
  EXPECT_EQ(first_rule(c), "");
}

TEST(Certificate, ClaimsNoMoreThanItProves) {
  ScatterCertificate c = area_certificate();
  c.bound_ms = 85.001;
  EXPECT_EQ(first_rule(c), "certificate_bound");
  c.bound_ms = 1;
  EXPECT_EQ(first_rule(c), "");
}

// The checker lowers the bounds of leaves and raises the worth of intervals by 1e-12 of their
// value.
TEST(Certificate, SumsAreRoundedTowardsLess) {
  ScatterCertificate c = area_certificate();
  CertificateLeaf& leaf = c.nodes[0].leaf;
  leaf.values = {20, 10};
  leaf.micro_batch = 8;
  c.bound_ms = 58 - 30e-12;
  EXPECT_EQ(first_rule(c), "certificate_bound");
  c.bound_ms = 58 - 90e-12;
  EXPECT_EQ(first_rule(c), "");
  const auto with_worth = [&](double worth) {  // worth of the interval from 10 ms on
    leaf = area_leaf();
    leaf.values = {0, 0};
    leaf.intervals[0].degrees = {{}, {}};
    leaf.micro_batch = worth;
    c.bound_ms = 1;
    return first_rule(c);
  };
  EXPECT_EQ(with_worth(10), "certificate_interval");
  EXPECT_EQ(with_worth(10 - 5e-12), "certificate_interval");
  EXPECT_EQ(with_worth(10 - 15e-12), "");
}

}  // namespace
}  // namespace stowage::scatter_certificate_test
