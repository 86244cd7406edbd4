#include "instances/layout/validate.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "instances/json/text.h"
#include "instances/layout/load.h"

namespace stowage {
namespace {

std::string steps(std::int64_t from, std::int64_t to) {
  return '[' + std::to_string(from) + ", " + std::to_string(to) + ')';
}

void check_gaps(const Buffer& buffer, std::int64_t index, const LayoutPlaces& places,
                ErrorList& errors) {
  std::int64_t free = buffer.lower;  // the earliest step at which the next gap may begin
  for (std::size_t k = 0; k < buffer.gaps.size(); ++k) {
    const Lifetime& gap = buffer.gaps[k];
    if (gap.lower >= free && gap.lower < gap.upper && gap.upper <= buffer.upper) {
      free = gap.upper + 1;
      continue;
    }
    std::string expected = "a gap [from, to) with from below to";
    if (gap.lower < gap.upper && k > 0 && gap.lower < free) {
      expected = "later than the gap before it and not touch it";
    } else if (gap.lower < gap.upper) {
      expected = "inside the lifetime " + steps(buffer.lower, buffer.upper);
    }
    errors.add(code::kGaps, places(index, "gaps/" + std::to_string(k)),
               "must be " + expected + ", is " + steps(gap.lower, gap.upper));
    return;
  }
}

std::string name_of(const LayoutInstance& instance, std::int64_t index) {
  const std::string& id = instance.buffers[static_cast<std::size_t>(index)].id;
  return id.empty() ? std::to_string(index) : id;
}

void check_ids(const LayoutInstance& instance, const LayoutPlaces& places, ErrorList& errors) {
  std::vector<std::pair<std::string, std::int64_t>> names;
  names.reserve(instance.buffers.size());
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    names.emplace_back(name_of(instance, index), index);
  }
  std::sort(names.begin(), names.end());
  std::vector<std::pair<std::int64_t, std::int64_t>> repeats;  // index, first of the same id
  for (std::size_t k = 1, first = 0; k < names.size(); ++k) {
    if (names[k].first == names[first].first) {
      repeats.emplace_back(names[k].second, names[first].second);
    } else {
      first = k;
    }
  }
  std::sort(repeats.begin(), repeats.end());
  for (const auto& [index, first] : repeats) {
    if (!errors.room()) {
      errors.add_unseen();
      continue;
    }
    errors.add(code::kBufferId, places(index, "id"),
               "must be unique, is " + in_quotes(name_of(instance, index)) + ", as is buffer " +
                   std::to_string(first));
  }
}

void check_sum(const LayoutInstance& instance, const LayoutPlaces& places, ErrorList& errors) {
  Bytes sum = 0;
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Buffer& buffer = instance.buffers[i];
    sum += rounded_size(instance, buffer);  // at most 2^54: the sum before was at most 2^53
    if (sum <= kMaxExact) continue;
    errors.add(code::kTooManyLayoutBytes, places(static_cast<std::int64_t>(i), "size_bytes"),
               "must sum, with the buffers before it and each rounded up to its alignment, to at "
               "most " +
                   std::to_string(kMaxExact) + " bytes, is " + std::to_string(buffer.size));
    return;
  }
}

}  // namespace

Bytes rounded_size(const LayoutInstance& instance, const Buffer& buffer) {
  const Bytes unit = alignment_of(instance, buffer);
  return unit == 1 ? buffer.size : (buffer.size + unit - 1) / unit * unit;
}

void check_buffer(const LayoutInstance& instance, std::int64_t index, const LayoutPlaces& places,
                  ErrorList& errors) {
  const Buffer& buffer = instance.buffers[static_cast<std::size_t>(index)];
  if (buffer.lower >= buffer.upper) {
    errors.add(code::kLifetime, places(index, "upper"),
               "must be above lower, " + std::to_string(buffer.lower) + ", is " +
                   std::to_string(buffer.upper));
  } else {
    check_gaps(buffer, index, places, errors);
  }
  const Bytes common = std::gcd(instance.alignment, buffer.alignment);
  const auto unit = checked_mul(instance.alignment / common, buffer.alignment);
  if (!unit || *unit > kMaxExact) {
    errors.add(code::kTooManyLayoutBytes, places(index, "alignment"),
               "must have a common multiple with the alignment of all buffers, " +
                   std::to_string(instance.alignment) + ", of at most " +
                   std::to_string(kMaxExact) + ", is " + std::to_string(buffer.alignment));
    return;
  }
  if (!buffer.offset) return;
  if (*buffer.offset % *unit != 0) {
    errors.add(code::kPin, places(index, "offset_bytes"),
               "must be a multiple of the alignment, " + std::to_string(*unit) + ", is " +
                   std::to_string(*buffer.offset));
  } else if (*buffer.offset + buffer.size > kMaxExact) {
    errors.add(code::kPin, places(index, "offset_bytes"),
               "must end, with the size, at most at " + std::to_string(kMaxExact) + ", is " +
                   std::to_string(*buffer.offset));
  }
}

void check_together(const LayoutInstance& instance, const LayoutPlaces& places, ErrorList& errors) {
  check_ids(instance, places, errors);
  check_sum(instance, places, errors);
}

}  // namespace stowage
