// The options of a traced step, and the order of its layers in both passes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "instances/document/option_check.h"
#include "instances/json/errors.h"
#include "instances/model/operation_tracer.h"
#include "instances/model/operations.h"

namespace stowage {
namespace {

constexpr Tokens kMaxTokens = Tokens{1} << 31;
constexpr int kMostLayers = 1000;
constexpr int kMaxChunks = 1024;

std::string name_of(const TransformerStep& step, int layers) {
  std::string name = step.model + '-' + std::to_string(step.tokens) + "tok-" +
                     std::to_string(step.ranks) + "ranks-" + std::to_string(layers) + "layers";
  if (step.kv_heads > 0) name += "-kv" + std::to_string(step.kv_heads);
  if (step.split == SequenceSplit::ulysses) name += "-ulysses";
  if (step.recompute == Recompute::selective) name += "-selective";
  if (step.recompute == Recompute::full) name += "-full";
  if (step.recompute == Recompute::full && step.stream_chunks > 1) {
    name += "-s" + std::to_string(step.stream_chunks);
  }
  if (step.logit_chunks > 1) name += "-c" + std::to_string(step.logit_chunks);
  return step.whole_step ? name : name + "-inner";
}

void check_options(const TransformerStep& step, const TransformerShape& shape,
                   const std::vector<FeedForward>& layers, ErrorList& errors) {
  const auto integer = [&](const char* where, std::int64_t value, std::int64_t least,
                           std::int64_t most) {
    return check_option(where, value, least, most, errors);
  };
  const bool tokens = integer("/tokens", step.tokens, 1, kMaxTokens);
  const bool ranks = integer("/ranks", step.ranks, 1, shape.heads);
  const bool kv_heads = integer("/kv_heads", step.kv_heads, 0, shape.heads);
  const bool chunks = integer("/logit_chunks", step.logit_chunks, 1, kMaxChunks);
  const bool parts = integer("/stream_chunks", step.stream_chunks, 1, kMaxChunks);
  integer("/layers", step.layers, 0, kMostLayers);
  if (!ranks) return;
  const auto divides = [&](const char* where, std::int64_t divisor, const char* what,
                           std::int64_t number) {
    if (number % divisor == 0) return;
    errors.add(code::kGenerator, where,
               "must divide the " + std::string(what) + ", " + std::to_string(number) + ", is " +
                   std::to_string(divisor));
  };
  divides("/ranks", step.ranks, "heads", shape.heads);
  const FeedForward* checked = nullptr;
  for (const FeedForward& layer : layers) {
    if (checked != nullptr && layer == *checked) continue;
    checked = &layer;
    divides("/ranks", step.ranks, "feed-forward width", layer.width);
    divides("/ranks", step.ranks, "width of an expert", layer.expert_width);
  }
  if (kv_heads && step.kv_heads > 0) {
    divides("/kv_heads", step.kv_heads, "heads", shape.heads);
    divides("/ranks", step.ranks, "key heads", step.kv_heads);
  } else if (kv_heads && shape.kv_heads > 0) {
    divides("/ranks", step.ranks, "key heads", shape.kv_heads);
  }
  if (!tokens) return;
  divides("/ranks", step.ranks, "tokens", step.tokens);
  if (chunks && step.tokens % step.ranks == 0) {
    divides("/logit_chunks", step.logit_chunks, "tokens of a rank", step.tokens / step.ranks);
  }
  if (parts && step.tokens % step.ranks == 0) {
    divides("/stream_chunks", step.stream_chunks, "tokens of a rank", step.tokens / step.ranks);
  }
}

}  // namespace

OperationTracer::OperationTracer(const TransformerStep& step, const TransformerShape& shape,
                                 const std::vector<FeedForward>& layers)
    : step_(step),
      layers_(layers),
      ulysses_(step.split == SequenceSplit::ulysses),
      tokens_(step.tokens) {
  out_.layers = static_cast<int>(layers.size());
  for (const FeedForward& layer : layers) out_.alike = out_.alike && layer == layers.front();
  out_.name = name_of(step, out_.layers);
  const Bytes t = step.ranks;
  const Bytes key_width =
      step.kv_heads > 0 ? step.kv_heads * shape.head_size() : shape.key_value_width();
  sizes_.full = 2 * step.tokens * shape.hidden;
  sizes_.shard = sizes_.full / t;
  sizes_.queries = 2 * step.tokens * shape.query_width() / t;
  sizes_.keys = 2 * step.tokens * key_width / t;
  sizes_.sums = 4 * step.tokens * shape.heads / t;
  const Bytes words = (shape.vocabulary + t - 1) / t;  // words on one rank
  sizes_.logits = 4 * step.tokens / step.logit_chunks * words;
}

TransformerOperations OperationTracer::run() {
  int x = tape_.run("x", sizes_.shard, {});
  std::vector<Saved> saved;
  for (int layer = 0; layer < out_.layers; ++layer) {
    tape_.enter(layer, false);
    enter(layer, "");
    if (in_parts()) {
      saved.push_back({.x = x});
      x = forward_in_parts(layer, x);
      continue;
    }
    saved.push_back(forward(x));
    x = feed_forward_end(saved.back(), sizes_.shard);
  }
  tape_.enter(Operation::kNoLayer, false);
  int dx = step_.whole_step ? head(x) : tape_.run("dx", sizes_.shard, {x});
  for (int layer = out_.layers - 1; layer >= 0; --layer) {
    tape_.enter(layer, true);
    dx = backward(layer, saved[static_cast<std::size_t>(layer)], dx);
  }
  tape_.enter(Operation::kNoLayer, false);
  tape_.consume({dx});  // read by the embedding's gradient, or the layer below
  return std::move(out_);
}

Result<TransformerOperations> trace_operations(const TransformerStep& step) {
  const TransformerShape* const shape = transformer_shape(step.model);
  if (shape == nullptr) return unknown_model(step.model, transformer_names());
  return trace_operations(step, *shape);
}

Result<TransformerOperations> trace_operations(const TransformerStep& step,
                                               const TransformerShape& shape) {
  if (shape.experts > 0) return experts_not_modelled(shape);
  const int layers = std::clamp(step.layers > 0 ? step.layers : shape.layers, 0, kMostLayers);
  return trace_operations(
      step, shape,
      std::vector<FeedForward>(static_cast<std::size_t>(layers),
                               {.width = shape.feed_forward, .gated = shape.gated}));
}

Result<TransformerOperations> trace_operations(const TransformerStep& step,
                                               const TransformerShape& shape,
                                               const std::vector<FeedForward>& layers) {
  ErrorList errors;
  check_options(step, shape, layers, errors);
  if (!errors.empty()) return std::move(errors).take();
  return OperationTracer(step, shape, layers).run();
}

}  // namespace stowage
