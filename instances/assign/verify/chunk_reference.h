// The rules of rows of chunks, computed from the format description alone;
// scatter/verify/reference_model.h explains why it repeats instances/assign/chunks/chunk_flow.cc
// and pipeline.cc. Only the verifier uses it. Not installed.
//
//   ChunkReference truth(rule);
//   const Tokens last = truth.parts(length) - 1;        // a sequence longer than the rule's size
//   truth.range(length, last);                          // its tokens
//   ChunkReference::simulated(items, stages);  // the end of a replica's pipeline
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"

namespace stowage {

// A row in the pipeline.
struct TimedChunk {
  long double once = 0;   // forward and backward pass, on each stage
  bool twice = false;     // it goes forward a second time before it goes backward
  std::size_t parts = 1;  // on the first row of a sequence that was cut: its rows; 0 on the others
};

class ChunkReference {
 public:
  explicit ChunkReference(const ChunkRule& rule) : rule_(rule) {}

  Tokens parts(Tokens length) const {
    return length / rule_.size + (length % rule_.size > 0 ? 1 : 0);
  }
  TokenRange range(Tokens length, Tokens part) const {
    const Tokens begin = part * rule_.size;
    return {begin, begin + std::min(rule_.size, length - begin)};
  }
  bool goes_twice(Tokens part, Tokens count) const { return part < count - rule_.retained; }

  // Returns whether a plan may choose the ends of parts. most_parts() is then their largest number.
  bool leaves_open() const { return rule_.boundaries != ChunkBoundaries::fixed; }
  Tokens most_parts(Tokens length) const { return 4 * parts(length); }

  // Returns whether the stages of a replica have memory for a sequence that is cut.
  bool fits(Tokens length, const Scheme& scheme) const {
    const auto all = checked_mul(scheme.max_tokens, scheme.pp);
    const auto bytes = all ? checked_mul(*all, rule_.activation_bytes) : std::nullopt;
    const Tokens kept = std::min(length, checked_mul(rule_.size, rule_.retained).value_or(length));
    const auto activations = checked_mul(kept, rule_.activation_bytes);
    const auto rest = checked_mul(length - kept, rule_.key_value_bytes);
    const auto needed = activations && rest ? checked_add(*activations, *rest) : std::nullopt;
    return !bytes || (needed && *needed <= *bytes);
  }

  // Returns the end of 1F1B, in which the rows of each cut sequence go backward in reverse, after
  // the last of them went forward. All stages run the forward passes in one order and the backward
  // passes in another. A queue holds the results that one stage has handed on and the next has not
  // taken yet.
  static Ms simulated(const std::vector<TimedChunk>& rows, int stages) {
    const std::size_t n = rows.size();
    // Row, and rows that go forward before it.
    std::vector<std::pair<std::size_t, std::size_t>> turns;
    turns.reserve(n);
    for (std::size_t first = 0; first < n; first += rows[first].parts) {
      for (std::size_t k = rows[first].parts; k > 0; --k) {
        turns.emplace_back(first + k - 1, first + rows[first].parts);
      }
    }
    const auto p = static_cast<std::size_t>(std::max(stages, 1));
    std::vector<Stage> all(p);
    for (bool moved = n > 0; moved;) {
      moved = false;
      for (std::size_t s = 0; s < p; ++s) {
        Stage& stage = all[s];
        while (stage.back < n) {
          const auto [row, before] = turns[stage.back];
          const bool forward = stage.there < std::max(std::min(n, stage.back + p - s), before);
          std::queue<long double>& input = forward ? stage.inputs : stage.gradients;
          const bool waits = forward ? s > 0 : s + 1 < p;
          if (waits && input.empty()) break;
          const long double ready = waits ? input.front() : 0;
          if (waits) input.pop();
          if (forward) {
            stage.free = std::max(stage.free, ready) + rows[stage.there++].once / 3;
            if (s + 1 < p) all[s + 1].inputs.push(stage.free);
          } else {  // the second forward pass does not wait for the gradient
            const long double third = rows[row].once / 3;
            stage.free = std::max(stage.free + (rows[row].twice ? third : 0), ready) + 2 * third;
            ++stage.back;
            if (s > 0) all[s - 1].gradients.push(stage.free);
          }
          moved = true;
        }
      }
    }
    return static_cast<Ms>(all.front().free);
  }

 private:
  struct Stage {
    std::size_t there = 0;  // passes done
    std::size_t back = 0;
    long double free = 0;               // when the last pass ended
    std::queue<long double> inputs;     // when they came from the stage before
    std::queue<long double> gradients;  // when they came from the stage after
  };

  const ChunkRule& rule_;
};

}  // namespace stowage
