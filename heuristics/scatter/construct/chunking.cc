#include "heuristics/scatter/construct/chunking.h"

#include <algorithm>
#include <numeric>

#include "heuristics/packing.h"

namespace stowage {
namespace {

std::vector<Tokens> lengths_of(const ScatterTable& table) {
  std::vector<Tokens> lengths;
  for (int position = 0; position < table.size(); ++position) {
    lengths.push_back(table.length(position));
  }
  return lengths;
}

// Returns consecutive chunks, each as full as `most` tokens allow.
Chunks fill(const std::vector<Tokens>& lengths, Tokens most) {
  Chunks chunks;
  Tokens sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (chunks.empty() || sum + lengths[i] > most) {
      chunks.emplace_back();
      sum = 0;
    }
    chunks.back().push_back(static_cast<int>(i));
    sum += lengths[i];
  }
  return chunks;
}

// Sorts each bin. Item indices are positions because sizes are listed by position.
Chunks in_order(Bins bins) {
  std::erase_if(bins, [](const auto& bin) { return bin.empty(); });
  for (auto& bin : bins) std::sort(bin.begin(), bin.end());
  return bins;
}

}  // namespace

int fewest_micro_batches(const ScatterTable& table) {
  const Tokens tokens = table.total_held();
  if (tokens == 0) return 0;
  const Tokens capacity = table.batch_capacity();
  const Tokens by_tokens = tokens / capacity + (tokens % capacity != 0);
  const GroupConfig& least = table.configs().front();
  const std::int64_t together =
      checked_mul(table.devices() / least.degree, least.sequences).value_or(kMaxExact);
  const Tokens by_count = (table.size() + together - 1) / together;
  return static_cast<int>(std::max(by_tokens, by_count));
}

Chunks token_chunks(const ScatterTable& table, int count) {
  const std::vector<Tokens> lengths = lengths_of(table);
  if (lengths.empty()) return {};
  Tokens low = lengths.front();
  Tokens high = std::accumulate(lengths.begin(), lengths.end(), Tokens{0});
  while (low < high) {
    const Tokens middle = low + (high - low) / 2;
    if (fill(lengths, middle).size() <= static_cast<std::size_t>(count)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return fill(lengths, low);
}

std::optional<Chunks> spread_chunks(const ScatterTable& table, int count) {
  std::vector<double> areas;
  for (int position = 0; position < table.size(); ++position) {
    areas.push_back(table.area(position));
  }
  std::optional<Bins> bins =
      longest_processing_time(areas, lengths_of(table), count, table.batch_capacity());
  if (!bins) return std::nullopt;
  return in_order(std::move(*bins));
}

Chunks first_fit_chunks(const ScatterTable& table) {
  std::optional<Bins> bins = first_fit_decreasing(lengths_of(table), table.batch_capacity());
  return bins ? in_order(std::move(*bins)) : Chunks{};
}

}  // namespace stowage
