// Computes the memory that a scatter plan's micro-batches need, buffer by buffer.
//
// A planner counts tokens: a number of MiB of activations per token, up to the free memory of a
// device. The true need of a device is the peak of a layout of all buffers of the step. This file
// derives the buffers from the model's shape (instances/model/operations.h), plans their layout,
// and returns both numbers.
//
//   Result<std::vector<GroupMemory>> groups =
//       step_memory(instance, plan, {.model = "gpt-7b"}, {}, budget);
//
// A rank of a group holds tokens / degree tokens everywhere but in attention. There it holds all
// tokens of heads / degree heads (DeepSpeed-Ulysses, arXiv 2309.14509), which are the same bytes.
// So the trace is that of tokens / degree tokens, rounded up, on one rank, and the degree need not
// divide the heads.
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

// A group that is, by the planner's count, the heaviest group of at least one of its ranks.
struct GroupMemory {
  int micro_batch = 0;  // indices into the plan
  int group = 0;
  int first_rank = 0;
  int degree = 0;
  Tokens tokens_per_rank = 0;
  Bytes peak_bytes = 0;   // of the planned layout
  Bytes bound_bytes = 0;  // lower bound on the peak of any layout
  // Activation_mib_per_token of the tokens, for the recomputation mode of their micro-batch.
  Mib token_model_mib = 0;
  Mib capacity_mib = 0;    // memory_mib - states_mib
  Fit fit = Fit::unknown;  // of the layout; no: proven that no layout fits
};

using MemoryProgress = std::function<void(std::size_t done, std::size_t all)>;

// Returns the groups in the plan's order. If a rank has equal tokens in several micro-batches, the
// first counts. `step` gives the model and the recomputation mode. Its tokens, ranks and split are
// set here. Leave its whole_step and layers unchanged. The mode of a micro-batch (none, selective,
// full) takes precedence. Requires a verified plan. Errors: those of trace_layout(), at the group
// in the plan if its tokens are refused. All layouts share the budget, and each has at least a
// plan. `progress` receives, before each layout, the number of finished layouts and their total.
Result<std::vector<GroupMemory>> step_memory(const ScatterInstance& instance,
                                             const ScatterPlan& plan, const TransformerStep& step,
                                             const SolveOptions& options, Budget& budget,
                                             const MemoryProgress& progress = {});

}  // namespace stowage
