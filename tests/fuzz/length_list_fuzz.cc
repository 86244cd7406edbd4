// Feeds arbitrary bytes to the readers of files of lengths.
//
// The last bytes choose the reader, the column and the lines, the rest is the file. An accepted
// file must have the requested number of lengths, each in range, and be equal after writing it as a
// list and reading that again.
#include <fuzzer/FuzzedDataProvider.h>

#include "instances/lengths/length_file.h"
#include "instances/lengths/list.h"
#include "tests/fuzz/promise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  FuzzedDataProvider bytes(data, size);
  LengthSelection selection;
  // The provider takes these values from the end, so that the list is the beginning of the input.
  if (bytes.ConsumeBool()) selection.count = bytes.ConsumeIntegralInRange<std::int64_t>(0, 300);
  selection.first = bytes.ConsumeIntegralInRange<std::int64_t>(0, 300);
  const bool any = bytes.ConsumeBool();
  const std::string column = bytes.PickValueInArray({"", "b", "a.b"});
  const std::string text = bytes.ConsumeRemainingBytesAsString();

  Result<std::vector<Tokens>> lengths = std::vector<Tokens>();
  if (any) {
    const Result<LengthFile> file = read_any_lengths(text, "fuzz.txt", {column, selection});
    lengths = file ? Result(file->lengths) : Result<std::vector<Tokens>>(file.errors());
  } else {
    lengths = read_length_list(text, "fuzz.txt", selection);
  }
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
