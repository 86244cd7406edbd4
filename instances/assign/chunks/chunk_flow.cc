#include "instances/assign/chunks/chunk_flow.h"

#include <algorithm>
#include <optional>

namespace stowage {
namespace {

Tokens tokens_of(const Chunk& chunk) {
  Tokens tokens = 0;
  for (const ChunkPiece& piece : chunk.pieces) tokens += piece.end - piece.begin;
  return tokens;
}

// Returns end^2 - begin^2. Subtracting the squares would cancel: a short last chunk behind 10^8
// tokens would lose digits that the verifier checks.
double squares_between(double begin, double end) { return (end - begin) * (end + begin); }

}  // namespace

std::vector<Chunk> cut_into_chunks(const std::vector<Tokens>& lengths, Tokens chunk_size) {
  std::vector<std::size_t> order(lengths.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<Chunk> chunks;
  std::vector<Tokens> room;  // tokens left in each chunk
  for (const std::size_t id : order) {
    if (lengths[id] > chunk_size) continue;
    const auto fitting =
        std::find_if(room.begin(), room.end(), [&](Tokens left) { return left >= lengths[id]; });
    const auto chunk = static_cast<std::size_t>(fitting - room.begin());
    if (fitting == room.end()) {
      chunks.emplace_back();
      room.push_back(chunk_size);
    }
    chunks[chunk].pieces.push_back({static_cast<std::int64_t>(id), 0, lengths[id]});
    room[chunk] -= lengths[id];
  }
  for (std::size_t id = 0; id < lengths.size(); ++id) {
    if (lengths[id] <= chunk_size) continue;
    const auto count = static_cast<std::size_t>((lengths[id] + chunk_size - 1) / chunk_size);
    for (std::size_t index = 0; index < count; ++index) {
      const Tokens begin = static_cast<Tokens>(index) * chunk_size;
      const Tokens end = std::min(begin + chunk_size, lengths[id]);
      chunks.push_back({{{static_cast<std::int64_t>(id), begin, end}}, index, count});
    }
  }
  return chunks;
}

Ms piece_ms(const ChunkPiece& piece, const Scheme& scheme) {
  const auto begin = static_cast<double>(piece.begin);
  const auto end = static_cast<double>(piece.end);
  return scheme.quadratic_ms * squares_between(begin, end) + scheme.linear_ms * (end - begin);
}

Ms chunk_ms(const Chunk& chunk, const Scheme& scheme) {
  Ms ms = scheme.fixed_ms;
  for (const ChunkPiece& piece : chunk.pieces) ms += piece_ms(piece, scheme);
  return ms;
}

Ms chunk_pass_ms(const Chunk& chunk, const Scheme& scheme, std::size_t retained) {
  const Ms once = chunk_ms(chunk, scheme);
  return chunk.index + retained < chunk.count ? twice_ms(once) : once;
}

std::int64_t most_passes(const AssignInstance& instance) {
  const std::optional<ChunkRule>& rule = instance.constraints.chunks;
  std::int64_t rows = cut_parts(instance);
  for (const Tokens length : instance.lengths) {
    rows += !rule || padded_length(instance, length) <= rule->size ? 1 : 0;
  }
  int stages = 1;
  for (const Scheme& scheme : instance.schemes) stages = std::max(stages, scheme.pp);
  return rows * stages;
}

CutCost cut_cost(Tokens length, const ChunkRule& rule, const Scheme& scheme) {
  const Tokens count = (length + rule.size - 1) / rule.size;
  const Tokens twice = std::max<Tokens>(0, count - rule.retained);
  const auto time = [&](Tokens begin, Tokens end) {  // of a chunk, and without c of several
    const auto from = static_cast<double>(begin);
    const auto to = static_cast<double>(end);
    return scheme.quadratic_ms * squares_between(from, to) + scheme.linear_ms * (to - from);
  };
  constexpr double kThird = 1.0 / (1 + kBackwardPerForward);
  CutCost cost{.chunks = count};
  cost.sum = scheme.fixed_ms * static_cast<double>(count) + time(0, length) +
             kThird * (scheme.fixed_ms * static_cast<double>(twice) + time(0, twice * rule.size));
  // Of chunks of one size the later ones take longer. So the longest chunk is the last one that
  // goes forward twice, the last one of full size, or the last one.
  const auto consider = [&](Tokens index) {
    if (index < 0 || index >= count) return;
    const Tokens begin = index * rule.size;
    const Ms once = scheme.fixed_ms + time(begin, std::min(begin + rule.size, length));
    cost.longest = std::max(cost.longest, index < twice ? once * (1 + kThird) : once);
  };
  consider(twice - 1);
  consider(count - 2);
  consider(count - 1);
  return cost;
}

// At least `twice` parts come before the retained ones, and they have at least `again` tokens.
LeastCut least_cut(Tokens length, const ChunkRule& rule, const Scheme& scheme) {
  const Tokens fewest = (length + rule.size - 1) / rule.size;
  const Tokens twice = std::max<Tokens>(0, fewest - rule.retained);
  const Tokens again = twice == 0 ? 0 : length - rule.retained * rule.size;
  constexpr double kThird = 1.0 / (1 + kBackwardPerForward);
  return {.fewest = fewest,
          .work = piece_ms({0, 0, length}, scheme) +
                  kThird * (scheme.fixed_ms * static_cast<double>(twice) +
                            piece_ms({0, 0, again}, scheme))};
}

std::vector<Chunk> chunks_of(const AssignInstance& instance, const std::vector<AssignRow>& rows) {
  std::vector<Chunk> chunks;
  chunks.reserve(rows.size());
  for (const AssignRow& row : rows) {
    Chunk& chunk = chunks.emplace_back();
    for (const std::int64_t id : row.sequences) {
      const Tokens length = padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]);
      const TokenRange range = row.part.value_or(TokenRange{0, length});
      chunk.pieces.push_back({id, range.begin, range.end});
    }
  }
  // The parts of a sequence stand side by side.
  const auto follows = [&](std::size_t j) { return rows[j].part && rows[j].part->begin > 0; };
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && follows(end)) ++end;
    for (std::size_t j = first; j < end; ++j) {
      chunks[j].index = j - first;
      chunks[j].count = end - first;
    }
    first = end;
  }
  return chunks;
}

std::vector<PipelineItem> chunk_items(const std::vector<Chunk>& chunks, const Scheme& scheme,
                                      std::size_t retained, const ChunkMemory& memory) {
  std::vector<PipelineItem> items;
  items.reserve(chunks.size());
  for (const Chunk& chunk : chunks) {
    const Ms time = chunk_ms(chunk, scheme);  // in thirds of a millisecond, as in simulate_1f1b()
    const Bytes activation = memory.activation * tokens_of(chunk);
    const Bytes key_value = memory.key_value * tokens_of(chunk);
    const bool kept = chunk.index + retained >= chunk.count;
    items.push_back({.forward = time,
                     .backward = kBackwardPerForward * time,
                     .recompute = kept ? 0 : time,
                     .group_size = chunk.index == 0 ? chunk.count : 0,
                     .stored = kept ? activation : key_value,
                     .working = kept ? 0 : activation - key_value});
  }
  return items;
}

PipelineRun run_chunks(const std::vector<Chunk>& chunks, const Scheme& scheme, std::size_t retained,
                       const ChunkMemory& memory) {
  PipelineRun run = run_pipeline(chunk_items(chunks, scheme, retained, memory), scheme.pp);
  run.end /= 1 + kBackwardPerForward;
  run.busy /= 1 + kBackwardPerForward;
  return run;
}

}  // namespace stowage
