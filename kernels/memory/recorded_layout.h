// The memory trace of the kernels' blocks as a layout instance, and the inverse conversion.
//
//   Result<LayoutInstance> trace = record_layout({.layers = 2, .lengths = {65, 1, 130}}, 64);
//   Result<BlockProgram> program = recorded_program(*trace);   // the one it came from
//
// Buffer i is tensor i of the program (block/program/block_program.h), with 4 bytes per float. It
// lives from the step that writes it first to the step that accesses it last. The trace is exact,
// and no kernel runs.
#pragma once

#include "instances/layout/instance.h"
#include "instances/result.h"
#include "kernels/block/program/block_program.h"
#include "kernels/memory/recorded_block.h"

namespace stowage::kernels {

// `alignment` applies to all buffers and must be a multiple of 4. Returns E504 for an option out of
// its range, with the option as the pointer ("/kv_heads"), and E335 for more than 2^53 bytes.
// `layers` of the result holds the buffers that begin and end within one layer's forward or
// backward pass.
Result<LayoutInstance> record_layout(const RecordedBlock& block, Bytes alignment);

// Returns the program that issues the buffers of an instance with recorded_from. Returns E337 if
// recorded_from describes no valid block, or a block with other buffers.
Result<BlockProgram> recorded_program(const LayoutInstance& instance);

}  // namespace stowage::kernels
