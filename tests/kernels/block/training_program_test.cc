// The training step as a list of operators, compared with blocks that run forward and backward at
// once.
#include "kernels/block/program/training_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernels/block/block.h"
#include "kernels/block/chunked_block.h"
#include "kernels/block/relative_error.h"
#include "kernels/block/synthetic.h"
#include "kernels/ranks/thread_ranks.h"
#include "tests/kernels/attention_batch.h"

namespace stowage::kernels::block_training_program_test {
namespace {

// A step that ran in program order, with every tensor in a separate allocation.
class Trained {
 public:
  explicit Trained(const TrainingShape& shape)
      : program(shape), memory_(program.tensors()), before(zero_weights<float>(shape.block)) {
    for (int t = 0; t < std::ssize(program.tensors()); ++t) {
      if (program.is_input(t)) program.fill_input(t, kSeed, memory_.at(t));
    }
    for (int kind = 0; kind < kWeightTensors; ++kind) {
      *before.tensors()[kind] = named("0.weight." + std::string(kWeightNames[kind]));
    }
    for (int step = 0; step < program.steps(); ++step) program.run(step, memory_);
  }

  // Returns the tensor of this name, or all tensors with this role, one after another.
  std::vector<float> named(const std::string& name) {
    return all([&](int t) { return program.tensors()[t].name == name; });
  }
  std::vector<float> of(TensorRole role) {
    return all([&](int t) { return program.role(t) == role; });
  }

  static constexpr std::uint64_t kSeed = 5;
  TrainingProgram program;

 private:
  template <class Wanted>
  std::vector<float> all(Wanted wanted) {
    std::vector<float> values;
    for (int t = 0; t < std::ssize(program.tensors()); ++t) {
      if (!wanted(t)) continue;
      const std::span<float> more = memory_.at(t);
      values.insert(values.end(), more.begin(), more.end());
    }
    return values;
  }

  SeparateTensors memory_;

 public:
  BlockWeights<float> before;
};

std::vector<double> exact(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

TEST(TrainingProgram, HasTheBitsOfABlockPass) {
  const BlockShape block{.hidden = 48, .heads = 6, .kv_heads = 3, .head_dim = 10, .ffn = 70};
  const std::vector<std::int32_t> cu = {0, 33, 33, 53};
  Trained trained({.block = block, .layers = 1, .cu_seqlens = cu});
  const std::vector<float> x = trained.named("x"), target = trained.named("target");
  std::vector<float> y(x.size()), dx(x.size()), upstream;
  BlockWeights<float> gradient = zero_weights<float>(block);
  LocalAttention attention({.total_q = 53,
                            .total_k = 53,
                            .heads = 6,
                            .kv_heads = 3,
                            .head_dim = 10,
                            .cu_q = cu,
                            .cu_k = cu});
  BlockPass pass(block, sequence_positions(cu, 53), attention);
  pass.forward(trained.before, x, y);
  double loss = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    upstream.push_back((y[i] - target[i]) * static_cast<float>(1.0 / 53));
    loss += (double{y[i]} - target[i]) * (double{y[i]} - target[i]) / 2 / 53;
  }
  pass.backward(trained.before, upstream, dx, gradient);

  EXPECT_EQ(trained.of(TensorRole::output), y);
  EXPECT_EQ(trained.of(TensorRole::input_gradient), dx);
  ASSERT_EQ(trained.of(TensorRole::loss).size(), 1U);
  EXPECT_NEAR(trained.of(TensorRole::loss)[0], loss, 1e-5 * loss);
  for (int kind = 0; kind < kWeightTensors; ++kind) {
    const std::string name(kWeightNames[kind]);
    SCOPED_TRACE(name);
    const std::vector<float>& own = *gradient.tensors()[kind];
    EXPECT_EQ(trained.named("0.gradient." + name), own);
    std::vector<float> updated = *trained.before.tensors()[kind];
    for (std::size_t i = 0; i < own.size(); ++i) updated[i] -= TrainingProgram::kRate * own[i];
    EXPECT_EQ(trained.named("0.weight." + name), updated);
  }
}

// Two cut sequences, and three that share a chunk; the sums over chunks differ from those of the
// block.
TEST(TrainingProgram, InChunksIsTheChunkedBlock) {
  const BlockShape block;
  const std::vector<std::int32_t> cu = prefix_sums({70, 9, 0, 33, 5});
  Trained trained({.block = block, .layers = 1, .cu_seqlens = cu, .chunk_tokens = 32});
  std::vector<float> rows, upstream;
  for (int t = 0; t < std::ssize(trained.program.tensors()); ++t) {
    const std::string& name = trained.program.tensors()[t].name;
    if (!name.ends_with(".x") || trained.program.role(t) != TensorRole::input) continue;
    const std::vector<float> part = trained.named(name);
    rows.insert(rows.end(), part.begin(), part.end());
    const std::vector<float> up = trained.named(name.substr(0, name.size() - 1) + "d_y");
    upstream.insert(upstream.end(), up.begin(), up.end());
  }
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(cu.back()) * block.hidden);
  ASSERT_EQ(upstream.size(), rows.size());
  std::vector<float> y(rows.size()), dx(rows.size());
  BlockWeights<float> gradient = zero_weights<float>(block);
  Exchange exchange;
  exchange.kind = ExchangeKind::chunked;
  exchange.chunk_size = 32;
  const auto error = run_ranks(1, [&](Communicator& world) {
    ChunkedBlock(world, block, exchange, cu, cu.back())
        .run(trained.before, {.x = rows, .upstream = upstream, .y = y, .dx = dx}, gradient);
  });
  ASSERT_FALSE(error);
  EXPECT_EQ(trained.of(TensorRole::output), y);
  // Backward runs chunk by chunk from the last, and its tensors have that order.
  std::vector<float> own;
  const std::vector<float> backwards = trained.of(TensorRole::input_gradient);
  std::vector<std::size_t> sizes;
  for (int t = 0; t < std::ssize(trained.program.tensors()); ++t) {
    if (trained.program.role(t) == TensorRole::input_gradient) {
      sizes.push_back(static_cast<std::size_t>(trained.program.tensors()[t].floats));
    }
  }
  EXPECT_GT(sizes.size(), 4U);
  std::size_t end = backwards.size();
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    end -= *size;
    own.insert(own.end(), backwards.begin() + static_cast<std::ptrdiff_t>(end),
               backwards.begin() + static_cast<std::ptrdiff_t>(end + *size));
  }
  EXPECT_LT(relative_l2(own, exact(dx)), 5e-6);
  for (int kind = 0; kind < kWeightTensors; ++kind) {
    const std::string name(kWeightNames[kind]);
    EXPECT_LT(relative_l2(trained.named("0.gradient." + name), exact(*gradient.tensors()[kind])),
              5e-6)
        << name;
  }
}

TEST(TrainingProgram, NamesAreUniqueAndGradientsApart) {
  const TrainingProgram program(
      {.block = {}, .layers = 2, .cu_seqlens = {0, 40}, .chunk_tokens = 16});
  std::set<std::string> tensors, steps;
  for (const Tensor& tensor : program.tensors()) tensors.insert(tensor.name);
  int inputs = 0, weights = 0, updates = 0;
  for (int step = 0; step < program.steps(); ++step) {
    const std::string& name = program.name(step);
    steps.insert(name);
    inputs += name.ends_with("_input") ? 1 : 0;
    weights += name.ends_with("_weight") ? 1 : 0;
    updates += name.find(".update.") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(tensors.size(), program.tensors().size());
  EXPECT_EQ(std::ssize(steps), program.steps());
  EXPECT_EQ(inputs, 3 * 2 * kWeightTensors);
  EXPECT_EQ(weights, inputs);
  EXPECT_EQ(updates, 2 * kWeightTensors);
}

}  // namespace
}  // namespace stowage::kernels::block_training_program_test
