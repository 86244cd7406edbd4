// Layouts of a transformer's training step on one rank, from the list of its operations.
//
//   Result<LayoutInstance> trace = trace_layout({.model = "llama-7b", .tokens = 131072});
//
// A step of the instance is one operation, and a buffer is one tensor. It begins at the operation
// that writes it, and lives until the last operation that reads it.
#pragma once

#include "instances/layout/instance.h"
#include "instances/model/operations.h"
#include "instances/result.h"

namespace stowage {

// `alignment` holds for all buffers; allocators on GPUs use 256 or 512.
//
// `layers` of the instance holds one block for the forward passes and one for the backward passes.
// An occurrence holds the buffers that are allocated and freed within the pass of one layer.
// Buffers that cross from one layer to the next, or wait for the backward pass, are in no block. If
// layers differ, there are no blocks. Errors: those of trace_operations(), E504 for an alignment
// out of its range, E335 for more than 2^53 bytes.
Result<LayoutInstance> trace_layout(const TransformerStep& step, Bytes alignment = 1);

// Returns the layout of operations that are already traced.
Result<LayoutInstance> trace_layout(const Result<TransformerOperations>& traced, Bytes alignment);

}  // namespace stowage
