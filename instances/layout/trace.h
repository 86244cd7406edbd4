// Layouts of a transformer's training step on one rank, from the list of its operations.
//
//   Result<LayoutInstance> trace = trace_layout({.model = "llama-7b", .tokens = 131072});
//
// A step of the instance is one operation, a buffer one tensor: what an operation writes begins
// there, and lives until the last operation that reads it.
#pragma once

#include "instances/layout/instance.h"
#include "instances/model/operations.h"
#include "instances/result.h"

namespace stowage {

// `alignment` is that of all buffers; allocators on GPUs use 256 or 512.
//
// `layers` of the instance holds one block for the forward and one for the backward passes: of each
// layer, the buffers that are allocated and freed within its pass. What crosses from one layer to
// the next, or waits for the backward pass, is in none; layers that differ have none. Errors: those
// of trace_operations(), E504 for an alignment that is none, E335 for more than 2^53 bytes.
Result<LayoutInstance> trace_layout(const TransformerStep& step, Bytes alignment = 1);

// The same of operations that were traced already.
Result<LayoutInstance> trace_layout(const Result<TransformerOperations>& traced, Bytes alignment);

}  // namespace stowage
