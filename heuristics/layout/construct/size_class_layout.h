// Size-class free lists: a layout of a million buffers in a third of a second, without a table.
//
// A buffer takes a slot of its size class, and the slot is free for the next buffer of the class
// when the lifetime ends. Each class needs as many slots as it has buffers alive at once, and the
// classes lie above each other. The peak is the sum of the rounded peaks of the classes. If
// thousands of buffers are alive at once, the peak is about a fifth above the load. If thirty are,
// it is nearly twice the load. It is higher if sizes differ by orders of magnitude. The classes are
// powers of two, halves of them or eighths of them; the layout with the lowest peak is kept. Gaps
// in lifetimes are not used.
// Source: segregated fits with one free list per class (Wilson, Johnstone, Neely, Boles 1995,
// section 3.6), with lifetimes known in advance.
//
//   const auto offsets = size_class_layout(instance);
#pragma once

#include <optional>
#include <vector>

#include "instances/layout/instance.h"

namespace stowage {

// Returns the offsets of all buffers; buffers of size 0 are at their pin or at 0. The slots lie
// above all pinned buffers. Returns nullopt if they would end beyond kMaxExact. Requires pins that
// do not clash.
std::optional<std::vector<Bytes>> size_class_layout(const LayoutInstance& instance);

}  // namespace stowage
