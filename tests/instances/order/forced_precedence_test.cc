// Forced precedences in a certificate, by hand: the requirements of each, and their largest number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "instances/order/certificate.h"
#include "instances/order/verify/exhaustive_check.h"
#include "tests/two_branches.h"

namespace stowage::order_forced_precedence_test {
namespace {

using ::testing::IsEmpty;

TEST(ForcedPrecedence, NeedsTheBoundOfWhoeverBreaksIt) {
  const OrderInstance graph = two_branches();
  const auto rules = [&](const OrderCertificate& certificate) {
    std::vector<std::string> broken;
    for (const Violation& violation : check_certificate(graph, certificate).violations) {
      broken.push_back(violation.rule);
    }
    return broken;
  };
  OrderCertificate certificate{.bound_bytes = 29, .op = 1, .tensors = {{1, 1, 9}}};
  EXPECT_THAT(rules(certificate), IsEmpty());
  // If 2 has run before 1, 1 needs 9 + 1 + 20; if not, at least 38. So 2 runs first in every order
  // below 38, and then 0 needs 9 + 9 + 20 at its step.
  certificate = {.bound_bytes = 38,
                 .forced = {{.first = 2, .second = 1, .op = 1}},
                 .op = 0,
                 .tensors = {{0, 0, 9}, {1, 1, 9}}};
  EXPECT_THAT(rules(certificate), IsEmpty());
  EXPECT_EQ(*least_peak(graph), 38);
  const std::vector<std::string> forced = {"certificate_forced"};
  const auto with = [&](auto change) {
    OrderCertificate changed = certificate;
    change(changed);
    return rules(changed);
  };
  EXPECT_EQ(with([](auto& c) { c.forced[0] = {.first = 1, .second = 2, .op = 1}; }), forced);
  EXPECT_EQ(with([](auto& c) { c.forced[0].op = 0; }), forced);
  EXPECT_EQ(with([](auto& c) { c.forced[0].first = -1; }), forced);
  EXPECT_EQ(with([](auto& c) { c.forced[0].second = 5; }), forced);
  EXPECT_EQ(with([](auto& c) { c.forced[0] = {.first = 0, .second = 2, .op = 2}; }), forced);
  // already known at that point
  EXPECT_EQ(with([](auto& c) { c.forced.push_back(c.forced[0]); }), forced);
  EXPECT_EQ(with([](auto& c) { c.bound_bytes = 39; }), forced);
  // The check of each precedence needs a cut, so their number is limited.
  EXPECT_EQ(with([&](auto& c) {
              c.forced.assign(static_cast<std::size_t>(most_forced_of(graph)) + 1, c.forced[0]);
            }),
            forced);
  // Without the list the flow ends at an operator that may have run.
  EXPECT_EQ(with([](auto& c) { c.forced.clear(); }),
            (std::vector<std::string>{"certificate_conservation", "certificate_bound"}));
}

}  // namespace
}  // namespace stowage::order_forced_precedence_test
