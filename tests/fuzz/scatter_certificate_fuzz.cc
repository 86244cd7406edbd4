// Feeds arbitrary bytes to the reader of certificates, and accepted certificates to their checker.
//
// An input is a scatter instance, the line "---", and an outcome that may hold a certificate. No
// call may crash, and accepted bounds must be true: no plan of a tiny instance is faster than a
// checked bound.
#include <cmath>

#include "instances/scatter/certificate.h"
#include "instances/scatter/json/json.h"
#include "tests/fuzz/promise.h"
#include "tests/oracles/scatter/brute_force.h"

namespace stowage {
namespace {

constexpr std::size_t kSequences = 6;  // the oracle's work grows like 3^k times the devices
constexpr int kDevices = 8;

void check_bound(const ScatterInstance& instance, Ms bound) {
  require(std::isfinite(bound) && bound >= 0, "a checked bound is a number");
  if (instance.lengths.size() > kSequences || instance.cluster.devices > kDevices) return;
  const auto best = brute_force(instance);
  require(!best || bound <= best->objective_ms * (1 + 1e-9), "no plan is faster than the bound");
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  const std::string text = text_of(data, size);
  const auto [first, second] = two_documents(text);
  const auto certificate = read_scatter_certificate(second);
  if (!certificate) {
    check_errors(certificate);
    return 0;
  }
  const auto instance = read_scatter_instance(first, "/nonexistent");
  if (!instance || !*certificate) return 0;
  const CertificateCheck check = check_certificate(*instance, **certificate);
  for (const Violation& violation : check.violations) {
    require(!to_string(violation).empty(), "a violation can be shown");
  }
  require(check.violations.empty() || check.bound_ms == 0, "what fails its check proves nothing");
  check_bound(*instance, check.bound_ms);
  return 0;
}
