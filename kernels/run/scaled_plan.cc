#include "kernels/run/scaled_plan.h"

#include <algorithm>
#include <utility>

namespace stowage::kernels {
namespace {

Tokens shrink(Tokens length, std::int64_t scale) {
  return length / scale + (length % scale != 0 ? 1 : 0);
}

// Scales a plan's segment of `given` tokens of a sequence with `length` tokens. A segment that is
// equal to, shorter than or longer than the sequence stays so after scaling.
Tokens shrink_segment(Tokens given, Tokens length, std::int64_t scale) {
  const Tokens right = shrink(length, scale);
  if (given == length) return right;
  const Tokens scaled = shrink(given, scale);
  return given < length ? std::min(scaled, right - 1) : std::max(scaled, right + 1);
}

// Adds all problems of a batch. Returns whether the batch can be executed. A batch whose segments
// differ from its sequences can be executed, and the comparison then shows the wrong result.
bool inspect(const PackedBatch& batch, const std::string& name, const std::vector<Tokens>& padded,
             Problems& problems) {
  bool sound = true;
  const auto broken = [&](const std::string& what) {
    problems.add(name + ": " + what);
    sound = false;
  };
  if (batch.degree < 1) broken("degree must be at least 1, is " + std::to_string(batch.degree));
  const auto count = static_cast<std::int64_t>(padded.size());
  Tokens held = 0;
  for (const std::int64_t id : batch.sequences) {
    if (id < 0 || id >= count) {
      broken("sequence " + std::to_string(id) + " does not exist, the instance has " +
             std::to_string(count));
    } else {
      held = std::min(held + padded[id], kMaxExact);
    }
  }
  const std::vector<std::int64_t>& cu = batch.cu_seqlens;
  if (cu.size() != batch.sequences.size() + 1) {
    broken("cu_seqlens must have " + std::to_string(batch.sequences.size() + 1) + " entries, has " +
           std::to_string(cu.size()));
    return false;
  }
  if (cu.front() != 0) broken("cu_seqlens must begin at 0, begins at " + std::to_string(cu[0]));
  for (std::size_t i = 1; i < cu.size(); ++i) {
    if (cu[i] < cu[i - 1] || cu[i] > kMaxExact) {
      broken("cu_seqlens[" + std::to_string(i) + "] must be from " + std::to_string(cu[i - 1]) +
             " to " + std::to_string(kMaxExact) + ", is " + std::to_string(cu[i]));
    }
  }
  if (!batch.cuts.empty() && sound) {
    bool ascending = batch.first_token == 0;
    Tokens before = 0;
    for (const Tokens cut : batch.cuts) {
      ascending = ascending && cut > std::exchange(before, cut);
    }
    if (!ascending || batch.sequences.size() != 1 || before != padded[batch.sequences[0]]) {
      broken("parts from token " + std::to_string(batch.first_token) + " to " +
             std::to_string(before) + " must be all of one sequence, in order");
    }
  }
  if (!sound) return false;
  for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
    const std::int64_t id = batch.sequences[i];
    if (cu[i + 1] - cu[i] != padded[id]) {
      problems.add(name + ": cu_seqlens gives sequence " + std::to_string(id) + ' ' +
                   std::to_string(cu[i + 1] - cu[i]) + " tokens, it has " +
                   std::to_string(padded[id]));
    }
  }
  if (cu.back() != held) {
    problems.add(name + ": cu_seqlens ends at " + std::to_string(cu.back()) + " but holds " +
                 std::to_string(held) + " tokens");
  }
  if (batch.tokens != held) {
    problems.add(name + ": tokens says " + std::to_string(batch.tokens) + " but it holds " +
                 std::to_string(held));
  }
  return true;
}

std::vector<LayerKind> layers_of(const PackedPlan& plan, std::int64_t scale) {
  if (plan.window < 1 || !(plan.window_share > 0)) return {{}};
  const Tokens window = shrink(plan.window, scale);
  if (plan.window_share >= 1) return {{.window = window}};
  return {{.window = 0, .share = 1 - plan.window_share},
          {.window = window, .share = plan.window_share}};
}

// Returns the work of one kind of layer.
double work_of(const std::vector<Tokens>& padded, const std::vector<PackedBatch>& batches,
               const BlockShape& block, std::int64_t scale) {
  double alone = 0, planned = 0;
  for (const Tokens length : padded) {
    alone += block_flop(block, static_cast<double>(shrink(length, scale)));
  }
  for (const PackedBatch& batch : batches) {
    const auto& cu = batch.cu_seqlens;
    double rows = 0;  // bound of the rows: a segment never has more rows than the loader packed
    for (const std::int64_t id : batch.sequences) {
      rows += static_cast<double>(shrink(padded[id], scale));
    }
    for (std::size_t i = 0; i + 1 < cu.size(); ++i) {
      // The loader's lengths determine the computed tokens, and cu_seqlens the attention. The
      // longer of the two bounds both.
      const Tokens length = padded[batch.sequences[i]];
      const Tokens segment = shrink_segment(cu[i + 1] - cu[i], length, scale);
      const Tokens longer = std::max(segment, shrink(length, scale));
      planned += block_flop(block, std::min(static_cast<double>(longer), rows));
    }
  }
  return std::max(alone, planned);
}

// Returns the work of all kinds of layers.
double work_of(const PackedPlan& plan, const std::vector<Tokens>& padded,
               const std::vector<PackedBatch>& batches, BlockShape block, std::int64_t scale) {
  double work = 0;
  for (const LayerKind& kind : layers_of(plan, scale)) {
    block.window = kind.window;
    work += work_of(padded, batches, block, scale);
  }
  return work;
}

std::int64_t choose_scale(const PackedPlan& plan, const std::vector<Tokens>& padded,
                          const std::vector<PackedBatch>& batches, const BlockShape& block,
                          double max_work_flop) {
  std::int64_t low = 1, high = 1;  // the scale lies in [low, high]
  for (const Tokens length : padded) high = std::max(high, length);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (work_of(plan, padded, batches, block, middle) <= max_work_flop) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

ScaledPlan scale_plan(const PackedPlan& plan, const BlockShape& block, std::int64_t scale,
                      double max_work_flop) {
  ScaledPlan result;
  if (scale < 0) result.problems.add("scale must be 0 or more, is " + std::to_string(scale));
  if (plan.pad_multiple < 1 || plan.pad_multiple > kMaxExact) {
    result.problems.add("pad_multiple must be from 1 to 2^53, is " +
                        std::to_string(plan.pad_multiple));
  }
  for (std::size_t id = 0; id < plan.lengths.size(); ++id) {
    if (plan.lengths[id] < 1 || plan.lengths[id] > kMaxExact) {
      result.problems.add("sequence " + std::to_string(id) +
                          " must have from 1 to 2^53 tokens, has " +
                          std::to_string(plan.lengths[id]));
    }
  }
  if (!result.problems.list().empty()) return result;

  std::vector<Tokens> padded;
  padded.reserve(plan.lengths.size());
  for (const Tokens length : plan.lengths) padded.push_back(round_up(length, plan.pad_multiple));
  std::vector<PackedBatch> sound;
  for (const PackedBatch& batch : plan.batches) {
    if (inspect(batch, plan.name(batch.part, batch.index), padded, result.problems)) {
      sound.push_back(batch);
    }
  }
  result.scale = scale > 0 ? scale : choose_scale(plan, padded, sound, block, max_work_flop);
  result.layers = layers_of(plan, result.scale);
  result.work_flop = work_of(plan, padded, sound, block, result.scale);
  for (std::size_t id = 0; id < padded.size(); ++id) {
    const Tokens length = shrink(padded[id], result.scale);
    if (length > kMaxBatchRows) {
      result.problems.add("sequence " + std::to_string(id) + " has " + std::to_string(length) +
                          " tokens even after scaling, at most " + std::to_string(kMaxBatchRows) +
                          " can be executed");
      result.lengths.clear();
      return result;
    }
    result.lengths.push_back(length);
  }

  for (const PackedBatch& full : sound) {
    ScaledBatch batch{.part = full.part,
                      .index = full.index,
                      .degree = full.degree,
                      .predicted_ms = full.predicted_ms,
                      .loss_scale = full.loss_scale,
                      .sequences = {full.sequences.begin(), full.sequences.end()},
                      .rows = {0},
                      .cu_seqlens = {0},
                      .retained = full.retained,
                      .longest_share = full.longest_share,
                      .offload = full.offload,
                      .name = plan.name(full.part, full.index)};
    std::int64_t rows = 0;
    for (const std::int64_t id : batch.sequences) {
      rows = std::min(rows + result.lengths[id], kMaxBatchRows + 1);
      batch.rows.push_back(static_cast<std::int32_t>(rows));
    }
    if (rows > kMaxBatchRows) {
      result.problems.add(batch.name + ": more than " + std::to_string(kMaxBatchRows) +
                          " tokens even after scaling, cannot be executed");
      continue;
    }
    std::int64_t end = 0;
    for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
      const Tokens given = full.cu_seqlens[i + 1] - full.cu_seqlens[i];
      end += shrink_segment(given, padded[batch.sequences[i]], result.scale);
      end = std::min(end, rows);  // attention must not read beyond the packed rows
      batch.cu_seqlens.push_back(static_cast<std::int32_t>(end));
    }
    for (const Tokens cut : full.cuts) {
      // short chunks may become empty after scaling
      const Tokens short_cut = shrink(cut, result.scale);
      if (batch.cuts.empty() || short_cut > batch.cuts.back()) batch.cuts.push_back(short_cut);
    }
    result.batches.push_back(std::move(batch));
  }
  return result;
}

}  // namespace stowage::kernels
