// Why an instance has no plan and what would help, or what holds a plan up and what would move it.
//
//   Explanation why = explain(instance, std::nullopt, {}, budget);   // explain.h
//   for (const Finding& cause : why.causes) std::cerr << cause.where << ": " << cause.text << '\n';
//
// All of it is established by looking or by solving again, never guessed: a remedy is listed only
// if the instance with it has a plan that verifies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/families.h"
#include "solvers/outcome.h"

namespace stowage {

// A fact and the place it is about: a JSON pointer into the instance (causes) or the plan (what
// binds).
struct Finding {
  std::string where;
  std::string text;

  bool operator==(const Finding&) const = default;
};

// An instance that differs in one respect, and a plan for it to begin with if one is known.
struct Change {
  std::string where;  // JSON pointer into the instance
  std::string text;   // "raise cluster.memory_mib from 100 to 120"
  Instance instance;
  std::optional<Plan> start;
};

// Limits and sequences (or buffers) that cannot be met together.
struct Conflict {
  std::vector<Finding> causes;
  bool irreducible = true;      // without any one of the causes there would be a plan
  std::vector<Change> changes;  // each by the least amount that its kind allows, to be confirmed
};

// A change with which there is a plan.
struct Remedy {
  Change change;
  double objective = 0;  // of the plan that was found; ms or bytes
};

// How an objective answers to a change.
struct WhatIf {
  std::string where;
  std::string text;
  std::optional<double> objective;  // of the best plan found
  double bound = 0;                 // no plan of the changed instance is better
  Status status = Status::unknown;
};

// What moving one sequence (or buffer), or exchanging two, does to the objective.
struct Moves {
  std::int64_t tried = 0;
  bool all = true;        // every move of what binds was tried
  double best_gain = 0;   // by the best of them; 0 if none helps
  std::string best_text;  // "move sequence 3 from ... to ..."; empty if none helps
};

struct Binding {
  std::vector<Finding> parts;
  Moves moves;
  // What the choice rests on that nobody proved, and how much of it would have to change for
  // another choice: pointers into the instance.
  std::vector<Finding> assumptions;
};

struct Explanation {
  Outcome outcome;  // of solving the instance within the budget, beginning with the plan if given
  // With a plan, the given one or the outcome's:
  std::optional<double> objective;
  // optimal or feasible, as the plan at hand is: a given one may be worse than what was found. That
  // of the outcome without a plan.
  Status status = Status::unknown;
  Binding binding;
  std::vector<WhatIf> what_if;
  // If the outcome is infeasible:
  Conflict conflict;
  std::vector<Remedy> remedies;  // in the order of conflict.changes
};

}  // namespace stowage
