#include "solvers/layout/published/memo_paper.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "instances/layout/load.h"
#include "instances/layout/plan_builder.h"

namespace stowage {
namespace {

const Buffer& buffer_at(const LayoutInstance& instance, std::int64_t index) {
  return instance.buffers[static_cast<std::size_t>(index)];
}

// Returns the instance of the buffers of one occurrence.
LayoutInstance inner_instance(const LayoutInstance& instance,
                              const std::vector<std::int64_t>& occurrence) {
  LayoutInstance inner{.name = instance.name, .alignment = instance.alignment};
  for (const std::int64_t i : occurrence) inner.buffers.push_back(buffer_at(instance, i));
  return inner;
}

// Returns the buffer that replaces an occurrence in the outer instance. Its alignment is a multiple
// of every inner alignment. Returns nullopt if that multiple exceeds kMaxExact.
std::optional<Buffer> pseudo_buffer(const LayoutInstance& instance,
                                    const std::vector<std::int64_t>& occurrence, Bytes peak) {
  Buffer pseudo{.lower = kMaxExact, .upper = 0, .size = peak};
  for (const std::int64_t i : occurrence) {
    const Buffer& buffer = buffer_at(instance, i);
    pseudo.lower = std::min(pseudo.lower, buffer.lower);
    pseudo.upper = std::max(pseudo.upper, buffer.upper);
    const Bytes unit = alignment_of(instance, buffer);
    const auto common = checked_mul(pseudo.alignment / std::gcd(pseudo.alignment, unit), unit);
    if (!common || *common > kMaxExact) return std::nullopt;
    pseudo.alignment = *common;
  }
  return pseudo;
}

}  // namespace

std::optional<MemoPlan> plan_memo(const LayoutInstance& instance, const LayoutPlanner& planner,
                                  Budget& budget) {
  MemoPlan memo;
  std::vector<Bytes> relative(instance.buffers.size(), 0);      // offset within the pseudo buffer
  std::vector<std::int64_t> home(instance.buffers.size(), -1);  // index in the outer instance
  LayoutInstance outer{
      .name = instance.name, .capacity = instance.capacity, .alignment = instance.alignment};
  for (const RepeatedBlock& block : instance.layers) {
    const auto first = std::find_if(block.occurrences.begin(), block.occurrences.end(),
                                    [](const auto& occurrence) { return !occurrence.empty(); });
    if (first == block.occurrences.end()) continue;
    const auto inner = planner(inner_instance(instance, *first), budget);
    if (!inner) return std::nullopt;
    memo.block_peaks.push_back(inner->peak_bytes);
    for (const std::vector<std::int64_t>& occurrence : block.occurrences) {
      auto pseudo = pseudo_buffer(instance, occurrence, inner->peak_bytes);
      if (!pseudo) return std::nullopt;
      for (std::size_t j = 0; j < occurrence.size(); ++j) {
        relative[static_cast<std::size_t>(occurrence[j])] = inner->offsets[j];
        home[static_cast<std::size_t>(occurrence[j])] =
            static_cast<std::int64_t>(outer.buffers.size());
      }
      outer.buffers.push_back(*std::move(pseudo));
    }
  }
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    if (home[i] >= 0) continue;
    home[i] = static_cast<std::int64_t>(outer.buffers.size());
    outer.buffers.push_back(instance.buffers[i]);
  }
  for (Buffer& buffer : outer.buffers) buffer.id.clear();
  const auto step = planner(outer, budget);
  if (!step) return std::nullopt;
  memo.outer_peak = step->peak_bytes;
  std::vector<Bytes> offsets;
  for (std::size_t i = 0; i < home.size(); ++i) {
    offsets.push_back(step->offsets[static_cast<std::size_t>(home[i])] + relative[i]);
  }
  memo.plan = compose_layout(instance, std::move(offsets));
  return memo;
}

}  // namespace stowage
