// The reasons why an instance has no plan and the changes that give one, or the bottlenecks of a
// plan and the effects of changes.
//
//   Explanation why = explain(instance, std::nullopt, {}, budget);   // explain.h
//   for (const Finding& cause : why.causes) std::cerr << cause.where << ": " << cause.text << '\n';
//
// Every statement is checked by inspection or by solving again. A remedy is listed only if the
// changed instance has a plan that verifies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/families.h"
#include "solvers/outcome.h"

namespace stowage {

// A fact and its place: a JSON pointer into the instance (causes) or into the plan (bottlenecks).
struct Finding {
  std::string where;
  std::string text;

  bool operator==(const Finding&) const = default;
};

// An instance that differs in one respect, and a start plan for it if one is known.
struct Change {
  std::string where;  // JSON pointer into the instance
  std::string text;   // "raise cluster.memory_mib from 100 to 120"
  Instance instance;
  std::optional<Plan> start;
};

// Limits and sequences (or buffers) that no plan satisfies together.
struct Conflict {
  std::vector<Finding> causes;
  bool irreducible = true;      // without any one of the causes there would be a plan
  std::vector<Change> changes;  // each by the least amount of its kind, not yet confirmed
};

// A change that gives a plan.
struct Remedy {
  Change change;
  double objective = 0;  // objective of the plan found; ms or bytes
};

// The effect of a change on the objective.
struct WhatIf {
  std::string where;
  std::string text;
  std::optional<double> objective;  // objective of the best plan found
  double bound = 0;                 // bound on the plans of the changed instance
  Status status = Status::unknown;
};

// The effect on the objective of moving one sequence (or buffer), or of swapping two.
struct Moves {
  std::int64_t tried = 0;
  bool all = true;        // every move of the bottlenecks was tried
  double best_gain = 0;   // gain of the best move; 0 if no move helps
  std::string best_text;  // "move sequence 3 from ... to ..."; empty if no move helps
};

struct Bottleneck {
  std::vector<Finding> parts;
  Moves moves;
  // Unproven assumptions of the choice, and the change of each that would lead to another choice:
  // pointers into the instance.
  std::vector<Finding> assumptions;
};

struct Explanation {
  // Outcome of solving the instance within the budget, from the given plan if there is one.
  Outcome outcome;
  // With a plan, the given plan or that of the outcome:
  std::optional<double> objective;
  // Status of this plan: optimal or feasible. A given plan may be worse than the best one found.
  // Without a plan, the status of the outcome.
  Status status = Status::unknown;
  Bottleneck binding;
  std::vector<WhatIf> what_if;
  // If the outcome is infeasible:
  Conflict conflict;
  std::vector<Remedy> remedies;  // in the order of conflict.changes
};

}  // namespace stowage
