// Longer than 300 lines: the passes of a step share its tape, sizes and saved tensors.
#include "instances/model/operations.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "instances/document/option_check.h"
#include "instances/json/errors.h"

namespace stowage {
namespace {

constexpr Tokens kMaxTokens = Tokens{1} << 31;
constexpr int kMostLayers = 1000;
constexpr int kMaxChunks = 1024;

using Reads = std::initializer_list<int>;

// Appends operations in the order they run.
class Tape {
 public:
  explicit Tape(TransformerOperations& out) : out_(out) {}

  // Sets the pass that later operations belong to.
  void enter(int layer, bool backward) {
    layer_ = layer;
    backward_ = backward;
  }

  // Appends one operation. Returns the index of its first output; the others follow.
  int run(std::vector<Tensor> outputs, Reads reads) {
    const int first = static_cast<int>(out_.tensors.size());
    Operation operation{.layer = layer_, .backward = backward_};
    for (Tensor& output : outputs) {
      operation.writes.push_back(static_cast<int>(out_.tensors.size()));
      out_.tensors.push_back(std::move(output));
    }
    for (const int tensor : reads) {
      if (tensor >= 0) operation.reads.push_back(tensor);
    }
    out_.operations.push_back(std::move(operation));
    return first;
  }
  int run(std::string id, Bytes size, Reads reads) { return run({{std::move(id), size}}, reads); }

  // Appends an operation without an output.
  void consume(Reads reads) { run({}, reads); }

 private:
  TransformerOperations& out_;
  int layer_ = Operation::kNoLayer;
  bool backward_ = false;
};

// The sizes of one rank's tensors, as in the header.
struct Sizes {
  Bytes shard = 0;  // U
  Bytes full = 0;
  Bytes queries = 0;  // Q
  Bytes keys = 0;     // KV
  Bytes sums = 0;     // LSE
  Bytes logits = 0;   // of one chunk
};

// The tensors that a layer's backward pass reads.
struct Saved {
  int x = -1, norm1 = -1, q = -1, k = -1, v = -1, attention = -1, sums = -1, gathered = -1, r = -1,
      norm2 = -1, gate = -1, up = -1, act = -1;
  int routes = -1, tokens = -1, expert_gate = -1, expert_up = -1, expert_act = -1;
};

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

class Tracer {
 public:
  Tracer(const TransformerStep& step, const TransformerShape& shape,
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

  TransformerOperations run() {
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

 private:
  void enter(int layer, std::string suffix) {
    prefix_ = std::to_string(layer) + '.';
    suffix_ = std::move(suffix);
    its_ = layers_[static_cast<std::size_t>(layer)];
  }
  bool in_parts() const { return step_.recompute == Recompute::full && step_.stream_chunks > 1; }
  bool routed() const { return its_.experts > 0; }
  bool dense() const { return its_.width > 0 || !routed(); }
  // Sizes inside the feed-forward parts of the current layer.
  Bytes wide() const { return 2 * tokens_ * its_.width / step_.ranks; }
  Bytes expert_wide() const { return 2 * tokens_ * its_.expert_width / step_.ranks * its_.top_k; }
  Bytes routes() const { return 4 * tokens_ * its_.experts / step_.ranks; }
  Bytes copies() const { return sizes_.shard * its_.top_k; }
  std::string id(const char* name) const { return prefix_ + name + suffix_; }
  int run(const char* name, Bytes size, Reads reads) { return tape_.run(id(name), size, reads); }

  // Gathers a shard along the sequence for a product; with Ulysses the shard stays as it is.
  int gather(const char* name, int shard) {
    return ulysses_ ? shard : run(name, sizes_.full, {shard});
  }
  // Appends a product whose results are summed over the ranks and scattered along the sequence.
  int product(const char* partial, const char* name, Reads reads) {
    if (ulysses_) return run(name, sizes_.shard, reads);
    return run(name, sizes_.shard, {run(partial, sizes_.full, reads)});
  }

  // Gathers the copies of tokens that experts get.
  int gather_copies(const char* name, int shard) {
    return ulysses_ ? shard : run(name, sizes_.full * its_.top_k, {shard});
  }
  int product_of_copies(const char* partial, const char* name, Reads reads) {
    if (ulysses_) return run(name, copies(), reads);
    return run(name, copies(), {run(partial, sizes_.full * its_.top_k, reads)});
  }
  // Appends an all-to-all to the ranks of the experts, or back.
  int exchange(const char* name, int tensor) {
    return step_.shared_experts ? run(name, copies(), {tensor}) : tensor;
  }

  // Sets the sizes to those of one of `parts` equal parts of the tokens.
  void cut_into(int parts) {
    tokens_ = step_.tokens / parts;
    for (Bytes* size : {&sizes_.shard, &sizes_.full, &sizes_.queries, &sizes_.keys, &sizes_.sums}) {
      *size /= parts;
    }
  }
  void make_whole(const Sizes& whole) {
    sizes_ = whole;
    tokens_ = step_.tokens;
  }

  // Appends the operations from x to the products of gate and up. `keys`, if given, are keys that
  // exist already, with the values behind them.
  Saved forward(int x, int keys = -1) {
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

  void to_experts(Saved& s) {
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
  int feed_forward_end(const Saved& s, Bytes size, int y = -1) {
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

  // Appends the tensors that the backward pass needs and that were not kept.
  Saved recomputed(int layer, Saved s) {
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

  void norm2_again(Saved& s) {
    if (s.norm2 < 0) s.norm2 = run("norm2_again", sizes_.shard, {s.r});
  }

  // Appends the operations from the gradient of y to the gradient of the second norm.
  int feed_forward_back(Saved& s, int dy) {
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
  int experts_back(Saved& s, int dy) {
    const int d_copies = exchange("d_received", run("d_returned", copies(), {dy}));
    const int d_full = gather_copies("d_copies_full", d_copies);
    const int d_act = run("d_expert_act", expert_wide(), {d_full, s.expert_act});
    std::vector<Tensor> gradients = {{id("d_routes"), routes()},
                                     {id("d_expert_up"), expert_wide()}};
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

  int backward(int layer, Saved s, int dy) {
    if (in_parts()) {
      return backward_in_parts(layer, s.x, dy);
    }
    s = recomputed(layer, s);
    enter(layer, "");
    const Grown ends = gradients(s, dy, {});
    return run("d_x", sizes_.shard, {ends.x, ends.x_inner});
  }

  // The tensors that the backward pass of a part adds to: terms of the gradient of x, and gradients
  // of all keys and values.
  struct Grown {
    int x = -1, x_inner = -1, keys = -1;
  };

  // Appends all keys, and behind them all values, part by part.
  int keys_in_parts(int layer, const std::string& pass, int x, const Sizes& whole) {
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

  int forward_in_parts(int layer, int x) {
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

  int backward_in_parts(int layer, int x, int dy) {
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

  Grown gradients(Saved s, int dy, const Grown& before) {
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
    const int d_q =
        tape_.run(std::move(of_inputs), {d_attention, s.q, s.k, s.v, s.attention, s.sums, ends.keys,
                                         ends.keys < 0 ? -1 : ends.keys + 1});
    if (ends.keys < 0) ends.keys = d_q + 1;
    const int d_qkv =
        run("d_qkv", sizes_.queries + 2 * sizes_.keys, {d_q, ends.keys, ends.keys + 1});
    if (s.norm1 < 0) s.norm1 = run("norm1_again", sizes_.shard, {s.x});
    const int full1 = gather("norm1_full_back", s.norm1);
    const int d_norm1 = product("d_norm1_partial", "d_norm1", {d_qkv, full1});
    ends.x = d_r;
    ends.x_inner = run("d_x_inner", sizes_.shard, {d_norm1, s.x});
    return ends;
  }

  // Appends the operations from the last x to its gradient, with the logits in chunks.
  int head(int x) {
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

  const TransformerStep& step_;
  const std::vector<FeedForward>& layers_;
  const bool ulysses_;
  FeedForward its_;  // of the current layer
  Sizes sizes_;      // of all tokens, or of a part
  Tokens tokens_;
  TransformerOperations out_;
  Tape tape_{out_};
  std::string prefix_;
  std::string suffix_;
};

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
  return Tracer(step, shape, layers).run();
}

}  // namespace stowage
