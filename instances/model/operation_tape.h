// The operations of a step in the order they run.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "instances/model/operations.h"
#include "instances/units.h"

namespace stowage {

// Appends operations in the order they run.
class OperationTape {
 public:
  explicit OperationTape(TransformerOperations& out) : out_(out) {}

  // Sets the pass that later operations belong to.
  void enter(int layer, bool backward) {
    layer_ = layer;
    backward_ = backward;
  }

  // Appends one operation. Returns the index of its first output; the others follow.
  int run(std::vector<Tensor> outputs, std::initializer_list<int> reads) {
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

  int run(std::string id, Bytes size, std::initializer_list<int> reads) {
    return run({{std::move(id), size}}, reads);
  }

  // Appends an operation without an output.
  void consume(std::initializer_list<int> reads) { run({}, reads); }

 private:
  TransformerOperations& out_;
  int layer_ = Operation::kNoLayer;
  bool backward_ = false;
};

}  // namespace stowage
