// Feeds arbitrary bytes to the layout readers, and whatever they accept to the verifier.
//
// An input is an instance as JSON or as a table, the line "---", and a plan. Nothing may crash;
// what was read must come back the same after writing and reading it again; an accepted instance
// must be safe to compute with; and the verifier must have an answer for every pair.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "instances/json.h"
#include "instances/layout_csv.h"
#include "instances/layout_load.h"
#include "instances/layout_table.h"
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

void check_instance(const LayoutInstance& instance) {
  const auto again = read_layout_instance(write_layout_instance(instance));
  require(again && *again == instance, "a written instance reads back the same");
  require(instance_hash(*again) == instance_hash(instance), "and has the same hash");
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
  const std::string text(data, data + size);
  const std::string_view all = text;
  constexpr std::string_view kCut = "\n---\n";
  const std::size_t cut = all.find(kCut);

  check_or_complain(read_layout_csv(all.substr(0, cut), "fuzz.csv"));
  const auto instance = read_layout_instance(all.substr(0, cut));
  check_or_complain(instance);
  const auto plan =
      read_layout_plan(cut == std::string_view::npos ? all : all.substr(cut + kCut.size()));
  if (!plan) {
    check_errors(plan);
    return 0;
  }
  const auto again = read_layout_plan(write_layout_plan(*plan));
  require(again && *again == *plan, "a written plan reads back the same");
  if (instance) {
    for (const Violation& violation : verify(*instance, *plan)) {
      require(!to_string(violation).empty(), "a violation can be shown");
    }
  }
  return 0;
}
