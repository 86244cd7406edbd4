#include "kernels/run/offload/offloaded_stack.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/attention/attention_stage.h"
#include "kernels/block/block.h"
#include "kernels/run/offload/host_link.h"
#include "kernels/run/offload/stack_memory.h"

namespace stowage::kernels {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median_s(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The results and times of one run of the stack.
struct StackResult {
  std::vector<float> y, dx;
  std::vector<BlockWeights<float>> gradients;
  double forward_s = 0, backward_s = 0;  // with the waits

  bool same(const StackResult& other) const {
    // Compares bits: a NaN equals itself.
    const auto equal = [](std::span<const float> a, std::span<const float> b) {
      return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
    };
    bool all = equal(y, other.y) && equal(dx, other.dx);
    for (std::size_t b = 0; b < gradients.size(); ++b) {
      for (int t = 0; t < kWeightTensors; ++t) {
        all = all && equal(*gradients[b].tensors()[t], *other.gradients[b].tensors()[t]);
      }
    }
    return all;
  }
};

class OffloadedStack {
 public:
  OffloadedStack(const BlockWeights<float>& weights, const OffloadRow& row, int blocks)
      : row_(row),
        tokens_(std::ssize(row.x) / row.block.hidden),
        weights_(static_cast<std::size_t>(blocks), weights),
        rotary_(sequence_positions(row.cu_seqlens, tokens_), row.block.head_dim,
                row.block.rope_theta),
        attention_(attention_shape(row.block, tokens_, row.cu_seqlens)),
        program_(row.block, tokens_, blocks, attention_.memory()) {}

  const BlockProgram& program() const { return program_; }

  StackResult run(StackMemory& memory) {
    StackResult result{.y = std::vector<float>(row_.x.size()),
                       .dx = std::vector<float>(row_.x.size()),
                       .gradients = {}};
    for (std::size_t b = 0; b < weights_.size(); ++b) {
      result.gradients.push_back(zero_weights<float>(row_.block));
    }
    const BlockCall call{.rotary = rotary_,
                         .attention = attention_,
                         .weights = weights_,
                         .gradients = result.gradients,
                         .x = row_.x,
                         .upstream = row_.upstream,
                         .y = result.y,
                         .dx = result.dx};
    auto begin = std::chrono::steady_clock::now();
    program_.run(program_.forward_steps(), memory, call);
    memory.end_forward();
    result.forward_s = seconds_since(begin);
    begin = std::chrono::steady_clock::now();
    program_.run(program_.backward_steps(), memory, call);
    result.backward_s = seconds_since(begin);
    return result;
  }

 private:
  const OffloadRow& row_;
  std::int64_t tokens_;
  std::vector<BlockWeights<float>> weights_;
  RotaryTable rotary_;
  LocalAttention attention_;
  BlockProgram program_;
};

}  // namespace

std::vector<std::string> check(const OffloadOptions& options) {
  std::vector<std::string> problems;
  if (options.blocks < 1 || options.blocks > 1024) {
    problems.push_back("offload.blocks must be from 1 to 1024, is " +
                       std::to_string(options.blocks));
  }
  if (!(options.in_flight > 0 && options.in_flight <= 1)) {
    problems.push_back("offload.in_flight must be above 0 and at most 1, is " +
                       std::to_string(options.in_flight));
  }
  if (options.repeats < 1) {
    problems.push_back("offload.repeats must be at least 1, is " + std::to_string(options.repeats));
  }
  return problems;
}

OffloadMeasurement run_offloaded(const BlockWeights<float>& weights, const OffloadRow& row,
                                 const PlannedOffload& planned, const OffloadOptions& options) {
  OffloadedStack stack(weights, row, options.blocks);
  OffloadMeasurement seen{.planned = planned, .blocks = options.blocks, .same_bits = true};
  HostLink link;
  // The first run tells which tensors are saved, and is not timed.
  StackMemory first(stack.program());
  const StackResult want = stack.run(first);
  seen.device_bytes_alone = first.most_device_bytes();
  seen.saved_bytes = first.saved_bytes();
  OffloadRates rates{.share = planned.share,
                     .in_flight = static_cast<std::int64_t>(options.in_flight *
                                                            static_cast<double>(seen.saved_bytes))};
  std::vector<double> forward, backward, predicted, executed, with_copies;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    StackMemory plain(stack.program());
    const StackResult alone = stack.run(plain);
    if (repeat == 0) {
      const double work = alone.forward_s + alone.backward_s;
      const double bytes = std::max(1.0, planned.share * static_cast<double>(seen.saved_bytes));
      rates.out_s_per_byte = planned.out_parts * work / bytes;
      rates.in_s_per_byte = planned.in_parts * work / bytes;
    }
    StackMemory away(stack.program(), first.uses(), rates, link);
    const StackResult result = stack.run(away);
    seen.same_bits = seen.same_bits && result.same(want);
    seen.moved_bytes = away.moved_bytes();
    seen.device_bytes = std::max(seen.device_bytes, away.most_device_bytes());
    forward.push_back(alone.forward_s);
    backward.push_back(alone.backward_s);
    // Returns the time of the copies that is longer than the pass computed, in seconds.
    const auto left = [&](double s_per_byte, double pass_s, double wait_s) {
      const double copies_s = static_cast<double>(seen.moved_bytes) * s_per_byte;
      return std::max(0.0, copies_s - (pass_s - wait_s));
    };
    predicted.push_back(left(rates.out_s_per_byte, result.forward_s, away.forward_wait_s()) +
                        left(rates.in_s_per_byte, result.backward_s, away.backward_wait_s()));
    executed.push_back(away.forward_wait_s() + away.backward_wait_s());
    with_copies.push_back(result.forward_s + result.backward_s);
  }
  seen.forward_s = median_s(forward);
  seen.backward_s = median_s(backward);
  seen.predicted_stall_s = median_s(predicted);
  seen.executed_stall_s = median_s(executed);
  seen.slower_s = median_s(with_copies) - seen.forward_s - seen.backward_s;
  return seen;
}

}  // namespace stowage::kernels
