// The operations of the forward pass of a layer, whole or in parts, and of the head of the model.
#include <string>

#include "instances/model/operation_tracer.h"

namespace stowage {

// Appends the operations from x to the products of gate and up. `keys`, if given, are keys that
// exist already, with the values behind them.
OperationTracer::Saved OperationTracer::forward(int x, int keys) {
  Saved s{.x = x};
  s.norm1 = run("norm1", sizes_.shard, {x});
  const int full1 = gather("norm1_full", s.norm1);
  if (keys >= 0) {
    s.q = run("q", sizes_.queries, {full1});
  } else {
    const int qkv = run("qkv", sizes_.queries + 2 * sizes_.keys, {full1});
    s.q = tape_.run({{id("q"), sizes_.queries}, {id("k"), sizes_.keys}, {id("v"), sizes_.keys}},
                    {qkv});  // Ulysses exchanges here
  }
  s.k = keys >= 0 ? keys : s.q + 1;
  s.v = s.k + 1;
  s.attention =
      tape_.run({{id("attention"), sizes_.queries}, {id("lse"), sizes_.sums}}, {s.q, s.k, s.v});
  s.sums = s.attention + 1;
  s.gathered = s.attention;
  if (ulysses_) s.gathered = run("attention_back", sizes_.queries, {s.attention});
  const int out = product("o_partial", "o", {s.gathered});
  s.r = run("r", sizes_.shard, {x, out});
  s.norm2 = run("norm2", sizes_.shard, {s.r});
  if (dense()) {
    const int full2 = gather("norm2_full", s.norm2);
    if (its_.gated) {
      s.gate = tape_.run({{id("gate"), wide()}, {id("up"), wide()}}, {full2});
      s.up = s.gate + 1;
    } else {
      s.up = run("up", wide(), {full2});
    }
    s.act = run("act", wide(), {s.gate, s.up});
  }
  if (routed()) to_experts(s);
  return s;
}

void OperationTracer::to_experts(Saved& s) {
  s.routes = run("routes", routes(), {s.norm2});
  s.tokens = exchange("received", run("sent", copies(), {s.norm2, s.routes}));
  const int full = gather_copies("tokens_full", s.tokens);
  if (its_.gated) {
    s.expert_gate =
        tape_.run({{id("expert_gate"), expert_wide()}, {id("expert_up"), expert_wide()}}, {full});
    s.expert_up = s.expert_gate + 1;
  } else {
    s.expert_up = run("expert_up", expert_wide(), {full});
  }
  s.expert_act = run("expert_act", expert_wide(), {s.expert_gate, s.expert_up, s.routes});
}

// Appends the operations from there to the next x, of `size` bytes, or to an existing part of it.
int OperationTracer::feed_forward_end(const Saved& s, Bytes size, int y) {
  int down = -1;
  int returned = -1;
  if (dense()) down = product("down_partial", "down", {s.act});
  if (routed()) {
    returned = exchange("returned",
                        product_of_copies("expert_down_partial", "expert_down", {s.expert_act}));
  }
  if (y < 0) return run("y", size, {s.r, down, returned});
  tape_.consume({s.r, down, returned, y});
  return y;
}

// Appends all keys, and behind them all values, part by part.
int OperationTracer::keys_in_parts(int layer, const std::string& pass, int x, const Sizes& whole) {
  int keys = -1;
  for (int part = 0; part < step_.stream_chunks; ++part) {
    enter(layer, pass + std::to_string(part));
    const int full = gather("norm1_full_keys", run("norm1_keys", sizes_.shard, {x}));
    if (part == 0) {
      keys = tape_.run({{id("k"), whole.keys}, {id("v"), whole.keys}}, {full});
    } else {
      tape_.consume({full, keys, keys + 1});
    }
  }
  return keys;
}

int OperationTracer::forward_in_parts(int layer, int x) {
  const Sizes whole = sizes_;
  cut_into(step_.stream_chunks);
  const int keys = keys_in_parts(layer, "_", x, whole);
  int y = -1;
  for (int part = 0; part < step_.stream_chunks; ++part) {
    enter(layer, '_' + std::to_string(part));
    y = feed_forward_end(forward(x, keys), whole.shard, y);
  }
  make_whole(whole);
  return y;
}

// Appends the operations from the last x to its gradient, with the logits in chunks.
int OperationTracer::head(int x) {
  prefix_ = "head.";
  suffix_.clear();
  const int norm = run("norm", sizes_.shard, {x});
  const int full = gather("norm_full", norm);
  int d_full = -1;
  for (int chunk = 0; chunk < step_.logit_chunks; ++chunk) {
    const std::string number = std::to_string(chunk);
    const int logits = tape_.run("head.logits" + number, sizes_.logits, {full});
    const int gradient = tape_.run("head.d_logits" + number, sizes_.logits, {logits});
    if (chunk == 0) {
      d_full = run("d_norm_partial", ulysses_ ? sizes_.shard : sizes_.full, {gradient, full});
    } else {
      tape_.consume({gradient, full, d_full});
    }
  }
  const int d_norm = ulysses_ ? d_full : run("d_norm", sizes_.shard, {d_full});
  return run("d_x", sizes_.shard, {d_norm, x});
}

}  // namespace stowage
