#include "heuristics/layout/index/section_heights.h"

namespace stowage {

SectionHeights::SectionHeights(int sections)
    : sections_(std::max(1, sections)),
      begins_(word(sections_ - 1) + 1),
      pieces_(static_cast<std::size_t>(sections_)) {
  clear();
}

void SectionHeights::clear() {
  std::ranges::fill(begins_, 0);
  begin(0, {.height = 0, .last = sections_});
  raised_ = 0;
}

}  // namespace stowage
