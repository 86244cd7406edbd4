// Packing one replica's sequences into rows.
//
//   const RowCounts counts = row_counts(table.constraints());
//   if (auto rows = best_rows(table, scheme, positions, counts)) use(rows->time);
//
// Exact packing gains under half a percent over these rules followed by moves (Hydraulis steps):
// the work goes into dispatch and row counts instead.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heuristics/assign/draft.h"
#include "instances/budget.h"

namespace stowage {

// How many rows a replica that has any may have.
struct RowCounts {
  int multiple = 1;  // a multiple of this ...
  int exact = 0;     // ... or, if positive, exactly so many

  // The least permitted count of at least `rows`; 0 if there is none.
  int at_least(Tokens rows) const;
  bool fixed() const { return exact > 0 || multiple > 1; }  // one row more or less is not permitted
};

// Without the common number of equal_rows, which is the planner's to choose.
RowCounts row_counts(const RowConstraints& constraints);

// What is known of a replica's sequences before they are packed.
struct LoadSum {
  Tokens tokens = 0;
  Ms work = 0;
  Ms longest = 0;  // work of its longest sequence
  int sequences = 0;

  void add(const AssignTable& table, int scheme, int position);
};

// A lower bound on T of `load` in `rows` rows: rows equally long, none shorter than the longest
// sequence.
Ms even_time(const Scheme& scheme, const LoadSum& load, int rows);

// The least even_time over the permitted row counts that the tokens and sequences allow; infinite
// if there is none, 0 without sequences.
Ms even_time(const Scheme& scheme, const LoadSum& load, const RowCounts& counts);

// LPT by work into at most `rows` rows under the cap, those without a sequence first. Nothing if a
// sequence finds no room. `positions` ascend.
std::optional<std::vector<RowDraft>> even_rows(const AssignTable& table, int scheme,
                                               std::span<const int> positions, int rows);

// Exactly `rows` rows, none empty, none above the cap: LPT by work, or best-fit-decreasing where
// that breaks the cap, or rows filled one by one where even that does; the heaviest rows split
// until there are enough. Nothing if neither fits. `positions` ascend.
std::optional<std::vector<RowDraft>> fit_rows(const AssignTable& table, int scheme,
                                              std::span<const int> positions, int rows);

// The next count to try after `rows`, for which fit_rows found nothing: many rows are as many as
// best-fit-decreasing needs, so that no fewer need be tried. Of pipelines with stages and not too
// many sequences, longest first may do with fewer.
int count_after_failure(const AssignTable& table, int scheme, std::span<const int> positions,
                        const RowCounts& counts, int rows);

// The fastest of fit_rows over the permitted row counts, by increasing even_time. Nothing if no
// count fits. Once the budget is exhausted the first that fits will do, or none if one may give up.
std::optional<ReplicaDraft> best_rows(const AssignTable& table, int scheme,
                                      std::span<const int> positions, const RowCounts& counts,
                                      const Budget& budget = Budget(), bool give_up = false);

// The fewest rows of a permitted count for which fit_rows finds a packing.
std::optional<ReplicaDraft> fewest_rows(const AssignTable& table, int scheme,
                                        std::span<const int> positions, const RowCounts& counts);

// Splits the heaviest rows of two sequences or more until there are `rows`. False if there are not
// enough sequences. Requires no more rows than that to begin with.
bool split_rows(const AssignTable& table, int scheme, int rows, std::vector<RowDraft>& packed);

}  // namespace stowage
