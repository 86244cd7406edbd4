#include "kernels/memory/memory_exercise.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "instances/layout/load.h"
#include "kernels/memory/arena.h"

namespace stowage::kernels {
namespace {

constexpr Bytes kMaxBytes = Bytes{1} << 32;
// bytes; two patterns of 8 bytes are equal with negligible probability
constexpr Bytes kLeastPiece = 8;

// The order-preserving map from addresses of the plan to addresses of the arena, and its inverse.
class SmallerAddresses {
 public:
  SmallerAddresses(const LayoutInstance& instance, const LayoutPlan& plan, std::int64_t scale) {
    from_.push_back(0);
    for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
      from_.push_back(plan.offsets[i]);
      from_.push_back(plan.offsets[i] + instance.buffers[i].size);
    }
    std::sort(from_.begin(), from_.end());
    from_.erase(std::unique(from_.begin(), from_.end()), from_.end());
    to_.push_back(0);
    for (std::size_t i = 1; i < from_.size(); ++i) {
      const Bytes piece = (from_[i] - from_[i - 1] + scale - 1) / scale;
      to_.push_back(to_.back() + std::max(kLeastPiece, piece));
    }
  }

  Bytes size() const { return to_.back(); }
  Bytes smaller(Bytes address) const {
    return to_[index(std::lower_bound(from_.begin(), from_.end(), address) - from_.begin())];
  }
  Bytes planned(Bytes address) const {
    return from_[index(std::lower_bound(to_.begin(), to_.end(), address) - to_.begin())];
  }

 private:
  static std::size_t index(std::ptrdiff_t distance) { return static_cast<std::size_t>(distance); }

  std::vector<Bytes> from_, to_;  // ends of the pieces
};

// A range of steps in which a buffer keeps its contents.
struct Filling {
  std::size_t buffer = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Returns word `i` of a filling's pattern (SplitMix64's mixing of a counter; Steele, Lea and Flood
// 2014).
std::uint64_t pattern_word(std::uint64_t seed, std::size_t filling, std::size_t i) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15U * (filling + 1) + 0xd1b54a32d192ed03U * i;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// Calls `use(position, word, bytes)` for all words of `size` bytes; the last word may be shorter
// than 8 bytes. Stops and returns false when `use` returns false.
template <class Use>
bool for_words(std::uint64_t seed, std::size_t filling, std::size_t size, const Use& use) {
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t word = pattern_word(seed, filling, at / 8);
    if (!use(at, word, std::min<std::size_t>(8, size - at))) return false;
  }
  return true;
}

void fill(std::span<std::byte> bytes, std::uint64_t seed, std::size_t filling) {
  for_words(seed, filling, bytes.size(), [&](std::size_t at, std::uint64_t word, std::size_t n) {
    std::memcpy(bytes.data() + at, &word, n);
    return true;
  });
}

bool intact(std::span<const std::byte> bytes, std::uint64_t seed, std::size_t filling) {
  return for_words(seed, filling, bytes.size(),
                   [&](std::size_t at, std::uint64_t word, std::size_t n) {
                     return std::memcmp(bytes.data() + at, &word, n) == 0;
                   });
}

std::string name_of(const LayoutInstance& instance, std::size_t buffer) {
  const std::string& id = instance.buffers[buffer].id;
  return "buffer " + (id.empty() ? std::to_string(buffer) : '"' + id + '"');
}

// Returns the smallest scale that satisfies both limits: the limit on the peak and the limit on the
// sum over fillings.
std::int64_t fitting_scale(const LayoutInstance& instance, const LayoutPlan& plan,
                           const std::vector<Filling>& fillings,
                           const MemoryExerciseOptions& options) {
  Bytes peak = 0;
  // double, because 2^20 sizes of 2^53 bytes may be summed; only comparisons use it
  double written = 0;
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    peak = std::max(peak, plan.offsets[i] + instance.buffers[i].size);
  }
  for (const Filling& filling : fillings) {
    written += static_cast<double>(instance.buffers[filling.buffer].size);
  }
  const auto times = static_cast<std::int64_t>(
      written / static_cast<double>(std::max<Bytes>(1, options.most_written_bytes)));
  const Bytes arena = std::max<Bytes>(1, options.most_arena_bytes);
  return std::max<std::int64_t>({1, (peak + arena - 1) / arena, times});
}

}  // namespace

MemoryExercise exercise_memory(const LayoutInstance& instance, const LayoutPlan& plan,
                               const MemoryExerciseOptions& options, Budget* budget) {
  MemoryExercise done;
  std::vector<Filling> fillings;
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    for (const Lifetime& need : needs_of(instance.buffers[i])) {
      fillings.push_back({.buffer = i, .begin = need.lower, .end = need.upper});
    }
  }
  done.scale = options.scale > 0 ? options.scale : fitting_scale(instance, plan, fillings, options);
  const SmallerAddresses addresses(instance, plan, done.scale);
  done.arena_bytes = addresses.size();
  if (done.arena_bytes > kMaxBytes) {
    done.problems.add("the arena has " + std::to_string(done.arena_bytes) + " bytes at scale " +
                      std::to_string(done.scale) + ", the most is " + std::to_string(kMaxBytes));
    return done;
  }
  std::vector<Arena::Slot> slots;
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    const Bytes from = addresses.smaller(plan.offsets[i]);
    const Bytes to = addresses.smaller(plan.offsets[i] + instance.buffers[i].size);
    slots.push_back({.name = name_of(instance, i), .offset = from, .size = to - from});
  }
  Arena arena(std::move(slots));

  std::vector<std::size_t> by_begin(fillings.size());
  for (std::size_t i = 0; i < by_begin.size(); ++i) by_begin[i] = i;
  std::vector<std::size_t> by_end = by_begin;
  std::stable_sort(by_begin.begin(), by_begin.end(), [&](std::size_t a, std::size_t b) {
    return fillings[a].begin < fillings[b].begin;
  });
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](std::size_t a, std::size_t b) { return fillings[a].end < fillings[b].end; });
  const auto finish = [&](std::size_t f) {
    const std::size_t buffer = fillings[f].buffer;
    if (!intact(arena.bytes(buffer), options.seed, f)) {
      done.problems.add(name_of(instance, buffer) + " has lost what was written at step " +
                        std::to_string(fillings[f].begin) + " when it ends at step " +
                        std::to_string(fillings[f].end));
    }
    arena.end(buffer);
  };
  std::size_t ended = 0;
  for (const std::size_t f : by_begin) {
    if (budget != nullptr && budget->exhausted()) {
      done.stopped_by = budget->stop_reason();
      return done;
    }
    while (fillings[by_end[ended]].end <= fillings[f].begin) finish(by_end[ended++]);
    const std::size_t buffer = fillings[f].buffer;
    arena.begin(buffer);
    const std::span<std::byte> bytes = arena.bytes(buffer);
    fill(bytes, options.seed, f);
    ++done.fillings;
    done.written_bytes += static_cast<Bytes>(bytes.size());
  }
  while (ended < by_end.size()) finish(by_end[ended++]);
  arena.check_free();
  for (const std::string& problem : arena.problems().list()) done.problems.add(problem);
  done.high_water_bytes = addresses.planned(arena.high_water());
  done.complete = true;
  return done;
}

}  // namespace stowage::kernels
