// The scatter MILP: virtual groups of every degree, used or not, and how many sequences of each
// length class go to each. One slot is one micro-batch, as published (FlexSP, arXiv 2412.01523,
// section 4.2); several slots are a whole step whose chunking is chosen too.
//
//   const ScatterMilp milp = build_scatter_milp(instance, classes, {.slots = 1});
//   const MilpResult result = solve_milp(backend, milp.model, {}, budget);
//   for (const ClassGroup& group : decode(milp, result.values)) ...
//
// Row names carry the numbers of formulations/README.md: C1 to C5 are the published ones, S1 to S5
// strengthen them, U1 to U4 are the rules on whole micro-batches and on their number, U5 is the
// longest makespan of a pipeline, U6 and U7 let a micro-batch recompute in one way, U8 and U9 give
// its groups equally many sequences.
#pragma once

#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/scatter/table.h"

namespace stowage {

// Sequences that the model does not tell apart. Costs and memory are those of `length`: with exact
// classes that is their padded length, with buckets the longest of them.
struct LengthClass {
  Tokens length = 0;
  int count = 0;
};

struct ScatterMilpOptions {
  int slots = 1;             // micro-batches at most
  bool strengthened = true;  // false: C1 to C5 alone
  int stages = 1;            // of a pipeline: the longest makespan counts stages - 1 times more
};

// A virtual group, or the group a solution makes of it.
struct ClassGroup {
  int slot = 0;
  int degree = 0;
  std::vector<int> counts;  // sequences of each class
  ExchangeKind exchange = ExchangeKind::none;
  int recomputation = 0;
  int place = 0;  // see instances/scatter/devices.h

  GroupForm form() const { return {degree, exchange, recomputation, place}; }
};

struct ScatterMilp {
  milp::Model model;
  int classes = 0;
  std::vector<ClassGroup> groups;  // virtual groups, counts empty
  std::vector<int> makespan;       // T_b: variable of each slot
  std::vector<int> used;           // m_p: variable of each virtual group
  std::vector<int> assigned;       // A_qp: [group * classes + class], -1 where the class exceeds it
  std::vector<int> open;           // y_b: variable of each slot; empty with one slot
  std::vector<int> ways;   // w_br: [slot * ways + way]; empty if there is one way to recompute
  std::vector<int> equal;  // n_b: variable of each slot; empty unless groups hold equally many
  int longest = -1;        // T_max: the longest makespan; -1 where it does not count besides
  int times = -1;  // z: the number of micro-batches over the multiple that is asked for; -1 without
};

// The exact classes of a whole step.
std::vector<LengthClass> exact_classes(const ScatterTable& table);

// How many variables the model would have, before it is built.
std::size_t scatter_milp_variables(const ScatterInstance& instance,
                                   std::span<const LengthClass> classes, int slots);

// Requires a non-empty step and every class to fit some degree.
ScatterMilp build_scatter_milp(const ScatterInstance& instance,
                               std::span<const LengthClass> classes,
                               const ScatterMilpOptions& options);

// The groups of a solution that hold a sequence.
std::vector<ClassGroup> decode(const ScatterMilp& milp, const std::vector<double>& values);

// The point of the model that says what `groups` say, for warm starts: groups fill the virtual
// groups of their slot and form in order. Empty if there are none or they do not fit the model.
std::vector<double> encode(const ScatterMilp& milp, const ScatterInstance& instance,
                           std::span<const LengthClass> classes,
                           const std::vector<ClassGroup>& groups);

}  // namespace stowage
