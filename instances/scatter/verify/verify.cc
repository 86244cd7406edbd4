// The rules of instances/verify.h for scatter plans. Longer than 300 lines because it is one list:
// a reader finds all rules in one place, in the order in which a plan is checked.

#include "instances/scatter/verify/verify.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "instances/numeric/tolerances.h"
#include "instances/proof/pipeline_reference.h"
#include "instances/proof/plan_claims.h"
#include "instances/proof/violation_list.h"
#include "instances/scatter/verify/reference_model.h"
#include "instances/violation.h"

namespace stowage {
namespace {

enum Rule : std::size_t {
  kNumber,
  kCoverage,
  kUnknownSequence,
  kEmptyMicroBatch,
  kEmptyGroup,
  kDegree,
  kMinDegree,
  kExchange,
  kRecomputation,
  kRankRange,
  kRankAlignment,
  kRankOverlap,
  kDevices,
  kIdleRanks,
  kSortedGroups,
  kMultiple,
  kTokens,
  kCuSeqlens,
  kCapacity,
  kMaxTokens,
  kMostSequences,
  kEqualSequences,
  kOffload,
  kTime,
  kMakespan,
  kObjective,
  kSimulated,
  kBound,
  kInstanceHash,
  kRuleCount,
};

constexpr std::array<std::string_view, kRuleCount> kRuleNames = {"number",
                                                                 "coverage",
                                                                 "unknown_sequence",
                                                                 "empty_micro_batch",
                                                                 "empty_group",
                                                                 "degree",
                                                                 "min_degree",
                                                                 "exchange",
                                                                 "recomputation",
                                                                 "rank_range",
                                                                 "rank_alignment",
                                                                 "rank_overlap",
                                                                 "devices",
                                                                 "no_idle_ranks",
                                                                 "sorted_groups",
                                                                 "micro_batches_multiple_of",
                                                                 "tokens",
                                                                 "cu_seqlens",
                                                                 "capacity",
                                                                 "max_tokens_per_rank",
                                                                 "max_sequences_per_group",
                                                                 "equal_sequences",
                                                                 "offload",
                                                                 "time",
                                                                 "makespan",
                                                                 "objective",
                                                                 "simulated",
                                                                 "bound",
                                                                 "instance_hash"};

constexpr std::int64_t kNowhere = -1;

// Returns true for finite numbers that differ by no more than the tolerance.
bool agree(double a, double b) {
  return std::isfinite(a) && std::isfinite(b) &&
         std::abs(a - b) <= kVerifierDiffers * std::max(std::abs(a), std::abs(b));
}

std::string ms(double value) { return text(value) + " ms"; }

std::string tokens(std::optional<Tokens> value) {
  return value ? text(*value) + " tokens" : "more than 2^63 tokens";
}

std::string micro_batch_at(std::size_t m) { return "/micro_batches/" + text(m); }

// A group and its place in the plan.
struct Place {
  const ScatterGroup& group;
  std::size_t m;
  std::size_t g;

  std::string pointer(std::string_view below = "") const {
    return micro_batch_at(m) + "/groups/" + text(g) + std::string(below);
  }
};

// Walks over the plan once. Each step returns the true time of its part, or nullopt if a violation
// leaves the time unknown. A stated time then stands in for the true time, so that one error is not
// reported again at every level above it.
class ScatterVerifier {
 public:
  ScatterVerifier(const ScatterInstance& instance, const ScatterPlan& plan)
      : cluster_(instance.cluster),
        model_(instance.model),
        rules_(instance.rules),
        plan_(plan),
        truth_(instance),
        first_seen_(instance.lengths.size(), kNowhere),
        found_(kRuleNames) {}

  std::vector<Violation> run() && {
    std::vector<Ms> makespans;
    bool all_known = true;
    for (std::size_t m = 0; m < plan_.micro_batches.size(); ++m) {
      const auto makespan = check_micro_batch(m);
      all_known = all_known && makespan;
      makespans.push_back(makespan.value_or(0));
    }
    std::optional<Ms> objective;
    if (all_known) objective = truth_.step(makespans);
    check_nothing_is_missing();
    check_multiple();
    check_ms(kObjective, plan_.objective_ms, objective, [] { return "/objective_ms"; });
    // A plan may leave the simulated time out: 0.
    if (plan_.simulated_1f1b_ms != 0) {
      std::optional<Ms> end;
      if (all_known) end = reference_end_of_1f1b(makespans, truth_.stages());
      check_ms(kSimulated, plan_.simulated_1f1b_ms, end, [] { return "/simulated_1f1b_ms"; });
    }
    check_bound_ms(found_, {kNumber, kBound}, plan_.bound_ms, plan_.bound_by,
                   objective.value_or(plan_.objective_ms));
    return std::move(found_).take();
  }

 private:
  // Compares a stated time with the true time, if that is known.
  template <class Where>
  void check_ms(Rule rule, Ms have, std::optional<Ms> need, Where where) {
    if (!std::isfinite(have)) {
      found_.add(kNumber, [&] { return Description{where(), text(have), "a finite number"}; });
    } else if (need && !agree(have, *need)) {
      found_.add(rule, [&] { return Description{where(), ms(have), ms(*need)}; });
    }
  }

  std::optional<Ms> check_micro_batch(std::size_t m) {
    const ScatterMicroBatch& micro_batch = plan_.micro_batches[m];
    if (micro_batch.groups.empty()) {
      found_.add(kEmptyMicroBatch, [&] {
        return Description{micro_batch_at(m), "no group", "a group or more"};
      });
    }
    way_ = truth_.way_to_recompute(micro_batch);
    if (!way_) {
      found_.add(kRecomputation, [&] {
        return Description{micro_batch_at(m) + "/recomputation",
                           '"' + micro_batch.recomputation + '"', ways()};
      });
    }
    std::optional<Ms> makespan = 0.0;
    for (std::size_t g = 0; g < micro_batch.groups.size(); ++g, ++groups_seen_) {
      const auto time = check_group({micro_batch.groups[g], m, g});
      makespan = makespan && time ? std::optional(std::max(*makespan, *time)) : std::nullopt;
    }
    check_devices(m);
    check_overlap(m);
    if (rules_.no_idle_ranks) check_idle(m);
    if (rules_.sorted_groups) check_sorted(m);
    if (rules_.equal_sequences) check_equal(m);
    check_ms(kMakespan, micro_batch.makespan_ms, makespan,
             [&] { return micro_batch_at(m) + "/makespan_ms"; });
    return makespan;
  }

  std::optional<Ms> check_group(const Place& at) {
    const ScatterGroup& group = at.group;
    if (group.sequences.empty()) {
      found_.add(kEmptyGroup, [&] {
        return Description{at.pointer(), "no sequence", "a sequence or more"};
      });
    }
    check_ranks(at);
    const GroupSums sums = check_sequences(at);
    check_cu_seqlens(at);
    const auto row = truth_.row(sums.tokens, form_of(group));
    if (sums.all_known && row != group.tokens) {
      found_.add(kTokens, [&] {
        return Description{at.pointer("/tokens"), tokens(group.tokens), tokens(row)};
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

  void check_ranks(const Place& at) {
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
        return Description{at.pointer("/exchange"), name_of(at.group.exchange),
                           exchanges_of(degree)};
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

  static std::string name_of(ExchangeKind kind) {
    const auto index = static_cast<std::size_t>(kind);
    return index < exchange_names().size() ? std::string(exchange_names()[index])
                                           : text(static_cast<std::int64_t>(kind));
  }

  // Returns the form of a group of the current micro-batch.
  GroupForm form_of(const ScatterGroup& group) const {
    return {group.degree, group.exchange, way_.value_or(0), place(group).value_or(0)};
  }
  // If devices differ, the room and time of a group depend on its ranks.
  std::optional<int> place(const ScatterGroup& group) const {
    return truth_.place(group.degree, group.first_rank);
  }

  // Returns the text for the allowed recomputation modes.
  std::string ways() const {
    if (model_.recomputation.empty()) return "none, as the model lists no recomputation";
    std::string text = "one of";
    for (const Recomputation& way : model_.recomputation) text += " \"" + way.name + '"';
    return text;
  }

  // Returns the text for the kinds that groups of the degree may use.
  std::string exchanges_of(int degree) const {
    std::string text = "one of";
    for (const GroupForm form : truth_.forms()) {
      if (form.degree == degree && form.recomputation == 0) text += ' ' + name_of(form.exchange);
    }
    return text;
  }

  GroupSums check_sequences(const Place& at) {
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
  std::string group_at(std::int64_t number) const {
    std::size_t m = 0;
    auto left = static_cast<std::size_t>(number);
    for (; left >= plan_.micro_batches[m].groups.size(); ++m) {
      left -= plan_.micro_batches[m].groups.size();
    }
    return micro_batch_at(m) + "/groups/" + text(left);
  }

  // Reports only the first wrong entry of a group, since one error moves all later entries.
  void check_cu_seqlens(const Place& at) {
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

  void check_capacity(const Place& at, const GroupSums& sums) {
    const int degree = at.group.degree;
    if (degree < 1) return;
    const GroupForm form = form_of(at.group);
    if (way_ && place(at.group) && !truth_.fits_memory(sums, form)) {
      found_.add(kCapacity, [&] {
        const std::optional<Tokens> held =
            rules_.packed ? truth_.row(sums.tokens, form) : std::optional(sums.longest);
        std::string have = tokens(held);
        if (const Tokens beside = truth_.beside(form); beside > 0) {
          have += " and " + text(beside) + " for each of " + text(rules_.packed ? sums.count : 1) +
                  " sequences";
        }
        return Description{at.pointer(), have, "at most " + tokens(truth_.capacity(form))};
      });
    }
    if (!truth_.fits_rule(sums, form)) {
      found_.add(kMaxTokens, [&] {
        return Description{at.pointer(), tokens(truth_.row(sums.tokens, form)),
                           "at most " + tokens(truth_.most_tokens(degree))};
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
  bool check_offload(const Place& at, const GroupSums& sums, bool is_known) {
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

  // Checks for idle ranks. Ranks that two groups share are a violation of their own.
  void check_idle(std::size_t m) {
    std::int64_t devices = 0;
    for (const ScatterGroup& group : plan_.micro_batches[m].groups) {
      devices += std::max(group.degree, 0);
    }
    if (devices >= cluster_.devices) return;
    found_.add(kIdleRanks, [&] {
      return Description{micro_batch_at(m), text(cluster_.devices - devices) + " idle",
                         "work on each of " + text(cluster_.devices) + " ranks"};
    });
  }

  // Reports only the first group of a micro-batch that is larger than a group on smaller ranks.
  void check_sorted(std::size_t m) {
    const auto& groups = plan_.micro_batches[m].groups;
    std::vector<std::size_t> by_rank(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) by_rank[g] = g;
    std::sort(by_rank.begin(), by_rank.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(groups[a].first_rank, a) < std::tie(groups[b].first_rank, b);
    });
    for (std::size_t i = 1; i < by_rank.size(); ++i) {
      const ScatterGroup& before = groups[by_rank[i - 1]];
      const ScatterGroup& here = groups[by_rank[i]];
      if (here.degree <= before.degree) continue;
      found_.add(kSortedGroups, [&] {
        return Description{Place{here, m, by_rank[i]}.pointer("/degree"), text(here.degree),
                           "at most " + text(before.degree) + ", as on the ranks before it"};
      });
      return;
    }
  }

  // Reports the first group whose number of sequences differs from that of the first group.
  void check_equal(std::size_t m) {
    const auto& groups = plan_.micro_batches[m].groups;
    for (std::size_t g = 1; g < groups.size(); ++g) {
      if (groups[g].sequences.size() == groups[0].sequences.size()) continue;
      found_.add(kEqualSequences, [&] {
        return Description{Place{groups[g], m, g}.pointer("/sequences"),
                           text(groups[g].sequences.size()) + " sequences",
                           text(groups[0].sequences.size()) + ", as in group 0"};
      });
      return;
    }
  }

  void check_multiple() {
    const auto count = static_cast<std::int64_t>(plan_.micro_batches.size());
    if (count % rules_.micro_batches_multiple_of == 0) return;
    found_.add(kMultiple, [&] {
      return Description{"/micro_batches", text(count) + " micro-batches",
                         "a multiple of " + text(rules_.micro_batches_multiple_of)};
    });
  }

  void check_devices(std::size_t m) {
    std::int64_t devices = 0;  // 2^32 groups of 2^31 ranks still fit
    for (const ScatterGroup& group : plan_.micro_batches[m].groups) {
      devices += std::max(group.degree, 0);
    }
    if (devices <= cluster_.devices) return;
    found_.add(kDevices, [&] {
      return Description{micro_batch_at(m), text(devices) + " devices",
                         "at most " + text(cluster_.devices) + " devices"};
    });
  }

  // Sorted by first rank, a group overlaps an earlier one exactly if it starts before the furthest
  // end so far.
  void check_overlap(std::size_t m) {
    struct Ranks {
      std::int64_t first;
      std::int64_t end;
      std::size_t g;
    };
    const auto& groups = plan_.micro_batches[m].groups;
    std::vector<Ranks> ranks;
    ranks.reserve(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].degree < 1) continue;
      ranks.push_back(
          {groups[g].first_rank, std::int64_t{groups[g].first_rank} + groups[g].degree, g});
    }
    std::sort(ranks.begin(), ranks.end(), [](const Ranks& a, const Ranks& b) {
      return a.first != b.first ? a.first < b.first : a.g < b.g;
    });
    for (std::size_t i = 1, furthest = 0; i < ranks.size(); ++i) {
      const Ranks& before = ranks[furthest];
      if (ranks[i].first < before.end) {
        found_.add(kRankOverlap, [&] {
          return Description{Place{groups[ranks[i].g], m, ranks[i].g}.pointer("/first_rank"),
                             text(ranks[i].first) + ", a rank of group " + text(before.g),
                             "ranks of its own"};
        });
      }
      if (ranks[i].end > before.end) furthest = i;
    }
  }

  void check_nothing_is_missing() {
    for (std::size_t id = 0; id < first_seen_.size(); ++id) {
      if (first_seen_[id] != kNowhere) continue;
      found_.add(kCoverage, [&] {
        return Description{"/micro_batches", "sequence " + text(id) + " nowhere",
                           "each sequence exactly once"};
      });
    }
  }

  const Cluster& cluster_;
  const ModelMemory& model_;
  const ScatterRules& rules_;
  const ScatterPlan& plan_;
  const ScatterReferenceModel truth_;
  std::vector<std::int64_t> first_seen_;  // by id: the number of its group, or kNowhere
  std::int64_t groups_seen_ = 0;
  std::optional<int> way_;                      // recomputation mode of the current micro-batch
  std::vector<std::optional<Tokens>> lengths_;  // of the sequences of the current group
  ViolationList found_;
};

}  // namespace

std::vector<std::string_view> scatter_verify_rules() {
  return {kRuleNames.begin(), kRuleNames.end()};
}

std::vector<Violation> verify(const ScatterInstance& instance, const ScatterPlan& plan) {
  return ScatterVerifier(instance, plan).run();
}

std::vector<Violation> verify_instance_hash(const ScatterPlan& plan,
                                            std::string_view instance_hash) {
  return check_instance_hash(kRuleNames, kInstanceHash, plan.instance_hash, instance_hash);
}

}  // namespace stowage
