#include "instances/pipeline.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <numeric>

namespace stowage {
namespace {

// What every stage has to do: forward passes in the order of the items, backward passes in an order
// of their own, each after so many forward passes.
struct Program {
  std::vector<std::size_t> backward;
  std::vector<std::size_t> forwards;  // that come at least before the backward pass of this place
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
  std::size_t forwards = 0;    // passes done
  std::size_t backwards = 0;   // passes done
  bool recomputed = false;     // for the next backward pass
  Ms free = 0;                 // when its last pass ends
  std::deque<Ms> activations;  // arrived from the stage before, not yet used
  std::deque<Ms> gradients;    // arrived from the stage behind, not yet used
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
        stages_(static_cast<std::size_t>(std::max(stages, 1))) {}

  PipelineRun run() && {
    // Each sweep lets every stage go on for as long as its inputs allow. Some stage always can,
    // since no stage waits for a pass that itself waits for this stage's next one.
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        while (step(s)) moved = true;
      }
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
  bool step(std::size_t s) {
    const Stage& stage = stages_[s];
    if (stage.backwards == items_.size()) return false;
    const std::size_t behind = stages_.size() - 1 - s;
    const std::size_t wanted = std::max(std::min(items_.size(), behind + stage.backwards + 1),
                                        program_.forwards[stage.backwards]);
    return stage.forwards < wanted ? forward(s) : backward(s);
  }

  bool forward(std::size_t s) {
    Stage& stage = stages_[s];
    Ms ready = 0;
    if (s > 0) {
      if (stage.activations.empty()) return false;
      ready = stage.activations.front();
      stage.activations.pop_front();
    }
    const PipelineItem& item = items_[stage.forwards++];
    spend(s, stage.forwards - 1, Kind::forward, std::max(stage.free, ready), item.forward);
    stage.held += item.stored;
    stage.most = std::max(stage.most, stage.held + item.working);
    if (s + 1 < stages_.size()) stages_[s + 1].activations.push_back(stage.free);
    return true;
  }

  bool backward(std::size_t s) {
    Stage& stage = stages_[s];
    const PipelineItem& item = items_[program_.backward[stage.backwards]];
    if (!stage.recomputed) {  // needs no gradient yet
      const std::size_t next = program_.backward[stage.backwards];
      if (item.recompute > 0) spend(s, next, Kind::recompute, stage.free, item.recompute);
      stage.recomputed = true;
    }
    Ms ready = 0;
    if (s + 1 < stages_.size()) {
      if (stage.gradients.empty()) return false;
      ready = stage.gradients.front();
      stage.gradients.pop_front();
    }
    spend(s, program_.backward[stage.backwards], Kind::backward, std::max(stage.free, ready),
          item.backward);
    stage.most = std::max(stage.most, stage.held + item.working);
    stage.held -= item.stored;
    stage.recomputed = false;
    ++stage.backwards;
    if (s > 0) stages_[s - 1].gradients.push_back(stage.free);
    return true;
  }

  void spend(std::size_t s, std::size_t item, Kind kind, Ms start, Ms time) {
    stages_[s].free = start + time;
    if (watch_) watch_({s, item, kind, start, start + time});
  }

  const std::vector<PipelineItem>& items_;
  const Watch& watch_;
  const Program program_;
  std::vector<Stage> stages_;
};

// The row at every place of an order, at most `simulations` of which are tried.
class OrderSearch {
 public:
  OrderSearch(const std::vector<Ms>& rows, int stages, std::int64_t simulations)
      : rows_(rows), stages_(stages), left_(simulations), best_(rows.size()) {
    std::iota(best_.begin(), best_.end(), std::size_t{0});
    best_end_ = end_of(best_);
  }

  std::vector<std::size_t> run() && {
    try_fixed_orders();
    while (improve()) {
    }
    return std::move(best_);
  }

 private:
  Ms end_of(const std::vector<std::size_t>& order) {
    --left_;
    std::vector<Ms> times;
    times.reserve(order.size());
    for (const std::size_t row : order) times.push_back(rows_[row]);
    return simulate_1f1b(times, stages_);
  }

  bool adopt(const std::vector<std::size_t>& order) {
    const Ms end = end_of(order);
    // A gain must exceed rounding, or equal rows would change places for ever.
    if (end >= best_end_ * (1 - 1e-12)) return false;
    best_ = order;
    best_end_ = end;
    return true;
  }

  // Ascending; descending; and falling to the middle and rising again: short rows at both ends fill
  // and drain the pipeline quickly.
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
    if (left_ > 0) adopt(ascending);
    if (left_ > 0) adopt({ascending.rbegin(), ascending.rend()});
    if (left_ > 0) adopt(mountain);
  }

  // Takes the first move or swap that helps.
  bool improve() {
    const std::vector<std::size_t> order = best_;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = 0; j < order.size(); ++j) {
        if (i == j || rows_[order[i]] == rows_[order[j]]) continue;
        if (i < j) {
          if (left_ <= 0) return false;
          std::vector<std::size_t> swapped = order;
          std::swap(swapped[i], swapped[j]);
          if (adopt(swapped)) return true;
        }
        if (left_ <= 0) return false;
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
  std::vector<std::size_t> best_;
  Ms best_end_ = 0;
};

}  // namespace

PipelineRun run_pipeline(const std::vector<PipelineItem>& items, int stages,
                         const std::function<void(const PipelinePass&)>& watch) {
  return Pipeline(items, stages, watch).run();
}

Ms simulate_1f1b(const std::vector<Ms>& rows, int stages) {
  // In thirds of the unit, so that whole times stay whole.
  std::vector<PipelineItem> items;
  items.reserve(rows.size());
  for (const Ms row : rows)
    items.push_back({.forward = row, .backward = kBackwardPerForward * row});
  return run_pipeline(items, stages).end / (1 + kBackwardPerForward);
}

std::vector<std::size_t> order_rows(const std::vector<Ms>& rows, int stages,
                                    std::int64_t simulations) {
  if (stages <= 1) {  // the sum, in any order
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }
  return OrderSearch(rows, stages, simulations).run();
}

}  // namespace stowage
