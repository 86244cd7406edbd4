#include "instances/pictures/drawing/hues.h"

#include <cassert>
#include <utility>

#include "instances/pictures/drawing/style.h"

namespace stowage {

Hues::Hues(std::vector<std::string> kinds, std::size_t first)
    : kinds_(std::move(kinds)), first_(first) {
  assert(first < kHues);
}

std::size_t Hues::of(std::size_t kind) const {
  assert(kind < kinds_.size());
  const std::size_t hues = kHues - first_;
  return first_ + (kinds_.size() <= hues ? kind : kind * hues / kinds_.size());
}

std::vector<LegendEntry> Hues::legend() const {
  std::vector<LegendEntry> entries;
  for (std::size_t kind = 0; kind < kinds_.size();) {
    const std::size_t first = kind;
    while (kind < kinds_.size() && of(kind) == of(first)) ++kind;
    const std::string text =
        kind - first == 1 ? kinds_[first] : kinds_[first] + " to " + kinds_[kind - 1];
    entries.push_back({.classes = hue_class(of(first)), .text = text});
  }
  return entries;
}

}  // namespace stowage
