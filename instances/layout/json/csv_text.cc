// The table of buffers that a layout instance, with or without a plan, is written as.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/text.h"
#include "instances/layout/json/csv.h"
#include "instances/layout/json/csv_fields.h"
#include "instances/layout/load.h"

namespace stowage {
namespace {

// Returns whether a line can hold the id unchanged. A control character may change a terminal, and
// a spreadsheet takes some first characters for a formula.
bool fits_a_field(const std::string& id) {
  const bool formula =
      !id.empty() && std::string_view("=+-@").find(id.front()) != std::string::npos;
  return id.find(',') == std::string::npos && printable(id) == id && !formula &&
         csv::trimmed(id) == id;
}

Result<std::string> write(const LayoutInstance& instance, const LayoutPlan* plan) {
  ErrorList errors;
  bool alignments = false;
  bool gaps = false;
  bool offsets = plan != nullptr;
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Buffer& buffer = instance.buffers[i];
    alignments = alignments || alignment_of(instance, buffer) != 1;
    gaps = gaps || !buffer.gaps.empty();
    offsets = offsets || buffer.offset.has_value();
    if (fits_a_field(buffer.id)) continue;
    errors.add(code::kCsvId, "/buffers/" + std::to_string(i) + "/id",
               "must be without commas, control characters, outer spaces and =, +, - or @ in "
               "front, is " +
                   in_quotes(buffer.id));
  }
  if (!errors.empty()) return std::move(errors).take();

  std::string text = "id,lower,upper,size";
  if (alignments) text += ",alignment";
  if (gaps) text += ",gaps";
  if (offsets) text += ",offset";
  text += '\n';
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Buffer& buffer = instance.buffers[i];
    text += buffer.id.empty() ? std::to_string(i) : buffer.id;
    for (const std::int64_t value : {buffer.lower, buffer.upper, buffer.size}) {
      text += ',' + std::to_string(value);
    }
    if (alignments) text += ',' + std::to_string(alignment_of(instance, buffer));
    if (gaps) text += ',';
    for (std::size_t k = 0; k < buffer.gaps.size(); ++k) {
      text += (k == 0 ? "" : " ") + std::to_string(buffer.gaps[k].lower) + '-' +
              std::to_string(buffer.gaps[k].upper);
    }
    if (offsets) text += ',';
    if (plan != nullptr) {
      text += std::to_string(plan->offsets[i]);
    } else if (buffer.offset) {
      text += std::to_string(*buffer.offset);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

Result<std::string> write_layout_csv(const LayoutInstance& instance) {
  return write(instance, nullptr);
}

Result<std::string> write_layout_csv(const LayoutInstance& instance, const LayoutPlan& plan) {
  return write(instance, &plan);
}

}  // namespace stowage
