// Feeds arbitrary bytes to the reader of streams of training steps.
//
// The last bytes choose how steps are cut, the rest is the stream. Reading must end, and after an
// invalid step the following steps can be read. An accepted step could be written as an instance:
// its lengths are in range, and none exceeds the cut.
#include <fuzzer/FuzzedDataProvider.h>

#include <sstream>

#include "instances/scatter/json/json.h"
#include "instances/scatter/step_stream.h"
#include "tests/fuzz/promise.h"

namespace stowage {
namespace {

ScatterInstance cluster() {
  ScatterInstance instance{.name = "fuzz"};
  instance.cluster = {.devices = 4, .memory_mib = 100, .degrees = {1, 2, 4}};
  instance.model = {.states_mib = 20, .activation_mib_per_token = 1};
  instance.cost = {.quadratic_ms = 0.01, .linear_ms = 0.5, .fixed_ms = 3};
  return instance;
}

void check_step(const ScatterInstance& step, const StepStreamOptions& options) {
  for (const Tokens length : step.lengths) {
    require(length >= 1 && length <= options.clip.value_or(kMaxExact), "lengths are in range");
  }
  if (options.batch_size) {
    const auto count = static_cast<std::int64_t>(step.lengths.size());
    require(count <= *options.batch_size, "a step has at most so many lines");
    require(!options.drop_last || count == *options.batch_size, "and as many if asked for");
  }
  check_rewritten(
      step, [](const std::string& text) { return read_scatter_instance(text); },
      write_scatter_instance);
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  FuzzedDataProvider bytes(data, size);
  StepStreamOptions options;
  // The provider takes these values from the end, so that the stream is the beginning of the input.
  if (bytes.ConsumeBool()) options.batch_size = bytes.ConsumeIntegralInRange<std::int64_t>(1, 9);
  options.drop_last = bytes.ConsumeBool();
  if (bytes.ConsumeBool()) options.clip = bytes.ConsumeIntegralInRange<Tokens>(1, kMaxExact);
  const bool skips = bytes.ConsumeBool();
  const std::string text = bytes.ConsumeRemainingBytesAsString();

  std::istringstream stream(text);
  StepStream steps(stream, "fuzz.txt", cluster(), options);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (std::size_t k = 0;; ++k) {
    require(k <= lines, "there are no more steps than lines");
    if (skips && k % 2 == 1) {
      if (!steps.skip()) break;
      continue;
    }
    const auto step = steps.next();
    if (!step) {
      check_errors(step);
      continue;
    }
    if (!*step) break;
    check_step(**step, options);
  }
  return 0;
}
