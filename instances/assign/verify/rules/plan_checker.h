// The walk over an assign plan, from replicas to rows to sequences, with the rules that it checks
// in this order. Not installed: verify() calls it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/assign/verify/chunk_reference.h"
#include "instances/assign/verify/reference_model.h"
#include "instances/proof/pipeline_reference.h"
#include "instances/proof/stated_number.h"
#include "instances/proof/violation_list.h"
#include "instances/violation.h"

namespace stowage {

// Walks over the plan once. Each step returns the true time of its part, or nullopt if a violation
// leaves the time unknown. A stated time then stands in for the true time, so that one error is not
// reported again at every level above it.
class AssignPlanChecker {
 public:
  enum Rule : std::size_t {
    kNumber,
    kStrategy,
    kScheme,
    kReplicas,
    kCoverage,
    kUnknownSequence,
    kEmptyRow,
    kTokens,
    kLossTokens,
    kCuSeqlens,
    kCapacity,
    kChunk,
    kChunkOrder,
    kChunkMemory,
    kRowTime,
    kReplicaTime,
    kObjective,
    kSimulated,
    kRowsMultipleOf,
    kEqualRows,
    kAllowEmpty,
    kBound,
    kInstanceHash,
    kRuleCount,
  };

  static constexpr std::array<std::string_view, kRuleCount> kRuleNames = {
      "number",           "strategy",  "scheme",       "replicas",         "coverage",
      "unknown_sequence", "empty_row", "tokens",       "loss_tokens",      "cu_seqlens",
      "capacity",         "chunk",     "chunk_order",  "chunk_memory",     "row_time",
      "replica_time",     "objective", "simulated",    "rows_multiple_of", "equal_rows",
      "allow_empty",      "bound",     "instance_hash"};

  AssignPlanChecker(const AssignInstance& instance, const AssignPlan& plan)
      : instance_(instance),
        plan_(plan),
        truth_(instance),
        chunks_(instance.constraints.chunks
                    ? std::optional<ChunkReference>(*instance.constraints.chunks)
                    : std::nullopt),
        first_seen_(instance.lengths.size(), kNowhere),
        found_(kRuleNames) {}

  std::vector<Violation> run() &&;

 private:
  static constexpr std::int64_t kNowhere = -1;

  static std::string name_text(std::string_view name) {
    constexpr std::size_t kShown = 40;
    std::string shown = '"' + std::string(name.substr(0, kShown));
    return shown + (name.size() > kShown ? "...\"" : "\"");
  }

  static std::string replica_at(std::size_t r) { return "/replicas/" + text(r); }

  // A row and its place in the plan.
  struct Place {
    const AssignRow& row;
    std::size_t replica;
    std::size_t index;

    std::string pointer(std::string_view below = "") const {
      return replica_at(replica) + "/rows/" + text(index) + std::string(below);
    }
  };

  // The part of a sequence that a row with a valid range of tokens is.
  struct PartOf {
    Tokens length = 0;  // of the sequence
    Tokens index = 0;   // of the part
    Tokens count = 0;   // of the sequence's parts
  };

  // The true times of a replica.
  struct ReplicaTimes {
    Ms estimate;   // T
    Ms simulated;  // 1F1B
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

  void check_strategy();
  std::optional<ReplicaTimes> check_replica(std::size_t r);

  // Neighbouring rows that are parts of the same sequence.
  struct Run {
    std::size_t first = 0;
    std::size_t count = 1;
  };
  static std::vector<Run> runs_of(const AssignReplica& replica);
  std::optional<PartOf> check_free_part(const Place& at, const Run& run, Tokens length);
  std::optional<PartOf> check_part(const Place& at, const Run& run, const Scheme* scheme);
  bool check_order(const Place& at, const std::optional<PartOf>& part,
                   const std::optional<PartOf>& before);
  TimedChunk timed(Ms time, const std::optional<PartOf>& part) const;
  std::optional<Ms> check_row(const Place& at, const std::optional<PartOf>& part,
                              const Scheme* scheme);
  RowSums check_sequences(const Place& at, const std::optional<PartOf>& part);
  std::string row_at(std::int64_t number) const;
  void check_cu_seqlens(const Place& at);
  void check_nothing_is_missing();
  void check_loss_tokens();
  void check_row_counts();

  const AssignInstance& instance_;
  const AssignPlan& plan_;
  const AssignReferenceModel truth_;
  const std::optional<ChunkReference> chunks_;  // if the instance asks for chunks
  std::vector<std::int64_t> first_seen_;        // by id: the number of its row, or kNowhere
  std::int64_t rows_seen_ = 0;
  ViolationList found_;
};

}  // namespace stowage
