// Slots of a few sizes, handed out in sweeps over time: a layout of a million buffers in a third of
// a second, without a table.
//
// A buffer takes a slot of its size class and gives it back to the next of the class when its
// lifetime ends. Every class needs as many slots as it has buffers alive at once, and the classes
// lie one above the other. The peak is the sum of the peaks of the classes, each rounded up: a
// fifth or so above the load where thousands are alive at once, nearly twice the load where thirty
// are, more where sizes differ by orders of magnitude. Classes are powers of two, halves and
// eighths of them, whichever gives the lowest peak. Gaps in lifetimes are not used. Source:
// segregated fits with one free list a class (Wilson, Johnstone, Neely, Boles 1995, section 3.6),
// with lifetimes known beforehand.
//
//   const auto offsets = lay_in_slots(instance);
#pragma once

#include <optional>
#include <vector>

#include "instances/layout/instance.h"

namespace stowage {

// Offsets of all buffers, of those without bytes their pin or 0; the slots lie above all pinned
// buffers. Nothing if they would end beyond kMaxExact. Requires pins that do not clash.
std::optional<std::vector<Bytes>> lay_in_slots(const LayoutInstance& instance);

}  // namespace stowage
