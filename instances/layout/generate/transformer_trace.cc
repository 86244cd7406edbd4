#include "instances/layout/generate/transformer_trace.h"

#include <utility>

#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/layout/validate.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Returns the buffers, each from the operation that writes it to the last that reads it.
std::vector<Buffer> buffers_of(const TransformerOperations& step) {
  std::vector<Buffer> buffers;
  buffers.reserve(step.tensors.size());
  for (const Tensor& tensor : step.tensors) {
    buffers.push_back({.id = tensor.id, .size = tensor.size});
  }
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(i);
    for (const int tensor : step.operations[i].writes) {
      buffers[at(tensor)].lower = begin;
      buffers[at(tensor)].upper = begin + 1;
    }
    for (const int tensor : step.operations[i].reads) buffers[at(tensor)].upper = begin + 1;
  }
  return buffers;
}

// Returns one block for the forward passes and one for the backward passes, in the order they run.
std::vector<RepeatedBlock> passes_of(const TransformerOperations& step,
                                     const std::vector<Buffer>& buffers) {
  if (!step.alike) return {};
  const auto same_pass = [](const Operation& a, const Operation& b) {
    return a.layer == b.layer && a.backward == b.backward;
  };
  const std::vector<std::vector<std::int64_t>> none(at(step.layers));
  RepeatedBlock forward{.name = "forward", .occurrences = none};
  RepeatedBlock backward{.name = "backward", .occurrences = none};
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Operation& first = step.operations[at(buffers[i].lower)];
    const Operation& last = step.operations[at(buffers[i].upper - 1)];
    if (first.layer == Operation::kNoLayer || !same_pass(first, last)) continue;
    auto& its = first.backward ? backward.occurrences[at(step.layers - 1 - first.layer)]
                               : forward.occurrences[at(first.layer)];
    its.push_back(static_cast<std::int64_t>(i));
  }
  return {std::move(forward), std::move(backward)};
}

}  // namespace

Result<LayoutInstance> trace_layout(const TransformerStep& step, Bytes alignment) {
  return trace_layout(trace_operations(step), alignment);
}

Result<LayoutInstance> trace_layout(const Result<TransformerOperations>& traced, Bytes alignment) {
  ErrorList errors;
  if (!traced) errors.append(traced.errors());
  check_option("/alignment", alignment, 1, kMaxExact, errors);
  if (!errors.empty()) return std::move(errors).take();
  LayoutInstance instance{.name = traced->name, .alignment = alignment};
  instance.buffers = buffers_of(*traced);
  instance.layers = passes_of(*traced, instance.buffers);
  check_together(
      instance, [](std::int64_t, std::string_view) { return "/tokens"; }, errors);
  if (!errors.empty()) return std::move(errors).take();
  return instance;
}

}  // namespace stowage
