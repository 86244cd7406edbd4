#include "heuristics/scatter/improve/anneal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "heuristics/scatter/improve/annealer.h"
#include "heuristics/scatter/improve/rule_repair.h"
#include "heuristics/scatter/improve/search_state.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

constexpr std::int64_t kStage = 1024;  // moves at one temperature
// One in this many proposals changes the recomputation mode.
constexpr std::size_t kOtherWayMoves = 40;
// Memory counts as full if fewer than one move in this many finds room.
constexpr std::int64_t kFilled = 10;
// The weight of evenness falls from 1 to this value during the annealing.
constexpr double kLastWeight = 0.05;
// Pipelines only: makespans within this share of the longest one carry a part of its price. The
// share falls from the first value to the last.
constexpr double kFirstMargin = 0.03;
constexpr double kLastMargin = 0.001;

}  // namespace

Annealer::Annealer(const ScatterTable& table, const WorkingStep& step, const AnnealEffort& effort,
                   std::uint64_t seed)
    : state_(table, step, 1),
      effort_(effort),
      random_(seed),
      no_idle_(table.no_idle_ranks()),
      equal_(table.equal_sequences()),
      kinds_(table.several_kinds()),
      modes_(table.recomputations()),
      levels_of_(at(table.recomputations()) * at(places_of(table))) {
  for (int config = 0; config < static_cast<int>(table.configs().size()); ++config) {
    std::vector<int>& own = levels_of_[at(sort(table.mode(config), config))];
    place_.push_back(static_cast<int>(own.size()));
    own.push_back(config);
  }
}

std::array<WorkingStep, 2> Annealer::run(const Budget& budget) {
  WorkingStep best;
  Ms least = kInfinity;
  const double mean = state_.total() / static_cast<double>(state_.batches().size());
  const std::int64_t stages = std::max<std::int64_t>(1, effort_.steps / kStage);
  const double cooling = std::pow(effort_.cold / effort_.hot,
                                  1 / static_cast<double>(std::max<std::int64_t>(1, stages - 1)));
  temperature_ = effort_.hot * mean;
  if (effort_.price_from == 0) state_.price_longest(kFirstMargin);
  for (std::int64_t stage = 0; stage < stages && !budget.exhausted(); ++stage) {
    // The last stages accept improvements only.
    if (stage >= stages - stages / 16) temperature_ = 0;
    moves_ = 0;
    room_found_ = 0;
    for (std::int64_t i = 0; i < kStage; ++i) propose();
    shares_ = room_found_ * kFilled < moves_ ? kFilledShares : kShares;
    temperature_ *= cooling;
    const double done = static_cast<double>(stage + 1) / static_cast<double>(stages);
    state_.set_weight(std::pow(kLastWeight, done));
    if (done >= effort_.price_from) {
      state_.price_longest(kFirstMargin * std::pow(kLastMargin / kFirstMargin, done));
    }
    if (const Ms now = step_now(); now < least) {
      least = now;
      best = state_.draft();
    }
  }
  return {state_.draft(), std::move(best)};
}

void Annealer::propose() {
  if (modes_ > 1 && below(kOtherWayMoves) == 0) return try_other_mode();
  const std::uint32_t dice = below(100);
  if (dice < shares_.moves) {
    // If groups keep their sequence counts, only swaps are allowed.
    if (equal_) return try_swap();
    try_move();
  } else if (dice < shares_.moves + shares_.swaps) {
    try_swap();
  } else if (dice < shares_.moves + shares_.swaps + shares_.groups) {
    try_swap_groups();
  } else {
    try_regroup();
  }
}

// Returns a sequence to move: from a group picked by pick_fairly(), from a slowest group, or any
// sequence.
int Annealer::pick_position() {
  const std::uint32_t dice = below(100);
  if (dice < kFair) {
    const auto& positions = state_.group(pick_fairly()).positions;
    if (!positions.empty()) return positions[below(positions.size())];
  } else if (dice < kFair + kSlowest) {
    const int batch = static_cast<int>(below(state_.batches().size()));
    if (state_.batch(batch).makespan > 0) {
      const auto& positions = state_.group(state_.slowest(batch)).positions;
      return positions[below(positions.size())];
    }
  }
  return static_cast<int>(below(static_cast<std::size_t>(state_.table().size())));
}

void Annealer::try_move() {
  const int position = pick_position();
  const int from = state_.group_of(position);
  const int to = pick_group();
  if (from == to) return;
  const StepState::Group& source = state_.group(from);
  const StepState::Group& target = state_.group(to);
  if (no_idle_ && source.positions.size() == 1) return;
  const Tokens length = state_.length(position, target.config);
  ++moves_;
  if (length > state_.room(target) || !state_.holds(target.config, length)) return;
  if (state_.full(target)) return;
  ++room_found_;
  const Change out{from, time_without(source, position)};
  const Change in{to,
                  state_.time(target.config, target.load + state_.load(position, target.config))};
  if (accept(energy_change(out, in))) state_.move(position, to);
}

void Annealer::try_swap() {
  const int position = pick_position();
  const int a = state_.group_of(position);
  const int b = pick_group();
  if (a == b) return;
  const StepState::Group& left = state_.group(a);
  const StepState::Group& right = state_.group(b);
  if (right.positions.empty()) return;
  const int other = right.positions[below(right.positions.size())];
  if (state_.kind(position) == state_.kind(other)) return;
  const Tokens coming = state_.length(other, left.config);
  const Tokens leaving = state_.length(position, right.config);
  if (coming - state_.length(position, left.config) > state_.room_to_grow(left)) return;
  if (leaving - state_.length(other, right.config) > state_.room_to_grow(right)) return;
  if (!state_.holds(left.config, coming) || !state_.holds(right.config, leaving)) return;
  const Change out{a, exchanged(left, position, other)};
  const Change in{b, exchanged(right, other, position)};
  if (accept(energy_change(out, in))) state_.swap(position, other);
}

void anneal(const ScatterTable& table, WorkingStep& step, const AnnealEffort& effort,
            std::uint64_t seed, const Budget& budget) {
  if (step.empty()) return;
  const auto mixed = [&](const WorkingMicroBatch& batch) { return mixes_modes(table, batch); };
  // Moves keep the recomputation mode of a micro-batch.
  if (std::ranges::any_of(step, mixed)) return;
  const bool keeps_rules = satisfies_rules(table, step);
  for (WorkingStep& made : Annealer(table, step, effort, seed).run(budget)) {
    if (made.empty()) continue;
    std::optional<WorkingStep> next = std::move(made);
    choose_forms(table, *next);
    // Moves ignore the rules of whole micro-batches. The result is repaired before it is compared.
    if (keeps_rules) next = repaired(table, *std::move(next));
    if (next && step_ms(table, *next) < step_ms(table, step)) step = *std::move(next);
  }
}

}  // namespace stowage
