#include "kernels/attention/attention.h"

#include <cmath>

namespace stowage::kernels {

double AttentionShape::logit_scale() const {
  return scale != 0 ? scale : 1.0 / std::sqrt(double{1} * head_dim);
}

std::vector<std::string> check_cu_seqlens(std::span<const std::int32_t> cu, std::int64_t total,
                                          const std::string& name) {
  std::vector<std::string> problems;
  if (cu.empty()) {
    problems.push_back(name + " must have at least one entry, is empty");
    return problems;
  }
  if (cu.front() != 0) {
    problems.push_back(name + "[0] must be 0, is " + std::to_string(cu.front()));
  }
  for (std::size_t i = 1; i < cu.size(); ++i) {
    if (cu[i] < cu[i - 1]) {
      problems.push_back(name + "[" + std::to_string(i) + "] must be at least " +
                         std::to_string(cu[i - 1]) + ", is " + std::to_string(cu[i]));
    }
  }
  if (cu.back() > total) {
    problems.push_back(name + " must end at or before row " + std::to_string(total) + ", ends at " +
                       std::to_string(cu.back()));
  }
  return problems;
}

std::vector<std::string> check(const AttentionShape& shape) {
  std::vector<std::string> problems = check_cu_seqlens(shape.cu_q, shape.total_q, "cu_q");
  for (std::string& problem : check_cu_seqlens(shape.cu_k, shape.total_k, "cu_k")) {
    problems.push_back(std::move(problem));
  }
  if (shape.cu_q.size() != shape.cu_k.size()) {
    problems.push_back("cu_q and cu_k must have the same number of entries, have " +
                       std::to_string(shape.cu_q.size()) + " and " +
                       std::to_string(shape.cu_k.size()));
  }
  if (shape.head_dim < 1) {
    problems.push_back("head_dim must be at least 1, is " + std::to_string(shape.head_dim));
  }
  if (shape.value_dim < 0) {
    problems.push_back("value_dim must be at least 0, is " + std::to_string(shape.value_dim));
  }
  if (shape.window < 0 || (shape.window > 0 && !shape.causal && shape.diagonals.empty())) {
    problems.push_back("window must be at least 0, and 0 without a causal mask, is " +
                       std::to_string(shape.window));
  }
  if (!(shape.soft_cap >= 0) || std::isinf(shape.soft_cap)) {
    problems.push_back("soft_cap must be finite and at least 0, is " +
                       std::to_string(shape.soft_cap));
  }
  if (!shape.diagonals.empty() && shape.diagonals.size() + 1 != shape.cu_q.size()) {
    problems.push_back("diagonals must have an entry for each of the " +
                       std::to_string(shape.cu_q.size() - 1) + " sequences, has " +
                       std::to_string(shape.diagonals.size()));
  }
  if (!shape.sinks.empty() && static_cast<int>(shape.sinks.size()) != shape.heads) {
    problems.push_back("sinks must have an entry for each of the " + std::to_string(shape.heads) +
                       " heads, has " + std::to_string(shape.sinks.size()));
  }
  if (shape.heads < 0 || shape.kv_heads < 0 || (shape.heads > 0 && shape.kv_heads == 0)) {
    problems.push_back("heads and kv_heads must be positive, are " + std::to_string(shape.heads) +
                       " and " + std::to_string(shape.kv_heads));
    return problems;
  }
  if (shape.heads == 0) return problems;
  if (shape.group_size == 0 && shape.heads % shape.kv_heads != 0) {
    problems.push_back("heads must be a multiple of kv_heads, are " + std::to_string(shape.heads) +
                       " and " + std::to_string(shape.kv_heads));
  } else if (shape.group_size < 0 || shape.group_offset < 0 ||
             shape.kv_head(shape.heads - 1) >= shape.kv_heads) {
    problems.push_back("the last query head must read one of the " +
                       std::to_string(shape.kv_heads) + " kv heads; group_size is " +
                       std::to_string(shape.group_size) + ", group_offset " +
                       std::to_string(shape.group_offset));
  }
  return problems;
}

}  // namespace stowage::kernels
