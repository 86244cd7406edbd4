// The walk over a scatter plan, from micro-batches to groups to sequences, with the rules that it
// checks in this order. Not installed: verify() calls it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/proof/stated_number.h"
#include "instances/proof/violation_list.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table/group_form.h"
#include "instances/scatter/verify/reference_model.h"
#include "instances/violation.h"

namespace stowage {

// Walks over the plan once. Each step returns the true time of its part, or nullopt if a violation
// leaves the time unknown. A stated time then stands in for the true time, so that one error is not
// reported again at every level above it.
class ScatterPlanChecker {
 public:
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

  static constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
      "number",
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

  ScatterPlanChecker(const ScatterInstance& instance, const ScatterPlan& plan)
      : cluster_(instance.cluster),
        model_(instance.model),
        rules_(instance.rules),
        plan_(plan),
        truth_(instance),
        first_seen_(instance.lengths.size(), kNowhere),
        found_(kRuleNames) {}

  std::vector<Violation> run() &&;

 private:
  static constexpr std::int64_t kNowhere = -1;

  static std::string micro_batch_at(std::size_t m) { return "/micro_batches/" + text(m); }

  // A group and its place in the plan.
  struct Place {
    const ScatterGroup& group;
    std::size_t m;
    std::size_t g;

    std::string pointer(std::string_view below = "") const {
      return micro_batch_at(m) + "/groups/" + text(g) + std::string(below);
    }
  };

  // Compares a stated time with the true time, if that is known.
  template <class Where>
  void check_ms(Rule rule, Ms have, std::optional<Ms> need, Where where) {
    if (!std::isfinite(have)) {
      found_.add(kNumber, [&] { return Description{where(), text(have), "a finite number"}; });
    } else if (need && !agree(have, *need)) {
      found_.add(rule, [&] { return Description{where(), stated_ms(have), stated_ms(*need)}; });
    }
  }

  std::optional<Ms> check_micro_batch(std::size_t m);
  std::optional<Ms> check_groups(std::size_t m);
  std::optional<std::size_t> shared_row(std::size_t m) const;
  void check_own_row(const Place& at, std::optional<Tokens> shared);
  std::optional<Ms> check_group(const Place& at);
  void check_ranks(const Place& at);
  static std::string name_of(ExchangeKind kind);

  // Returns the form of a group of the current micro-batch.
  GroupForm form_of(const ScatterGroup& group) const {
    return {group.degree, group.exchange, way_.value_or(0), place(group).value_or(0)};
  }

  // If devices differ, the room and time of a group depend on its ranks.
  std::optional<int> place(const ScatterGroup& group) const {
    return truth_.place(group.degree, group.first_rank);
  }

  std::string ways() const;
  std::string exchanges_of(int degree) const;
  GroupSums check_sequences(const Place& at);
  std::string group_at(std::int64_t number) const;
  void check_cu_seqlens(const Place& at);
  void check_capacity(const Place& at, const GroupSums& sums);
  bool check_offload(const Place& at, const GroupSums& sums, bool is_known);
  void check_idle(std::size_t m);
  void check_sorted(std::size_t m);
  void check_equal(std::size_t m);
  void check_multiple();
  void check_devices(std::size_t m);
  void check_overlap(std::size_t m);
  void check_nothing_is_missing();

  const Cluster& cluster_;
  const ModelMemory& model_;
  const ScatterRules& rules_;
  const ScatterPlan& plan_;
  const ScatterReferenceModel truth_;
  std::vector<std::int64_t> first_seen_;  // by id: the number of its group, or kNowhere
  std::int64_t groups_seen_ = 0;
  std::optional<int> way_;                      // recomputation mode of the current micro-batch
  std::vector<std::optional<Tokens>> lengths_;  // of the sequences of the current group
  std::optional<Tokens> row_;                   // tokens of the row of the current group
  ViolationList found_;
};

}  // namespace stowage
