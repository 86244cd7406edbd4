// The assign plan: the strategy, and which sequences go into which row of which replica.
//
// A plan repeats values that could be recomputed, so that trainers can use them and the verifier
// can check them.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/units.h"

namespace stowage {

// Padded tokens [begin, end) of a sequence.
struct TokenRange {
  Tokens begin = 0;
  Tokens end = 0;

  bool operator==(const TokenRange&) const = default;
};

// One packed row, a micro-batch of its replica.
struct AssignRow {
  std::vector<std::int64_t> sequences;  // ids, in packing order
  std::optional<TokenRange> part;       // of the row's only sequence, if it is cut (ChunkRule)
  Tokens tokens = 0;                    // padded tokens of all sequences, or of the part
  Tokens loss_tokens = 0;  // targets of its sequences, over which the row's loss is summed
  Ms time_ms = 0;          // t_g of instance.h
  std::vector<std::int64_t> cu_seqlens;  // padded prefix sums: sequences.size() + 1, first 0

  bool operator==(const AssignRow&) const = default;
};

struct AssignReplica {
  std::string scheme;           // its name
  Ms time_ms = 0;               // T of instance.h; 0 without rows
  std::vector<AssignRow> rows;  // in the order in which they enter the pipeline

  bool operator==(const AssignReplica&) const = default;
};

struct AssignPlan {
  std::string name;           // of the instance
  std::string instance_hash;  // hash (json/json.h) of the only instance that it is valid for
  std::string strategy;       // its name
  // Targets of all rows. A row of mean loss m contributes m * loss_tokens of the row / loss_tokens
  // of the plan. Summed over rows and replicas, that is the mean over the whole step.
  Tokens loss_tokens = 0;
  Ms objective_ms = 0;       // the slowest replica's time
  Ms simulated_1f1b_ms = 0;  // the slowest replica under a simulated 1F1B schedule, rows in order
  Ms bound_ms = 0;           // no plan of this instance is faster
  std::string bound_by;      // the certificate's name
  std::vector<AssignReplica> replicas;  // all replicas of the strategy, also those without rows

  bool operator==(const AssignPlan&) const = default;
};

// The objective and the bound that a plan states, in the unit of its family.
inline double objective_of(const AssignPlan& plan) { return plan.objective_ms; }
inline double bound_of(const AssignPlan& plan) { return plan.bound_ms; }
inline void state_bound(AssignPlan& plan, double bound, std::string by) {
  plan.bound_ms = bound;
  plan.bound_by = std::move(by);
}

}  // namespace stowage
