// Checks a layout in memory without writing its buffers.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/layout/json/json.h"
#include "instances/layout/validate.h"
#include "instances/numeric/radix_sort.h"

namespace stowage {
namespace {

bool in_range(std::int64_t number, std::int64_t least) {
  return number >= least && number <= kMaxExact;
}

bool in_range(const Buffer& buffer) {
  return in_range(buffer.lower, 0) && in_range(buffer.upper, 0) && in_range(buffer.size, 0) &&
         in_range(buffer.alignment, 1) && in_range(buffer.offset.value_or(0), 0) &&
         std::ranges::all_of(buffer.gaps, [](const Lifetime& gap) {
           return in_range(gap.lower, 0) && in_range(gap.upper, 0);
         });
}

// Returns whether two ids may be equal; true also for some that differ. A buffer without an id has
// its index as id.
bool some_ids_alike(const std::vector<Buffer>& buffers) {
  std::vector<std::int64_t> marks;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string& id = buffers[i].id;
    const std::size_t mark =
        id.empty() ? std::hash<std::string>()(std::to_string(i)) : std::hash<std::string>()(id);
    marks.push_back(static_cast<std::int64_t>(mark));
  }
  radix_sort(marks, [](std::int64_t mark) { return sort_key(mark); });
  return std::ranges::adjacent_find(marks) != marks.end();
}

}  // namespace

std::vector<InputError> hidden_layout_errors(const LayoutInstance& instance) {
  ErrorList errors;
  check_utf8(instance.name, "/name", errors);
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    if (is_utf8(instance.buffers[i].id)) continue;
    check_utf8(instance.buffers[i].id, "/buffers/" + std::to_string(i) + "/id", errors);
  }
  for (std::size_t k = 0; k < instance.layers.size(); ++k) {
    check_utf8(instance.layers[k].name, "/layers/" + std::to_string(k) + "/name", errors);
  }
  return std::move(errors).take();
}

bool is_well_formed(const LayoutInstance& instance) {
  // Blocks must be compared with each other, which only the reader does.
  if (!instance.layers.empty()) return false;
  const LayoutInstance without_buffers{.name = instance.name,
                                       .capacity = instance.capacity,
                                       .alignment = instance.alignment,
                                       .recorded_from = instance.recorded_from};
  const std::vector<Buffer>& buffers = instance.buffers;
  if (buffers.size() > static_cast<std::size_t>(kMaxBuffers)) return false;
  if (!read_layout_instance(write_layout_instance(without_buffers))) return false;
  ErrorList errors;
  const LayoutPlaces nowhere = [](std::int64_t, std::string_view) { return std::string(); };
  // One pass over the buffers, because a million of them are more than caches hold.
  Bytes sum = 0;  // of rounded sizes; at most 2^54: the sum before was at most 2^53
  bool named = false;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = buffers[i];
    if (!in_range(buffer) || !surely_readable(buffer.id)) return false;
    check_buffer(instance, static_cast<std::int64_t>(i), nowhere, errors);
    if (!errors.empty()) return false;
    sum += rounded_size(instance, buffer);
    if (sum > kMaxExact) return false;
    named = named || !buffer.id.empty();
  }
  return !named || !some_ids_alike(buffers);
}

}  // namespace stowage
