// The values of a scatter plan, computed from the format description alone.
//
// It deliberately repeats the computations of instance.cc and the cost model, in other words and in
// another order (sums over a group first, in long double), because shared code would share its
// mistakes. Only the verifier uses it. Not installed. Longer than 300 lines because it states all
// of memory and of time.
//
//   ScatterReferenceModel truth(instance);
//   GroupSums sums;
//   for (const std::int64_t id : group.sequences) truth.add(id, sums);
//   if (truth.time(sums, {group.degree, group.exchange, way}) != group.time_ms) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "instances/scatter/cost/time_grid.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

// Sums over the sequences of a group.
struct GroupSums {
  bool all_known = true;             // every id is one of the instance's
  std::optional<Tokens> tokens = 0;  // of the known ones; absent beyond the 64-bit range
  long double pairs = 0;             // pairs of tokens that attention reads, counted twice
  Tokens longest = 0;                // of the sequences with a length in the 64-bit range
  std::int64_t count = 0;            // of the known ones
  // Lengths of the known ones, if a group computes them one by one.
  std::vector<Tokens> each;
};

// The two times of a group; the longer one is its time.
struct GroupTimes {
  long double compute = 0;   // if compute hides as much as it can
  long double transfer = 0;  // if compute is hidden as far as it can be
};

class ScatterReferenceModel {
 public:
  explicit ScatterReferenceModel(const ScatterInstance& instance) : instance_(instance) {}

  std::int64_t sequences() const { return static_cast<std::int64_t>(instance_.lengths.size()); }
  bool is_known(std::int64_t id) const { return id >= 0 && id < sequences(); }

  bool is_allowed(int degree) const {
    const auto& degrees = instance_.cluster.degrees;
    return std::binary_search(degrees.begin(), degrees.end(), degree);
  }

  // Returns the tokens that a known sequence has on any group: its length, padded to the multiple
  // that all groups share; nullopt beyond the 64-bit range.
  std::optional<Tokens> length(std::int64_t id) const {
    const Tokens own = instance_.lengths[static_cast<std::size_t>(id)];
    if (!instance_.padding) return filled(own, instance_.pad_multiple);
    const Padding& padding = *instance_.padding;
    if (!padding.per_degree || padding.device_multiple < 1) {
      return filled(own, padding.sequence_multiple);
    }
    Tokens divisor = 0;  // of all degrees
    for (const int degree : degrees()) divisor = greatest_divisor(divisor, degree);
    return filled(own,
                  least_multiple(padding.device_multiple * divisor, padding.sequence_multiple));
  }

  // Returns length() of a sequence of `tokens` tokens on such a group, after padding; nullopt
  // beyond the 64-bit range.
  std::optional<Tokens> on_group(Tokens tokens, GroupForm form) const {
    return instance_.padding ? filled(tokens, sequences_fill(form)) : std::optional(tokens);
  }

  // Returns the tokens of a row whose sequences have `tokens` tokens on such a group.
  std::optional<Tokens> row(std::optional<Tokens> tokens, GroupForm form) const {
    return tokens ? filled(*tokens, rows_fill(form)) : std::nullopt;
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

  // Returns the time of a step: the sum of its makespans, plus the longest for each stage but one.
  Ms step(const std::vector<Ms>& makespans) const {
    Ms all = 0;
    Ms longest = 0;
    for (const Ms makespan : makespans) {
      all += makespan;
      longest = std::max(longest, makespan);
    }
    for (int stage = 1; stage < instance_.pipeline_stages; ++stage) all += longest;
    return all;
  }

  int stages() const { return instance_.pipeline_stages; }

  // Returns the degrees of the cluster that the rules allow.
  std::vector<int> degrees() const {
    std::vector<int> left;
    for (const int degree : instance_.cluster.degrees) {
      if (!(degree < instance_.rules.min_degree)) left.push_back(degree);
    }
    return left;
  }

  // Returns max_tokens_per_rank * degree. Requires degree > 0.
  Tokens most_tokens(int degree) const {
    const auto product = checked_mul(degree, instance_.rules.max_tokens_per_rank);
    return product.value_or(std::numeric_limits<Tokens>::max());
  }

  // Returns whether memory is enough for these sequences at a time.
  bool fits_memory(const GroupSums& sums, GroupForm form) const {
    if (!instance_.rules.packed) return sums.longest <= capacity(form) - beside(form);
    const auto counted = checked_mul(sums.count, beside(form));
    const auto tokens = row(sums.tokens, form);
    return tokens && counted && *tokens <= capacity(form) - *counted;
  }
  // Returns whether the row of these sequences is within max_tokens_per_rank.
  bool fits_rule(const GroupSums& sums, GroupForm form) const {
    const auto tokens = row(sums.tokens, form);
    return tokens && *tokens <= most_tokens(form.degree);
  }
  // Returns whether a group of these sequences satisfies all limits on one group.
  bool fits(const GroupSums& sums, GroupForm form) const {
    return fits_rule(sums, form) && fits_memory(sums, form) &&
           sums.count <= instance_.rules.max_sequences_per_group;
  }
  // Returns the most tokens of a sequence alone: a length() above it exceeds the group's memory.
  Tokens room(GroupForm form) const {
    const Tokens in_memory = std::max<Tokens>(capacity(form) - beside(form), 0);
    const Tokens most = std::min(in_memory, most_tokens(form.degree));
    if (!instance_.padding) return most;
    const Tokens rows = most / rows_fill(form) * rows_fill(form);
    return rows / sequences_fill(form) * sequences_fill(form);
  }

  // One limit that all groups of a form satisfy: their tokens, and `beside` for each of their
  // sequences, are at most `capacity`. There may be other limits; `most` limits tokens alone.
  struct Limit {
    Tokens capacity = 0;
    Tokens beside = 0;
    Tokens most = std::numeric_limits<Tokens>::max();
  };
  // Returns the limit in a step of `all` tokens, whose shortest sequence has `shortest`.
  Limit limit(GroupForm form, Tokens all, Tokens shortest) const {
    const Tokens step = rows_fill(form);
    const auto whole_rows = [step](Tokens tokens) {
      return tokens < kMaxExact ? tokens / step * step : tokens;
    };
    const Tokens most = whole_rows(most_tokens(form.degree));
    if (!instance_.rules.packed) return {.capacity = std::min(most, all)};
    Tokens memory = whole_rows(capacity(form));
    if (instance_.model.offload) memory = std::min(memory, all);
    const Tokens each = beside(form);
    if (each == 0) return {.capacity = std::min(memory, most)};
    // At most `most` / shortest sequences have `most` tokens. If memory holds that many with all
    // that they take, only the rule is a limit.
    const auto ruled = checked_mul(most, shortest + each);
    const auto held = checked_mul(memory, shortest);
    if (ruled && (!held || *held >= *ruled)) return {.capacity = most};
    return {.capacity = memory, .beside = each, .most = most};
  }

  // Returns C * degree with C = floor((memory - states - a chunk's logits) / MiB per token) in [0,
  // 2^53]. An overflow returns more than any sum that did not overflow. Requires degree > 0.
  Tokens capacity(GroupForm form) const {
    return checked_mul(per_device(form), form.degree).value_or(std::numeric_limits<Tokens>::max());
  }
  // With offload, C_0 is the quotient above, and C the tokens whose remaining activations fit the
  // memory of C_0 whole ones, if the host has room for what has left.
  Tokens per_device(GroupForm form) const {
    const Tokens whole = whole_per_device(form);
    const auto& offload = instance_.model.offload;
    if (!offload) return whole;
    const double mib = mib_of_token(form);
    const double kept = mib - leaving(form);
    const double held = static_cast<double>(whole) * mib / kept;
    Tokens most = whole;
    if (held >= 0x1p53) {
      most = kMaxExact;
    } else if (held > static_cast<double>(whole)) {
      most = static_cast<Tokens>(held);
    }
    if (!offload->host_mib) return most;
    const double away = *offload->host_mib / mib;
    return away >= 0x1p53 ? most : std::min(most, whole + static_cast<Tokens>(away));
  }
  // Returns C_0 * degree.
  Tokens whole_tokens(GroupForm form) const {
    const auto all = checked_mul(whole_per_device(form), form.degree);
    return all.value_or(std::numeric_limits<Tokens>::max());
  }
  // Returns the MiB of a token's activations that can leave for the host.
  double leaving(GroupForm form) const {
    const auto& offload = instance_.model.offload;
    if (!offload) return 0;
    return std::min(recomputed(form).activation_mib_per_token, offload->mib_per_token);
  }
  // Returns the share of these MiB that has to leave for a row to fit; 0 if it fits as it is.
  double least_share(const GroupSums& sums, GroupForm form) const {
    const std::optional<Tokens> tokens = row(sums.tokens, form);
    if (!instance_.model.offload || !tokens || *tokens <= whole_tokens(form)) return 0;
    const auto away = static_cast<long double>(*tokens - whole_tokens(form));
    const long double of = static_cast<long double>(*tokens) * leaving(form);
    return static_cast<double>(std::min(1.0L, away * mib_of_token(form) / of));
  }
  // Returns the MiB of each device that leave if this share of all that can leave does.
  long double away_mib(const GroupSums& sums, GroupForm form, double share) const {
    const auto tokens = static_cast<long double>(row(sums.tokens, form).value_or(0));
    return share * tokens * leaving(form) / form.degree;
  }

  Tokens whole_per_device(GroupForm form) const {
    const ModelMemory& model = instance_.model;
    const double chunk = static_cast<double>(model.logits_chunk_tokens);
    const double held = model.states_mib + chunk * model.logits_mib_per_token;
    const double room = memory_of(form) - held;
    const double tokens = room / mib_of_token(form);
    if (tokens >= 1 && tokens < 0x1p53) return static_cast<Tokens>(tokens);
    return tokens >= 1 ? kMaxExact : 0;  // 0 also for NaN
  }

  // Returns the tokens of its group that each sequence takes beside its own: sequence_mib * degree
  // / MiB per token, rounded up, to whole tokens and to the multiple of rows, in [0, 2^53 + 2^30].
  // Requires degree > 0.
  Tokens beside(GroupForm form) const {
    const double mib = form.degree * instance_.model.sequence_mib;
    const double tokens = mib / mib_of_token(form);
    if (!(tokens > 0)) return 0;
    if (tokens >= 0x1p53) return kMaxExact;
    auto whole = static_cast<Tokens>(tokens);
    if (static_cast<double>(whole) < tokens) ++whole;
    return filled(whole, rows_fill(form)).value_or(kMaxExact);
  }

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

  // Returns whether a group of the degree, with sequences of `shortest` to `longest` tokens each,
  // takes at least the time of the plane for all sums inside its grid. Both times are linear
  // between the points that are tried. Requires a table and an allowed degree.
  bool takes_at_least(const AffineTime& plane, int degree, Tokens shortest, Tokens longest) const {
    const TimeGrid& grid = instance_.cost.table.at(degree);
    const auto holds = [&](long double tokens, long double squares) {
      const long double least = plane.ms + plane.token_ms * tokens + plane.square_ms * squares;
      return least <= looked_up(grid, tokens, squares);
    };
    for (const double tokens : grid.tokens) {
      for (const double squares : grid.squares) {
        const long double row = tokens;
        if (squares < row * shortest || squares > row * longest) continue;
        if (!holds(tokens, squares)) return false;
      }
    }
    const long double last = grid.tokens.back();
    const auto holds_in_rows_of = [&](long double length) {
      const auto may = [&](long double tokens, long double squares) {
        const bool inside = tokens >= 0 && tokens <= last && squares <= grid.squares.back();
        return !inside || holds(tokens, squares);
      };
      for (const double tokens : grid.tokens) {
        if (!may(tokens, tokens * length)) return false;
      }
      for (const double squares : grid.squares) {
        if (!may(squares / length, squares)) return false;
      }
      for (std::size_t i = 1; i < grid.tokens.size(); ++i) {
        const long double wide = static_cast<long double>(grid.tokens[i]) - grid.tokens[i - 1];
        for (std::size_t j = 1; j < grid.squares.size(); ++j) {
          const long double high = static_cast<long double>(grid.squares[j]) - grid.squares[j - 1];
          // On the diagonal: (T - t) / wide = (length T - q) / high.
          const long double slower = high - length * wide;
          if (slower == 0) continue;  // parallel to it, where the corners decide
          const long double at = (grid.tokens[i - 1] * high - grid.squares[j - 1] * wide) / slower;
          const bool own = at > grid.tokens[i - 1] && at < grid.tokens[i];
          if (own && !may(at, at * length)) return false;
        }
      }
      return true;
    };
    return holds_in_rows_of(static_cast<long double>(shortest)) &&
           holds_in_rows_of(static_cast<long double>(longest));
  }

  // Returns every form that a plan may give a group, by degree.
  std::vector<GroupForm> forms() const {
    std::vector<GroupForm> all;
    for (const int degree : degrees()) {
      std::vector<int> places{0};
      if (!instance_.cluster.kinds.empty()) places = places_of(degree);
      for (int way = 0; way < ways_to_recompute(); ++way) {
        for (const ExchangeKind kind :
             {ExchangeKind::none, ExchangeKind::all_to_all, ExchangeKind::ring,
              ExchangeKind::all_gather, ExchangeKind::two_level}) {
          if (!may_exchange({degree, kind})) continue;
          for (const int place : places) all.emplace_back(degree, kind, way, place);
        }
      }
    }
    return all;
  }

  // Returns the place of a group: 0 if all devices are alike. With K kinds, it is the kind if the
  // group has devices of one kind, and K + k if it has devices of kind k and of later kinds.
  // Returns nullopt if it has no place.
  std::optional<int> place(int degree, int first_rank) const {
    const Cluster& cluster = instance_.cluster;
    if (cluster.kinds.empty()) return 0;
    if (degree < 1 || first_rank < 0 || first_rank % degree != 0 ||
        std::int64_t{first_rank} + degree > cluster.devices) {
      return std::nullopt;
    }
    const std::size_t first = kind_of_rank(first_rank);
    const std::size_t last = kind_of_rank(first_rank + degree - 1);
    return static_cast<int>(first == last ? first : cluster.kinds.size() + first);
  }

  int ways_to_recompute() const {
    const std::size_t listed = instance_.model.recomputation.size();
    return listed == 0 ? 1 : static_cast<int>(listed);
  }

  // Returns the recomputation mode that the micro-batch names; nullopt for an unknown name. If
  // there are no modes to choose from, the name must be empty.
  std::optional<int> way_to_recompute(const ScatterMicroBatch& micro_batch) const {
    const auto& ways = instance_.model.recomputation;
    if (ways.empty() && micro_batch.recomputation.empty()) return 0;
    for (std::size_t way = 0; way < ways.size(); ++way) {
      if (ways[way].name == micro_batch.recomputation) return static_cast<int>(way);
    }
    return std::nullopt;
  }

  // Returns whether a group of this degree may exchange in this way.
  bool may_exchange(GroupForm form) const {
    const auto& exchange = instance_.cost.exchange;
    if (!exchange || form.degree == 1) return form.exchange == ExchangeKind::none;
    const auto kinds = exchange->kinds.find(form.degree);
    if (kinds == exchange->kinds.end()) return false;
    return std::find(kinds->second.begin(), kinds->second.end(), form.exchange) !=
           kinds->second.end();
  }

  // Returns t(S, d), infinite for a degree without a bandwidth. Returns nullopt if the sums or the
  // form are wrong, which is a violation of its own.
  std::optional<Ms> time(const GroupSums& sums, GroupForm form) const {
    if (!sums.all_known || !sums.tokens || !is_allowed(form.degree) || form.degree < 1 ||
        !may_exchange(form)) {
      return std::nullopt;
    }
    return time(sums, form, least_share(sums, form));
  }
  // Returns the time if this share of the activations leaves. Requires known sums and an allowed
  // form.
  Ms time(const GroupSums& sums, GroupForm form, double share) const {
    const GroupTimes both = times(sums, form);
    const long double work = std::max(both.compute, both.transfer);
    const auto& offload = instance_.model.offload;
    if (!offload || !(share > 0)) return static_cast<Ms>(work);
    // The forward pass sends, the backward pass fetches. Each lasts as long as its copies at least.
    const long double mib = away_mib(sums, form, share);
    const long double forward = work * offload->forward_share;
    return static_cast<Ms>(std::max(forward, mib / offload->out_mib_per_ms) +
                           std::max(work - forward, mib / offload->in_mib_per_ms));
  }

  // Returns the two times before their maximum, with the padding of the row. Requires known sums
  // and an allowed form.
  GroupTimes times(const GroupSums& sums, GroupForm form) const {
    if (instance_.rules.packed && rows_fill(form) > 1) {
      GroupSums all = sums;
      all.tokens = row(sums.tokens, form);
      return packed_times(all, form);
    }
    return times_before_filling(sums, form);
  }
  // Returns times() without the padding of the row. The padding of a row belongs to all of its
  // sequences together, so that only these times add up.
  GroupTimes times_before_filling(const GroupSums& sums, GroupForm form) const {
    if (instance_.rules.packed) return packed_times(sums, form);
    long double all = 0;  // one after another, each with its overhead and maximum
    for (const Tokens tokens : sums.each) {
      const GroupTimes one = packed_times(sums_of(tokens), form);
      all += std::max(one.compute, one.transfer);
    }
    return {all, all};
  }

  // Calls `visit` with the kind of each rank of a group of the form, unless it has no place.
  template <class Visit>
  void each_rank_kind(GroupForm form, Visit visit) const {
    for (int first = 0; first + form.degree <= instance_.cluster.devices; first += form.degree) {
      if (place(form.degree, first) != form.place) continue;
      for (int rank = first; rank < first + form.degree; ++rank) visit(kind_of_rank(rank));
      return;
    }
  }

 private:
  enum class Link { inside, across };

  static Tokens greatest_divisor(Tokens a, Tokens b) {
    while (b != 0) {
      const Tokens rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
  static Tokens least_multiple(Tokens a, Tokens b) { return a / greatest_divisor(a, b) * b; }

  // Returns the least multiple of `step` that is at least `tokens`; nullopt beyond the 64-bit
  // range.
  static std::optional<Tokens> filled(Tokens tokens, Tokens step) {
    const Tokens rest = step > 1 ? tokens % step : 0;
    return rest == 0 ? std::optional(tokens) : checked_add(tokens, step - rest);
  }

  // Returns the multiple that a group of the form pads each of its sequences to, and its row. A
  // degree that is not allowed, a violation of its own, asks for nothing.
  Tokens sequences_fill(GroupForm form) const {
    const Padding& padding = *instance_.padding;
    Tokens step = padding.sequence_multiple;
    if (!instance_.rules.packed) step = least_multiple(step, padding.row_multiple);
    if (!padding.per_degree || form.degree < 1 || !is_allowed(form.degree)) return step;
    const bool whole = form.exchange == ExchangeKind::none ||
                       form.exchange == ExchangeKind::all_to_all;  // one chunk on each device
    if (!instance_.rules.packed) step = least_multiple(step, form.degree);
    const Tokens part = padding.device_multiple;
    if (part == 0) return whole ? step : least_multiple(step, Tokens{2} * form.degree);
    const Tokens chunk = whole || part % 2 == 0 ? part : 2 * part;
    return least_multiple(step, chunk * form.degree);
  }
  Tokens rows_fill(GroupForm form) const {
    if (!instance_.padding || !instance_.rules.packed) return 1;
    Tokens step = instance_.padding->row_multiple;
    const bool is_form = form.degree >= 1 && is_allowed(form.degree);
    if (is_form && instance_.padding->per_degree) step = least_multiple(step, form.degree);
    return sequences_fill(form) % step == 0 ? 1 : step;  // 1: all sums are multiples of it
  }

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

  std::size_t kind_of_rank(int rank) const {
    std::size_t kind = 0;
    int node = rank / instance_.cluster.devices_per_node;
    while (node >= instance_.cluster.kinds[kind].nodes)
      node -= instance_.cluster.kinds[kind++].nodes;
    return kind;
  }

  std::vector<int> places_of(int degree) const {
    std::vector<int> all;
    for (int first = 0; first + degree <= instance_.cluster.devices; first += degree) {
      all.push_back(*place(degree, first));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  double memory_of(GroupForm form) const {
    if (instance_.cluster.kinds.empty()) return instance_.cluster.memory_mib;
    std::optional<double> least;
    each_rank_kind(form, [&](std::size_t kind) {
      const Mib own = instance_.cluster.kinds[kind].memory_mib;
      least = std::min(least.value_or(own), own);
    });
    return least.value_or(0);
  }

  double speed_of(GroupForm form) const {
    if (instance_.cluster.kinds.empty()) return 1;
    std::optional<double> least;
    each_rank_kind(form, [&](std::size_t kind) {
      const double own = instance_.cluster.kinds[kind].speed;
      least = std::min(least.value_or(own), own);
    });
    return least.value_or(1);
  }

  // Returns the recomputation mode of the form; without a choice, no factors and the model's
  // activations.
  Recomputation recomputed(GroupForm form) const {
    const ModelMemory& model = instance_.model;
    if (!model.recomputation.empty()) {
      return model.recomputation.at(static_cast<std::size_t>(form.recomputation));
    }
    return {.activation_mib_per_token = model.activation_mib_per_token};
  }

  // Returns the MiB that a device needs for each of its tokens of a group: activations, logits
  // unless they come in chunks, and keys and values of other devices, which a ring holds once and
  // an all-gather for every device.
  double mib_of_token(GroupForm form) const {
    const ModelMemory& model = instance_.model;
    double mib = recomputed(form).activation_mib_per_token;
    if (!(model.logits_chunk_tokens > 0)) mib += model.logits_mib_per_token;
    if (form.exchange == ExchangeKind::all_gather) {
      mib += form.degree * model.keys_values_mib_per_token;
    } else if (form.exchange == ExchangeKind::ring || form.exchange == ExchangeKind::two_level) {
      mib += model.keys_values_mib_per_token;
    }
    return mib;
  }

  // Returns twice the pairs of tokens: all pairs in some layers, the pairs in the window in the
  // others.
  long double pairs(Tokens length) const {
    const Tokens tile = instance_.cost.tile_tokens;
    const Tokens tiles = (length + tile - 1) / tile;
    const auto computed = static_cast<long double>(tiles * tile);
    const SlidingWindow& window = instance_.cost.window;
    const auto seen = static_cast<long double>(window.tokens);
    const long double all = computed * computed;
    const long double near = computed > seen ? seen * (2 * computed - seen) : all;
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

  const ScatterInstance& instance_;
};

}  // namespace stowage
