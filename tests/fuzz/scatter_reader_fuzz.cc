// Feeds arbitrary bytes to the scatter readers, and whatever they accept to the verifier.
//
// An input is an instance, the line "---", and a plan. Nothing may crash; what was read must come
// back the same after writing and reading it again; an accepted instance must be safe to compute
// with; and the verifier must have an answer for every pair.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "instances/cost_model.h"
#include "instances/json.h"
#include "instances/verify.h"

namespace stowage {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Errors are values that can be shown; there is at least one.
template <class T>
void check_errors(const Result<T>& result) {
  require(!result.errors().empty(), "a failed read names an error");
  for (const InputError& error : result.errors()) {
    require(!error.code.empty() && !error.message.empty(), "an error has a code and a message");
    require(!to_string(error).empty(), "an error can be shown");
  }
}

void check_instance(const ScatterInstance& instance) {
  const std::string text = write_scatter_instance(instance);
  const auto again = read_scatter_instance(text);
  require(again && *again == instance, "a written instance reads back the same");
  require(instance_hash(*again) == instance_hash(instance), "and has the same hash");
  require(padded_lengths(instance).size() == instance.lengths.size(), "every length is padded");
  const auto nowhere = unplaceable_sequences(instance);
  require(nowhere.size() <= instance.lengths.size(), "only sequences are unplaceable");
  for (const int degree : instance.cluster.degrees) {
    require(group_capacity(instance, degree) >= 0, "capacities are not negative");
    for (const Tokens length : padded_lengths(instance)) {
      const Ms ms = group_overhead_ms(instance, degree) + sequence_ms(instance, length, degree);
      require(ms >= 0, "times are not negative");
    }
  }
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  const std::string text(data, data + size);
  const std::string_view all = text;
  constexpr std::string_view kCut = "\n---\n";
  const std::size_t cut = all.find(kCut);

  const auto instance = read_scatter_instance(all.substr(0, cut));
  if (instance) {
    check_instance(*instance);
  } else {
    check_errors(instance);
  }
  const auto plan =
      read_scatter_plan(cut == std::string_view::npos ? all : all.substr(cut + kCut.size()));
  if (!plan) {
    check_errors(plan);
    return 0;
  }
  const auto again = read_scatter_plan(write_scatter_plan(*plan));
  require(again && *again == *plan, "a written plan reads back the same");
  if (instance) {
    for (const Violation& violation : verify(*instance, *plan)) {
      require(!to_string(violation).empty(), "a violation can be shown");
    }
  }
  return 0;
}
