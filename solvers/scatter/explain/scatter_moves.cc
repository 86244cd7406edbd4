#include "solvers/scatter/explain/scatter_moves.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "instances/json/text.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/scatter/explain/group_text.h"

namespace stowage {
namespace {

// A group to which a change of one leaving and one coming sequence applies.
struct Seen {
  Ms time = 0;
  Load load;
  Tokens held = 0;  // tokens taken from the configuration's capacity
  int config = 0;
  std::int64_t sequences = 0;
};

class ScatterMoves {
 public:
  ScatterMoves(const ScatterInstance& instance, const ScatterPlan& plan)
      : instance_(instance), table_(instance), plan_(plan), position_(instance.lengths.size()) {
    for (int p = 0; p < table_.size(); ++p) position_[static_cast<std::size_t>(table_.id(p))] = p;
    for (const ScatterMicroBatch& batch : plan.micro_batches) {
      seen_.emplace_back();
      modes_.push_back(mode_of(batch));
      for (const ScatterGroup& group : batch.groups) {
        const int config = table_.config_of(*form_of(instance, batch, group));
        seen_.back().push_back({group.time_ms, load_of(group, config), held_by(group, config),
                                config, std::ssize(group.sequences)});
      }
      slowest_.push_back(three_slowest(seen_.back()));
      makespans_.push_back(batch.makespan_ms);
    }
    std::ranges::sort(makespans_, std::greater<>{});
  }

  Moves run() {
    for (std::size_t b = 0; b < seen_.size() && moves_.all; ++b) {
      for (int mode = 0; mode < table_.recomputations(); ++mode) {
        if (mode != modes_[b]) try_mode(b, mode);
      }
      const auto critical = static_cast<std::size_t>(slowest_[b][0]);
      for (const std::int64_t id : plan_.micro_batches[b].groups[critical].sequences) {
        for (std::size_t c = 0; c < seen_.size() && moves_.all; ++c) try_batch(id, b, critical, c);
      }
    }
    return moves_;
  }

 private:
  static constexpr int kLeftOut = -1;

  // Returns the table's recomputation mode of the micro-batch, or kLeftOut if the table dropped it
  // for a better mode.
  int mode_of(const ScatterMicroBatch& batch) const {
    const int index = recomputation_index(instance_, batch.recomputation);
    for (int l = 0; l < static_cast<int>(table_.configs().size()); ++l) {
      if (table_.configs()[static_cast<std::size_t>(l)].recomputation == index)
        return table_.mode(l);
    }
    return kLeftOut;
  }

  // Tries another recomputation mode for the micro-batch, with the fastest configuration of each
  // group's degree.
  void try_mode(std::size_t b, int mode) {
    ++moves_.tried;
    Ms then = 0;
    int config = 0;
    for (const ScatterGroup& group : plan_.micro_batches[b].groups) {
      Ms least = kInfinity;
      const auto count = std::ssize(group.sequences);
      for (int l = 0; l < static_cast<int>(table_.configs().size()); ++l) {
        const GroupConfig& own = table_.configs()[static_cast<std::size_t>(l)];
        if (own.degree != group.degree || table_.mode(l) != mode || count > own.sequences) continue;
        if (own.place != form_of(instance_, plan_.micro_batches[b], group)->place) continue;
        config = l;
        if (own.room_to_grow(held_by(group, l), count) < 0) continue;
        Load load = table_.empty_load(l);
        bool holds = true;
        for (const std::int64_t id : group.sequences) {
          load += added(id, l);
          holds = holds && length(id, own) <= own.longest;
        }
        if (holds) least = std::min(least, table_.time(l, load));
      }
      then = std::max(then, least);
    }
    if (then == kInfinity) return;
    const Ms gain = makespan(b) - then + gained_again(b, b, then);
    if (!better(gain)) return;
    const int index = table_.configs()[static_cast<std::size_t>(config)].recomputation;
    tell(gain, "recompute " + in_quotes(recomputation_name(instance_, index)) +
                   " in /micro_batches/" + std::to_string(b));
  }

  Load load_of(const ScatterGroup& group, int config) const {
    if (table_.additive()) return {group.time_ms, group.time_ms};
    Load load = table_.empty_load(config);
    for (const std::int64_t id : group.sequences) load += added(id, config);
    return load;
  }

  Tokens held_by(const ScatterGroup& group, int config) const {
    Tokens held = 0;
    for (const std::int64_t id : group.sequences) {
      held += table_.held(config, position_[static_cast<std::size_t>(id)]);
    }
    return held;
  }

  // Returns the slots of the three slowest groups. Missing slots are -1.
  static std::array<int, 3> three_slowest(const std::vector<Seen>& groups) {
    std::array<int, 3> best{-1, -1, -1};
    for (std::size_t g = 0; g < groups.size(); ++g) {
      int slot = static_cast<int>(g);
      for (int& place : best) {
        if (place < 0 || groups[static_cast<std::size_t>(slot)].time >
                             groups[static_cast<std::size_t>(place)].time) {
          std::swap(place, slot);
          if (slot < 0) break;
        }
      }
    }
    return best;
  }

  // Returns the time of the slowest group of a micro-batch without groups `a` and `b`.
  Ms rest(std::size_t batch, std::size_t a, std::size_t b) const {
    for (const int slot : slowest_[batch]) {
      if (slot < 0) return 0;
      const auto s = static_cast<std::size_t>(slot);
      if (s != a && s != b) return seen_[batch][s].time;
    }
    return 0;
  }

  Load added(std::int64_t id, int config) const {
    return table_.load(position_[static_cast<std::size_t>(id)], config);
  }
  // Returns the tokens of the sequence on a group of the configuration.
  Tokens length(std::int64_t id, const GroupConfig& config) const {
    return config.padded(table_.length(position_[static_cast<std::size_t>(id)]));
  }
  Ms makespan(std::size_t batch) const { return plan_.micro_batches[batch].makespan_ms; }

  // Tries all moves and swaps of `id`, of the critical group of micro-batch b, in micro-batch c.
  void try_batch(std::int64_t id, std::size_t b, std::size_t critical, std::size_t c) {
    if (modes_[b] == kLeftOut || modes_[c] == kLeftOut) return;
    const Seen& from = seen_[b][critical];
    const bool alone = from.sequences == 1;
    // Without the sequence, ranks would idle or the number of micro-batches would fall.
    const bool needed = table_.no_idle_ranks() || (table_.multiple() > 1 && seen_[b].size() == 1);
    const bool may_leave = (!alone || !needed) && !table_.equal_sequences();
    const Ms left = alone ? 0 : table_.time(from.config, from.load - added(id, from.config));
    for (std::size_t h = 0; h < seen_[c].size(); ++h) {
      if (c == b && h == critical) continue;
      const Seen& to = seen_[c][h];
      const GroupConfig& config = table_.configs()[static_cast<std::size_t>(to.config)];
      const Tokens room = config.room(to.held, to.sequences);
      const Tokens tokens = length(id, config);
      if (may_leave && tokens <= room && tokens <= config.longest &&
          to.sequences < config.sequences) {
        const Ms gain =
            gained(b, critical, left, c, h, table_.time(to.config, to.load + added(id, to.config)));
        if (better(gain)) {
          tell(gain, "move sequence " + std::to_string(id) + " from " + group_pointer(b, critical) +
                         " to " + group_pointer(c, h));
        }
      }
      for (const std::int64_t other : plan_.micro_batches[c].groups[h].sequences) {
        try_exchange(id, b, critical, other, c, h);
      }
    }
    if (may_leave) try_new_group(id, b, critical, left, c);
  }

  void try_exchange(std::int64_t id, std::size_t b, std::size_t critical, std::int64_t other,
                    std::size_t c, std::size_t h) {
    const Seen& from = seen_[b][critical];
    const Seen& to = seen_[c][h];
    const GroupConfig& there = table_.configs()[static_cast<std::size_t>(to.config)];
    const GroupConfig& here = table_.configs()[static_cast<std::size_t>(from.config)];
    const Tokens grows = length(id, there) - length(other, there);
    const Tokens back = length(other, here) - length(id, here);
    if (grows > there.room_to_grow(to.held, to.sequences)) return;
    if (back > here.room_to_grow(from.held, from.sequences)) return;
    if (length(id, there) > there.longest || length(other, here) > here.longest) return;
    const Load left = from.load - added(id, from.config) + added(other, from.config);
    const Load grown = to.load - added(other, to.config) + added(id, to.config);
    const Ms gain =
        gained(b, critical, table_.time(from.config, left), c, h, table_.time(to.config, grown));
    if (better(gain)) {
      tell(gain, "exchange sequence " + std::to_string(id) + " of " + group_pointer(b, critical) +
                     " with sequence " + std::to_string(other) + " of " + group_pointer(c, h));
    }
  }

  // Tries a new group on the idle devices of micro-batch c.
  void try_new_group(std::int64_t id, std::size_t b, std::size_t critical, Ms left, std::size_t c) {
    if (table_.several_kinds()) return;  // the idle devices differ by kind
    int free = table_.devices();
    for (const ScatterGroup& group : plan_.micro_batches[c].groups) free -= group.degree;
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    for (std::size_t l = 0; l < table_.configs().size(); ++l) {
      const GroupConfig& config = table_.configs()[l];
      if (config.degree > free || config.longest < length(id, config)) continue;
      // The new group must use the micro-batch's recomputation mode.
      if (table_.mode(static_cast<int>(l)) != modes_[c]) continue;
      const int own = static_cast<int>(l);
      const Load load = table_.empty_load(own) + added(id, own);
      const Ms gain = gained(b, critical, left, c, kNone, table_.time(own, load));
      if (better(gain)) {
        tell(gain, "move sequence " + std::to_string(id) + " from " + group_pointer(b, critical) +
                       " to a new group of degree " + std::to_string(config.degree) +
                       exchange_text(config.exchange) + " of /micro_batches/" + std::to_string(c));
      }
    }
  }

  // Returns how many ms earlier the step ends if group g of b takes `left` and group h of c takes
  // `grown`.
  Ms gained(std::size_t b, std::size_t g, Ms left, std::size_t c, std::size_t h, Ms grown) {
    if (++moves_.tried >= kMaxMoves) moves_.all = false;
    if (b == c) {
      const Ms then = std::max({rest(b, g, h), left, grown});
      return makespan(b) - then + gained_again(b, c, then);
    }
    const Ms then_b = std::max(rest(b, g, g), left);
    const Ms then_c = std::max(rest(c, h, h), grown);
    return makespan(b) - then_b + makespan(c) - then_c +
           gained_again(b, c, std::max(then_b, then_c));
  }

  // Returns the additional gain in a pipeline from a shorter longest makespan, if b and c then last
  // `then` at most.
  Ms gained_again(std::size_t b, std::size_t c, Ms then) const {
    if (table_.longest_weight() == 0) return 0;
    std::array<Ms, 2> gone{makespan(b), b == c ? 0 : makespan(c)};
    Ms others = 0;
    for (const Ms makespan : makespans_) {
      Ms* const left = std::ranges::find(gone, makespan);
      if (left == gone.end()) {
        others = makespan;
        break;
      }
      *left = -1;  // this makespan belongs to b or c
    }
    return table_.longest_weight() * (makespans_.front() - std::max(others, then));
  }

  bool better(Ms gain) const {
    return gain > moves_.best_gain && gain > kWorthTelling * plan_.objective_ms;
  }
  void tell(Ms gain, std::string text) {
    moves_.best_gain = gain;
    moves_.best_text = std::move(text);
  }

  const ScatterInstance& instance_;
  ScatterTable table_;
  const ScatterPlan& plan_;
  std::vector<int> position_;  // position of each id
  std::vector<std::vector<Seen>> seen_;
  std::vector<int> modes_;  // recomputation modes, by micro-batch
  std::vector<std::array<int, 3>> slowest_;
  std::vector<Ms> makespans_;  // longest first
  Moves moves_;
};

}  // namespace

Moves scatter_moves(const ScatterInstance& instance, const ScatterPlan& plan) {
  return ScatterMoves(instance, plan).run();
}

}  // namespace stowage
