// Feeds arbitrary bytes to the scatter readers, and accepted documents to the verifier.
//
// An input is an instance, the line "---", and a plan. No call may crash, an accepted document must
// be equal after writing and reading it again, computations on an accepted instance must be safe,
// and the verifier must have an answer for every pair.
#include <filesystem>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/json/json.h"
#include "tests/fuzz/promise.h"

namespace stowage {
namespace {

// Lists of lengths are files, and the fuzzer's input must not open any.
const std::filesystem::path kNoFiles = "/nonexistent";

void check_instance(const ScatterInstance& instance) {
  check_rewritten(
      instance, [](const std::string& text) { return read_scatter_instance(text); },
      write_scatter_instance);
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
  const std::string text = text_of(data, size);
  const auto [first, second] = two_documents(text);
  const auto instance = read_scatter_instance(first, kNoFiles);
  if (instance) {
    check_instance(*instance);
  } else {
    check_errors(instance);
  }
  check_plan(instance, read_scatter_plan(second), read_scatter_plan, write_scatter_plan);
  return 0;
}
