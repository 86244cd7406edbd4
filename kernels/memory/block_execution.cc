#include "kernels/memory/block_execution.h"

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/block/synthetic.h"
#include "kernels/memory/arena.h"
#include "kernels/memory/recorded_layout.h"

namespace stowage::kernels {
namespace {

// The input data, equal for both runs.
struct Inputs {
  std::vector<std::int32_t> cu_seqlens = {0};
  std::vector<BlockWeights<float>> weights;
  std::vector<float> x, upstream;

  Inputs(const RecordedBlock& block, std::uint64_t seed) {
    const BlockShape shape = shape_of(block);
    for (const Tokens length : block.lengths) {
      cu_seqlens.push_back(cu_seqlens.back() + static_cast<std::int32_t>(length));
    }
    for (int layer = 0; layer < block.layers; ++layer) {
      weights.push_back(synthetic_weights(shape, seed + static_cast<std::uint64_t>(layer)));
    }
    const std::int64_t width = shape.hidden;
    x.resize(static_cast<std::size_t>(cu_seqlens.back() * width));
    upstream.resize(x.size());
    for (std::size_t s = 0; s + 1 < cu_seqlens.size(); ++s) {
      const auto rows = [&](std::vector<float>& all) {
        return std::span(all).subspan(
            static_cast<std::size_t>(cu_seqlens[s] * width),
            static_cast<std::size_t>((cu_seqlens[s + 1] - cu_seqlens[s]) * width));
      };
      const auto sequence = static_cast<std::int64_t>(s);
      fill_tokens({.seed = seed, .stream = Stream::input}, sequence, 0, width, rows(x));
      fill_tokens({.seed = seed, .stream = Stream::upstream}, sequence, 0, width, rows(upstream));
    }
  }
};

struct Results {
  std::vector<float> y, dx;
  std::vector<BlockWeights<float>> gradients;
};

Results run(const RecordedBlock& block, const BlockProgram& program, const Inputs& in,
            TensorMemory& memory) {
  const BlockShape shape = shape_of(block);
  const std::int64_t tokens = in.cu_seqlens.back();
  const RotaryTable rotary(sequence_positions(in.cu_seqlens, tokens), shape.head_dim,
                           shape.rope_theta);
  LocalAttention attention({.total_q = tokens,
                            .total_k = tokens,
                            .heads = shape.heads,
                            .kv_heads = shape.kv_heads,
                            .head_dim = shape.head_dim,
                            .cu_q = in.cu_seqlens,
                            .cu_k = in.cu_seqlens});
  Results out{.y = std::vector<float>(in.x.size()),
              .dx = std::vector<float>(in.x.size()),
              .gradients = std::vector(in.weights.size(), zero_weights<float>(shape))};
  program.run(program.all_steps(), memory,
              {.rotary = rotary,
               .attention = attention,
               .weights = in.weights,
               .gradients = out.gradients,
               .x = in.x,
               .upstream = in.upstream,
               .y = out.y,
               .dx = out.dx});
  return out;
}

}  // namespace

BlockExecution execute_block(const LayoutInstance& instance, const BlockProgram& program,
                             const LayoutPlan& plan, std::uint64_t seed, Budget* budget) {
  BlockExecution done;
  done.steps = program.all_steps().end;
  std::vector<Arena::Slot> slots = arena_slots(program.tensors(), plan.offsets, done.problems);
  for (const Arena::Slot& slot : slots) done.separate_bytes += slot.size;
  if (done.separate_bytes > kMaxArenaBytes) {
    done.problems.add("the tensors have " + std::to_string(done.separate_bytes) +
                      " bytes together, the most is " + std::to_string(kMaxArenaBytes));
  }
  if (!done.problems.list().empty()) return done;
  const auto stopped = [&] {
    if (budget != nullptr) done.stopped_by = budget->stop_reason();
    return done.stopped_by != StopReason::none;
  };
  if (stopped()) return done;
  const RecordedBlock& block = *instance.recorded_from;
  const Inputs inputs(block, seed);
  Results separate;
  {
    SeparateTensors memory(program.tensors());
    separate = run(block, program, inputs, memory);
  }
  if (stopped()) return done;
  Arena arena(std::move(slots));
  ArenaTensors memory(arena);
  const Results planned = run(block, program, inputs, memory);

  done.output.compare(separate.y, planned.y);
  done.input_gradient.compare(separate.dx, planned.dx);
  for (std::size_t layer = 0; layer < separate.gradients.size(); ++layer) {
    for (int t = 0; t < kWeightTensors; ++t) {
      done.weight_gradient.compare(*separate.gradients[layer].tensors()[t],
                                   *planned.gradients[layer].tensors()[t]);
    }
  }
  done.high_water_bytes = arena.high_water();
  done.canary_bytes_checked = arena.canaries_checked();
  done.problems = arena.problems();
  done.complete = true;
  return done;
}

}  // namespace stowage::kernels
