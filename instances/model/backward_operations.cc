// The operations of the backward pass of a layer, whole or in parts.
#include <string>
#include <utility>
#include <vector>

#include "instances/model/operation_tracer.h"

namespace stowage {

// Appends the tensors that the backward pass needs and that were not kept.
OperationTracer::Saved OperationTracer::recomputed(int layer, Saved s) {
  enter(layer, "_again");
  if (step_.recompute == Recompute::full) return forward(s.x);
  if (step_.recompute == Recompute::selective) {
    if (dense()) s.act = run("act", wide(), {s.gate, s.up});
    if (routed()) {
      s.expert_act = run("expert_act", expert_wide(), {s.expert_gate, s.expert_up, s.routes});
    }
    s.norm1 = s.norm2 = -1;  // recomputed when they are needed
  }
  return s;
}

void OperationTracer::norm2_again(Saved& s) {
  if (s.norm2 < 0) s.norm2 = run("norm2_again", sizes_.shard, {s.r});
}

// Appends the operations from the gradient of y to the gradient of the second norm.
int OperationTracer::feed_forward_back(Saved& s, int dy) {
  const int dy_full = gather("d_y_full", dy);
  const int d_act = run("d_act", wide(), {dy_full, s.act});
  int d_gate = -1;
  int d_up = -1;
  if (its_.gated) {
    d_gate = tape_.run({{id("d_gate"), wide()}, {id("d_up"), wide()}}, {d_act, s.gate, s.up});
    d_up = d_gate + 1;
  } else {
    d_up = run("d_up", wide(), {d_act, s.up});
  }
  norm2_again(s);
  const int full2 = gather("norm2_full_back", s.norm2);
  return product("d_norm2_partial", "d_norm2", {d_gate, d_up, full2});
}

// Appends the same operations through the experts and the router.
int OperationTracer::experts_back(Saved& s, int dy) {
  const int d_copies = exchange("d_received", run("d_returned", copies(), {dy}));
  const int d_full = gather_copies("d_copies_full", d_copies);
  const int d_act = run("d_expert_act", expert_wide(), {d_full, s.expert_act});
  std::vector<Tensor> gradients = {{id("d_routes"), routes()}, {id("d_expert_up"), expert_wide()}};
  if (its_.gated) gradients.push_back({id("d_expert_gate"), expert_wide()});
  const int d_routes =
      tape_.run(std::move(gradients), {d_act, s.expert_gate, s.expert_up, s.routes});
  const int d_up = d_routes + 1;
  const int d_gate = its_.gated ? d_up + 1 : -1;
  const int full = gather_copies("tokens_full_back", s.tokens);
  const int d_tokens = product_of_copies("d_tokens_partial", "d_tokens", {d_gate, d_up, full});
  const int d_sent = exchange("d_sent", d_tokens);
  norm2_again(s);
  return run("d_norm2_routed", sizes_.shard, {d_sent, d_routes, s.norm2});
}

int OperationTracer::backward(int layer, Saved s, int dy) {
  if (in_parts()) {
    return backward_in_parts(layer, s.x, dy);
  }
  s = recomputed(layer, s);
  enter(layer, "");
  const Grown ends = gradients(s, dy, {});
  return run("d_x", sizes_.shard, {ends.x, ends.x_inner});
}

int OperationTracer::backward_in_parts(int layer, int x, int dy) {
  const Sizes whole = sizes_;
  const int parts = step_.stream_chunks;
  cut_into(parts);
  const int keys = keys_in_parts(layer, "_again_", x, whole);
  int d_x = -1;
  Grown grown;
  for (int part = parts - 1; part >= 0; --part) {
    enter(layer, "_again_" + std::to_string(part));
    const Saved s = forward(x, keys);
    enter(layer, '_' + std::to_string(part));
    if (grown.keys < 0) {
      grown.keys = tape_.run({{id("d_k"), whole.keys}, {id("d_v"), whole.keys}}, {dy});
    }
    grown = gradients(s, dy, grown);
    if (d_x < 0) {
      d_x = run("d_x", whole.shard, {grown.x, grown.x_inner});
    } else {
      tape_.consume({grown.x, grown.x_inner, d_x});
    }
  }
  make_whole(whole);
  return d_x;
}

OperationTracer::Grown OperationTracer::gradients(Saved s, int dy, const Grown& before) {
  const int d_norm2 = dense() ? feed_forward_back(s, dy) : -1;
  const int d_routed = routed() ? experts_back(s, dy) : -1;
  const int d_r_inner = run("d_r_inner", sizes_.shard, {d_norm2, d_routed, s.r});
  const int d_r = run("d_r", sizes_.shard, {dy, d_r_inner});
  const int d_r_full = gather("d_r_full", d_r);
  int d_attention = run("d_attention", sizes_.queries, {d_r_full, s.gathered});
  if (ulysses_) d_attention = run("d_attention_back", sizes_.queries, {d_attention});
  Grown ends{.keys = before.keys};
  std::vector<Tensor> of_inputs = {{id("d_q"), sizes_.queries}};
  if (ends.keys < 0) {
    of_inputs.push_back({id("d_k"), sizes_.keys});
    of_inputs.push_back({id("d_v"), sizes_.keys});
  }
  const int d_q = tape_.run(std::move(of_inputs), {d_attention, s.q, s.k, s.v, s.attention, s.sums,
                                                   ends.keys, ends.keys < 0 ? -1 : ends.keys + 1});
  if (ends.keys < 0) ends.keys = d_q + 1;
  const int d_qkv = run("d_qkv", sizes_.queries + 2 * sizes_.keys, {d_q, ends.keys, ends.keys + 1});
  if (s.norm1 < 0) s.norm1 = run("norm1_again", sizes_.shard, {s.x});
  const int full1 = gather("norm1_full_back", s.norm1);
  const int d_norm1 = product("d_norm1_partial", "d_norm1", {d_qkv, full1});
  ends.x = d_r;
  ends.x_inner = run("d_x_inner", sizes_.shard, {d_norm1, s.x});
  return ends;
}

}  // namespace stowage
