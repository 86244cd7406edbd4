// The memory trace of the blocks that the kernels run, as a layout instance, and the way back.
//
//   Result<LayoutInstance> trace = record_layout({.layers = 2, .lengths = {65, 1, 130}}, 64);
//   Result<BlockProgram> program = recorded_program(*trace);   // the one it came from
//
// Buffer i is tensor i of the program (block/block_program.h): 4 bytes a float, alive from the step
// that writes it first to the one that touches it last. Nothing is estimated and nothing is run.
#pragma once

#include "instances/layout/instance.h"
#include "instances/result.h"
#include "kernels/block/block_program.h"
#include "kernels/memory/recorded_block.h"

namespace stowage::kernels {

// `alignment` of all buffers, a multiple of 4. E504 for an option out of its range, with the
// option as the pointer ("/kv_heads"); E335 for more than 2^53 bytes. `layers` holds what begins
// and ends within one layer's forward and backward pass.
Result<LayoutInstance> record_layout(const RecordedBlock& block, Bytes alignment);

// The program that issues the buffers of an instance with recorded_from. E337 if it describes no
// block, or one with other buffers.
Result<BlockProgram> recorded_program(const LayoutInstance& instance);

}  // namespace stowage::kernels
