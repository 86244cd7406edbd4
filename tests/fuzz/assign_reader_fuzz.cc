// Feeds arbitrary bytes to the assign readers, and accepted documents to the verifier.
//
// An input is an instance, the line "---", and a plan. No call may crash, an accepted document must
// be equal after writing and reading it again, computations on an accepted instance must be safe,
// and the verifier must have an answer for every pair.
#include <filesystem>

#include "instances/assign/json/json.h"
#include "instances/assign/planning_table.h"
#include "tests/fuzz/promise.h"

namespace stowage {
namespace {

// Lists of lengths are files, and the fuzzer's input must not open any.
const std::filesystem::path kNoFiles = "/nonexistent";

void check_instance(const AssignInstance& instance) {
  check_rewritten(
      instance, [](const std::string& text) { return read_assign_instance(text); },
      write_assign_instance);
  require(padded_lengths(instance).size() == instance.lengths.size(), "every length is padded");
  const auto usable = usable_strategies(instance);
  require(usable.empty() != unplaceable_sequences(instance).empty(),
          "a step without a usable strategy names what is too long, and no other does");
  for (const std::size_t strategy : usable) {
    require(strategy < instance.strategies.size(), "usable strategies exist");
    require(longest_allowed(instance, instance.strategies[strategy]) >= 1, "and hold something");
  }
  const AssignTable table(instance);
  require(table.size() == static_cast<int>(instance.lengths.size()), "the table has every length");
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  const std::string text = text_of(data, size);
  const auto [first, second] = two_documents(text);
  const auto instance = read_assign_instance(first, kNoFiles);
  if (instance) {
    check_instance(*instance);
  } else {
    check_errors(instance);
  }
  check_plan(instance, read_assign_plan(second), read_assign_plan, write_assign_plan);
  return 0;
}
