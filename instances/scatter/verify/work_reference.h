// The work and the exchange of one packed row: a part of reference_model.h. Not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "instances/scatter/cost/time_grid.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/table/group_form.h"
#include "instances/scatter/verify/memory_reference.h"

namespace stowage {

// The two times of a group; the longer one is its time.
struct GroupTimes {
  long double compute = 0;   // if compute hides as much as it can
  long double transfer = 0;  // if compute is hidden as far as it can be
};

class ScatterWorkReference : public ScatterMemoryReference {
 public:
  using ScatterMemoryReference::ScatterMemoryReference;

  // Interpolates measured times on the half of the cell that holds the place: each corner of the
  // half counts by its share.
  static long double looked_up(const TimeGrid& grid, long double tokens, long double squares) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i + 2 < grid.tokens.size() && tokens >= grid.tokens[i + 1]) ++i;
    while (j + 2 < grid.squares.size() && squares >= grid.squares[j + 1]) ++j;
    const long double wide = static_cast<long double>(grid.tokens[i + 1]) - grid.tokens[i];
    const long double high = static_cast<long double>(grid.squares[j + 1]) - grid.squares[j];
    const long double along = (tokens - grid.tokens[i]) / wide;
    const long double up = (squares - grid.squares[j]) / high;
    const auto time = [&](std::size_t more, std::size_t above) -> long double {
      return grid.ms[(i + more) * grid.squares.size() + j + above];
    };
    const bool flat = along > up;  // the half below the diagonal
    const long double first = 1 - (flat ? along : up);
    const long double last = flat ? up : along;
    return first * time(0, 0) + (1 - first - last) * (flat ? time(1, 0) : time(0, 1)) +
           last * time(1, 1);
  }

  // Returns the sums of one sequence of this length() on such a group, without padding of its row.
  GroupSums sums_of(Tokens tokens, GroupForm form) const {
    return sums_of(on_group(tokens, form).value_or(kMaxExact));
  }

  // Returns the sums of one sequence of `tokens` padded tokens.
  GroupSums sums_of(Tokens tokens) const {
    GroupSums one{.tokens = tokens, .pairs = pairs(tokens), .longest = tokens, .count = 1};
    if (!instance_.rules.packed) one.each.push_back(tokens);
    return one;
  }

  // Adds the sequence on a group of this form. Returns its tokens there; nullopt beyond the 64-bit
  // range, or if it is unknown.
  std::optional<Tokens> add(std::int64_t id, GroupSums& sums, GroupForm form) const {
    if (!is_known(id)) {
      sums.all_known = false;
      return std::nullopt;
    }
    auto tokens = length(id);
    if (tokens) tokens = on_group(*tokens, form);
    sums.tokens = sums.tokens && tokens ? checked_add(*sums.tokens, *tokens) : std::nullopt;
    sums.pairs += pairs(tokens.value_or(0));
    sums.longest = std::max(sums.longest, tokens.value_or(0));
    if (!instance_.rules.packed) sums.each.push_back(tokens.value_or(0));
    ++sums.count;
    return tokens;
  }

  // Returns the time in ms of the all-to-all of a row of `row` tokens, without its latency.
  long double exchanged(Tokens row, GroupForm form) const {
    if (form.degree < 2) return 0;
    const auto tokens = static_cast<long double>(row);
    if (!instance_.cost.exchange) {
      return published_exchange(tokens, form.degree) - published_exchange(0, form.degree);
    }
    const long double mib = tokens / form.degree * sent_by_all_to_all(form);
    return sending(mib - mib / form.degree,
                   leaves_a_node(form.degree) ? Link::across : Link::inside);
  }

 protected:
  // Returns the times of one packed row.
  GroupTimes packed_times(const GroupSums& sums, GroupForm form) const {
    const ScatterCost& cost = instance_.cost;
    if (!cost.table.empty()) {
      const auto all = static_cast<long double>(sums.tokens.value_or(0));
      const auto grid = cost.table.find(form.degree);
      long double measured = std::numeric_limits<long double>::infinity();
      if (grid != cost.table.end()) measured = looked_up(grid->second, all, sums.pairs);
      return {measured, measured};
    }
    // Recomputed work and repeated transfers multiply the costs.
    const Recomputation again = recomputed(form);
    const auto degree = static_cast<long double>(form.degree);
    const auto tokens = static_cast<long double>(sums.tokens.value_or(0));
    const long double speed = speed_of(form);
    const long double attention =
        again.quadratic_factor * (cost.quadratic_ms * sums.pairs) / degree / speed;
    // Attention over a part of a sequence is slower than over the whole: nothing on one device, and
    // nearly all of split_ms a token on many.
    const long double whole = cost.split_ms * tokens * again.quadratic_factor;
    const long double lost = (whole - whole / degree) / speed;
    const long double work = attention +
                             again.linear_factor * (cost.linear_ms * tokens) / degree / speed +
                             lost + cost.sequence_fixed_ms * static_cast<long double>(sums.count);
    const long double fixed = cost.fixed_ms;
    if (!cost.exchange) {
      const long double sent = again.exchange_factor * tokens;
      const long double all = fixed + work + published_exchange(sent, form.degree);
      return {all, all};
    }
    const Exchange& exchange = *cost.exchange;
    const long double own = again.exchange_factor * tokens / degree;  // tokens of a device
    const long double queries = own * sent_by_all_to_all(form);
    const long double keys = own * exchange.keys_values_mib_per_token;
    const Link link = leaves_a_node(form.degree) ? Link::across : Link::inside;
    const long double message = latency(link);
    const long double shown = 1 - static_cast<long double>(exchange.overlap);
    if (form.exchange == ExchangeKind::all_to_all || form.exchange == ExchangeKind::all_gather) {
      const bool gathers = form.exchange == ExchangeKind::all_gather;
      const long double sent =
          sending(gathers ? keys * (degree - 1) : queries - queries / degree, link);
      return {fixed + message + work + shown * sent, fixed + message + shown * work + sent};
    }
    if (form.exchange == ExchangeKind::ring) {
      const long double others = degree - 1;  // rounds that wait for another device's data
      const long double once = fixed + others * message;
      const long double last = work - attention + attention / degree;
      return {once + work, once + last + others * sending(keys, link)};
    }
    if (form.exchange == ExchangeKind::two_level) {
      const auto node = static_cast<long double>(instance_.cluster.devices_per_node);
      const long double nodes = degree / node;
      const long double once = fixed + latency(Link::inside) + (nodes - 1) * latency(Link::across) +
                               sending(queries * (node - 1) / node, Link::inside);
      const long double last = work - attention + attention / nodes;
      return {once + work, once + last + (nodes - 1) * sending(keys, Link::across)};
    }
    return {fixed + work, fixed + work};
  }

 private:
  enum class Link { inside, across };

  // Returns the MiB that a token of the group sends in an all-to-all, of the group or of a node.
  double sent_by_all_to_all(GroupForm form) const {
    const Exchange& exchange = *instance_.cost.exchange;
    const auto& volumes = exchange.all_to_all_by_devices;
    if (volumes.empty()) return exchange.all_to_all_mib_per_token;
    const auto own =
        volumes.find(form.exchange == ExchangeKind::two_level ? instance_.cluster.devices_per_node
                                                              : form.degree);
    return own == volumes.end() ? 0 : own->second;
  }

  // Returns twice the pairs of tokens: all pairs in some layers, the pairs in the window in the
  // others.
  long double pairs(Tokens length) const {
    const Tokens tile = instance_.cost.tile_tokens;
    const Tokens tiles = (length + tile - 1) / tile;
    const auto computed = static_cast<long double>(tiles * tile);
    const SlidingWindow& window = instance_.cost.window;
    const auto seen = std::min(static_cast<long double>(window.tokens), computed);
    const long double all = computed * computed;
    const long double near = seen * (2 * computed - seen);
    const auto share = static_cast<long double>(window.share);
    return (1 - share) * all + share * near;
  }

  // Returns the latency and all-to-all of a group, from the bandwidths by degree.
  long double published_exchange(long double tokens, int degree) const {
    const AllToAll& all_to_all = instance_.cost.all_to_all;
    const auto latency = all_to_all.latency_ms.find(degree);
    long double ms = latency == all_to_all.latency_ms.end() ? 0 : latency->second;
    if (degree == 1 || !(all_to_all.mib_per_token > 0)) return ms;
    const auto speed = all_to_all.mib_per_ms.find(degree);
    if (speed == all_to_all.mib_per_ms.end()) return std::numeric_limits<long double>::infinity();
    return ms + all_to_all.mib_per_token * tokens / speed->second / degree;
  }

  // Returns whether two ranks of a group can be of different nodes.
  bool leaves_a_node(int degree) const {
    const Cluster& cluster = instance_.cluster;
    const int node = cluster.devices_per_node;
    if (degree < 2 || node >= cluster.devices) return false;
    if (!cluster.aligned) return true;
    return node % degree != 0;  // also if the group is larger than a node
  }

  long double latency(Link link) const {
    const Exchange& exchange = *instance_.cost.exchange;
    return link == Link::across ? exchange.across_latency_ms : exchange.inside_latency_ms;
  }

  long double sending(long double mib, Link link) const {
    const Exchange& exchange = *instance_.cost.exchange;
    if (!(mib > 0)) return 0;
    return mib / (link == Link::across ? exchange.across_mib_per_ms : exchange.inside_mib_per_ms);
  }
};

}  // namespace stowage
