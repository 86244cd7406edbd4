// Changes of a layout's buffers with a known effect on the least peak.
#include "tests/solvers/metamorphic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/oracles/layout/brute_force.h"
#include "tests/tiny_layout.h"

namespace stowage::layout_metamorphic_test {
namespace {

constexpr std::uint64_t kLayouts = 1500;

// Step t becomes f(t); `backwards` if f falls.
template <class Map>
void map_time(LayoutInstance& instance, Map map, bool backwards) {
  const auto moved = [&](Lifetime life) {
    return backwards ? Lifetime{map(life.upper), map(life.lower)}
                     : Lifetime{map(life.lower), map(life.upper)};
  };
  for (Buffer& buffer : instance.buffers) {
    const Lifetime life = moved({buffer.lower, buffer.upper});
    buffer.lower = life.lower;
    buffer.upper = life.upper;
    for (Lifetime& gap : buffer.gaps) gap = moved(gap);
    if (backwards) std::reverse(buffer.gaps.begin(), buffer.gaps.end());
  }
}

void scale_bytes(LayoutInstance& instance, Bytes factor) {
  instance.alignment *= factor;
  if (instance.capacity) *instance.capacity *= factor;
  for (Buffer& buffer : instance.buffers) {
    buffer.size *= factor;
    buffer.alignment *= factor;
    if (buffer.offset) *buffer.offset *= factor;
  }
}

void change_time(Metamorphosis<LayoutInstance>& layout) {
  layout.after("a later start", Trend::equal, [](auto& l) {
    map_time(
        l, [](std::int64_t t) { return t + 1000; }, false);
  });
  layout.after("longer steps", Trend::equal, [](auto& l) {
    map_time(
        l, [](std::int64_t t) { return 3 * t; }, false);
  });
  layout.after("time backwards", Trend::equal, [](auto& l) {
    map_time(
        l, [](std::int64_t t) { return 100 - t; }, true);
  });
  layout.after("a longer life", Trend::not_down, [](auto& l) {
    if (!l.buffers.empty()) l.buffers.front().upper += 4;
  });
  layout.after("no gaps", Trend::not_down, [](auto& l) {
    for (Buffer& buffer : l.buffers) buffer.gaps.clear();
  });
}

void change_bytes(Metamorphosis<LayoutInstance>& layout) {
  layout.after(
      "bytes in units of a third", Trend::equal, [](auto& l) { scale_bytes(l, 3); }, 3);
  layout.after(
      "bytes in units of a thousandth", Trend::equal, [](auto& l) { scale_bytes(l, 1000); }, 1000);
  layout.after("a larger buffer", Trend::not_down, [](auto& l) {
    if (!l.buffers.empty()) ++l.buffers.back().size;
  });
  layout.after("no alignment", Trend::not_up, [](auto& l) {
    l.alignment = 1;
    for (Buffer& buffer : l.buffers) buffer.alignment = 1;
  });
  layout.after("no pins", Trend::not_up, [](auto& l) {
    for (Buffer& buffer : l.buffers) buffer.offset.reset();
  });
}

void change_rest(Metamorphosis<LayoutInstance>& layout) {
  layout.after("other ids", Trend::equal,
               [](auto& l) { std::reverse(l.buffers.begin(), l.buffers.end()); });
  layout.after("a buffer less", Trend::not_up, [](auto& l) {
    if (!l.buffers.empty()) l.buffers.erase(l.buffers.begin());
  });
  layout.after("a larger memory", Trend::not_up, [](auto& l) {
    if (l.capacity) *l.capacity += 5;
  });
  layout.after("no capacity", Trend::not_up, [](auto& l) { l.capacity.reset(); });
}

TEST(LayoutMetamorphic, ThePeakMovesTheRightWay) {
  int proven = 0;
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kLayouts; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Metamorphosis<LayoutInstance> layout(tiny_layout(seed + 7000, 5));
    change_time(layout);
    change_bytes(layout);
    change_rest(layout);
    proven += layout.proven() ? 1 : 0;
    compared += layout.compared();
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 6 * static_cast<int>(kLayouts));
  EXPECT_GT(proven, static_cast<int>(kLayouts) * 9 / 10);
}

}  // namespace
}  // namespace stowage::layout_metamorphic_test
