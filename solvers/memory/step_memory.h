// The memory that a scatter plan's micro-batches really need, buffer by buffer.
//
// A planner counts tokens: so many MiB of activations each, up to what a device has left. What a
// device needs in truth is the peak of a layout of all the buffers that the step issues. This
// derives the buffers from the model's shape (instances/model/operations.h), plans their layout,
// and sets the two side by side.
//
//   Result<std::vector<GroupMemory>> groups =
//       step_memory(instance, plan, {.model = "gpt-7b"}, {}, budget);
//
// A rank of a group holds tokens / degree tokens everywhere but in attention, where it holds all
// tokens of heads / degree heads (DeepSpeed-Ulysses, arXiv 2309.14509): the same bytes. So the
// trace is that of tokens / degree tokens, rounded up, on one rank, and the degree need not divide
// the heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "instances/budget.h"
#include "instances/model/operations.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "solvers/solve.h"

namespace stowage {

enum class Fit { yes, no, unknown };

// A group that is the heaviest, by what the planner counted, of at least one of its ranks.
struct GroupMemory {
  int micro_batch = 0;  // indices into the plan
  int group = 0;
  int first_rank = 0;
  int degree = 0;
  Tokens tokens_per_rank = 0;
  Bytes peak_bytes = 0;     // of the layout that was planned
  Bytes bound_bytes = 0;    // no layout has a smaller peak
  Mib token_model_mib = 0;  // activation_mib_per_token of them, as their micro-batch recomputes
  Mib capacity_mib = 0;     // memory_mib - states_mib
  Fit fit = Fit::unknown;   // of the layout; no: proven that none fits
};

using MemoryProgress = std::function<void(std::size_t done, std::size_t all)>;

// In the plan's order. Of several micro-batches in which a rank has equally many tokens, the first
// counts. `step` says the model, what is recomputed and so on; its tokens, ranks and split are set
// here, and its whole_step and layers should stay as they are. A micro-batch that names none,
// selective or full as what it recomputes does that instead. Requires a verified plan. Errors:
// those of trace_layout(); where it refuses a group's tokens, at that group in the plan. The budget
// is shared by all layouts; each has a plan at least. `progress` is told before each layout how
// many are done, and how many there are.
Result<std::vector<GroupMemory>> step_memory(const ScatterInstance& instance,
                                             const ScatterPlan& plan, const TransformerStep& step,
                                             const SolveOptions& options, Budget& budget,
                                             const MemoryProgress& progress = {});

}  // namespace stowage
