// Which bytes of the model's states each device of a configuration holds: weights (2 bytes of a
// parameter) and the optimizer's (12). Gradients are made anew in each step, and not counted.
//
//   const HeldStates before(instance, plan);
//   const HeldStates after(smaller, its_plan);          // of the same model
//   double lacking = after.bytes(3) - after.shared_bytes(before)[3][5];
//   // what rank 3 has to be sent where it runs on what was device 5
//
// Ranks are numbered from 0: those of tp follow one another, then cp, dp, and stages last. Formulas
// are RP1 to RP3 of instances/strategy/README.md. Bytes are whole numbers, exact below 2^53.
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
  // Requires a plan that keeps the verifier's rules from `options` to `layers`.
  HeldStates(const StrategyInstance& instance, const StrategyPlan& plan);

  std::int64_t devices() const { return devices_; }
  double bytes(std::int64_t device) const;

  // [device here][device of `other`]: bytes that both hold. Requires the same model.
  std::vector<std::vector<double>> shared_bytes(const HeldStates& other) const;

  // Bytes of the model that none of `holders` has. RP3
  double missing_bytes(std::span<const std::int64_t> holders) const;

 private:
  // What is split in one way: the parameters that every token meets of a layer, the experts of a
  // layer, the embedding, or the head. All units are equal and split alike.
  struct Piece {
    std::int64_t units = 1;  // experts, of which ep ranks have other ones each
    double parameters = 0;   // of a unit
    bool routed = false;
    bool operator==(const Piece&) const = default;
  };
  struct Range {
    double from = 0;
    double to = 0;
    double length() const { return to - from; }
  };
  // Units, and of each the same parameters.
  struct Share {
    Range units;
    Range parameters;
  };
  static double common(const Range& a, const Range& b);
  static Range part(const Range& whole, std::int64_t index, std::int64_t parts);

  std::int64_t stage_of(std::int64_t device) const { return device / (tp_ * group_); }
  Share share(std::int64_t device, const Piece& piece, bool optimizer) const;
  // Of each piece that both stages have, once for each like it, the number of such.
  struct Like {
    Piece piece;
    double count = 0;
  };
  std::vector<Like> in_both(std::int64_t stage, const HeldStates& other, std::int64_t its) const;

  std::int64_t devices_ = 0;
  std::int64_t tp_ = 1;
  std::int64_t group_ = 1;  // cp dp
  std::int64_t ep_ = 1;
  std::vector<std::int64_t> zero_;      // of each stage
  std::vector<Piece> pieces_;           // in the order of the model
  std::vector<std::vector<bool>> has_;  // [stage][piece]
};

}  // namespace stowage
