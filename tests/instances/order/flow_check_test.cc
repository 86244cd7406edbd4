// What must run before an operator, and flows along tensors that are not there.
#include "instances/order/verify/flow_check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "instances/order/certificate.h"

namespace stowage::order_flow_check_test {
namespace {

// The first operator of the list runs last: what it writes is not there when the second one runs,
// and no flow along it counts.
TEST(FlowCheck, TensorsOfTheFirstOperatorMayNotBeThereYet) {
  const OrderInstance late{.tensors = {{.size = 4}, {.size = 9, .output = true}},
                           .operators = {{.reads = {0}, .writes = {1}}, {.writes = {0}}}};
  OrderCertificate lie{.bound_bytes = 13, .op = 1};
  lie.tensors = {{1, OrderCertificate::kEnd, 9}};
  const OrderCertificateCheck check = check_certificate(late, lie);
  EXPECT_FALSE(check.violations.empty());
  EXPECT_EQ(check.bound_bytes, 0);
}

// An operator waits for the writer of what it touches and for the last update before it, that of
// the first operator as well; an update waits for the readers since the update before.
TEST(FlowCheck, UpdatesOrderTheOperatorsThatTouchTheirTensor) {
  const OrderInstance graph{
      .tensors = {{.size = 4, .input = true}, {.size = 2, .output = true}},
      .operators = {
          {.updates = {0}}, {.reads = {0}, .writes = {1}}, {.updates = {0}}, {.reads = {0}}}};
  const Precedences precedences(graph);
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (std::int64_t op = 0; op < 4; ++op) {
    for (std::int64_t first = 0; first < 4; ++first) {
      if (precedences.has(op, first)) found.emplace_back(op, first);
    }
  }
  EXPECT_EQ(found,
            (std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 0}, {2, 0}, {2, 1}, {3, 2}}));
}

}  // namespace
}  // namespace stowage::order_flow_check_test
