#include "kernels/memory/recorded_order.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "instances/assign/chunks/chunk_flow.h"
#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/numeric/numbers.h"
#include "instances/order/generate/generate.h"
#include "instances/order/validate.h"
#include "kernels/memory/recorded_block.h"

namespace stowage::kernels {
namespace {

// limit on chunks, since an attention operator reads all earlier chunks of its sequence
constexpr std::int64_t kMaxChunks = 1000;

// Requires a block that check_block() accepts.
void check_chunks(const RecordedStep& step, ErrorList& errors) {
  if (!check_option("/chunk_tokens", step.chunk_tokens, 0, kMaxRecordedTokens, errors)) return;
  if (step.chunk_tokens == 0) return;
  std::int64_t chunks = 0;  // chunks of the sequences that are cut
  std::vector<Tokens> lengths;
  for (const Tokens length : step.block.lengths) {
    if (length > step.chunk_tokens) chunks += (length - 1) / step.chunk_tokens + 1;
    if (length > 0) lengths.push_back(length);
  }
  const std::int64_t most = std::min(kMaxChunks, kMaxChunkLayers / step.block.layers);
  if (chunks <= most) {
    chunks = std::ssize(cut_into_chunks(lengths, step.chunk_tokens));
    if (chunks <= most) return;
  }
  errors.add(code::kGenerator, "/chunk_tokens",
             "must make at most " + std::to_string(most) + " chunks with " +
                 std::to_string(step.block.layers) + " layers, makes " + std::to_string(chunks));
}

void check_step(const RecordedStep& step, ErrorList& errors) {
  check_block(step.block, errors);
  if (errors.empty()) check_chunks(step, errors);
}

TrainingProgram program_of(const RecordedStep& step) {
  TrainingShape shape{.block = shape_of(step.block),
                      .layers = step.block.layers,
                      .cu_seqlens = {0},
                      .chunk_tokens = step.chunk_tokens};
  for (const Tokens length : step.block.lengths) {
    shape.cu_seqlens.push_back(shape.cu_seqlens.back() + static_cast<std::int32_t>(length));
  }
  return TrainingProgram(shape);
}

std::vector<std::int64_t> indices(const std::vector<int>& tensors) {
  return {tensors.begin(), tensors.end()};
}

void check_share(double share, ErrorList& errors) {
  if (share >= 0 && share <= 1) return;
  errors.add(code::kGenerator, "/capacity_share",
             "must be above 0 and at most 1, is " + shortest(share));
}

OrderInstance graph_of(const TrainingProgram& program) {
  OrderInstance graph;
  for (int t = 0; t < std::ssize(program.tensors()); ++t) {
    const Tensor& tensor = program.tensors()[at(t)];
    const TensorRole role = program.role(t);
    graph.tensors.push_back({.id = tensor.name,
                             .size = kFloatBytes * tensor.floats,
                             .input = program.is_input(t),
                             .output = role == TensorRole::weight || role == TensorRole::loss});
  }
  for (int step = 0; step < program.steps(); ++step) {
    const StepOperands& its = program.operands(step);
    graph.operators.push_back({.id = program.name(step),
                               .reads = indices(its.reads),
                               .writes = indices(its.writes),
                               .updates = indices(its.updates),
                               .workspace = 0,
                               .after = {}});
  }
  return graph;
}

void let_run_again(const TrainingProgram& program, OrderInstance& graph) {
  for (int step = 0; step < program.steps(); ++step) {
    const StepOperands& its = program.operands(step);
    OrderOperator& op = graph.operators[at(step)];
    double bytes = 0;
    for (const auto* list : {&its.reads, &its.writes, &its.updates, &its.updates}) {
      for (const int t : *list) bytes += static_cast<double>(graph.tensors[at(t)].size);
    }
    op.ms = program.flop(step) / kFlopPerMs + bytes / kBytesPerMs;
    op.recompute = program.forward(step) && its.updates.empty();
  }
}

// Returns the first difference between the two graphs, or an empty string if they agree.
std::string difference(const OrderInstance& have, const OrderInstance& want) {
  if (have.tensors.size() != want.tensors.size() ||
      have.operators.size() != want.operators.size()) {
    return "its kernels have " + std::to_string(want.operators.size()) + " operators and " +
           std::to_string(want.tensors.size()) + " tensors, here are " +
           std::to_string(have.operators.size()) + " and " + std::to_string(have.tensors.size());
  }
  for (std::size_t t = 0; t < want.tensors.size(); ++t) {
    const OrderTensor &a = have.tensors[t], &b = want.tensors[t];
    if (a.size == b.size && a.input == b.input && a.output == b.output) continue;
    return "its tensor " + std::to_string(t) + " is " + b.id + " of " + std::to_string(b.size) +
           " bytes" + (b.input ? ", an input" : "") + (b.output ? ", an output" : "");
  }
  for (std::size_t op = 0; op < want.operators.size(); ++op) {
    const OrderOperator &a = have.operators[op], &b = want.operators[op];
    if (a.reads == b.reads && a.writes == b.writes && a.updates == b.updates && a.workspace == 0) {
      continue;
    }
    return "its operator " + std::to_string(op) + " is " + b.id + ", with other tensors";
  }
  return "";
}

}  // namespace

Result<OrderInstance> record_order(const RecordedStep& step, Bytes alignment,
                                   double capacity_share) {
  ErrorList errors;
  check_step(step, errors);
  check_alignment(alignment, errors);
  check_share(capacity_share, errors);
  if (!errors.empty()) return std::move(errors).take();
  const TrainingProgram program = program_of(step);
  OrderInstance graph = graph_of(program);
  if (capacity_share > 0) let_run_again(program, graph);
  graph.name = "step-" + std::to_string(tokens_of(step.block)) + "tok-" +
               std::to_string(step.block.hidden) + "x" + std::to_string(step.block.heads) +
               "heads-" + std::to_string(step.block.layers) + "layers";
  if (step.chunk_tokens > 0) graph.name += "-chunks-" + std::to_string(step.chunk_tokens);
  graph.alignment = alignment;
  graph.recorded_from = step;
  check_order(graph, errors);
  if (!errors.empty()) return std::move(errors).take();
  if (capacity_share > 0) limit_time(capacity_share, graph);
  return graph;
}

Result<TrainingProgram> recorded_training(const OrderInstance& instance) {
  if (!instance.recorded_from) {
    return InputError{code::kRecorded, "/recorded_from", "is missing"};
  }
  ErrorList errors;
  check_step(*instance.recorded_from, errors);
  if (!errors.empty()) {
    std::vector<InputError> found = std::move(errors).take();
    for (InputError& error : found) {
      error.code = code::kRecorded;
      error.pointer = "/recorded_from" + error.pointer;
    }
    return found;
  }
  TrainingProgram program = program_of(*instance.recorded_from);
  const std::string why = difference(instance, graph_of(program));
  if (!why.empty()) {
    return InputError{code::kRecorded, "/recorded_from",
                      "must describe the step of these operators, but " + why};
  }
  return program;
}

}  // namespace stowage::kernels
