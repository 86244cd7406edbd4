#include "solvers/scatter/bounds/makespan_profile_lp.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"
#include "solvers/lp/column_generation.h"

namespace stowage {
namespace {

constexpr int kMaxProofs = 12;  // proofs by exact pricing, at most
constexpr double kGain = 1e-7;  // share of `upper` per device: gain of a column worth adding
constexpr double kLoss = 5e-5;  // share of `upper` per micro-batch: error allowed in exact pricing
constexpr double kSpare = 0.5;  // share of the excess over `upper` allowed as error
constexpr std::size_t kPricingStates[] = {30, 300};  // by effort
constexpr std::size_t kProofStates = 1500;
constexpr int kTail = 6;  // rounds between two proofs of a box beyond `upper`
constexpr ColumnGenerationOptions kRounds = {
    .most_rounds = 100, .efforts = 2, .rounds_per_measurement = kTail, .progress = -1e-4};
constexpr double kRounding = 1e-11;
constexpr std::size_t kMaxPatterns = 1500;
constexpr std::int64_t kForgotten = 20;  // solves without use after which a pattern is removed

// Only time ends a box. Nodes count boxes, and a box that has begun is finished.
bool timed_out(const Budget& budget) {
  const StopReason reason = budget.stop_reason();
  return reason == StopReason::time_limit || reason == StopReason::interrupted;
}

}  // namespace

ScatterProfileLp::ScatterProfileLp(const ScatterTable& table, MilpBackend backend)
    : table_(table), backend_(backend), patterns_(table, PatternPool::Times::of_sequences) {}

// Returns the pattern of a group with the largest worth of its sequences beyond the price of their
// time.
BestPattern ScatterProfileLp::price(int config, Ms room, double time,
                                    const std::vector<double>& values, double floor,
                                    std::size_t states) const {
  std::vector<PatternItem> items;
  for (int k = 0; k < static_cast<int>(table_.kinds().size()); ++k) {
    if (!table_.holds_kind(config, k)) continue;
    const Ms cost = table_.kind_cost(k, config);
    const double worth = values[at(k)] - time * cost;
    if (worth <= 0) continue;
    const DistinctLength& kind = table_.kinds()[at(k)];
    items.push_back({.kind = k,
                     .count = kind.count,
                     .tokens = table_.configs()[at(config)].padded(kind.length) +
                               table_.configs()[at(config)].sequence_tokens,
                     .time = cost,
                     .worth = worth});
  }
  return best_pattern(std::move(items), table_.configs()[at(config)].capacity, room, floor, states);
}

// Sets the prices of groups so that no pattern is worth more, with an error of at most `loss` per
// micro-batch. Returns the bound in ms that follows, or 0 if the time is up. Adds new patterns to
// the pool.
Ms ScatterProfileLp::prove(const Box& box, Ms loss, ProfileNode& node, const Budget& budget) {
  double proven = 0;
  for (std::size_t k = 0; k < node.values.size(); ++k) {
    proven += table_.kinds()[k].count * node.values[k];
  }
  proven *= 1 - kRounding;
  for (std::size_t b = 0; b < box.low.size(); ++b) {
    double device_low = 0;
    double device_high = 0;
    for (int d = 0; d < static_cast<int>(table_.configs().size()); ++d) {
      const GroupConfig& config = table_.configs()[at(d)];
      GroupPrices& prices = node.batches[b][at(d)];
      const Ms room = box.high[b] * kBoundFits - config.overhead;
      if (room <= 0) continue;
      if (timed_out(budget)) return 0;
      const double spare = loss * config.weighted_devices / table_.devices();
      BestPattern best =
          price(d, room, prices.time, node.values, prices.group + spare, kProofStates);
      if (best.worth > prices.group + spare && !patterns_.knows(d, best.amounts)) {
        patterns_.add(d, std::move(best.amounts));
      }
      prices.group = best.most * (1 + kRounding);
      const auto worth = [&](Ms makespan) {
        return (prices.group + prices.time * (makespan - config.overhead)) /
               config.weighted_devices;
      };
      device_low = std::max(device_low, worth(box.low[b]));
      device_high = std::max(device_high, worth(box.high[b]));
    }
    const double times = b == 0 ? 1 + table_.longest_weight() : 1;
    proven -= std::max(table_.devices() * device_low * (1 + kRounding) - times * box.low[b],
                       table_.devices() * device_high * (1 + kRounding) - times * box.high[b]);
  }
  return proven;
}

ScatterProfileLp::Answer ScatterProfileLp::solve(std::span<const Ms> low, std::span<const Ms> high,
                                                 Ms upper, Budget& budget) {
  budget.count_nodes(1);
  patterns_.begin_solve(kMaxPatterns, kForgotten);
  const Box box{low, high, upper};
  Answer answer;
  answer.node.kind = ProfileNode::Kind::priced;
  answer.node.values.assign(table_.kinds().size(), 0);
  answer.node.batches.assign(low.size(), std::vector<GroupPrices>(table_.configs().size()));
  for (std::size_t k = 0; k < table_.kinds().size(); ++k) {
    if (table_.alone(static_cast<int>(k)) <= high.front() * kBoundFits) continue;
    // The sequence fits no micro-batch of the box, so no group limits its value.
    answer.node.values[k] = 2 * upper;
    answer.proven = prove(box, 0, answer.node, budget);
    answer.solved = true;
    return answer;
  }
  generate(box, answer, budget);
  return answer;
}

// Rounds of pricing, with proofs by exact pricing if progress is slow or at its end.
void ScatterProfileLp::generate(const Box& box, Answer& answer, Budget& budget) {
  ScatterProfileMaster master(table_, box.low, box.high, box.upper);
  offer(0, master);
  LpResult solution;
  int proofs = 0;
  const auto price_round = [&](const PricingRound& round) {
    answer.solved = true;
    answer.makespans = master.makespans(solution.values);
    for (const std::size_t p : master.used(solution.values)) patterns_.use(p);
    ProfileNode node = master.prices(solution.duals);
    const std::size_t known = patterns_.size();
    const auto found = [&] { return patterns_.size() > known; };
    const std::size_t states = kPricingStates[round.effort];
    if (add_patterns(box, node, states, budget) == Search::out_of_time) return Pricing::enough;
    if (!found() && round.effort == 0) return Pricing::nothing;
    const bool stalled = round.stalls > 0;
    const double over = solution.objective - 1;  // relative excess over `upper`
    // A box beyond `upper` is often refuted long before the last pattern is generated.
    if (!found() || stalled || (over > 0 && round.number % kTail == kTail - 1)) {
      // If the LP exceeds `upper` by far, a loose tolerance refutes the box.
      const double loss = std::max(kLoss, kSpare * over / static_cast<double>(box.low.size()));
      const Ms proven = prove(box, loss * box.upper, node, budget);
      if (proven > answer.proven) {
        answer.proven = proven;
        answer.node = std::move(node);
      }
      if (!found() || stalled || answer.proven >= box.upper || ++proofs == kMaxProofs) {
        return Pricing::enough;
      }
    }
    offer(known, master);
    return Pricing::added;
  };
  ColumnGeneration(backend_, kRounds).run(master.model(), solution, budget, price_round);
}

// Adds the patterns from `first` on to every micro-batch.
void ScatterProfileLp::offer(std::size_t first, ScatterProfileMaster& master) const {
  for (std::size_t b = 0; b < master.batches(); ++b) {
    for (std::size_t p = first; p < patterns_.size(); ++p) {
      const PatternPool::Pattern& pattern = patterns_[p];
      master.offer(b, pattern.config, pattern.amounts, pattern.time, p);
    }
  }
}

// Adds the best new pattern of each degree in each micro-batch, if it is worth more than its price.
ScatterProfileLp::Search ScatterProfileLp::add_patterns(const Box& box, const ProfileNode& node,
                                                        std::size_t states, const Budget& budget) {
  for (std::size_t b = 0; b < box.low.size(); ++b) {
    for (int d = 0; d < static_cast<int>(table_.configs().size()); ++d) {
      const GroupConfig& config = table_.configs()[at(d)];
      const GroupPrices& prices = node.batches[b][at(d)];
      const Ms room = box.high[b] - config.overhead;
      if (room <= 0) continue;
      if (timed_out(budget)) return Search::out_of_time;
      BestPattern best = price(d, room, prices.time, node.values,
                               prices.group + kGain * box.upper * config.weighted_devices, states);
      if (!best.amounts.empty() && !patterns_.knows(d, best.amounts)) {
        patterns_.add(d, std::move(best.amounts));
      }
    }
  }
  return Search::finished;
}

}  // namespace stowage
