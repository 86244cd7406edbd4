#include "heuristics/scatter/mixed/mixed_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "heuristics/scatter/mixed/mixed_step.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"

namespace stowage {
namespace {

constexpr MixedParams kFixed;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Returns whether each sequence is cheaper shared, at this price of a hidden exchange.
std::vector<bool> shared_at(const ScatterTable& table, double price) {
  const int all = static_cast<int>(table.configs().size()) - 1;
  std::vector<bool> shared;
  for (int position = 0; position < table.size(); ++position) {
    const Ms hidden =
        static_cast<double>(table.held(all, position)) * table.hidden_token_ms() * (1 - price);
    const Ms own = (1 - price) * table.cost(position, 0) / table.devices();
    shared.push_back(!table.holds(0, position) || table.cost(position, all) - hidden < own);
  }
  return shared;
}

// Places sequences on the least loaded of all devices' rows that have room. Rows without room for a
// sequence wait, sorted by room, for a shorter one.
class LeastLoaded {
 public:
  explicit LeastLoaded(MixedStep& step) : step_(step) {
    for (int row = 0; row < step.rows(); ++row) {
      if (!step.is_shared(row)) rows_.emplace(0.0, row);
    }
  }

  bool place(int position) {
    const Tokens tokens = step_.table().held(0, position);
    while (!waiting_.empty() && waiting_.top().first >= tokens) {
      rows_.emplace(step_.own_ms(waiting_.top().second), waiting_.top().second);
      waiting_.pop();
    }
    while (!rows_.empty()) {
      const int row = rows_.top().second;
      rows_.pop();
      if (!step_.has_room(position, row)) {
        waiting_.emplace(step_.own_room(row), row);
        continue;
      }
      step_.place(position, row);
      rows_.emplace(step_.own_ms(row), row);
      return true;
    }
    return false;
  }

 private:
  using Load = std::pair<Ms, int>;
  MixedStep& step_;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> rows_;
  std::priority_queue<std::pair<Tokens, int>> waiting_;
};

// Places the sequence in the shared row of least tokens that has room, of the first micro-batches.
bool share(MixedStep& step, int position, int batches) {
  int best = -1;
  for (int batch = 0; batch < batches; ++batch) {
    const int row = step.shared_row(batch);
    if (!step.has_room(position, row)) continue;
    if (best == -1 || step.tokens(row) < step.tokens(best)) best = row;
  }
  if (best == -1) return false;
  step.place(position, best);
  return true;
}

// Returns a step with `sharing` shared rows; the other micro-batches have room for long sequences
// of their own. Returns nullopt if the rows have no room.
std::optional<MixedStep> packed(const ScatterTable& table, const std::vector<bool>& shared,
                                int batches, int sharing) {
  MixedStep step(table, batches);
  for (int position = 0; position < table.size(); ++position) {  // the longest first
    if (shared[at(position)] && !share(step, position, sharing)) return std::nullopt;
  }
  LeastLoaded least(step);
  for (int position = 0; position < table.size(); ++position) {
    if (shared[at(position)]) continue;
    if (!least.place(position) && !share(step, position, batches)) return std::nullopt;
  }
  return step;
}

class MixedAnnealer {
 public:
  MixedAnnealer(MixedStep step, std::uint64_t seed) : step_(std::move(step)), random_(seed) {
    remember();
  }

  // Anneals from `hot`, a share of the mean makespan.
  void run(std::int64_t moves, double hot, const Budget& budget) {
    const std::int64_t blocks = std::max<std::int64_t>(1, moves / kFixed.block);
    const Ms first = hot * step_.time() / step_.batches();
    double sum = 0;
    for (int row = 0; row < step_.rows(); ++row) {
      if (!step_.is_shared(row)) sum += step_.own_ms(row);
    }
    const double rows = double(step_.batches()) * step_.devices();
    even_ = sum > 0 ? rows / (sum * step_.devices()) : 0;
    for (std::int64_t block = 0; block < blocks && !budget.exhausted(); ++block) {
      const double done = static_cast<double>(block) / static_cast<double>(blocks);
      temperature_ = first * std::pow(kFixed.cold, done);
      weight_ = kFixed.first_evenness *
                std::pow(kFixed.last_evenness / kFixed.first_evenness, done) * even_;
      if (block >= blocks - blocks / 16) temperature_ = 0;
      for (std::int64_t i = 0; i < kFixed.block; ++i) propose();
      if (step_.time() < best_ms_) remember();
    }
  }

  Ms best_ms() const { return best_ms_; }
  MixedStep best() const {
    MixedStep step(step_.table(), step_.batches());
    for (int position = 0; position < step.table().size(); ++position) {
      step.place(position, best_rows_[at(position)]);
    }
    return step;
  }

 private:
  void remember() {
    best_ms_ = step_.time();
    best_rows_.clear();
    for (int position = 0; position < step_.table().size(); ++position) {
      best_rows_.push_back(step_.row_of(position));
    }
  }

  std::uint32_t below(std::size_t bound) {
    return random_.below(static_cast<std::uint32_t>(bound));
  }

  // Returns a sequence of the row that decides how long a micro-batch takes, or any sequence.
  int pick_position() {
    if (below(2) == 0) {
      const auto& positions = step_.positions(step_.longest_row(int(below(at(step_.batches())))));
      if (!positions.empty()) return positions[below(positions.size())];
    }
    return static_cast<int>(below(at(step_.table().size())));
  }

  // Returns a shared row, or the less loaded one of two rows of devices.
  int pick_row() {
    const int batch = int(below(at(step_.batches())));
    if (below(3) == 0) return step_.shared_row(batch);
    const int one = step_.own_row(batch, int(below(at(step_.devices()))));
    const int other = step_.own_row(batch, int(below(at(step_.devices()))));
    return step_.own_ms(other) < step_.own_ms(one) ? other : one;
  }

  void propose() {
    const int position = pick_position();
    if (below(2) == 0) {
      try_move(position, pick_row());
    } else {
      try_swap(position, static_cast<int>(below(at(step_.table().size()))));
    }
  }

  double energy() const { return step_.time() + weight_ * step_.squares(); }

  bool accepted(double before) {
    const double worse = energy() - before;
    if (worse <= 0) return true;
    if (temperature_ == 0) return false;
    return below(1U << 30) < 0x1p30 * std::exp(-worse / temperature_);
  }

  void try_move(int position, int row) {
    const int from = step_.row_of(position);
    if (row == from) return;
    const double before = energy();
    if (step_.move(position, row) && !accepted(before)) step_.move(position, from);
  }

  void try_swap(int position, int other) {
    if (step_.row_of(position) == step_.row_of(other)) return;
    const double before = energy();
    if (step_.exchange(position, other) && !accepted(before)) step_.exchange(position, other);
  }

  MixedStep step_;
  QuickRandom random_;
  Ms best_ms_ = 0;
  std::vector<int> best_rows_;  // by position
  Ms temperature_ = 0;
  double weight_ = 0;
  double even_ = 0;
};

}  // namespace

WorkingStep best_mixed(const ScatterTable& table, const std::vector<WorkingStep>& others,
                       double moves, const MultistartParams& params, std::uint64_t seed,
                       const Budget& budget) {
  std::vector<MixedStep> starts;
  for (const WorkingStep& other : others) starts.emplace_back(table, other);
  const Tokens held = table.total_held();
  const Tokens room = table.batch_capacity();
  const auto fewest = static_cast<int>(std::min<Tokens>((held + room - 1) / room, table.size()));
  for (int price = 0; price < kFixed.prices && !(budget.exhausted() && !starts.empty()); ++price) {
    const auto shared = shared_at(table, static_cast<double>(price) / (kFixed.prices - 1));
    int made = 0;
    for (int batches = std::max(1, fewest); batches <= table.size() && made < kFixed.batches;
         batches += 1 + batches / kFixed.one_by_one) {
      bool has_room = false;
      for (int sharing = batches; sharing > std::max(0, batches - kFixed.unshared); --sharing) {
        std::optional<MixedStep> start = packed(table, shared, batches, sharing);
        if (!start) continue;
        has_room = true;
        starts.push_back(*std::move(start));
      }
      if (has_room) ++made;
    }
  }
  std::ranges::stable_sort(starts, {}, &MixedStep::time);
  const auto same = [](const MixedStep& a, const MixedStep& b) { return a.time() == b.time(); };
  starts.erase(std::unique(starts.begin(), starts.end(), same), starts.end());
  starts.resize(std::min(starts.size(), static_cast<std::size_t>(params.racing)),
                MixedStep(table, 1));
  // Half of the moves race the starts, the other half anneal the winner.
  const auto all = static_cast<std::int64_t>(moves * table.size());
  const std::int64_t each = all / 2 / std::ssize(starts);
  std::optional<MixedStep> best;
  for (MixedStep& start : starts) {
    MixedAnnealer annealer(std::move(start), seed);
    annealer.run(each, params.hot, budget);
    if (!best || annealer.best_ms() < best->time()) best = annealer.best();
  }
  MixedAnnealer annealer(*best, seed + 1);
  annealer.run(all / 2, params.hot * params.cooling, budget);
  return annealer.best().to_working_step();
}

WorkingStep annealed_mixed(const ScatterTable& table, const WorkingStep& step, double moves,
                           double hot, std::uint64_t seed, const Budget& budget) {
  MixedAnnealer annealer(MixedStep(table, step), seed);
  annealer.run(static_cast<std::int64_t>(moves * table.size()), hot, budget);
  return annealer.best().to_working_step();
}

}  // namespace stowage
