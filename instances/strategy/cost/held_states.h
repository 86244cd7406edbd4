// The bytes of the model's states that each device of a configuration holds: weights (2 bytes of a
// parameter) and the optimizer's states (12). Gradients are made anew in each step and not counted.
//
//   const HeldStates before(instance, plan);
//   const HeldStates after(smaller, its_plan);          // of the same model
//   // bytes that rank 3 must receive if it runs on the former device 5:
//   double lacking = after.bytes(3) - after.shared_bytes(before)[3][5];
//
// Ranks are numbered from 0: tp ranks follow one another, then cp, then dp, then stages. The
// formulas are RP1 to RP3 of docs/reference/strategy.md. Bytes are whole numbers, exact below
// 2^53.
//
// Thread safety: does not change after its construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

class HeldStates {
 public:
  // Requires a plan that satisfies the verifier's rules from `options` to `layers`.
  HeldStates(const StrategyInstance& instance, const StrategyPlan& plan);

  std::int64_t devices() const { return devices_; }
  double bytes(std::int64_t device) const;

  // Returns the bytes that both devices hold, as [device here][device of `other`]. Requires the
  // same model.
  std::vector<std::vector<double>> shared_bytes(const HeldStates& other) const;

  // Returns the bytes of the model that none of `holders` has. RP3
  double missing_bytes(std::span<const std::int64_t> holders) const;

 private:
  // A part of the model that is split in one way: the parameters of a layer that every token meets,
  // the experts of a layer, the embedding, or the head. Its units are equal and split alike.
  struct Piece {
    std::int64_t units = 1;  // experts, which ep ranks share
    double parameters = 0;   // of a unit
    bool routed = false;
    bool operator==(const Piece&) const = default;
  };
  struct Range {
    double from = 0;
    double to = 0;
    double length() const { return to - from; }
  };
  // A range of units, and the same range of parameters of each.
  struct Share {
    Range units;
    Range parameters;
  };
  static double common(const Range& a, const Range& b);
  static Range part(const Range& whole, std::int64_t index, std::int64_t parts);

  std::int64_t stage_of(std::int64_t device) const { return device / (tp_ * group_); }
  Share share(std::int64_t device, const Piece& piece, bool optimizer) const;
  // A kind of piece that both stages have, and the number of such pieces.
  struct Like {
    Piece piece;
    double count = 0;
  };
  std::vector<Like> in_both(std::int64_t stage, const HeldStates& other, std::int64_t its) const;

  std::int64_t devices_ = 0;
  std::int64_t tp_ = 1;
  std::int64_t group_ = 1;   // cp dp
  std::int64_t shards_ = 1;  // ranks of cp dp that have the states of a stage together
  std::int64_t ep_ = 1;
  std::vector<std::int64_t> zero_;      // of each stage
  std::vector<Piece> pieces_;           // in the order of the model
  std::vector<std::vector<bool>> has_;  // [stage][piece]
};

}  // namespace stowage
