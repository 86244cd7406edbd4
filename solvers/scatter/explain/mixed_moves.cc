#include "solvers/scatter/explain/mixed_moves.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heuristics/scatter/mixed/mixed_step.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/scatter/explain/group_text.h"
#include "solvers/scatter/explain/scatter_moves.h"

namespace stowage {
namespace {

class MixedMoves {
 public:
  MixedMoves(const ScatterInstance& instance, const ScatterPlan& plan)
      : plan_(plan), table_(instance), step_(table_, to_draft(instance, table_, plan)) {
    objective_ = step_.time();
  }

  Moves run() {
    for (int batch = 0; batch < step_.batches(); ++batch) {
      for (const int row : {step_.shared_row(batch), step_.longest_row(batch)}) {
        const std::vector<int> positions = step_.positions(row);
        for (const int position : positions) try_everywhere(position, row);
      }
    }
    return moves_;
  }

 private:
  void try_everywhere(int position, int from) {
    for (int row = 0; row < step_.rows() && moves_.all; ++row) {
      if (row != from) try_move(position, from, row);
    }
    for (int other = 0; other < table_.size() && moves_.all; ++other) {
      if (step_.row_of(other) != from) try_swap(position, other);
    }
  }

  void try_move(int position, int from, int row) {
    if (++moves_.tried >= kMaxMoves / 10) moves_.all = false;
    if (!step_.move(position, row)) return;
    if (is_better()) {
      tell("move sequence " + id(position) + " from " + name(from) + " to " + name(row));
    }
    step_.move(position, from);
  }

  void try_swap(int position, int other) {
    if (++moves_.tried >= kMaxMoves / 10) moves_.all = false;
    const int from = step_.row_of(position);
    const int to = step_.row_of(other);
    if (!step_.exchange(position, other)) return;
    if (is_better()) {
      tell("exchange sequence " + id(position) + " of " + name(from) + " with sequence " +
           id(other) + " of " + name(to));
    }
    step_.exchange(position, other);
  }

  bool is_better() const {
    const Ms gain = objective_ - step_.time();
    return gain > moves_.best_gain && gain > kWorthTelling * objective_;
  }
  void tell(std::string text) {
    moves_.best_gain = objective_ - step_.time();
    moves_.best_text = std::move(text);
  }

  std::string id(int position) const { return std::to_string(table_.id(position)); }

  // Returns the pointer of the row's group; rows of devices that have none are "an idle device".
  std::string name(int row) const {
    const auto batch = static_cast<std::size_t>(step_.batch_of(row));
    int own = step_.own_row(step_.batch_of(row), 0);
    const auto& groups = plan_.micro_batches[batch].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const bool shared = groups[g].degree == step_.devices();
      if (shared ? step_.is_shared(row) : own == row) return group_pointer(batch, g);
      if (!shared) ++own;
    }
    return (step_.is_shared(row) ? "a shared row of /micro_batches/"
                                 : "an idle device of /micro_batches/") +
           std::to_string(batch);
  }

  const ScatterPlan& plan_;
  const ScatterTable table_;
  MixedStep step_;
  Ms objective_ = 0;
  Moves moves_;
};

}  // namespace

Moves mixed_moves(const ScatterInstance& instance, const ScatterPlan& plan) {
  return MixedMoves(instance, plan).run();
}

}  // namespace stowage
