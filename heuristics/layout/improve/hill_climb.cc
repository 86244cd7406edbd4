#include "heuristics/layout/improve/hill_climb.h"

#include <cmath>
#include <random>
#include <utility>

#include "heuristics/layout/construct/buffer_orders.h"
#include "heuristics/layout/construct/gap_fit.h"
#include "heuristics/layout/params.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

class Climb {
 public:
  Climb(const LayoutTable& table, std::uint64_t seed)
      : table_(table), random_(seed), order_(static_order(table, "ZO")) {}

  std::optional<std::vector<Bytes>> run(int attempts, const Budget& budget) {
    auto offsets = fit_in_order(table_, order_, GapRule::lowest, budget);
    if (!offsets) return std::nullopt;
    std::vector<Bytes> best = *offsets;
    Bytes best_peak = table_.peak(best);
    Bytes peak = best_peak;
    for (int i = 1; i < attempts && best_peak > table_.max_load(); ++i) {
      const auto exchange = propose(*offsets, peak);
      if (!exchange) break;
      std::swap(order_[exchange->first], order_[exchange->second]);
      auto next = fit_in_order(table_, order_, GapRule::lowest, budget);
      if (!next) break;
      const Bytes next_peak = table_.peak(*next);
      const double loss = static_cast<double>(next_peak - peak) / static_cast<double>(peak);
      if (loss > 0 && draw_unit(random_) >= std::exp(-loss / layout_fixed::kHillClimbLoss)) {
        std::swap(order_[exchange->first], order_[exchange->second]);
        continue;
      }
      offsets = std::move(next);
      peak = next_peak;
      if (peak < best_peak) {
        best_peak = peak;
        best = *offsets;
      }
    }
    return best;
  }

 private:
  using Positions = std::pair<std::size_t, std::size_t>;

  std::size_t any(const std::vector<std::size_t>& positions) {
    return positions[draw(random_, positions.size())];
  }

  std::vector<std::size_t> in_conflict_with(std::size_t position) const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i != position && table_.conflict(order_[i], order_[position])) all.push_back(i);
    }
    return all;
  }

  // Returns two positions to exchange. Returns nullopt if no movable buffer ends at the peak, or if
  // the drawn buffer conflicts with no movable buffer.
  std::optional<Positions> propose(const std::vector<Bytes>& offsets, Bytes peak) {
    std::vector<std::size_t> top;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const int b = order_[i];
      if (offsets[static_cast<std::size_t>(b)] + table_.size(b) == peak) top.push_back(i);
    }
    if (top.empty()) return std::nullopt;
    const std::size_t first = any(top);
    std::vector<std::size_t> near = in_conflict_with(first);
    if (near.empty()) return std::nullopt;
    std::size_t second = any(near);
    // The second list contains at least `first`.
    if (draw(random_, 2) == 0) second = any(in_conflict_with(second));
    return Positions{first, second};
  }

  const LayoutTable& table_;
  std::mt19937_64 random_;
  std::vector<int> order_;
};

}  // namespace

std::optional<std::vector<Bytes>> hill_climb(const LayoutTable& table, int attempts,
                                             std::uint64_t seed, const Budget& budget) {
  return Climb(table, seed).run(attempts, budget);
}

}  // namespace stowage
