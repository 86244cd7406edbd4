// Feeds arbitrary bytes to the layout readers, and accepted documents to the verifier.
//
// An input is an instance as JSON or as a table, the line "---", and a plan. No call may crash, an
// accepted document must be equal after writing and reading it again, computations on an accepted
// instance must be safe, and the verifier must have an answer for every pair.
#include "instances/layout/json/csv.h"
#include "instances/layout/json/json.h"
#include "instances/layout/load.h"
#include "instances/layout/planning_table.h"
#include "tests/fuzz/promise.h"

namespace stowage {
namespace {

void check_instance(const LayoutInstance& instance) {
  check_rewritten(instance, read_layout_instance, write_layout_instance);
  const PeakLoad peak = peak_load(instance);
  require(peak.load >= 0, "loads are not negative");
  for (const std::int64_t buffer : needing_memory_at(instance, peak.step)) {
    require(buffer >= 0, "only buffers need memory");
  }
  if (const auto why = layout_infeasibility(instance)) {
    require(!why->text.empty() && !why->buffers.empty(), "a certificate says why");
  }
  const LayoutTable table(instance);
  require(!table.stackable() || table.stack() >= table.max_load() || table.clash(),
          "a stack holds every load");
  const auto csv = write_layout_csv(instance);
  if (!csv) return check_errors(csv);
  const auto from_csv = read_layout_csv(*csv, "fuzz.csv");
  require(from_csv && from_csv->buffers.size() == instance.buffers.size(), "a table comes back");
}

template <class T>
void check_or_complain(const Result<T>& instance) {
  if (instance) {
    check_instance(*instance);
  } else {
    check_errors(instance);
  }
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  const std::string text = text_of(data, size);
  const auto [first, second] = two_documents(text);
  check_or_complain(read_layout_csv(first, "fuzz.csv"));
  const auto instance = read_layout_instance(first);
  check_or_complain(instance);
  check_plan(instance, read_layout_plan(second), read_layout_plan, write_layout_plan);
  return 0;
}
