#include "formulations/scatter/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

bool divisibility_chain(const std::vector<GroupConfig>& configs) {
  for (std::size_t i = 1; i < configs.size(); ++i) {
    if (configs[i].degree % configs[i - 1].degree != 0) return false;
  }
  return true;
}

// Returns an upper bound on the sequences of `length` tokens in a micro-batch, by density: a group
// of degree d that holds c of them has c / d per device.
Tokens most_by_density(const ScatterTable& table, Tokens length) {
  Tokens most = 0;
  for (const GroupConfig& config : table.configs()) {
    if (length > config.longest) continue;
    const Tokens tokens = config.padded(length);
    const Tokens held =
        std::min(config.capacity / (tokens + config.sequence_tokens), config.most_tokens / tokens);
    most = std::max(most, checked_mul(held, table.devices()).value_or(kMaxExact) / config.degree);
  }
  return std::min(most, kMaxExact);
}

// Returns the largest number of sequences of at least `length` tokens that the memory of a
// micro-batch holds. A group of degree d holds floor(C d / length), which is superadditive in d. If
// each degree divides the next, taking the largest groups first is optimal. Otherwise N C / length
// is an upper bound.
Tokens most_in_memory(const ScatterTable& table, Tokens length) {
  if (table.mixes()) {
    // Devices share their memory between both kinds of rows.
    Tokens least = kMaxExact;
    for (const GroupConfig& config : table.configs()) {
      if (length <= config.longest) least = std::min(least, config.padded(length));
    }
    return table.batch_capacity() / least;
  }
  if (!table.even()) return most_by_density(table, length);
  if (!divisibility_chain(table.configs())) return table.batch_capacity() / length;
  Tokens together = 0;
  int devices = table.devices();
  for (std::size_t i = table.configs().size(); i > 0;) {
    const int degree = table.configs()[i - 1].degree;
    Tokens most = 0;  // of one group of this degree, with any exchange
    for (; i > 0 && table.configs()[i - 1].degree == degree; --i) {
      const GroupConfig& config = table.configs()[i - 1];
      if (length <= config.longest) most = std::max(most, config.capacity / length);
    }
    const int groups = devices / degree;
    devices %= degree;
    together += checked_mul(groups, most).value_or(kMaxExact);
    together = std::min(together, kMaxExact);
  }
  return together;
}

// Returns most_in_memory(), but no group has more sequences than its limit, and no group with such
// a sequence is smaller than the least degree that holds it.
Tokens most_together(const ScatterTable& table, Tokens length) {
  const Tokens together = most_in_memory(table, length);
  if (table.mixes()) return together;
  for (const GroupConfig& config : table.configs()) {
    if (length > config.longest) continue;
    return std::min(
        together,
        checked_mul(table.devices() / config.degree, config.sequences).value_or(kMaxExact));
  }
  return together;
}

struct Pigeonhole {
  Tokens micro_batches = 0;  // number of makespans with the bound below
  Ms makespan = 0;           // lower bound on each of these makespans
};

// Returns one entry per kind: the number of micro-batches that the sequences of at least its length
// need, and the time of its sequence alone. Each of these micro-batches lasts at least that long.
std::vector<Pigeonhole> pigeonholes(const ScatterTable& table) {
  std::vector<Pigeonhole> all;
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    const DistinctLength& k = table.kinds()[static_cast<std::size_t>(kind)];
    const Tokens sequences = k.first + k.count;
    const Tokens together = most_together(table, k.length);
    all.push_back({(sequences + together - 1) / together, table.alone(kind)});
  }
  return all;
}

}  // namespace

int least_micro_batches(const ScatterTable& table) {
  const Tokens tokens = table.total_held();
  if (tokens == 0) return 0;
  const Tokens capacity = table.batch_capacity();
  Tokens least = tokens / capacity + (tokens % capacity != 0);
  for (const Pigeonhole& hole : pigeonholes(table)) least = std::max(least, hole.micro_batches);
  return static_cast<int>(round_up(least, table.multiple()));
}

std::optional<std::int64_t> least_groups(const ScatterTable& table) {
  if (!table.no_idle_ranks()) return 1;
  if (divisibility_chain(table.configs())) {
    // If smaller groups make up a larger one, the larger one counts less.
    std::int64_t groups = 0;
    int devices = table.devices();
    for (std::size_t i = table.configs().size(); i-- > 0;) {
      groups += devices / table.configs()[i].degree;
      devices %= table.configs()[i].degree;
    }
    if (devices > 0) return std::nullopt;
    return groups;
  }
  const std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> least(static_cast<std::size_t>(table.devices()) + 1, none);
  least[0] = 0;
  for (std::size_t devices = 1; devices < least.size(); ++devices) {
    for (const GroupConfig& config : table.configs()) {
      const auto degree = static_cast<std::size_t>(config.degree);
      if (degree > devices || least[devices - degree] == none) continue;
      least[devices] = std::min(least[devices], least[devices - degree] + 1);
    }
  }
  if (least.back() == none) return std::nullopt;
  return least.back();
}

Ms longest_alone(const ScatterTable& table) {
  Ms longest = 0;
  for (int kind = 0; kind < static_cast<int>(table.kinds().size()); ++kind) {
    longest = std::max(longest, table.alone(kind));
  }
  return longest;
}

namespace {

// The times in ms that the sequences of one length add to the bound: `shared` + price * `hidden` if
// all devices share them, and (1 - price) `own` if each of them is on a device of its own.
struct MixedCosts {
  Ms shared = 0;
  Ms hidden = 0;
  Ms own = 0;  // infinite if they fit no device
  Ms least(double price) const {
    const Ms alone = own < kInfinity ? (1 - price) * own : kInfinity;
    return std::min(shared + price * hidden, alone);
  }
};

std::vector<MixedCosts> mixed_costs(const ScatterTable& table) {
  const int all = static_cast<int>(table.configs().size()) - 1;
  std::vector<MixedCosts> costs;
  for (int kind = 0; kind < std::ssize(table.kinds()); ++kind) {
    const DistinctLength& k = table.kinds()[static_cast<std::size_t>(kind)];
    const Tokens tokens = table.configs()[static_cast<std::size_t>(all)].padded(k.length);
    const Ms hidden = static_cast<double>(tokens) * table.hidden_token_ms();
    const Ms shared = std::max(0.0, table.kind_cost(kind, all) - hidden);
    const bool fits = table.holds_kind(0, kind);
    costs.push_back({k.count * shared, k.count * hidden,
                     fits ? k.count * table.kind_cost(kind, 0) / table.devices() : kInfinity});
  }
  return costs;
}

// Returns the price, from 0 to 1, at which the sum of the least costs is largest. The sum is
// concave, and its slope falls where a length changes from shared to own.
double best_price(const std::vector<MixedCosts>& costs) {
  std::vector<std::pair<double, std::size_t>> changes;
  Ms slope = 0;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    const MixedCosts& c = costs[k];
    slope += c.hidden;
    const bool decides = c.own < kInfinity && c.own + c.hidden > 0;
    const double even = decides ? (c.own - c.shared) / (c.own + c.hidden) : 1;
    changes.emplace_back(std::clamp(even, 0.0, 1.0), k);
  }
  std::ranges::sort(changes);
  double price = 0;
  for (const auto& [even, k] : changes) {
    if (slope <= 0) break;
    price = even;
    slope -= costs[k].hidden + (costs[k].own < kInfinity ? costs[k].own : 0);
  }
  return price;
}

}  // namespace

Ms mixed_area_ms(const ScatterTable& table) {
  const std::vector<MixedCosts> costs = mixed_costs(table);
  const double price = best_price(costs);
  Ms area = 0;  // with all lengths so far shared
  for (const MixedCosts& c : costs) area += c.least(price);
  Ms shared = 0;  // of all lengths so far
  Ms hidden = 0;
  Ms least = kInfinity;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    // The sequences of this length are the longest that are on a device of their own.
    const int kind = static_cast<int>(k);
    if (table.holds_kind(0, kind)) {
      const Ms alone = table.kind_cost(kind, 0);
      const Tokens beside =
          table.batch_capacity() -
          table.devices() * table.configs().front().padded(table.kinds()[k].length);
      const Ms under = static_cast<double>(std::max<Tokens>(beside, 0)) * table.hidden_token_ms();
      const Ms visible = shared + hidden + std::max(0.0, alone - under);
      least = std::min(least, std::max({area, shared + alone, visible}));
    }
    area += costs[k].shared + price * costs[k].hidden - costs[k].least(price);
    shared += costs[k].shared;
    hidden += costs[k].hidden;
  }
  return std::min(least, std::max(area, shared + hidden));
}

// Returns the bound with the copies of offload [B2]. It is convex in the number of micro-batches:
// another one costs an overhead and keeps more activations on the devices.
static Ms step_with_copies(const ScatterTable& table, int micro_batches) {
  const Ms even = table.total_area() / table.devices();
  const Tokens tokens = table.total_held();
  const auto step_of = [&](int count) {
    const Ms work = count * table.least_overhead() + even;
    return work + table.least_stall(tokens, count, work);
  };
  Ms least = step_of(micro_batches);
  for (int count = micro_batches + 1; count <= table.size(); ++count) {
    const Ms more = step_of(count);
    if (!(more < least)) break;
    least = more;
  }
  return least;
}

Ms step_of_more(const ScatterTable& table, int micro_batches) {
  if (table.mixes()) return micro_batches * table.least_overhead() + mixed_area_ms(table);
  if (table.offloads()) return step_with_copies(table, micro_batches);
  const Ms overhead = table.least_overhead();
  const Ms even = table.total_area() / table.devices();
  if (table.longest_weight() == 0) return micro_batches * overhead + even;
  const Ms alone = longest_alone(table);
  // This bound is convex in the number of micro-batches. It falls until the mean makespan is that
  // of the longest sequence, or until another overhead costs more than a shorter mean gains.
  const double by_longest = alone > overhead ? even / (alone - overhead) : kInfinity;
  const double by_overhead =
      overhead > 0 ? std::sqrt(table.longest_weight() * even / overhead) : kInfinity;
  const double count = std::max(double(micro_batches), std::min(by_longest, by_overhead));
  if (count == kInfinity) return table.step_ms(even, alone);  // all times are 0
  return table.step_ms(count * overhead + even, std::max(alone, overhead + even / count));
}

std::vector<NamedBound> scatter_bounds(const ScatterTable& table) {
  const int fewest = least_micro_batches(table);
  if (fewest == 0) return {{"area", 0}};
  Ms longest = 0;
  Ms apart = 0;
  Tokens counted = 0;  // makespans summed so far, longest first
  for (const Pigeonhole& hole : pigeonholes(table)) {
    longest = std::max(longest, hole.makespan);
    const Tokens more = std::max<Tokens>(hole.micro_batches - counted, 0);
    apart += static_cast<double>(more) * hole.makespan;
    counted += more;
  }
  apart += static_cast<double>(fewest - counted) * table.least_overhead();
  std::vector<NamedBound> bounds{{"longest", table.step_ms(longest, longest)},
                                 {"area", step_of_more(table, fewest)},
                                 {"pigeonhole", table.step_ms(apart, longest)}};
  std::ranges::stable_sort(bounds, {}, &NamedBound::value);
  return bounds;
}

Ms simulated_bound(const ScatterInstance& instance) {
  ScatterInstance one_stage = instance;
  one_stage.pipeline_stages = 1;
  const ScatterTable table(one_stage);
  return std::max(scatter_bounds(table).back().value,
                  instance.pipeline_stages * longest_alone(table));
}

}  // namespace stowage
