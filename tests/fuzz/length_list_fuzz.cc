// Feeds arbitrary bytes to the reader of length lists.
//
// The last five bytes choose the lines, the rest is the list. An accepted list must have the
// requested number of lengths, each in range, and be equal after writing and reading it again.
#include <fuzzer/FuzzedDataProvider.h>

#include "instances/lengths/list.h"
#include "tests/fuzz/promise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  FuzzedDataProvider bytes(data, size);
  LengthSelection selection;
  // The provider takes these values from the end, so that the list is the beginning of the input.
  if (bytes.ConsumeBool()) selection.count = bytes.ConsumeIntegralInRange<std::int64_t>(0, 300);
  selection.first = bytes.ConsumeIntegralInRange<std::int64_t>(0, 300);
  const std::string text = bytes.ConsumeRemainingBytesAsString();

  const auto lengths = read_length_list(text, "fuzz.txt", selection);
  if (!lengths) {
    check_errors(lengths);
    return 0;
  }
  const auto wanted = static_cast<std::size_t>(selection.count.value_or(0));
  require(!selection.count || lengths->size() == wanted, "as many lines as were asked for");
  std::string written;
  for (const Tokens length : *lengths) {
    require(length >= 1 && length <= kMaxExact, "lengths are in range");
    written += std::to_string(length) + '\n';
  }
  const auto again = read_length_list(written, "again.txt");
  require(again && *again == *lengths, "written lengths read back the same");
  return 0;
}
