#include "instances/strategy/cost/held_states.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/layer.h"
#include "instances/strategy/planning_table.h"

namespace stowage {
namespace {

constexpr double kWeightBytes = 2;
constexpr double kOptimizerBytes = 12;  // weights, momentum and variance of four bytes each

}  // namespace

HeldStates::HeldStates(const StrategyInstance& instance, const StrategyPlan& plan)
    : devices_(plan.pp * plan.tp * plan.cp * plan.dp),
      tp_(plan.tp),
      group_(plan.cp * plan.dp),
      shards_(layout_of(plan).sharding_ranks()),
      ep_(plan.ep) {
  const StrategyModel& model = instance.model;
  std::int64_t layers = 0;
  for (const StrategyBlock& block : model.blocks) {
    const StrategyLayer layer = layer_of(model, block);
    Piece experts{.routed = true};
    if (block.routed()) {
      experts.units = block.experts->count;
      experts.parameters = layer.experts / static_cast<double>(experts.units);
    }
    for (std::int64_t i = 0; i < block.count; ++i) {
      pieces_.push_back({.parameters = layer.shared});
      pieces_.push_back(experts);
    }
    layers += block.count;
  }
  // A tied embedding and head are one set of parameters on every stage that has either.
  const Piece matrix{.parameters =
                         static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden)};
  pieces_.push_back(matrix);
  if (!model.tied) pieces_.push_back(matrix);

  has_.assign(at(plan.pp), std::vector<bool>(pieces_.size(), false));
  has_.front()[at(2 * layers)] = true;
  has_.back().back() = true;
  std::int64_t next = 0;
  for (std::int64_t chunk = 0; chunk < plan.v; ++chunk) {
    for (std::int64_t s = 0; s < plan.pp; ++s) {
      for (std::int64_t i = 0; i < chunk_layers(plan, s, chunk); ++i, ++next) {
        has_[at(s)][at(2 * next)] = true;
        has_[at(s)][at(2 * next + 1)] = true;
      }
    }
  }
  for (const StrategyStage& stage : plan.stages) zero_.push_back(stage.zero);
}

double HeldStates::common(const Range& a, const Range& b) {
  return std::max(0.0, std::min(a.to, b.to) - std::max(a.from, b.from));
}

// Returns one of `parts` parts that are equal but for rounding. RP1
HeldStates::Range HeldStates::part(const Range& whole, std::int64_t index, std::int64_t parts) {
  const auto cut = [&](std::int64_t i) {
    return whole.from +
           std::floor(whole.length() * static_cast<double>(i) / static_cast<double>(parts));
  };
  return {cut(index), cut(index + 1)};
}

// Returns the share of a piece that a device holds. RP2
HeldStates::Share HeldStates::share(std::int64_t device, const Piece& piece, bool optimizer) const {
  const std::int64_t in_group = device / tp_ % shards_;
  const std::int64_t zero = zero_[at(stage_of(device))];
  const bool sharded = optimizer ? zero >= 1 : zero == 3;
  const std::int64_t ep = piece.routed ? ep_ : 1;
  Share share{.units = part({0, static_cast<double>(piece.units)}, in_group % ep, ep),
              .parameters = part({0, piece.parameters}, device % tp_, tp_)};
  if (sharded) share.parameters = part(share.parameters, in_group / ep, shards_ / ep);
  return share;
}

std::vector<HeldStates::Like> HeldStates::in_both(std::int64_t stage, const HeldStates& other,
                                                  std::int64_t its) const {
  std::vector<Like> all;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].parameters == 0 || !has_[at(stage)][i] || !other.has_[at(its)][i]) continue;
    const auto found = std::ranges::find(all, pieces_[i], &Like::piece);
    if (found == all.end()) {
      all.push_back({pieces_[i], 1});
    } else {
      ++found->count;
    }
  }
  return all;
}

double HeldStates::bytes(std::int64_t device) const {
  const std::int64_t stage = stage_of(device);
  double sum = 0;
  for (const Like& like : in_both(stage, *this, stage)) {
    for (const bool optimizer : {false, true}) {
      const Share its = share(device, like.piece, optimizer);
      sum += like.count * (optimizer ? kOptimizerBytes : kWeightBytes) * its.units.length() *
             its.parameters.length();
    }
  }
  return sum;
}

std::vector<std::vector<double>> HeldStates::shared_bytes(const HeldStates& other) const {
  std::vector<std::vector<double>> shared(at(devices_), std::vector<double>(at(other.devices_)));
  const std::int64_t of_stage = tp_ * group_;
  const std::int64_t of_its = other.tp_ * other.group_;
  for (std::int64_t stage = 0; stage < std::ssize(zero_); ++stage) {
    for (std::int64_t its = 0; its < std::ssize(other.zero_); ++its) {
      for (const Like& like : in_both(stage, other, its)) {
        for (const bool optimizer : {false, true}) {
          const double bytes = like.count * (optimizer ? kOptimizerBytes : kWeightBytes);
          std::vector<Share> theirs;
          for (std::int64_t b = its * of_its; b < (its + 1) * of_its; ++b) {
            theirs.push_back(other.share(b, like.piece, optimizer));
          }
          for (std::int64_t a = stage * of_stage; a < (stage + 1) * of_stage; ++a) {
            const Share mine = share(a, like.piece, optimizer);
            double* row = &shared[at(a)][at(its * of_its)];
            for (const Share& each : theirs) {
              *row++ +=
                  bytes * common(mine.units, each.units) * common(mine.parameters, each.parameters);
            }
          }
        }
      }
    }
  }
  return shared;
}

// Pieces of the same stages that are split alike miss the same bytes, so each kind is counted once.
double HeldStates::missing_bytes(std::span<const std::int64_t> holders) const {
  struct Kind {
    Piece piece;
    std::vector<bool> stages;
    double count = 0;
  };
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].parameters == 0) continue;
    Kind kind{.piece = pieces_[i], .count = 1};
    for (const std::vector<bool>& stage : has_) kind.stages.push_back(stage[i]);
    const auto found = std::ranges::find_if(kinds, [&](const Kind& each) {
      return each.piece == kind.piece && each.stages == kind.stages;
    });
    if (found == kinds.end()) {
      kinds.push_back(std::move(kind));
    } else {
      ++found->count;
    }
  }
  double missing = 0;
  for (const Kind& kind : kinds) {
    for (const bool optimizer : {false, true}) {
      std::vector<Share> held;
      std::vector<double> ends = {0, static_cast<double>(kind.piece.units)};
      for (const std::int64_t device : holders) {
        if (!kind.stages[at(stage_of(device))]) continue;
        held.push_back(share(device, kind.piece, optimizer));
        ends.push_back(held.back().units.from);
        ends.push_back(held.back().units.to);
      }
      std::ranges::sort(held, {}, [](const Share& each) { return each.parameters.from; });
      std::ranges::sort(ends);
      ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
      double unheld = 0;
      for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
        double covered = 0;
        double reached = 0;
        for (const Share& each : held) {
          if (each.units.from > ends[i] || each.units.to < ends[i + 1]) continue;
          covered += std::max(0.0, each.parameters.to - std::max(reached, each.parameters.from));
          reached = std::max(reached, each.parameters.to);
        }
        unheld += (ends[i + 1] - ends[i]) * (kind.piece.parameters - covered);
      }
      missing += kind.count * (optimizer ? kOptimizerBytes : kWeightBytes) * unheld;
    }
  }
  return missing;
}

}  // namespace stowage
