// Cutting a step into micro-batches.
//
// Every function returns, per micro-batch, its positions in ascending order. Whether a micro-batch
// can be grouped is another question: see grouping.h.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "instances/budget.h"
#include "instances/scatter/table.h"

namespace stowage {

using Chunks = std::vector<std::vector<int>>;

// ceil(tokens / (N C)), or as many as sequences per group ask for: no plan has fewer micro-batches.
// Requires C >= 1.
int fewest_micro_batches(const ScatterTable& table);

// Cuts the sequences, longest first, into `count` consecutive chunks that minimise the largest
// token sum; among the optimal cuts the one whose early chunks are fullest. Fewer chunks if there
// are fewer sequences. Source: FlexSP (arXiv 2412.01523, section 4.3), where a dynamic programme
// finds the same optimum.
Chunks token_chunks(const ScatterTable& table, int count);

// Spreads the sequences over `count` chunks by longest-processing-time on device-time, none above
// N C tokens, so that every chunk gets long and short ones. Nothing if one finds no room.
std::optional<Chunks> spread_chunks(const ScatterTable& table, int count);

// First-fit-decreasing of tokens into chunks of N C: the fewest chunks a simple rule finds.
Chunks first_fit_chunks(const ScatterTable& table);

// The makespan of a chunk given by its positions (ascending), or infinity if it cannot be grouped.
using ChunkCost = std::function<Ms(std::span<const int> positions)>;

struct PathEffort {
  int rounds = 30;        // at most
  double worthwhile = 0;  // a promise of less, as a fraction of the best path, ends the rounds
  int spread = 0;         // also the best paths of up to so many micro-batches less and more
};

// Consecutive chunks, longest first, as a shortest path over cut points: an arc is a chunk of at
// most N C tokens. Arcs first carry an estimate, which should rarely exceed the truth; those on the
// shortest path are then priced by `cost`, until a path is priced throughout, the effort is spent
// or the budget ends, and the best fully priced path wins. The number of micro-batches follows.
struct ChunkPaths {
  std::vector<Chunks> best;  // the best path, then those of other numbers; empty: none was priced
  // The paths that were the best of their number for a while. The rules or a pipeline may make one
  // of them the better step.
  std::vector<Chunks> outrun;
};
ChunkPaths shortest_path_chunks(const ScatterTable& table, const ChunkCost& cost,
                                const PathEffort& effort, const Budget& budget);

}  // namespace stowage
