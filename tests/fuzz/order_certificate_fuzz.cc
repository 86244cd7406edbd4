// Feeds arbitrary bytes to the reader of order certificates, and accepted certificates to their
// checker.
//
// An input is an order instance, the line "---", and an outcome that may hold a certificate. No
// call may crash, and accepted bounds must be true: no order of a tiny graph has a smaller peak
// than a checked bound.
#include <algorithm>

#include "instances/order/certificate.h"
#include "instances/order/json/json.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "tests/fuzz/promise.h"
#include "tests/oracles/order/brute_force.h"

namespace stowage {
namespace {

constexpr std::size_t kOperators = 6;  // the oracle tries every order
constexpr std::size_t kTensors = 20;
constexpr Bytes kAlignment = 4096;  // the oracle examines each byte

void check_bound(const OrderInstance& instance, Bytes bound) {
  require(bound >= 0, "a checked bound is no less than nothing");
  const bool again = std::ranges::any_of(instance.operators, &OrderOperator::recompute);
  require((!again && instance.objective == OrderObjective::peak) || bound == 0,
          "nothing is proven where operators run again, or of the time");
  if (instance.operators.size() > kOperators || instance.tensors.size() > kTensors ||
      instance.alignment > kAlignment) {
    return;
  }
  OrderInstance longest = at_length(instance, longest_of(instance));
  longest.capacity.reset();
  require(bound <= brute_force(longest)->peak_bytes, "no order has a smaller peak");
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  const std::string text = text_of(data, size);
  const auto [first, second] = two_documents(text);
  const auto certificate = read_order_certificate(second);
  if (!certificate) {
    check_errors(certificate);
    return 0;
  }
  const auto instance = read_order_instance(first);
  if (!instance || !*certificate) return 0;
  const OrderCertificateCheck check = check_certificate(*instance, **certificate);
  for (const Violation& violation : check.violations) {
    require(!to_string(violation).empty(), "a violation can be shown");
  }
  require(check.violations.empty() || check.bound_bytes == 0,
          "what fails its check proves nothing");
  check_bound(*instance, check.bound_bytes);
  return 0;
}
