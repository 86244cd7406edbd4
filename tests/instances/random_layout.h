// Small random layout instances with valid plans, for tests of code that reads plans.
//
// The plans are valid, not good: buffers are placed in random order at the lowest free offset, or
// somewhat above.
//
//   Draw draw(seed);
//   const LayoutInstance instance = random_layout(draw, {.most_buffers = 7});
//   const LayoutPlan plan = random_layout_plan(instance, draw);
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "instances/layout/instance.h"
#include "instances/layout/load.h"
#include "instances/layout/plan.h"
#include "tests/instances/draw.h"

namespace stowage {

struct RandomLayout {
  std::int64_t most_buffers = 30;
  std::int64_t steps = 20;
  Bytes most_bytes = 40;
  bool alignments = true;
  bool gaps = true;
  bool pins = true;  // pinned buffers never overlap each other
};

inline bool need_memory_together(const Buffer& a, const Buffer& b) {
  for (const Lifetime& x : needs_of(a)) {
    for (const Lifetime& y : needs_of(b)) {
      if (x.lower < y.upper && y.lower < x.upper) return true;
    }
  }
  return false;
}

// The lowest offset of at least `from` at which buffer i overlaps none of `placed`.
inline Bytes lowest_offset(const LayoutInstance& instance, std::size_t i, Bytes from,
                           const std::vector<std::pair<std::size_t, Bytes>>& placed) {
  const Buffer& buffer = instance.buffers[i];
  const Bytes unit = alignment_of(instance, buffer);
  Bytes offset = (from + unit - 1) / unit * unit;
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [j, at] : placed) {
      const Buffer& other = instance.buffers[j];
      if (buffer.size == 0 || other.size == 0 || !need_memory_together(buffer, other)) continue;
      if (offset >= at + other.size || at >= offset + buffer.size) continue;
      offset = (at + other.size + unit - 1) / unit * unit;
      moved = true;
    }
  }
  return offset;
}

inline LayoutInstance random_layout(Draw& draw, const RandomLayout& options = {}) {
  LayoutInstance instance{.name = "random"};
  if (options.alignments && draw.below(3) == 0) instance.alignment = draw.whole(1, 4);
  const std::int64_t buffers = draw.whole(1, options.most_buffers);
  std::vector<std::pair<std::size_t, Bytes>> pinned;
  for (std::int64_t i = 0; i < buffers; ++i) {
    Buffer buffer;
    if (draw.coin()) buffer.id = "b" + std::to_string(i);
    buffer.lower = draw.whole(0, options.steps - 1);
    buffer.upper = draw.whole(buffer.lower + 1, options.steps);
    buffer.size = draw.below(12) == 0 ? 0 : draw.whole(1, options.most_bytes);
    if (options.alignments && draw.below(3) == 0) buffer.alignment = draw.whole(1, 8);
    if (options.gaps && draw.below(3) == 0) {
      std::int64_t from = buffer.lower;
      while (from < buffer.upper && buffer.gaps.size() < 3) {
        from = draw.whole(from, buffer.upper - 1);
        const std::int64_t to = draw.whole(from + 1, buffer.upper);
        buffer.gaps.push_back({from, to});
        from = to + 1;
      }
    }
    instance.buffers.push_back(buffer);
    if (options.pins && draw.below(8) == 0) {
      const auto index = static_cast<std::size_t>(i);
      const Bytes at = lowest_offset(instance, index, draw.whole(0, 60), pinned);
      instance.buffers.back().offset = at;
      pinned.emplace_back(index, at);
    }
  }
  return instance;
}

// Sets the peak, and a bound that is valid for any plan: the largest buffer.
inline void restate(const LayoutInstance& instance, LayoutPlan& plan) {
  plan.peak_bytes = 0;
  plan.bound_bytes = 0;
  plan.bound_by = "largest";
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    plan.peak_bytes = std::max(plan.peak_bytes, plan.offsets[i] + instance.buffers[i].size);
    plan.bound_bytes = std::max(plan.bound_bytes, instance.buffers[i].size);
  }
}

inline LayoutPlan random_layout_plan(const LayoutInstance& instance, Draw& draw) {
  std::vector<std::size_t> order;
  std::vector<std::pair<std::size_t, Bytes>> placed;
  LayoutPlan plan{.name = instance.name};
  plan.offsets.resize(instance.buffers.size());
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    if (instance.buffers[i].offset) {
      placed.emplace_back(i, *instance.buffers[i].offset);
    } else {
      order.push_back(i);
    }
  }
  draw.shuffle(order);
  for (const std::size_t i : order) {
    const Bytes from = draw.below(4) == 0 ? draw.whole(0, 50) : 0;
    placed.emplace_back(i, lowest_offset(instance, i, from, placed));
  }
  for (const auto& [i, offset] : placed) plan.offsets[i] = offset;
  restate(instance, plan);
  return plan;
}

}  // namespace stowage
