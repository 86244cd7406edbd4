// Cuts a step into micro-batches (chunks).
//
// Every function returns the positions of each micro-batch in ascending order. grouping.h decides
// if a micro-batch can be grouped.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "instances/budget.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

using Chunks = std::vector<std::vector<int>>;

// Returns a lower bound on the number of micro-batches: ceil(tokens / (N C)), or more if the limit
// on sequences per group needs more. Requires C >= 1.
int fewest_micro_batches(const ScatterTable& table);

// Cuts the sequences, longest first, into `count` consecutive chunks that minimise the largest
// token sum. Among the optimal cuts, returns the one whose early chunks are fullest. Returns fewer
// chunks if there are fewer sequences. FlexSP (arXiv 2412.01523, section 4.3) finds the same
// optimum by dynamic programming.
Chunks token_chunks(const ScatterTable& table, int count);

// Spreads the sequences over `count` chunks by longest processing time on device-time, at most N C
// tokens each, so that every chunk gets long and short sequences. Returns nullopt if a sequence
// fits no chunk.
std::optional<Chunks> spread_chunks(const ScatterTable& table, int count);

// First-fit decreasing of tokens into chunks of N C tokens.
Chunks first_fit_chunks(const ScatterTable& table);

// Returns the makespan in ms of a chunk given by its positions (ascending), or infinity if it
// cannot be grouped.
using ChunkCost = std::function<Ms(std::span<const int> positions)>;

struct PathEffort {
  int rounds = 30;        // pricing rounds, at most
  double worthwhile = 0;  // least improvement, as a share of the best path, for another round
  int spread = 0;         // also find the best paths of up to this many micro-batches less and more
};

// Finds consecutive chunks, longest first, as a shortest path over cut points. An arc is a chunk of
// at most N C tokens. Arcs first carry an estimate that rarely exceeds the true makespan. Each
// round prices the arcs of the shortest path by `cost`. The rounds end when all arcs of the path
// are priced, or when the effort or the budget is spent. The best fully priced path wins, and it
// gives the number of micro-batches.
struct ChunkPaths {
  // The best path, then paths of neighbouring counts; empty if no path was fully priced.
  std::vector<Chunks> best;
  // Paths that were the best of their count for a while. After the rules or a pipeline are
  // considered, one of them may make the better step.
  std::vector<Chunks> outrun;
};
ChunkPaths shortest_path_chunks(const ScatterTable& table, const ChunkCost& cost,
                                const PathEffort& effort, const Budget& budget);

}  // namespace stowage
