#include "instances/order/memory/length_dependent_sizes.h"

namespace stowage {

OrderInstance at_length(const OrderInstance& instance, Tokens length) {
  OrderInstance fixed = instance;
  if (!instance.tokens) return fixed;
  fixed.tokens.reset();
  for (OrderTensor& tensor : fixed.tensors) {
    tensor.size = size_at(instance, tensor.size, tensor.size_per_token, length);
    tensor.size_per_token = 0;
  }
  for (OrderOperator& op : fixed.operators) {
    op.workspace = size_at(instance, op.workspace, op.workspace_per_token, length);
    op.workspace_per_token = 0;
  }
  return fixed;
}

}  // namespace stowage
