#include "heuristics/scatter/window/window_deal.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "heuristics/scatter/registry.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/scatter/plan_builder.h"

namespace stowage {
namespace {

using Step = std::size_t;

// A sequence and the last step of the window that it may come to.
struct Dealt {
  Tokens length = 0;
  DrawnSequence drawn;
  Step last = 0;
};

// The state of the search: by step, its sequences, longest first, ties by their places.
using Hand = std::vector<std::vector<Dealt>>;

bool longer(const Dealt& a, const Dealt& b) {
  return a.length != b.length ? a.length > b.length : a.drawn < b.drawn;
}

Hand hand_of(const std::vector<ScatterInstance>& steps, std::int64_t delay) {
  Hand hand(steps.size());
  for (Step s = 0; s < steps.size(); ++s) {
    const std::int64_t last =
        std::min<std::int64_t>(std::ssize(steps) - 1, static_cast<std::int64_t>(s) + delay);
    for (std::size_t i = 0; i < steps[s].lengths.size(); ++i) {
      hand[s].push_back({.length = steps[s].lengths[i],
                         .drawn = {static_cast<std::int64_t>(s), static_cast<std::int64_t>(i)},
                         .last = static_cast<Step>(last)});
    }
    std::ranges::sort(hand[s], longer);
  }
  return hand;
}

// Returns the deal. A sequence that stays in its step keeps its index if it can; the others come in
// the order of their places.
WindowDeal deal_of(const Hand& hand) {
  WindowDeal deal;
  for (Step s = 0; s < hand.size(); ++s) {
    std::vector<std::optional<DrawnSequence>> places(hand[s].size());
    std::vector<DrawnSequence> others;
    for (const Dealt& each : hand[s]) {
      if (each.drawn.step == static_cast<std::int64_t>(s)) {
        places[static_cast<std::size_t>(each.drawn.index)] = each.drawn;
      } else {
        others.push_back(each.drawn);
      }
    }
    std::ranges::sort(others);
    auto next = others.begin();
    std::vector<DrawnSequence>& step = deal.emplace_back();
    for (const std::optional<DrawnSequence>& place : places) {
      step.push_back(place ? *place : *next++);
    }
  }
  return deal;
}

std::vector<Tokens> tokens_of(const Hand& hand) {
  std::vector<Tokens> tokens;
  for (const std::vector<Dealt>& step : hand) {
    Tokens& sum = tokens.emplace_back(0);
    for (const Dealt& each : step) sum += each.length;
  }
  return tokens;
}

// Swaps two sequences of two steps. Requires that both may.
void swap_places(Hand& hand, Step a, std::size_t i, Step b, std::size_t j) {
  std::swap(hand[a][i], hand[b][j]);
  std::ranges::sort(hand[a], longer);
  std::ranges::sort(hand[b], longer);
}

// Brings the `count` longest sequences of some steps into the first `blocks` of them, as many in
// each: the longest ones into the first step, the next ones into the second, and so on. Each one
// takes the place of the shortest sequence there that may come to its step.
void gather(Hand& hand, const std::vector<Step>& among, std::size_t count, std::size_t blocks) {
  struct Held {
    Dealt sequence;
    Step step;
  };
  std::vector<Held> all;
  for (const Step s : among) {
    for (const Dealt& each : hand[s]) all.push_back({each, s});
  }
  std::ranges::sort(all, longer, &Held::sequence);
  all.resize(std::min(count, all.size()));
  std::map<DrawnSequence, Step> target;
  const std::size_t each = (all.size() + blocks - 1) / blocks;
  for (std::size_t k = 0; k < all.size(); ++k) {
    target[all[k].sequence.drawn] = among[k / each];
  }
  for (const Held& held : all) {
    const DrawnSequence drawn = held.sequence.drawn;
    const Step to = target.at(drawn);
    // Its step may have changed, if it has taken the place of another one.
    const auto holds = [&](Step s) {
      return std::ranges::find(hand[s], drawn, &Dealt::drawn) != hand[s].end();
    };
    const Step from = *std::ranges::find_if(among, holds);
    if (from == to || held.sequence.last < to) continue;
    const auto at = std::ranges::find(hand[from], drawn, &Dealt::drawn) - hand[from].begin();
    for (std::size_t j = hand[to].size(); j-- > 0;) {
      const Dealt& other = hand[to][j];
      const auto own = target.find(other.drawn);
      if (other.last < from || (own != target.end() && own->second == to)) continue;
      swap_places(hand, from, static_cast<std::size_t>(at), to, j);
      break;
    }
  }
}

// Swaps shorter sequences of some steps until these have about as many tokens each, as far as such
// swaps are allowed. Their `count` longest sequences stay.
void balance(Hand& hand, const std::vector<Step>& among, std::size_t count) {
  std::vector<Tokens> lengths;
  std::map<Step, Tokens> tokens;
  for (const Step s : among) {
    for (const Dealt& each : hand[s]) {
      lengths.push_back(each.length);
      tokens[s] += each.length;
    }
  }
  std::ranges::sort(lengths, std::greater<>{});
  const Tokens limit = lengths.empty() ? 0 : lengths[std::min(count, lengths.size()) - 1];
  const auto by_tokens = [&](Step s) { return tokens[s]; };
  for (std::size_t tries = lengths.size(); tries > 0; --tries) {
    const Step a = *std::ranges::max_element(among, {}, by_tokens);
    const Step b = *std::ranges::min_element(among, {}, by_tokens);
    const Tokens wanted = (tokens[a] - tokens[b]) / 2;
    Tokens best = 0;
    std::size_t best_i = 0;
    std::size_t best_j = 0;
    for (std::size_t i = 0; i < hand[a].size(); ++i) {
      const Dealt& x = hand[a][i];
      if (x.length >= limit || x.last < b) continue;
      // The first of the sequences that close the difference best and that may move.
      auto y =
          std::ranges::lower_bound(hand[b], x.length - wanted, std::greater<>{}, &Dealt::length);
      while (y != hand[b].end() && y->last < a) ++y;
      if (y == hand[b].end()) continue;
      const Tokens gain = x.length - y->length;
      if (gain > wanted || gain <= best) continue;
      best = gain;
      best_i = i;
      best_j = static_cast<std::size_t>(y - hand[b].begin());
    }
    if (best == 0) return;
    tokens[a] -= best;
    tokens[b] += best;
    swap_places(hand, a, best_i, b, best_j);
  }
}

// Estimates the time of steps by a short search, each set of lengths once.
class Estimates {
 public:
  Estimates(const std::vector<ScatterInstance>& steps, const DealParams& params, std::uint64_t seed,
            const Budget& budget)
      : steps_(steps), seed_(seed), budget_(budget), known_(steps.size()) {
    race_.moves = params.moves;
    race_.path_rounds = params.path_rounds;
  }

  Ms of(Step step, const std::vector<Dealt>& sequences) {
    std::vector<Tokens> lengths;
    for (const Dealt& each : sequences) lengths.push_back(each.length);
    const auto [entry, fresh] = known_[step].try_emplace(std::move(lengths), kInfinity);
    if (!fresh) return entry->second;
    ScatterInstance instance = steps_[step];
    instance.loss_tokens.clear();
    instance.lengths = entry->first;
    if (!unplaceable_sequences(instance).empty()) return kInfinity;
    const ScatterTable table(instance);
    for (const ScatterHeuristic& heuristic : heuristics(instance, race_)) {
      if (heuristic.name != "fast") continue;
      const auto plan = heuristic.run(instance, table, seed_, budget_);
      if (!plan) continue;
      entry->second = instance.pipeline_stages == 1
                          ? plan->objective_ms
                          : in_pipeline_order(instance, *plan).simulated_1f1b_ms;
    }
    return entry->second;
  }

  Ms of(const Hand& hand) {
    Ms sum = 0;
    for (Step s = 0; s < hand.size(); ++s) sum += of(s, hand[s]);
    return sum;
  }

 private:
  const std::vector<ScatterInstance>& steps_;
  std::uint64_t seed_;
  const Budget& budget_;
  std::vector<std::map<std::vector<Tokens>, Ms>> known_;  // by step
  MultistartParams race_;
};

// The best deals so far, and the search that offers more.
class DealSearch {
 public:
  DealSearch(const std::vector<ScatterInstance>& steps, const DealEffort& effort,
             std::uint64_t seed, const Budget& budget)
      : effort_(effort),
        budget_(budget),
        random_(seed),
        estimates_(steps, effort.params, seed, budget) {
    const Hand drawn = hand_of(steps, effort.rule.delay);
    const auto [least, most] = std::ranges::minmax(tokens_of(drawn));
    fewest_tokens_ = static_cast<double>(least) / effort.rule.token_spread;
    most_tokens_ = static_cast<double>(most) * effort.rule.token_spread;
    drawn_ms_ = estimates_.of(drawn);
    best_.push_back({drawn_ms_, drawn});
  }

  std::vector<WindowDeal> run() && {
    const Hand drawn = best_.front().hand;
    std::vector<Step> all(drawn.size());
    std::iota(all.begin(), all.end(), Step{0});
    for (std::size_t blocks = 1; blocks <= all.size(); ++blocks) gather_from(drawn, all, blocks);
    for (Step a = 0; a < all.size(); ++a) {
      for (Step b = a + 1; b < all.size(); ++b) {
        // The sequences that make room in step a come to step b.
        if (static_cast<std::int64_t>(b - a) <= effort_.rule.delay) {
          gather_from(best_.front().hand, {a, b}, 1);
        }
      }
    }
    for (int k = 0; k < effort_.params.swaps && !budget_.exhausted(); ++k) swap_runs();
    std::vector<WindowDeal> deals;
    for (const Known& each : best_) {
      if (each.ms < drawn_ms_) deals.push_back(deal_of(each.hand));
    }
    return deals;
  }

 private:
  struct Known {
    Ms ms = 0;
    Hand hand;
  };

  bool keeps_tokens(const Hand& hand) const {
    return std::ranges::all_of(tokens_of(hand), [&](Tokens tokens) {
      const auto own = static_cast<double>(tokens);
      return own >= fewest_tokens_ && own <= most_tokens_;
    });
  }

  // Keeps the deal if it is among the best ones, of which no two take the same time.
  void offer(Hand hand) {
    if (!keeps_tokens(hand)) return;
    const Ms ms = estimates_.of(hand);
    const auto place = std::ranges::lower_bound(best_, ms, {}, &Known::ms);
    if (place != best_.end() && place->ms == ms) return;
    best_.insert(place, {ms, std::move(hand)});
    if (std::ssize(best_) > effort_.params.deals) best_.pop_back();
  }

  void gather_from(const Hand& from, const std::vector<Step>& among, std::size_t blocks) {
    const Hand begin(from.begin(), from.end());  // offer() may replace the hand that `from` names
    std::size_t sequences = 0;
    for (const Step s : among) sequences += begin[s].size();
    for (std::size_t count = 2; count <= sequences; count *= 2) {
      for (const bool even : {false, true}) {
        if (budget_.exhausted()) return;
        Hand hand = begin;
        gather(hand, among, count, blocks);
        if (even) balance(hand, among, count);
        offer(std::move(hand));
      }
    }
  }

  // Lets two runs of sequences of neighbouring lengths change their steps.
  void swap_runs() {
    Hand hand = best_.front().hand;
    const Step a = draw(random_, hand.size());
    const Step b = draw(random_, hand.size());
    if (a == b || hand[a].empty() || hand[b].empty()) return;
    const std::size_t most = std::min(hand[a].size(), hand[b].size());
    const std::size_t run = std::size_t{1} << draw(random_, std::bit_width(most));
    const std::size_t from_a = draw(random_, hand[a].size() - run + 1);
    const std::size_t from_b = draw(random_, hand[b].size() - run + 1);
    for (std::size_t k = 0; k < run; ++k) {
      if (hand[a][from_a + k].last < b || hand[b][from_b + k].last < a) return;
    }
    for (std::size_t k = 0; k < run; ++k) std::swap(hand[a][from_a + k], hand[b][from_b + k]);
    std::ranges::sort(hand[a], longer);
    std::ranges::sort(hand[b], longer);
    offer(std::move(hand));
  }

  const DealEffort& effort_;
  const Budget& budget_;
  std::mt19937_64 random_;
  Estimates estimates_;
  Ms drawn_ms_ = 0;
  double fewest_tokens_ = 0;  // of a step
  double most_tokens_ = kInfinity;
  std::vector<Known> best_;  // ascending, at least one
};

}  // namespace

WindowDeal as_drawn(const std::vector<ScatterInstance>& steps) {
  return deal_of(hand_of(steps, 0));
}

ScatterInstance dealt_step(const std::vector<ScatterInstance>& steps, const WindowDeal& deal,
                           std::size_t own) {
  ScatterInstance step = steps[own];
  for (std::size_t i = 0; i < deal[own].size(); ++i) {
    const auto [from, index] = deal[own][i];
    const ScatterInstance& source = steps[static_cast<std::size_t>(from)];
    step.lengths[i] = source.lengths[static_cast<std::size_t>(index)];
    if (!step.loss_tokens.empty()) {
      step.loss_tokens[i] = source.loss_tokens[static_cast<std::size_t>(index)];
    }
  }
  return step;
}

std::vector<WindowDeal> best_deals(const std::vector<ScatterInstance>& steps,
                                   const DealEffort& effort, std::uint64_t seed,
                                   const Budget& budget) {
  return DealSearch(steps, effort, seed, budget).run();
}

}  // namespace stowage
