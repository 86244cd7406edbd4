// Traces the forward and backward pass of a step of transformer layers on one rank.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "instances/model/operation_tape.h"
#include "instances/model/operations.h"
#include "instances/model/transformer.h"
#include "instances/units.h"

namespace stowage {

class OperationTracer {
 public:
  OperationTracer(const TransformerStep& step, const TransformerShape& shape,
                  const std::vector<FeedForward>& layers);
  TransformerOperations run();

 private:
  using Reads = std::initializer_list<int>;

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
    int x = -1, norm1 = -1, q = -1, k = -1, v = -1, attention = -1, sums = -1, gathered = -1,
        r = -1, norm2 = -1, gate = -1, up = -1, act = -1;
    int routes = -1, tokens = -1, expert_gate = -1, expert_up = -1, expert_act = -1;
  };

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

  Saved forward(int x, int keys = -1);
  void to_experts(Saved& s);
  int feed_forward_end(const Saved& s, Bytes size, int y = -1);
  Saved recomputed(int layer, Saved s);
  void norm2_again(Saved& s);
  int feed_forward_back(Saved& s, int dy);
  int experts_back(Saved& s, int dy);
  int backward(int layer, Saved s, int dy);

  // The tensors that the backward pass of a part adds to: terms of the gradient of x, and gradients
  // of all keys and values.
  struct Grown {
    int x = -1, x_inner = -1, keys = -1;
  };
  int keys_in_parts(int layer, const std::string& pass, int x, const Sizes& whole);
  int forward_in_parts(int layer, int x);
  int backward_in_parts(int layer, int x, int dy);
  Grown gradients(Saved s, int dy, const Grown& before);
  int head(int x);

  const TransformerStep& step_;
  const std::vector<FeedForward>& layers_;
  const bool ulysses_;
  FeedForward its_;  // of the current layer
  Sizes sizes_;      // of all tokens, or of a part
  Tokens tokens_;
  TransformerOperations out_;
  OperationTape tape_{out_};
  std::string prefix_;
  std::string suffix_;
};

}  // namespace stowage
