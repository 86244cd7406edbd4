// One block of memory that buffers share at planned offsets, with detection of invalid sharing.
//
// Bytes that belong to no living buffer hold a canary, a pattern that end() writes. begin() and
// check_free() check that it is unchanged. Read as a float the canary is NaN, so a result that used
// a byte outside of its buffer's lifetime is NaN too.
//
//   Arena arena({{.name = "x", .offset = 0, .size = 64}, {.name = "y", .offset = 64, .size = 32}});
//   arena.begin(0);
//   write(arena.bytes(0));
//   arena.check_free();
//   arena.end(0);
//   for (const std::string& problem : arena.problems().list()) complain(problem);
//
// The arena detects two kinds of errors independently. It compares ranges to find living buffers
// that share bytes, and canaries to find writes outside of all living buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "instances/units.h"
#include "kernels/block/program/tensor_program.h"
#include "kernels/problems.h"

namespace stowage::kernels {

class Arena {
 public:
  struct Slot {
    std::string name;  // appears in the texts of problems
    Bytes offset = 0;
    Bytes size = 0;
  };

  // Number of guard bytes above the highest slot, which belong to no buffer.
  static constexpr Bytes kGuard = 4096;

  // Allocates the largest offset + size and the guard. Offsets and sizes must not be negative.
  explicit Arena(std::vector<Slot> slots);

  // Starts the buffer's lifetime. Its bytes hold the canary unless another living buffer has them.
  // Adds a problem if a living buffer shares bytes with it, or if a canary among its bytes is
  // damaged.
  void begin(std::size_t buffer);
  // Ends the buffer's lifetime and writes canaries to its bytes. Requires a living buffer.
  void end(std::size_t buffer);
  std::span<std::byte> bytes(std::size_t buffer);

  // Checks every byte that belongs to no living buffer, the guard included.
  void check_free();

  Bytes size() const { return size_; }  // bytes of the arena without the guard
  // largest end of any buffer that was begun, in bytes
  Bytes high_water() const { return high_water_; }
  Bytes canaries_checked() const { return canaries_checked_; }
  const Problems& problems() const { return problems_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  void poison(Bytes from, Bytes to);
  // Returns the first damaged byte, or `to`. Restores the canaries that it finds damaged, so that
  // each is reported once.
  Bytes damaged(Bytes from, Bytes to);

  std::vector<Slot> slots_;
  Bytes size_ = 0;
  std::unique_ptr<std::byte[], Free> memory_;
  // (offset, buffer) of living buffers of at least one byte
  std::set<std::pair<Bytes, std::size_t>> living_;
  Bytes high_water_ = 0;
  Bytes canaries_checked_ = 0;
  Problems problems_;
};

// Limit on the bytes that an execution allocates for all tensors, in separate allocations or in an
// arena.
inline constexpr Bytes kMaxArenaBytes = Bytes{1} << 34;

// Returns the slots of the tensors at their offsets. Adds a problem for each offset at which no
// float can be stored. `offsets` has one entry in [0, 2^53] per tensor.
std::vector<Arena::Slot> arena_slots(std::span<const Tensor> tensors,
                                     std::span<const Bytes> offsets, Problems& problems);

// The tensors of a program in an arena. The slots are in the program's order and begin at multiples
// of a float's size. All free bytes are checked after every step.
class ArenaTensors final : public TensorMemory {
 public:
  explicit ArenaTensors(Arena& arena) : arena_(arena) {}

  std::span<float> at(int tensor) override;
  void begin(int tensor) override { arena_.begin(static_cast<std::size_t>(tensor)); }
  void end(int tensor) override { arena_.end(static_cast<std::size_t>(tensor)); }
  void stepped(int /*step*/) override { arena_.check_free(); }

 private:
  Arena& arena_;
};

}  // namespace stowage::kernels
