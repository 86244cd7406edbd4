#include "instances/pipeline/schedule.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace stowage {
namespace {

// The passes of every stage: forward passes in the order of the items, and backward passes in an
// order of their own, each after a least number of forward passes.
struct Program {
  std::vector<std::size_t> backward;
  std::vector<std::size_t> forwards;  // forward passes that must come before each backward pass
};

Program program_of(const std::vector<PipelineItem>& items) {
  Program program;
  for (std::size_t first = 0; first < items.size();) {
    const std::size_t size = std::max<std::size_t>(items[first].group_size, 1);
    assert(first + size <= items.size());
    for (std::size_t k = size; k-- > 0;) {
      program.backward.push_back(first + k);
      program.forwards.push_back(first + size);
    }
    first += size;
  }
  return program;
}

struct Stage {
  std::size_t forwards = 0;   // passes done
  std::size_t backwards = 0;  // passes done
  bool recomputed = false;    // for the next backward pass
  Ms free = 0;                // when its last pass ends
  Bytes held = 0;
  Bytes most = 0;
};

class Pipeline {
 public:
  using Kind = PipelinePass::Kind;
  using Watch = std::function<void(const PipelinePass&)>;

  Pipeline(const std::vector<PipelineItem>& items, int stages, const Watch& watch)
      : items_(items),
        watch_(watch),
        program_(program_of(items)),
        arrivals_(items.size(), 0),
        gradients_(items.size(), 0),
        stages_(static_cast<std::size_t>(std::max(stages, 1))) {}

  PipelineRun run() && {
    // Each sweep runs every stage until its next input is missing. Some stage can always go on,
    // since no stage waits for a pass that itself waits for this stage's next pass.
    for (bool moved = !items_.empty(); moved;) {
      moved = false;
      for (std::size_t s = 0; s < stages_.size(); ++s) moved = go_on(s) || moved;
    }
    PipelineRun run;
    for (const PipelineItem& item : items_)
      run.busy += item.forward + item.recompute + item.backward;
    for (const Stage& stage : stages_) {
      assert(stage.backwards == items_.size());
      run.end = std::max(run.end, stage.free);
      run.memory.push_back(stage.most);
    }
    return run;
  }

 private:
  // Runs the passes of stage s until an input is missing. Returns false if the first is missing.
  bool go_on(std::size_t s) {
    const std::size_t n = items_.size();
    const std::size_t behind = stages_.size() - 1 - s;
    const std::size_t arrived = s == 0 ? n : stages_[s - 1].forwards;
    const std::size_t answered = behind == 0 ? n : stages_[s + 1].backwards;
    Stage stage = stages_[s];
    bool moved = false;
    while (stage.backwards < n) {
      const std::size_t wanted =
          std::max(std::min(n, behind + stage.backwards + 1), program_.forwards[stage.backwards]);
      if (stage.forwards < wanted) {
        if (stage.forwards == arrived) break;
        forward(s, stage);
      } else {
        recompute(s, stage);  // needs no gradient yet
        if (stage.backwards == answered) break;
        backward(s, stage);
      }
      moved = true;
    }
    stages_[s] = stage;
    return moved;
  }

  void forward(std::size_t s, Stage& stage) {
    const std::size_t next = stage.forwards++;
    const PipelineItem& item = items_[next];
    spend(s, stage, next, Kind::forward, arrivals_[next], item.forward);
    arrivals_[next] = stage.free;
    stage.held += item.stored;
    stage.most = std::max(stage.most, stage.held + item.working);
  }

  void recompute(std::size_t s, Stage& stage) {
    const std::size_t next = program_.backward[stage.backwards];
    const Ms time = items_[next].recompute;
    if (!stage.recomputed && time > 0) spend(s, stage, next, Kind::recompute, 0, time);
    stage.recomputed = true;
  }

  void backward(std::size_t s, Stage& stage) {
    Ms& gradient = gradients_[stage.backwards];
    const std::size_t next = program_.backward[stage.backwards++];
    const PipelineItem& item = items_[next];
    spend(s, stage, next, Kind::backward, gradient, item.backward);
    gradient = stage.free;
    stage.most = std::max(stage.most, stage.held + item.working);
    stage.held -= item.stored;
    stage.recomputed = false;
  }

  void spend(std::size_t s, Stage& stage, std::size_t item, Kind kind, Ms ready, Ms time) {
    const Ms start = std::max(stage.free, ready);
    stage.free = start + time;
    if (watch_) watch_({s, item, kind, start, stage.free});
  }

  const std::vector<PipelineItem>& items_;
  const Watch& watch_;
  const Program program_;
  // The end of each item's forward pass on the last stage that it reached, and of each backward
  // pass on the first stage. Each stage reads these times and replaces them by its own.
  std::vector<Ms> arrivals_;
  std::vector<Ms> gradients_;
  std::vector<Stage> stages_;
};

// Computes run_pipeline() for rows without groups, where each stage takes a turn in every slot of
// time. In slot s + 2 k row k goes forward through stage s, of p, and in slot 2 p - 1 - s + 2 k it
// goes backward. Both passes need results of the slot before, from the stage itself and from one
// neighbour. In each slot the stages pair up: s - 1 goes backward while s goes forward. Times are
// in thirds of the unit, so that whole times stay whole.
class OneForwardOneBackward {
 public:
  OneForwardOneBackward(const std::vector<Ms>& rows, int stages)
      : n_(std::ssize(rows)),
        p_(std::max(stages, 1)),
        forward_(rows.rbegin(), rows.rend()),
        even_(static_cast<std::size_t>(p_ / 2 + 1), 0),
        odd_(static_cast<std::size_t>(p_ / 2 + 1), 0) {
    backward_.reserve(rows.size());
    for (const Ms row : rows) backward_.push_back(kBackwardPerForward * row);
  }

  Ms run() && {
    for (Index slot = 0; n_ > 0 && slot < 2 * (n_ + p_ - 1); ++slot) take(slot);
    return std::max(*std::ranges::max_element(even_), *std::ranges::max_element(odd_));
  }

 private:
  using Index = std::ptrdiff_t;

  // Stages 2 i and 2 i + 1 are even_[i] and odd_[i], so that values that are read together are
  // neighbours.
  Ms& free(Index s) { return (s % 2 == 0 ? even_ : odd_)[static_cast<std::size_t>(s / 2)]; }
  const Ms* forward(Index row) const { return forward_.data() + (n_ - 1 - row); }
  const Ms* backward(Index row) const { return backward_.data() + row; }

  // Runs the pairs of s - 1 and s = slot, slot - 2, ...: row (slot - s) / 2 goes forward through s,
  // and row (slot + s) / 2 - p backward through s - 1, if that row and stage exist.
  void take(Index slot) {
    const Index parity = slot % 2;
    const Index forward_from = std::max(slot - 2 * (n_ - 1), parity);
    const Index forward_to = std::min(slot, p_ - 1);
    const Index backward_from = std::max(2 * p_ - slot, 2 - parity);
    const Index backward_to = std::min(2 * p_ - slot + 2 * (n_ - 1), p_);
    Index s = std::min(forward_from, backward_from);
    const Index both_from = std::max(forward_from, backward_from);
    const Index both_to = std::min(forward_to, backward_to);
    const auto one_goes = [&](Index to) {
      for (; s <= to; s += 2) {
        if (s >= forward_from && s <= forward_to) {
          const Ms ready = s > 0 ? free(s - 1) : 0;
          free(s) = std::max(free(s), ready) + *forward((slot - s) / 2);
        } else if (s >= backward_from && s <= backward_to) {
          const Ms ready = s < p_ ? free(s) : 0;
          free(s - 1) = std::max(free(s - 1), ready) + *backward((slot + s) / 2 - p_);
        }
      }
    };
    if (both_from <= both_to) {
      one_goes(both_from - 1);
      both_go(&free(s - 1), &free(s), forward((slot - s) / 2), backward((slot + s) / 2 - p_),
              (both_to - s) / 2 + 1);
      s += ((both_to - s) / 2 + 1) * 2;
    }
    one_goes(std::max(forward_to, backward_to));
  }

  static void both_go(Ms* lower, Ms* upper, const Ms* forward, const Ms* backward, Index pairs) {
    for (Index i = 0; i < pairs; ++i) {
      const Ms start = std::max(lower[i], upper[i]);
      lower[i] = start + backward[i];
      upper[i] = start + forward[i];
    }
  }

  const Index n_;
  const Index p_;
  const std::vector<Ms> forward_;  // of the rows, the last one first
  std::vector<Ms> backward_;
  std::vector<Ms> even_;  // the time at which each even stage is free
  std::vector<Ms> odd_;
};

// Searches the order of the rows with at most `simulations` simulations.
class OrderSearch {
 public:
  OrderSearch(const std::vector<Ms>& rows, int stages, std::int64_t simulations,
              const std::function<bool()>& go_on)
      : rows_(rows), stages_(stages), left_(simulations), go_on_(go_on), best_(rows.size()) {
    std::iota(best_.begin(), best_.end(), std::size_t{0});
    best_end_ = end_of(best_);
  }

  RowOrder run() && {
    try_fixed_orders();
    while (improve()) {
    }
    return {std::move(best_), best_end_};
  }

 private:
  bool may_try() {
    if (left_ > 0 && go_on_ && !go_on_()) left_ = 0;
    return left_ > 0;
  }

  Ms end_of(const std::vector<std::size_t>& order) {
    --left_;
    std::vector<Ms> times;
    times.reserve(order.size());
    for (const std::size_t row : order) times.push_back(rows_[row]);
    return simulate_1f1b(times, stages_);
  }

  bool adopt(const std::vector<std::size_t>& order) {
    const Ms end = end_of(order);
    // A gain must exceed rounding, or equal rows would swap endlessly.
    if (end >= best_end_ * (1 - 1e-12)) return false;
    best_ = order;
    best_end_ = end;
    return true;
  }

  // Tries three orders: ascending; descending; and falling to the middle, then rising again. Short
  // rows at both ends fill and drain the pipeline quickly.
  void try_fixed_orders() {
    std::vector<std::size_t> ascending = best_;
    std::stable_sort(ascending.begin(), ascending.end(),
                     [&](std::size_t a, std::size_t b) { return rows_[a] < rows_[b]; });
    std::vector<std::size_t> mountain(rows_.size());
    std::size_t front = 0;
    std::size_t back = rows_.size();
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      mountain[k % 2 == 0 ? front++ : --back] = ascending[k];
    }
    if (may_try()) adopt(ascending);
    if (may_try()) adopt({ascending.rbegin(), ascending.rend()});
    if (may_try()) adopt(mountain);
  }

  // Takes the first move or swap that ends earlier; returns false if no move or swap does.
  bool improve() {
    const auto [shortest, longest] = std::ranges::minmax_element(rows_);
    if (shortest == rows_.end() || *shortest == *longest) return false;
    const std::vector<std::size_t> order = best_;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = 0; j < order.size(); ++j) {
        if (i == j || rows_[order[i]] == rows_[order[j]]) continue;
        if (i < j) {
          if (!may_try()) return false;
          std::vector<std::size_t> swapped = order;
          std::swap(swapped[i], swapped[j]);
          if (adopt(swapped)) return true;
        }
        if (!may_try()) return false;
        std::vector<std::size_t> moved = order;
        moved.erase(moved.begin() + static_cast<std::ptrdiff_t>(i));
        moved.insert(moved.begin() + static_cast<std::ptrdiff_t>(j), order[i]);
        if (adopt(moved)) return true;
      }
    }
    return false;
  }

  const std::vector<Ms>& rows_;
  const int stages_;
  std::int64_t left_;
  const std::function<bool()>& go_on_;
  std::vector<std::size_t> best_;
  Ms best_end_ = 0;
};

}  // namespace

PipelineRun run_pipeline(const std::vector<PipelineItem>& items, int stages,
                         const std::function<void(const PipelinePass&)>& watch) {
  return Pipeline(items, stages, watch).run();
}

Ms simulate_1f1b(const std::vector<Ms>& rows, int stages) {
  return OneForwardOneBackward(rows, stages).run() / (1 + kBackwardPerForward);
}

RowOrder order_rows(const std::vector<Ms>& rows, int stages, std::int64_t simulations,
                    const std::function<bool()>& go_on) {
  if (stages <= 1) {  // the sum, in any order
    RowOrder order{.rows = std::vector<std::size_t>(rows.size()),
                   .end = simulate_1f1b(rows, stages)};
    std::iota(order.rows.begin(), order.rows.end(), std::size_t{0});
    return order;
  }
  return OrderSearch(rows, stages, simulations, go_on).run();
}

}  // namespace stowage
