#include "kernels/scaled_plan.h"

#include <algorithm>

namespace stowage::kernels {
namespace {

Tokens shrink(Tokens length, std::int64_t scale) {
  return length / scale + (length % scale != 0 ? 1 : 0);
}

// A plan's segment of `given` tokens where the sequence has `length`: equal stays equal, shorter
// stays shorter, longer stays longer.
Tokens shrink_segment(Tokens given, Tokens length, std::int64_t scale) {
  const Tokens right = shrink(length, scale);
  if (given == length) return right;
  const Tokens scaled = shrink(given, scale);
  return given < length ? std::min(scaled, right - 1) : std::max(scaled, right + 1);
}

// The sound groups of a plan at full length.
struct FullGroup {
  int micro_batch = 0, group = 0;
  const ScatterGroup* plan = nullptr;
};

std::string name_of(int micro_batch, int group) {
  return "group " + std::to_string(group) + " of micro-batch " + std::to_string(micro_batch);
}

// Reports everything wrong with a group. Returns whether it can be executed at all: a group whose
// segments do not match its sequences can be (its result is then wrong, and shown to be).
bool inspect(const ScatterGroup& group, const std::string& name, const std::vector<Tokens>& padded,
             Problems& problems) {
  bool sound = true;
  const auto broken = [&](const std::string& what) {
    problems.add(name + ": " + what);
    sound = false;
  };
  if (group.degree < 1) broken("degree must be at least 1, is " + std::to_string(group.degree));
  const auto count = static_cast<std::int64_t>(padded.size());
  Tokens held = 0;
  for (const std::int64_t id : group.sequences) {
    if (id < 0 || id >= count) {
      broken("sequence " + std::to_string(id) + " does not exist, the instance has " +
             std::to_string(count));
    } else {
      held = std::min(held + padded[id], kMaxExact);
    }
  }
  const std::vector<std::int64_t>& cu = group.cu_seqlens;
  if (cu.size() != group.sequences.size() + 1) {
    broken("cu_seqlens must have " + std::to_string(group.sequences.size() + 1) + " entries, has " +
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
  if (!sound) return false;
  for (std::size_t i = 0; i < group.sequences.size(); ++i) {
    const std::int64_t id = group.sequences[i];
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
  if (group.tokens != held) {
    problems.add(name + ": tokens says " + std::to_string(group.tokens) + " but it holds " +
                 std::to_string(held));
  }
  return true;
}

double work_of(const std::vector<Tokens>& padded, const std::vector<FullGroup>& groups,
               const BlockShape& block, std::int64_t scale) {
  double alone = 0, planned = 0;
  for (const Tokens length : padded) {
    alone += block_flop(block, static_cast<double>(shrink(length, scale)));
  }
  for (const FullGroup& full : groups) {
    const auto& cu = full.plan->cu_seqlens;
    double rows = 0;  // a segment never gets more than was packed, whatever the plan says
    for (const std::int64_t id : full.plan->sequences) {
      rows += static_cast<double>(shrink(padded[id], scale));
    }
    for (std::size_t i = 0; i + 1 < cu.size(); ++i) {
      // Tokens are computed as the loader packs them, attention as cu_seqlens cuts them: the
      // longer of the two bounds both.
      const Tokens length = padded[full.plan->sequences[i]];
      const Tokens segment = shrink_segment(cu[i + 1] - cu[i], length, scale);
      const Tokens longer = std::max(segment, shrink(length, scale));
      planned += block_flop(block, std::min(static_cast<double>(longer), rows));
    }
  }
  return std::max(alone, planned);
}

std::int64_t choose_scale(const std::vector<Tokens>& padded, const std::vector<FullGroup>& groups,
                          const BlockShape& block, double max_work_flop) {
  std::int64_t low = 1, high = 1;  // the answer lies in [low, high]
  for (const Tokens length : padded) high = std::max(high, length);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (work_of(padded, groups, block, middle) <= max_work_flop) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

std::string ScaledGroup::name() const { return name_of(micro_batch, group); }

ScaledPlan scale_plan(const ScatterInstance& instance, const ScatterPlan& plan,
                      const BlockShape& block, std::int64_t scale, double max_work_flop) {
  ScaledPlan result;
  if (scale < 0) result.problems.add("scale must be 0 or more, is " + std::to_string(scale));
  if (instance.pad_multiple < 1 || instance.pad_multiple > kMaxExact) {
    result.problems.add("pad_multiple must be from 1 to 2^53, is " +
                        std::to_string(instance.pad_multiple));
  }
  for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
    if (instance.lengths[id] < 1 || instance.lengths[id] > kMaxExact) {
      result.problems.add("sequence " + std::to_string(id) +
                          " must have from 1 to 2^53 tokens, has " +
                          std::to_string(instance.lengths[id]));
    }
  }
  if (!result.problems.list().empty()) return result;

  const std::vector<Tokens> padded = padded_lengths(instance);
  std::vector<FullGroup> sound;
  for (std::size_t m = 0; m < plan.micro_batches.size(); ++m) {
    const auto& groups = plan.micro_batches[m].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const FullGroup full{static_cast<int>(m), static_cast<int>(g), &groups[g]};
      if (inspect(groups[g], name_of(full.micro_batch, full.group), padded, result.problems)) {
        sound.push_back(full);
      }
    }
  }
  result.scale = scale > 0 ? scale : choose_scale(padded, sound, block, max_work_flop);
  result.work_flop = work_of(padded, sound, block, result.scale);
  for (std::size_t id = 0; id < padded.size(); ++id) {
    const Tokens length = shrink(padded[id], result.scale);
    if (length > kMaxGroupRows) {
      result.problems.add("sequence " + std::to_string(id) + " has " + std::to_string(length) +
                          " tokens even after scaling, at most " + std::to_string(kMaxGroupRows) +
                          " can be executed");
      result.lengths.clear();
      return result;
    }
    result.lengths.push_back(length);
  }

  for (const FullGroup& full : sound) {
    ScaledGroup group{.micro_batch = full.micro_batch,
                      .group = full.group,
                      .degree = full.plan->degree,
                      .predicted_ms = full.plan->time_ms,
                      .sequences = full.plan->sequences,
                      .rows = {0},
                      .cu_seqlens = {0}};
    std::int64_t rows = 0;
    for (const std::int64_t id : group.sequences) {
      rows = std::min(rows + result.lengths[id], kMaxGroupRows + 1);
      group.rows.push_back(static_cast<std::int32_t>(rows));
    }
    if (rows > kMaxGroupRows) {
      result.problems.add(group.name() + ": more than " + std::to_string(kMaxGroupRows) +
                          " tokens even after scaling, cannot be executed");
      continue;
    }
    std::int64_t end = 0;
    for (std::size_t i = 0; i < group.sequences.size(); ++i) {
      const Tokens given = full.plan->cu_seqlens[i + 1] - full.plan->cu_seqlens[i];
      end += shrink_segment(given, padded[group.sequences[i]], result.scale);
      end = std::min(end, rows);  // attention must not read beyond what was packed
      group.cu_seqlens.push_back(static_cast<std::int32_t>(end));
    }
    result.groups.push_back(std::move(group));
  }
  return result;
}

}  // namespace stowage::kernels
