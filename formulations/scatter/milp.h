// The scatter MILP. It has virtual groups of every degree, which may be used, and the number of
// sequences of each length class in each group. One slot is one micro-batch, as published (FlexSP,
// arXiv 2412.01523, section 4.2). Several slots are a whole step whose chunking is also chosen.
//
//   const ScatterMilp milp = build_scatter_milp(instance, classes, {.slots = 1});
//   const MilpResult result = solve_milp(backend, milp.model, {}, budget);
//   for (const ClassGroup& group : decode(milp, result.values)) ...
//
// Row names have the numbers of docs/theory/scatter.md. C1 to C5 are the published rows, and S1 to
// S5 strengthen them. C9 pads the rows of groups. U1 to U4 are the rules on whole micro-batches and
// their number. U5 is the longest makespan of a pipeline. U6 and U7 give a micro-batch one
// recomputation mode. U8 and U9 give its groups equal numbers of sequences. OF1 to OF4 price the
// copies of groups that offload activations. MX1 and MX2 are the time and the memory of mixed
// micro-batches.
#pragma once

#include <span>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Sequences that the model treats as equal. Costs and memory are those of `length`: the padded
// length of exact classes, or the longest length of a bucket. If the instance has `padding`, it is
// padded further for each form of groups.
struct LengthClass {
  Tokens length = 0;
  int count = 0;
};

struct ScatterMilpOptions {
  int slots = 1;             // micro-batches, at most
  bool strengthened = true;  // false: C1 to C5 alone
  int stages = 1;            // pipeline stages: the longest makespan counts stages - 1 more times
};

// A virtual group, or the group that a solution makes of it.
struct ClassGroup {
  int slot = 0;
  int degree = 0;
  std::vector<int> counts;  // sequences of each class
  ExchangeKind exchange = ExchangeKind::none;
  int recomputation = 0;
  int place = 0;  // see instances/scatter/table/device_pools.h

  GroupForm form() const { return {degree, exchange, recomputation, place}; }
};

// The columns of a virtual group whose activations can leave for the host: W_p, the time of its
// load; x_p, the MiB that leave each device; y_p and z_p, the wait for copies out and in.
struct OffloadColumns {
  int work = -1;
  int mib = -1;
  int out = -1;
  int in = -1;
};

struct ScatterMilp {
  milp::Model model;
  int classes = 0;
  std::vector<ClassGroup> groups;  // virtual groups, counts empty
  std::vector<int> makespan;       // T_b: variable of each slot
  std::vector<int> used;           // m_p: variable of each virtual group
  std::vector<int> rows;           // k_p: multiples in the row of each virtual group, -1 without
  std::vector<OffloadColumns> offload;  // of each virtual group; empty without offload
  // A_qp: [group * classes + class], -1 if the class exceeds the group's memory.
  std::vector<int> assigned;
  std::vector<int> open;   // y_b: variable of each slot; empty with one slot
  std::vector<int> modes;  // w_br: [slot * ways + way]; empty if there is one recomputation mode
  // N_b: variable of each slot; empty unless groups must hold equal numbers of sequences.
  std::vector<int> equal;
  int longest = -1;  // T_max: the longest makespan; -1 without a pipeline
  // Z: the number of micro-batches over the required multiple; -1 if none is required.
  int times = -1;
};

// Returns the exact classes of a whole step: one per padded length.
std::vector<LengthClass> exact_classes(const ScatterTable& table);

// Returns the number of variables of the model without building it.
std::size_t scatter_milp_variables(const ScatterInstance& instance,
                                   std::span<const LengthClass> classes, int slots);

// Builds the model. Requires a non-empty step, each class of which fits some degree.
ScatterMilp build_scatter_milp(const ScatterInstance& instance,
                               std::span<const LengthClass> classes,
                               const ScatterMilpOptions& options);

// Returns the groups of a solution that hold a sequence.
std::vector<ClassGroup> decode(const ScatterMilp& milp, const std::vector<double>& values);

// Returns the solution of the model with these groups, for warm starts. The groups fill the virtual
// groups of their slot and form in order. Returns an empty list if `groups` is empty or does not
// fit the model.
std::vector<double> encode(const ScatterMilp& milp, const ScatterInstance& instance,
                           std::span<const LengthClass> classes,
                           const std::vector<ClassGroup>& groups);

}  // namespace stowage
