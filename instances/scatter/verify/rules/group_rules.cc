// The rules on one group: its ranks, sequences, tokens, room, offload and time.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "instances/proof/stated_number.h"
#include "instances/proof/violation_list.h"
#include "instances/scatter/verify/rules/plan_checker.h"

namespace stowage {

std::optional<Ms> ScatterPlanChecker::check_group(const Place& at) {
  const ScatterGroup& group = at.group;
  if (group.sequences.empty()) {
    found_.add(kEmptyGroup, [&] {
      return Description{at.pointer(), "no sequence", "a sequence or more"};
    });
  }
  check_ranks(at);
  const GroupSums sums = check_sequences(at);
  check_cu_seqlens(at);
  row_ = truth_.row(sums.tokens, form_of(group));
  if (sums.all_known && row_ != group.tokens) {
    found_.add(kTokens, [&] {
      return Description{at.pointer("/tokens"), stated_tokens(group.tokens), stated_tokens(row_)};
    });
  }
  check_capacity(at, sums);
  const bool is_form = way_ && place(group);
  std::optional<Ms> time = is_form ? truth_.time(sums, form_of(group)) : std::nullopt;
  const bool leaves = check_offload(at, sums, time.has_value());
  if (time && leaves) time = truth_.time(sums, form_of(group), group.offload);
  check_ms(kTime, group.time_ms, time, [&] { return at.pointer("/time_ms"); });
  if (time || !std::isfinite(group.time_ms)) return time;
  return group.time_ms;
}

void ScatterPlanChecker::check_ranks(const Place& at) {
  const int degree = at.group.degree;
  const int first = at.group.first_rank;
  if (!truth_.is_allowed(degree)) {
    found_.add(kDegree, [&] {
      std::string allowed = "one of";
      for (const int each : cluster_.degrees) allowed += ' ' + text(each);
      return Description{at.pointer("/degree"), text(degree), allowed};
    });
  }
  if (truth_.is_allowed(degree) && degree < rules_.min_degree) {
    found_.add(kMinDegree, [&] {
      return Description{at.pointer("/degree"), text(degree),
                         "at least " + text(rules_.min_degree)};
    });
  }
  if (truth_.is_allowed(degree) && !truth_.may_exchange(form_of(at.group))) {
    found_.add(kExchange, [&] {
      return Description{at.pointer("/exchange"), name_of(at.group.exchange), exchanges_of(degree)};
    });
  }
  const std::int64_t end = std::int64_t{first} + degree;
  if (first < 0 || end > cluster_.devices) {
    found_.add(kRankRange, [&] {
      return Description{at.pointer("/first_rank"),
                         "ranks [" + text(first) + ", " + text(end) + ")",
                         "ranks in [0, " + text(cluster_.devices) + ")"};
    });
  }
  if (cluster_.aligned && degree > 0 && first % degree != 0) {
    found_.add(kRankAlignment, [&] {
      return Description{at.pointer("/first_rank"), text(first),
                         "a multiple of degree " + text(degree)};
    });
  }
}

std::string ScatterPlanChecker::name_of(ExchangeKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < exchange_names().size() ? std::string(exchange_names()[index])
                                         : text(static_cast<std::int64_t>(kind));
}

// Returns the text for the allowed recomputation modes.
std::string ScatterPlanChecker::ways() const {
  if (model_.recomputation.empty()) return "none, as the model lists no recomputation";
  std::string text = "one of";
  for (const Recomputation& way : model_.recomputation) text += " \"" + way.name + '"';
  return text;
}

// Returns the text for the kinds that groups of the degree may use.
std::string ScatterPlanChecker::exchanges_of(int degree) const {
  std::string text = "one of";
  for (const GroupForm form : truth_.forms()) {
    if (form.degree == degree && form.recomputation == 0) text += ' ' + name_of(form.exchange);
  }
  return text;
}

GroupSums ScatterPlanChecker::check_sequences(const Place& at) {
  GroupSums sums;
  lengths_.clear();
  for (std::size_t i = 0; i < at.group.sequences.size(); ++i) {
    const std::int64_t id = at.group.sequences[i];
    lengths_.push_back(truth_.add(id, sums, form_of(at.group)));
    if (!truth_.is_known(id)) {
      found_.add(kUnknownSequence, [&] {
        return Description{at.pointer("/sequences/" + text(i)), "sequence " + text(id),
                           "an id below " + text(truth_.sequences())};
      });
      continue;
    }
    std::int64_t& first = first_seen_[static_cast<std::size_t>(id)];
    if (first == kNowhere) {
      first = groups_seen_;
      continue;
    }
    found_.add(kCoverage, [&] {
      return Description{at.pointer("/sequences/" + text(i)),
                         "sequence " + text(id) + ", computed already in " + group_at(first),
                         "each sequence exactly once"};
    });
  }
  return sums;
}

// Returns the pointer of the group with this number, counted over the whole plan.
std::string ScatterPlanChecker::group_at(std::int64_t number) const {
  std::size_t m = 0;
  auto left = static_cast<std::size_t>(number);
  for (; left >= plan_.micro_batches[m].groups.size(); ++m) {
    left -= plan_.micro_batches[m].groups.size();
  }
  return micro_batch_at(m) + "/groups/" + text(left);
}

// Reports only the first wrong entry of a group, since one error moves all later entries.
void ScatterPlanChecker::check_cu_seqlens(const Place& at) {
  const auto& ids = at.group.sequences;
  const auto& cu = at.group.cu_seqlens;
  const auto wrong = [&](std::string_view below, std::string&& have, std::string&& need) {
    found_.add(kCuSeqlens, [&] {
      return Description{at.pointer("/cu_seqlens") + std::string(below), std::move(have),
                         std::move(need)};
    });
  };
  if (cu.size() != ids.size() + 1) {
    wrong("", text(cu.size()) + " entries", text(ids.size() + 1) + ", one more than sequences");
    return;
  }
  if (cu[0] != 0) {
    wrong("/0", text(cu[0]), "0");
    return;
  }
  for (std::size_t i = 0; i < ids.size() && truth_.is_known(ids[i]); ++i) {
    auto end = lengths_[i] ? checked_add(cu[i], *lengths_[i]) : std::nullopt;
    if (i + 1 == ids.size()) end = truth_.row(end, form_of(at.group));
    if (end == cu[i + 1]) continue;
    wrong("/" + text(i + 1), text(cu[i + 1]), end ? text(*end) : "an end below 2^63");
    return;
  }
}

void ScatterPlanChecker::check_capacity(const Place& at, const GroupSums& sums) {
  const int degree = at.group.degree;
  if (degree < 1) return;
  const GroupForm form = form_of(at.group);
  if (way_ && place(at.group) && !truth_.fits_memory(sums, form)) {
    found_.add(kCapacity, [&] {
      const std::optional<Tokens> held =
          rules_.packed ? truth_.row(sums.tokens, form) : std::optional(sums.longest);
      std::string have = stated_tokens(held);
      if (const Tokens beside = truth_.beside(form); beside > 0) {
        have += " and " + text(beside) + " for each of " + text(rules_.packed ? sums.count : 1) +
                " sequences";
      }
      return Description{at.pointer(), have, "at most " + stated_tokens(truth_.capacity(form))};
    });
  }
  if (!truth_.fits_rule(sums, form)) {
    found_.add(kMaxTokens, [&] {
      return Description{at.pointer(), stated_tokens(truth_.row(sums.tokens, form)),
                         "at most " + stated_tokens(truth_.most_tokens(degree))};
    });
  }
  if (sums.count > rules_.max_sequences_per_group) {
    found_.add(kMostSequences, [&] {
      return Description{at.pointer("/sequences"), text(sums.count) + " sequences",
                         "at most " + text(rules_.max_sequences_per_group)};
    });
  }
}

// Checks the share that leaves for the host. Returns whether more than nothing does, as far as
// its time is known.
bool ScatterPlanChecker::check_offload(const Place& at, const GroupSums& sums, bool is_known) {
  const double share = at.group.offload;
  const auto wrong = [&](std::string&& have, std::string&& need) {
    found_.add(kOffload, [&] {
      return Description{at.pointer("/offload"), std::move(have), std::move(need)};
    });
    return false;
  };
  if (!std::isfinite(share)) {
    found_.add(kNumber, [&] {
      return Description{at.pointer("/offload"), text(share), "a finite number"};
    });
    return false;
  }
  if (!model_.offload) return share == 0 || wrong(text(share), "0, as the model has no offload");
  if (share < 0 || share > 1) return wrong(text(share), "0 to 1");
  if (!is_known) return false;
  const GroupForm form = form_of(at.group);
  const double least = truth_.least_share(sums, form);
  if (share < least && !agree(share, least)) {
    return wrong(text(share), "at least " + text(least) + ", or memory is too small");
  }
  if (const auto& host = model_.offload->host_mib) {
    const auto mib = static_cast<double>(truth_.away_mib(sums, form, share));
    if (mib > *host && !agree(mib, *host) && truth_.fits_memory(sums, form)) {
      return wrong(text(mib) + " MiB of a device", "at most " + text(*host) + " MiB");
    }
  }
  return share > 0;
}

}  // namespace stowage
