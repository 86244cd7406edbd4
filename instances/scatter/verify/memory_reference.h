// The room of a group: what its sequences need, and the limits of memory and of the rules. A part
// of reference_model.h. Not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/table/group_form.h"
#include "instances/scatter/verify/form_reference.h"

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

class ScatterMemoryReference : public ScatterFormReference {
 public:
  using ScatterFormReference::ScatterFormReference;

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

  // Returns the most tokens of a device's row beside a row of `shared` tokens that all devices
  // share: each has its part of both in its memory, and within max_tokens_per_rank.
  Tokens most_beside(Tokens shared) const {
    const int devices = instance_.cluster.devices;
    const Tokens each = std::min(per_device(1), instance_.rules.max_tokens_per_rank);
    return each - shared / devices - (shared % devices != 0);
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
    const double tokens = std::min(mib / mib_of_token(form), 0x1p53);
    if (!(tokens > 0)) return 0;
    auto whole = static_cast<Tokens>(tokens);
    if (static_cast<double>(whole) < tokens) ++whole;
    return filled(whole, rows_fill(form)).value_or(kMaxExact);
  }

 private:
  double memory_of(GroupForm form) const {
    if (instance_.cluster.kinds.empty()) return instance_.cluster.memory_mib;
    Mib least = std::numeric_limits<Mib>::infinity();
    each_rank_kind(form, [&](std::size_t kind) {
      least = std::min(least, instance_.cluster.kinds[kind].memory_mib);
    });
    return least;
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
};

}  // namespace stowage
