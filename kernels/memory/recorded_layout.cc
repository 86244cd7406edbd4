#include "kernels/memory/recorded_layout.h"

#include <string>
#include <utility>
#include <vector>

#include "instances/json/errors.h"
#include "instances/layout/validate.h"

namespace stowage::kernels {
namespace {

BlockProgram program_of(const RecordedBlock& block) {
  const BlockShape shape = shape_of(block);
  const Tokens tokens = tokens_of(block);
  return {shape, tokens, block.layers,
          LocalAttention::memory_of({.total_q = tokens,
                                     .total_k = tokens,
                                     .heads = shape.heads,
                                     .kv_heads = shape.kv_heads,
                                     .head_dim = shape.head_dim,
                                     .cu_q = {},
                                     .cu_k = {}})};
}

Buffer buffer_of(const Tensor& tensor) {
  return {.id = tensor.name,
          .lower = tensor.first,
          .upper = std::int64_t{tensor.last} + 1,
          .size = kFloatBytes * tensor.floats,
          .alignment = 1,
          .offset = std::nullopt,
          .gaps = {}};
}

std::string text_of(const Buffer& b) {
  return std::to_string(b.size) + " bytes from step " + std::to_string(b.lower) + " to " +
         std::to_string(b.upper);
}

// Returns the first difference between the buffers and the tensors of the program, or an empty
// string if they agree.
std::string difference(const std::vector<Buffer>& buffers, const std::vector<Tensor>& tensors) {
  if (buffers.size() != tensors.size()) {
    return "its kernels issue " + std::to_string(tensors.size()) + " buffers, here are " +
           std::to_string(buffers.size());
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer want = buffer_of(tensors[i]);
    const Buffer& have = buffers[i];
    if (have.lower == want.lower && have.upper == want.upper && have.size == want.size &&
        have.gaps.empty()) {
      continue;
    }
    return "its buffer " + std::to_string(i) + " is " + want.id + " of " + text_of(want) +
           ", here it has " + text_of(have) + (have.gaps.empty() ? "" : " with gaps");
  }
  return "";
}

}  // namespace

Result<LayoutInstance> record_layout(const RecordedBlock& block, Bytes alignment) {
  ErrorList errors;
  check_block(block, errors);
  check_alignment(alignment, errors);
  if (!errors.empty()) return std::move(errors).take();
  const BlockProgram program = program_of(block);
  LayoutInstance instance;
  instance.name = "block-" + std::to_string(tokens_of(block)) + "tok-" +
                  std::to_string(block.hidden) + "x" + std::to_string(block.heads) + "heads-" +
                  std::to_string(block.layers) + "layers";
  instance.alignment = alignment;
  for (const Tensor& tensor : program.tensors()) instance.buffers.push_back(buffer_of(tensor));
  if (block.layers > 1) {
    instance.layers = {{.name = "forward", .occurrences = program.inside_forward()},
                       {.name = "backward", .occurrences = program.inside_backward()}};
  }
  instance.recorded_from = block;
  check_together(
      instance, [](std::int64_t, std::string_view) { return "/lengths"; }, errors);
  if (!errors.empty()) return std::move(errors).take();
  return instance;
}

Result<BlockProgram> recorded_program(const LayoutInstance& instance) {
  if (!instance.recorded_from) {
    return InputError{code::kRecorded, "/recorded_from", "is missing"};
  }
  ErrorList errors;
  check_block(*instance.recorded_from, errors);
  if (!errors.empty()) {
    std::vector<InputError> found = std::move(errors).take();
    for (InputError& error : found) {
      error.code = code::kRecorded;
      error.pointer = "/recorded_from" + error.pointer;
    }
    return found;
  }
  BlockProgram program = program_of(*instance.recorded_from);
  const std::string why = difference(instance.buffers, program.tensors());
  if (!why.empty()) {
    return InputError{code::kRecorded, "/recorded_from",
                      "must describe the block of these buffers, but " + why};
  }
  return program;
}

}  // namespace stowage::kernels
