// Computes the bottleneck of a scatter plan: the slowest group of every micro-batch, and any move
// or swap of its sequences that would end the step earlier. Longer than 300 lines: the moves are
// one walk over pairs of groups.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/table/device_pools.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/explain/family_explain.h"
#include "solvers/scatter/explain/explain.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxMoves = 20'000'000;
constexpr std::size_t kListed = 50;  // micro-batches listed; the others are only counted

std::string pointer(std::size_t batch, std::size_t group) {
  return "/micro_batches/" + std::to_string(batch) + "/groups/" + std::to_string(group);
}

// Returns the exchange in parentheses, for example " (ring)". Empty if there is only one kind.
std::string exchange_text(ExchangeKind kind) {
  if (kind == ExchangeKind::none) return "";
  return " (" + std::string(exchange_names()[static_cast<std::size_t>(kind)]) + ')';
}

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
  // Share of the objective; smaller gains are rounding errors.
  static constexpr double kWorthTelling = 1e-9;

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
          tell(gain, "move sequence " + std::to_string(id) + " from " + pointer(b, critical) +
                         " to " + pointer(c, h));
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
      tell(gain, "exchange sequence " + std::to_string(id) + " of " + pointer(b, critical) +
                     " with sequence " + std::to_string(other) + " of " + pointer(c, h));
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
        tell(gain, "move sequence " + std::to_string(id) + " from " + pointer(b, critical) +
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

// Returns the tokens that each sequence takes besides its length, for example " beside 3 for each
// sequence". Empty if it takes none.
std::string counting(Tokens sequence_tokens) {
  return sequence_tokens == 0 ? ""
                              : " beside " + std::to_string(sequence_tokens) + " for each sequence";
}

// Returns, for a longest micro-batch in a pipeline, the text that its makespan counts several
// times. Otherwise empty.
std::string longest_text(const ScatterInstance& instance, const ScatterPlan& plan, std::size_t b) {
  if (instance.pipeline_stages == 1) return "";
  const auto longest =
      std::ranges::max_element(plan.micro_batches, {}, &ScatterMicroBatch::makespan_ms);
  if (plan.micro_batches[b].makespan_ms < longest->makespan_ms) return "";
  return "; no micro-batch is longer, so that it counts " +
         std::to_string(instance.pipeline_stages) + " times, once for each stage";
}

// Returns, for a group that offloads activations, how much leaves for the host and how long the
// group waits for copies. Otherwise empty.
std::string offload_text(const ScatterInstance& instance, GroupForm form,
                         const ScatterGroup& group) {
  if (!(group.offload > 0)) return "";
  Load load = empty_load(instance, form);
  Tokens tokens = 0;
  for (const std::int64_t id : group.sequences) {
    const Tokens length =
        padded_length(instance, instance.lengths[static_cast<std::size_t>(id)], form);
    load += sequence_load(instance, length, form);
    tokens += length;
  }
  load += row_padding_load(instance, tokens, form);
  load.beyond = 0;
  const Ms stall = std::max(0.0, group.time_ms - group_ms(instance, form, load));
  const Mib mib =
      group.offload * offload_mib(instance, form) * static_cast<double>(group.tokens) / form.degree;
  return "; " + plain_number(mib / 1024) + " GiB of each device leave for the host, and it waits " +
         plain_number(stall) + " ms for copies";
}

Finding slowest_group(const ScatterInstance& instance, const ScatterPlan& plan, std::size_t b) {
  const ScatterMicroBatch& batch = plan.micro_batches[b];
  std::size_t slowest = 0;
  Ms second = 0;
  double busy = 0;
  for (std::size_t g = 0; g < batch.groups.size(); ++g) {
    busy += batch.groups[g].time_ms * batch.groups[g].degree;
    if (batch.groups[g].time_ms > batch.groups[slowest].time_ms) slowest = g;
  }
  for (std::size_t g = 0; g < batch.groups.size(); ++g) {
    if (g != slowest) second = std::max(second, batch.groups[g].time_ms);
  }
  const ScatterGroup& group = batch.groups[slowest];
  // If sequences run one by one and tokens have no limit, memory limits no group.
  const GroupForm form = *form_of(instance, batch, group);
  const GroupRoom room = room_of_group(instance, form);
  const Tokens beside = room.sequence_tokens * std::ssize(group.sequences);
  const Tokens capacity = std::min(room.capacity - beside, room.most_tokens);
  const std::string of = capacity < kMaxExact ? " of " + std::to_string(capacity) : "";
  const double idle = 1 - busy / (batch.makespan_ms * instance.cluster.devices);
  std::string text =
      "degree " + std::to_string(group.degree) + exchange_text(group.exchange) + " with " +
      plain_count(static_cast<std::int64_t>(group.sequences.size()), "sequence") + ", " +
      std::to_string(group.tokens) + of + " tokens" + counting(room.sequence_tokens) + ", takes " +
      plain_number(group.time_ms) + " ms";
  if (batch.groups.size() > 1)
    text += "; the next slowest group takes " + plain_number(second) + " ms";
  if (!batch.recomputation.empty()) text += "; it recomputes " + in_quotes(batch.recomputation);
  text += offload_text(instance, form, group);
  if (batch.makespan_ms > 0) {
    text +=
        "; the devices idle " + plain_number(100 * std::max(idle, 0.0)) + " % of the micro-batch";
  }
  return {pointer(b, slowest), text + longest_text(instance, plan, b)};
}

}  // namespace

Bottleneck binding_of(const ScatterInstance& instance, const ScatterPlan& plan) {
  Bottleneck binding;
  for (std::size_t b = 0; b < std::min(plan.micro_batches.size(), kListed); ++b) {
    binding.parts.push_back(slowest_group(instance, plan, b));
  }
  if (plan.micro_batches.size() > kListed) {
    binding.parts.push_back(
        {"/micro_batches", "and the slowest groups of " +
                               std::to_string(plan.micro_batches.size() - kListed) +
                               " more micro-batches"});
  }
  binding.moves = ScatterMoves(instance, plan).run();
  return binding;
}

// Adds a node. If nodes differ, it is of the last kind, whose first rank must stay a multiple of
// each degree that fits into the kind. Returns false if it does not.
static bool add_node_of_last_kind(Cluster& cluster) {
  if (cluster.kinds.empty()) return true;
  ++cluster.kinds.back().nodes;
  const int last = static_cast<int>(cluster.kinds.size()) - 1;
  const int first = first_rank_of_kind(cluster, last);
  return std::ranges::all_of(cluster.degrees, [&](int degree) {
    return degree > cluster.devices - first || first % degree == 0;
  });
}

std::vector<Change> changes_of(const ScatterInstance& instance, const ScatterPlan& plan) {
  // An instance with more resources still admits the plan.
  const auto with = [&](std::string where, std::string text, ScatterInstance changed) {
    ScatterPlan start = plan;
    start.instance_hash = instance_hash(changed);
    return Change{std::move(where), std::move(text), std::move(changed), Plan(std::move(start))};
  };
  std::vector<Change> changes;
  ScatterInstance changed = instance;
  const Mib more = std::min(1024.0, a_little_of(instance.cluster.memory_mib));
  changed.cluster.memory_mib += more;
  bool in_range = changed.cluster.memory_mib <= static_cast<double>(kMaxExact);
  for (DeviceKind& kind : changed.cluster.kinds) {
    kind.memory_mib += more;
    in_range = in_range && kind.memory_mib <= static_cast<double>(kMaxExact);
  }
  // A measured table may end where memory ends now, so more memory would leave the table.
  if (more > 0 && in_range && instance.cost.table.empty()) {
    changes.push_back(
        with("/cluster/memory_mib", shortest(more) + " MiB more memory on each device", changed));
  }
  changed = instance;
  const int node = std::max(instance.cluster.devices_per_node, 1);
  changed.cluster.devices += node;
  // A second node may make groups of the first node more expensive, which invalidates the plan's
  // times.
  const bool same_links =
      !instance.cost.exchange || std::ranges::all_of(instance.cluster.degrees, [&](int degree) {
        return may_cross_nodes(instance.cluster, degree) ==
               may_cross_nodes(changed.cluster, degree);
      });
  if (changed.cluster.devices <= kMaxDevices && same_links &&
      add_node_of_last_kind(changed.cluster)) {
    changes.push_back(with("/cluster/devices",
                           "one more node of " + std::to_string(node) +
                               (node == 1 ? " device" : " devices") +
                               (instance.cluster.kinds.empty() ? "" : ", of the last kind"),
                           changed));
  }
  return changes;
}

}  // namespace stowage
