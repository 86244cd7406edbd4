// Feeds arbitrary bytes to the reader of assign certificates, and accepted certificates to their
// checker.
//
// An input is an assign instance, the line "---", and an outcome that may hold a certificate. No
// call may crash, and accepted bounds must be true: no plan of a tiny instance is faster than a
// checked bound.
#include <algorithm>
#include <cmath>

#include "instances/assign/certificate.h"
#include "instances/assign/json/json.h"
#include "tests/fuzz/promise.h"
#include "tests/oracles/assign/brute_force.h"

namespace stowage {
namespace {

constexpr std::size_t kSequences = 6;  // the oracle tries every distribution of the sequences
constexpr int kReplicas = 8;
constexpr std::size_t kStrategies = 8;

bool oracle_can(const AssignInstance& instance) {
  for (const Strategy& strategy : instance.strategies) {
    int replicas = 0;
    for (const int count : strategy.replicas) replicas += std::min(count, kReplicas + 1);
    if (replicas > kReplicas) return false;
  }
  return instance.lengths.size() <= kSequences && instance.strategies.size() <= kStrategies;
}

void check_bound(const AssignInstance& instance, Ms bound) {
  require(std::isfinite(bound) && bound >= 0, "a checked bound is a number");
  require(!instance.constraints.chunks || bound == 0, "nothing is proven of chunks");
  if (!oracle_can(instance)) return;
  const auto best = brute_force(instance);
  require(!best || bound <= best->objective_ms * (1 + 1e-9), "no plan is faster than the bound");
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  const std::string text = text_of(data, size);
  const auto [first, second] = two_documents(text);
  const auto certificate = read_assign_certificate(second);
  if (!certificate) {
    check_errors(certificate);
    return 0;
  }
  const auto instance = read_assign_instance(first, "/nonexistent");
  if (!instance || !*certificate) return 0;
  const AssignCertificateCheck check = check_certificate(*instance, **certificate);
  for (const Violation& violation : check.violations) {
    require(!to_string(violation).empty(), "a violation can be shown");
  }
  require(check.violations.empty() || check.bound_ms == 0, "what fails its check proves nothing");
  check_bound(*instance, check.bound_ms);
  return 0;
}
