// Longer than 300 lines: the tensors of one transformer, forward, backward and recomputed.
#include "instances/layout/trace.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/layout/check.h"
#include "instances/option_check.h"

namespace stowage {
namespace {

constexpr Tokens kMostTokens = Tokens{1} << 31;
constexpr int kMostLayers = 1000;
constexpr int kMostChunks = 1024;
constexpr int kNoBlock = -1;

using Reads = std::initializer_list<int>;

// Writes down operations in the order they run.
class Tape {
 public:
  struct Output {
    std::string id;
    Bytes size;
  };

  // The pass of a layer, until the next call: buffers that begin and end in it belong to it.
  void enter(int block) { block_ = block; }

  // One operation. Returns the first of its outputs; the others follow.
  int run(const std::vector<Output>& outputs, Reads reads) {
    const int first = static_cast<int>(buffers_.size());
    for (const Output& output : outputs) {
      buffers_.push_back(
          {.id = output.id, .lower = step_, .upper = step_ + 1, .size = output.size});
      born_.push_back(block_);
      died_.push_back(block_);
    }
    read(reads);
    ++step_;
    return first;
  }
  int run(std::string id, Bytes size, Reads reads) { return run({{std::move(id), size}}, reads); }

  // Reads in the operation that runs next, or in one of no output: then pass() follows.
  void read(Reads reads) {
    for (const int buffer : reads) {
      if (buffer < 0) continue;
      buffers_[static_cast<std::size_t>(buffer)].upper = step_ + 1;
      died_[static_cast<std::size_t>(buffer)] = block_;
    }
  }
  void pass() { ++step_; }

  // The buffers of a pass, in the order they were written.
  std::vector<std::int64_t> within(int block) const {
    std::vector<std::int64_t> inside;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (born_[i] == block && died_[i] == block) inside.push_back(static_cast<std::int64_t>(i));
    }
    return inside;
  }
  std::vector<Buffer> take() { return std::move(buffers_); }

 private:
  std::vector<Buffer> buffers_;
  std::vector<int> born_;  // block of the writing operation
  std::vector<int> died_;  // block of the last reading one
  std::int64_t step_ = 0;
  int block_ = kNoBlock;
};

// Sizes of one rank's tensors, as in the header.
struct Sizes {
  Bytes shard = 0;  // U
  Bytes full = 0;
  Bytes keys = 0;    // KV
  Bytes wide = 0;    // F
  Bytes sums = 0;    // LSE
  Bytes logits = 0;  // of one chunk
};

// What a layer's backward pass reads.
struct Saved {
  int x = -1, norm1 = -1, q = -1, k = -1, v = -1, attention = -1, sums = -1, gathered = -1, r = -1,
      norm2 = -1, gate = -1, up = -1, act = -1;
};

class Tracer {
 public:
  Tracer(const LayoutTrace& trace, const TransformerShape& shape, int layers)
      : trace_(trace),
        shape_(shape),
        layers_(layers),
        ulysses_(trace.split == SequenceSplit::ulysses) {
    const Bytes t = trace.ranks;
    const Bytes kv_heads = trace.kv_heads > 0 ? trace.kv_heads : shape.heads;
    sizes_.full = 2 * trace.tokens * shape.hidden;
    sizes_.shard = sizes_.full / t;
    sizes_.keys = sizes_.shard / shape.heads * kv_heads;
    sizes_.wide = 2 * trace.tokens * shape.feed_forward / t;
    sizes_.sums = 4 * trace.tokens * shape.heads / t;
    const Bytes words = (shape.vocabulary + t - 1) / t;  // of a rank
    sizes_.logits = 4 * trace.tokens / trace.logit_chunks * words;
  }

  LayoutInstance run() {
    int x = tape_.run("x", sizes_.shard, {});
    std::vector<Saved> saved;
    for (int layer = 0; layer < layers_; ++layer) {
      tape_.enter(2 * layer);
      enter(layer, "");
      saved.push_back(forward(x));
      x = feed_forward_end(saved.back());
    }
    tape_.enter(kNoBlock);
    int dx = trace_.whole_step ? head(x) : tape_.run("dx", sizes_.shard, {x});
    for (int layer = layers_ - 1; layer >= 0; --layer) {
      tape_.enter(2 * layer + 1);
      dx = backward(layer, saved[static_cast<std::size_t>(layer)], dx);
    }
    tape_.enter(kNoBlock);
    tape_.read({dx});  // the embedding's gradient, or the layer below
    tape_.pass();
    return instance();
  }

 private:
  void enter(int layer, const char* suffix) {
    prefix_ = std::to_string(layer) + '.';
    suffix_ = suffix;
  }
  std::string id(const char* name) const { return prefix_ + name + suffix_; }
  int run(const char* name, Bytes size, Reads reads) { return tape_.run(id(name), size, reads); }

  // Gathered along the sequence for a product, or as it is.
  int gather(const char* name, int shard) {
    return ulysses_ ? shard : run(name, sizes_.full, {shard});
  }
  // A product whose results are summed over the ranks and scattered along the sequence.
  int product(const char* partial, const char* name, Reads reads) {
    if (ulysses_) return run(name, sizes_.shard, reads);
    return run(name, sizes_.shard, {run(partial, sizes_.full, reads)});
  }

  // From x to the product of gate and up.
  Saved forward(int x) {
    Saved s{.x = x};
    s.norm1 = run("norm1", sizes_.shard, {x});
    const int full1 = gather("norm1_full", s.norm1);
    const int qkv = run("qkv", sizes_.shard + 2 * sizes_.keys, {full1});
    s.q = tape_.run({{id("q"), sizes_.shard}, {id("k"), sizes_.keys}, {id("v"), sizes_.keys}},
                    {qkv});  // Ulysses exchanges here
    s.k = s.q + 1;
    s.v = s.q + 2;
    s.attention =
        tape_.run({{id("attention"), sizes_.shard}, {id("lse"), sizes_.sums}}, {s.q, s.k, s.v});
    s.sums = s.attention + 1;
    s.gathered = s.attention;
    if (ulysses_) s.gathered = run("attention_back", sizes_.shard, {s.attention});
    const int out = product("o_partial", "o", {s.gathered});
    s.r = run("r", sizes_.shard, {x, out});
    s.norm2 = run("norm2", sizes_.shard, {s.r});
    const int full2 = gather("norm2_full", s.norm2);
    if (shape_.gated) {
      s.gate = tape_.run({{id("gate"), sizes_.wide}, {id("up"), sizes_.wide}}, {full2});
      s.up = s.gate + 1;
    } else {
      s.up = run("up", sizes_.wide, {full2});
    }
    s.act = run("act", sizes_.wide, {s.gate, s.up});
    return s;
  }

  // From there to the next x.
  int feed_forward_end(const Saved& s) {
    const int down = product("down_partial", "down", {s.act});
    return run("y", sizes_.shard, {s.r, down});
  }

  // What the backward pass needs and was not kept.
  Saved recomputed(int layer, Saved s) {
    enter(layer, "_again");
    if (trace_.recompute == Recompute::full) return forward(s.x);
    if (trace_.recompute == Recompute::selective) {
      s.act = run("act", sizes_.wide, {s.gate, s.up});
      s.norm1 = s.norm2 = -1;  // when they are needed
    }
    return s;
  }

  int backward(int layer, Saved s, int dy) {
    s = recomputed(layer, s);
    enter(layer, "");
    const int dy_full = gather("d_y_full", dy);
    const int d_act = run("d_act", sizes_.wide, {dy_full, s.act});
    int d_gate = -1;
    int d_up = -1;
    if (shape_.gated) {
      d_gate = tape_.run({{id("d_gate"), sizes_.wide}, {id("d_up"), sizes_.wide}},
                         {d_act, s.gate, s.up});
      d_up = d_gate + 1;
    } else {
      d_up = run("d_up", sizes_.wide, {d_act, s.up});
    }
    if (s.norm2 < 0) s.norm2 = run("norm2_again", sizes_.shard, {s.r});
    const int full2 = gather("norm2_full_back", s.norm2);
    const int d_norm2 = product("d_norm2_partial", "d_norm2", {d_gate, d_up, full2});
    const int d_r_inner = run("d_r_inner", sizes_.shard, {d_norm2, s.r});
    const int d_r = run("d_r", sizes_.shard, {dy, d_r_inner});
    const int d_r_full = gather("d_r_full", d_r);
    int d_attention = run("d_attention", sizes_.shard, {d_r_full, s.gathered});
    if (ulysses_) d_attention = run("d_attention_back", sizes_.shard, {d_attention});
    const int d_q =
        tape_.run({{id("d_q"), sizes_.shard}, {id("d_k"), sizes_.keys}, {id("d_v"), sizes_.keys}},
                  {d_attention, s.q, s.k, s.v, s.attention, s.sums});
    const int d_qkv = run("d_qkv", sizes_.shard + 2 * sizes_.keys, {d_q, d_q + 1, d_q + 2});
    if (s.norm1 < 0) s.norm1 = run("norm1_again", sizes_.shard, {s.x});
    const int full1 = gather("norm1_full_back", s.norm1);
    const int d_norm1 = product("d_norm1_partial", "d_norm1", {d_qkv, full1});
    const int d_x_inner = run("d_x_inner", sizes_.shard, {d_norm1, s.x});
    return run("d_x", sizes_.shard, {d_r, d_x_inner});
  }

  // From the last x to its gradient, the logits in chunks.
  int head(int x) {
    prefix_ = "head.";
    suffix_ = "";
    const int norm = run("norm", sizes_.shard, {x});
    const int full = gather("norm_full", norm);
    int d_full = -1;
    for (int chunk = 0; chunk < trace_.logit_chunks; ++chunk) {
      const std::string number = std::to_string(chunk);
      const int logits = tape_.run("head.logits" + number, sizes_.logits, {full});
      const int gradient = tape_.run("head.d_logits" + number, sizes_.logits, {logits});
      if (chunk == 0) {
        d_full = run("d_norm_partial", ulysses_ ? sizes_.shard : sizes_.full, {gradient, full});
      } else {
        tape_.read({gradient, full, d_full});
        tape_.pass();
      }
    }
    const int d_norm = ulysses_ ? d_full : run("d_norm", sizes_.shard, {d_full});
    return run("d_x", sizes_.shard, {d_norm, x});
  }

  LayoutInstance instance() {
    LayoutInstance made{.alignment = trace_.alignment};
    RepeatedBlock ahead{.name = "forward"};
    RepeatedBlock back{.name = "backward"};
    for (int layer = 0; layer < layers_; ++layer) {
      ahead.occurrences.push_back(tape_.within(2 * layer));
      back.occurrences.push_back(tape_.within(2 * (layers_ - 1 - layer) + 1));
    }
    made.layers = {std::move(ahead), std::move(back)};
    made.buffers = tape_.take();
    return made;
  }

  const LayoutTrace& trace_;
  const TransformerShape& shape_;
  const int layers_;
  const bool ulysses_;
  Sizes sizes_;
  Tape tape_;
  std::string prefix_;
  const char* suffix_ = "";
};

void check_options(const LayoutTrace& trace, const TransformerShape& shape, ErrorList& errors) {
  const auto integer = [&](const char* where, std::int64_t value, std::int64_t least,
                           std::int64_t most) {
    return check_option(where, value, least, most, errors);
  };
  const bool tokens = integer("/tokens", trace.tokens, 1, kMostTokens);
  const bool ranks = integer("/ranks", trace.ranks, 1, shape.heads);
  const bool kv_heads = integer("/kv_heads", trace.kv_heads, 0, shape.heads);
  const bool chunks = integer("/logit_chunks", trace.logit_chunks, 1, kMostChunks);
  integer("/layers", trace.layers, 0, kMostLayers);
  integer("/alignment", trace.alignment, 1, kMaxExact);
  if (!ranks) return;
  const auto divides = [&](const char* where, std::int64_t divisor, const char* what,
                           std::int64_t number) {
    if (number % divisor == 0) return;
    errors.add(code::kGenerator, where,
               "must divide the " + std::string(what) + ", " + std::to_string(number) + ", is " +
                   std::to_string(divisor));
  };
  divides("/ranks", trace.ranks, "heads", shape.heads);
  divides("/ranks", trace.ranks, "feed-forward width", shape.feed_forward);
  if (kv_heads && trace.kv_heads > 0) {
    divides("/kv_heads", trace.kv_heads, "heads", shape.heads);
    divides("/ranks", trace.ranks, "key heads", trace.kv_heads);
  }
  if (!tokens) return;
  divides("/ranks", trace.ranks, "tokens", trace.tokens);
  if (chunks && trace.tokens % trace.ranks == 0) {
    divides("/logit_chunks", trace.logit_chunks, "tokens of a rank", trace.tokens / trace.ranks);
  }
}

std::string name_of(const LayoutTrace& trace, int layers) {
  std::string name = trace.model + '-' + std::to_string(trace.tokens) + "tok-" +
                     std::to_string(trace.ranks) + "ranks-" + std::to_string(layers) + "layers";
  if (trace.kv_heads > 0) name += "-kv" + std::to_string(trace.kv_heads);
  if (trace.split == SequenceSplit::ulysses) name += "-ulysses";
  if (trace.recompute == Recompute::selective) name += "-selective";
  if (trace.recompute == Recompute::full) name += "-full";
  if (trace.logit_chunks > 1) name += "-c" + std::to_string(trace.logit_chunks);
  return trace.whole_step ? name : name + "-inner";
}

}  // namespace

const std::vector<TransformerShape>& transformer_shapes() {
  static const std::vector<TransformerShape> shapes = {
      {"llama-7b", 32, 4096, 32, 11008, 32000},      {"llama-13b", 40, 5120, 40, 13824, 32000},
      {"llama-30b", 60, 6656, 52, 17920, 32000},     {"llama-65b", 80, 8192, 64, 22016, 32000},
      {"gpt-7b", 32, 4096, 32, 16384, 50257, false}, {"gpt-13b", 40, 5120, 40, 20480, 50257, false},
      {"gpt-30b", 60, 6656, 52, 26624, 50257, false}};
  return shapes;
}

Result<LayoutInstance> trace_layout(const LayoutTrace& trace) {
  ErrorList errors;
  const std::vector<TransformerShape>& shapes = transformer_shapes();
  const auto shape = std::find_if(shapes.begin(), shapes.end(),
                                  [&](const TransformerShape& s) { return s.name == trace.model; });
  if (shape == shapes.end()) {
    std::vector<std::string_view> known;
    std::string list;
    for (const TransformerShape& s : shapes) {
      known.push_back(s.name);
      list += (list.empty() ? "" : ", ") + std::string(s.name);
    }
    errors.add(code::kPreset, "/model",
               "must be one of " + list + ", is " + in_quotes(trace.model) +
                   did_you_mean(trace.model, known));
    return std::move(errors).take();
  }
  check_options(trace, *shape, errors);
  if (!errors.empty()) return std::move(errors).take();
  const int layers = trace.layers > 0 ? trace.layers : shape->layers;
  LayoutInstance instance = Tracer(trace, *shape, layers).run();
  instance.name = name_of(trace, layers);
  check_together(
      instance, [](std::int64_t, std::string_view) { return "/tokens"; }, errors);
  if (!errors.empty()) return std::move(errors).take();
  return instance;
}

}  // namespace stowage
