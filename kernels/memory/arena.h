// One piece of memory that buffers share at planned offsets, and that notices when they should not.
//
// Bytes that belong to no living buffer hold a canary: a pattern that is written when a buffer ends
// and looked at when the next one begins there, or whenever check_free() is called. Read as floats
// it is NaN, so that a result which used a byte outside its lifetime shows it as well.
//
//   Arena arena({{.name = "x", .offset = 0, .size = 64}, {.name = "y", .offset = 64, .size = 32}});
//   arena.begin(0);
//   write(arena.bytes(0));
//   arena.check_free();
//   arena.end(0);
//   for (const std::string& problem : arena.problems().list()) complain(problem);
//
// Two things are caught apart from each other: buffers that share bytes while both live, by their
// ranges, and writes outside of all living buffers, by the canaries.
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
#include "kernels/block/tensor_program.h"
#include "kernels/problems.h"

namespace stowage::kernels {

class Arena {
 public:
  struct Slot {
    std::string name;  // in problems
    Bytes offset = 0;
    Bytes size = 0;
  };

  // Above the highest slot lies a guard of this many bytes that nobody owns.
  static constexpr Bytes kGuard = 4096;

  // Allocates the largest offset + size and the guard. Offsets and sizes must not be negative.
  explicit Arena(std::vector<Slot> slots);

  // The buffer lives from here on. Its bytes hold the canary if nobody else has them. A problem if
  // a living buffer has, or if a canary among them is damaged.
  void begin(std::size_t buffer);
  // Puts canaries into its bytes. Requires that it lives.
  void end(std::size_t buffer);
  std::span<std::byte> bytes(std::size_t buffer);

  // Looks at every byte that belongs to no living buffer, the guard included.
  void check_free();

  Bytes size() const { return size_; }              // without the guard
  Bytes high_water() const { return high_water_; }  // largest end of a buffer that ever lived
  Bytes canaries_checked() const { return canaries_checked_; }
  const Problems& problems() const { return problems_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  void poison(Bytes from, Bytes to);
  // The first damaged byte, or `to`. Mends what it finds, so that it is told once.
  Bytes damaged(Bytes from, Bytes to);

  std::vector<Slot> slots_;
  Bytes size_ = 0;
  std::unique_ptr<std::byte[], Free> memory_;
  std::set<std::pair<Bytes, std::size_t>> living_;  // offset and buffer, those of no bytes left out
  Bytes high_water_ = 0;
  Bytes canaries_checked_ = 0;
  Problems problems_;
};

// The most bytes that an execution takes for all tensors, apart or in an arena.
inline constexpr Bytes kMostArenaBytes = Bytes{1} << 34;

// The places of the tensors, each at its offset; problems for those where no float can lie.
// `offsets` has one in [0, 2^53] for each.
std::vector<Arena::Slot> arena_slots(std::span<const Tensor> tensors,
                                     std::span<const Bytes> offsets, Problems& problems);

// The tensors of a program in an arena whose slots are in the program's order and begin at
// multiples of a float's size. All free bytes are looked at after every step.
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
