#include "kernels/memory/arena.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace stowage::kernels {
namespace {

// A quiet NaN with a payload that no computation produces, in little-endian byte order.
constexpr std::array<std::byte, 4> kCanary = {std::byte{0xa1}, std::byte{0xc3}, std::byte{0xe5},
                                              std::byte{0xff}};
constexpr std::align_val_t kAlignment{64};

// Bytes that are written or compared in one call.
constexpr Bytes kChunk = 4096;

// Returns kChunk bytes of canaries as they lie from an address on.
const std::byte* canaries_from(Bytes address) {
  static const std::vector<std::byte> pattern = [] {
    std::vector<std::byte> bytes(static_cast<std::size_t>(kChunk) + kCanary.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = kCanary[i % kCanary.size()];
    return bytes;
  }();
  return pattern.data() + static_cast<std::size_t>(address) % kCanary.size();
}

std::string range_text(Bytes from, Bytes to) {
  return "bytes [" + std::to_string(from) + ", " + std::to_string(to) + ')';
}

}  // namespace

void Arena::Free::operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }

Arena::Arena(std::vector<Slot> slots) : slots_(std::move(slots)) {
  for (const Slot& slot : slots_) size_ = std::max(size_, slot.offset + slot.size);
  const auto all = static_cast<std::size_t>(size_ + kGuard);
  memory_.reset(static_cast<std::byte*>(::operator new(all, kAlignment)));
  poison(0, size_ + kGuard);
}

void Arena::poison(Bytes from, Bytes to) {
  for (Bytes at = from; at < to; at += kChunk) {
    std::memcpy(memory_.get() + at, canaries_from(at),
                static_cast<std::size_t>(std::min(kChunk, to - at)));
  }
}

Bytes Arena::damaged(Bytes from, Bytes to) {
  canaries_checked_ += to - from;
  for (Bytes at = from; at < to; at += kChunk) {
    const Bytes end = std::min(to, at + kChunk);
    const std::byte* want = canaries_from(at);
    if (std::memcmp(memory_.get() + at, want, static_cast<std::size_t>(end - at)) == 0) continue;
    const std::byte* first = std::mismatch(memory_.get() + at, memory_.get() + end, want).first;
    const Bytes found = first - memory_.get();
    poison(found, to);
    return found;
  }
  return to;
}

void Arena::begin(std::size_t buffer) {
  const Slot& slot = slots_[buffer];
  const Bytes from = slot.offset, to = slot.offset + slot.size;
  high_water_ = std::max(high_water_, to);
  if (slot.size == 0) return;
  bool mine = true;
  const auto share = [&](std::size_t other) {
    mine = false;
    problems_.add(slot.name + " begins in " + range_text(from, to) + " while " +
                  slots_[other].name + " lives in " +
                  range_text(slots_[other].offset, slots_[other].offset + slots_[other].size));
  };
  const auto above = living_.lower_bound({from, 0});
  for (auto it = above; it != living_.end() && it->first < to; ++it) share(it->second);
  // Below `from`, only the nearest buffer can overlap, unless living buffers already overlap each
  // other.
  if (above != living_.begin()) {
    const std::size_t below = std::prev(above)->second;
    if (slots_[below].offset + slots_[below].size > from) share(below);
  }
  if (mine) {
    const Bytes at = damaged(from, to);
    if (at < to) {
      problems_.add("byte " + std::to_string(at) + " was written before " + slot.name +
                    " began there, when no buffer owned it");
    }
  }
  living_.emplace(from, buffer);
}

void Arena::end(std::size_t buffer) {
  const Slot& slot = slots_[buffer];
  if (slot.size == 0) return;
  living_.erase({slot.offset, buffer});
  poison(slot.offset, slot.offset + slot.size);
}

std::span<std::byte> Arena::bytes(std::size_t buffer) {
  const Slot& slot = slots_[buffer];
  return {memory_.get() + slot.offset, static_cast<std::size_t>(slot.size)};
}

void Arena::check_free() {
  Bytes from = 0;
  const auto look = [&](Bytes to) {
    if (from >= to) return;
    const Bytes at = damaged(from, to);
    if (at < to) {
      problems_.add("byte " + std::to_string(at) + " was written, which no living buffer owns");
    }
  };
  for (const auto& [offset, buffer] : living_) {
    look(offset);
    from = std::max(from, offset + slots_[buffer].size);
  }
  look(size_ + kGuard);
}

std::vector<Arena::Slot> arena_slots(std::span<const Tensor> tensors,
                                     std::span<const Bytes> offsets, Problems& problems) {
  std::vector<Arena::Slot> slots;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    const Bytes offset = offsets[i];
    if (offset % static_cast<Bytes>(sizeof(float)) != 0) {
      problems.add(tensor.name + " lies at " + std::to_string(offset) +
                   ", which is no multiple of a float's size");
    }
    slots.push_back({.name = tensor.name,
                     .offset = offset,
                     .size = tensor.floats * static_cast<Bytes>(sizeof(float))});
    if (offset + slots.back().size > kMaxArenaBytes) {
      problems.add(tensor.name + " ends at " + std::to_string(offset + slots.back().size) +
                   ", the arena has at most " + std::to_string(kMaxArenaBytes) + " bytes");
    }
  }
  return slots;
}

std::span<float> ArenaTensors::at(int tensor) {
  const std::span<std::byte> bytes = arena_.bytes(static_cast<std::size_t>(tensor));
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace stowage::kernels
