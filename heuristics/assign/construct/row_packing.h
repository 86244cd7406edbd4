// Packs the sequences of one replica into rows.
//
//   const RowCounts counts = row_counts(table.constraints());
//   if (auto rows = best_rows(table, scheme, positions, counts)) use(rows->time);
//
// Exact packing gains less than half a percent over these rules followed by moves, measured on
// Hydraulis steps. The effort therefore goes into dispatch and row counts.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heuristics/assign/working_plan.h"
#include "instances/budget.h"

namespace stowage {

// The permitted numbers of rows of a replica with sequences.
struct RowCounts {
  int multiple = 1;  // the count is a multiple of this value
  int exact = 0;     // if positive, the count is exactly this value

  // Returns the least permitted count of at least `rows`, or 0 if none is permitted.
  int at_least(Tokens rows) const;
  // no count one higher or lower is permitted
  bool fixed() const { return exact > 0 || multiple > 1; }
};

// Returns the counts without the common number of equal_rows, which the planner chooses.
RowCounts row_counts(const RowConstraints& constraints);

// Sums over a replica's sequences before they are packed into rows.
struct LoadSum {
  Tokens tokens = 0;
  Ms work = 0;
  Ms longest = 0;  // work of the longest sequence
  int sequences = 0;

  void add(const AssignTable& table, int scheme, int position);
};

// Returns a lower bound in ms on T of `load` in `rows` rows: the time of equally long rows, none
// shorter than the longest sequence.
Ms even_time(const Scheme& scheme, const LoadSum& load, int rows);

// Returns the least even_time() in ms over the permitted row counts that the tokens and sequences
// allow. Returns infinity if no count is permitted, and 0 without sequences.
Ms even_time(const Scheme& scheme, const LoadSum& load, const RowCounts& counts);

// Packs by LPT on work into at most `rows` rows under the cap, empty rows first. Returns nullopt if
// a sequence finds no room. `positions` ascend.
std::optional<std::vector<WorkingRow>> even_rows(const AssignTable& table, int scheme,
                                                 std::span<const int> positions, int rows);

// Packs exactly `rows` non-empty rows within the cap: by LPT on work, or best-fit-decreasing if
// that exceeds the cap, or by filling rows one by one if that does too. Splits the heaviest rows
// until there are enough. Returns nullopt if all fail. `positions` ascend.
std::optional<std::vector<WorkingRow>> fit_rows(const AssignTable& table, int scheme,
                                                std::span<const int> positions, int rows);

// Returns the next count to try after `rows`, for which fit_rows() failed. If there are many rows,
// this is the number that best-fit-decreasing needs, so that hopeless counts are skipped. The
// counts are tried one by one in pipelines with few sequences, because LPT may succeed with fewer
// rows.
int count_after_failure(const AssignTable& table, int scheme, std::span<const int> positions,
                        const RowCounts& counts, int rows);

// Returns the fastest packing of fit_rows() over the permitted row counts, tried by increasing
// even_time(). Returns nullopt if no count fits. If the budget is exhausted, returns the first
// packing that fits, or nullopt if `give_up` is set.
std::optional<WorkingReplica> best_rows(const AssignTable& table, int scheme,
                                        std::span<const int> positions, const RowCounts& counts,
                                        const Budget& budget = Budget(), bool give_up = false);

// Returns the packing of fit_rows() with the fewest permitted rows, or nullopt if no count fits.
std::optional<WorkingReplica> fewest_rows(const AssignTable& table, int scheme,
                                          std::span<const int> positions, const RowCounts& counts);

// Splits the heaviest rows of at least two sequences until there are `rows` rows. Returns false if
// there are too few sequences. Requires at most `rows` rows at the start.
bool split_rows(const AssignTable& table, int scheme, int rows, std::vector<WorkingRow>& packed);

}  // namespace stowage
