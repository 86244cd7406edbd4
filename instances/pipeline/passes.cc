#include "instances/pipeline/passes.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using Kind = PassDone::Kind;

bool splits(PassSchedule schedule) {
  return schedule == PassSchedule::zb_h1 || schedule == PassSchedule::zb_h2;
}

struct Pass {
  std::size_t row = 0;
  std::size_t chunk = 0;
  Kind kind = Kind::forward;
};

// Returns the passes of a stage in their order.
std::vector<Pass> passes_of(const PassPipeline& pipeline, std::size_t stage) {
  const auto p = static_cast<std::size_t>(pipeline.stages);
  const auto v = static_cast<std::size_t>(pipeline.chunks);
  const std::size_t all = pipeline.rows.size() * v;
  // Passes go chunk by chunk for p micro-batches at a time; backward from the last chunk to the
  // first.
  const auto pass = [&](std::size_t place, Kind kind) {
    if (v == 1) return Pass{place, 0, kind};
    const std::size_t chunk = place % (p * v) / p;
    return Pass{place / (p * v) * p + place % p, kind == Kind::forward ? chunk : v - 1 - chunk,
                kind};
  };
  std::size_t ahead = p - 1 - stage;
  if (pipeline.schedule == PassSchedule::zb_h2) ahead *= 2;
  if (pipeline.schedule == PassSchedule::interleaved) ahead = 2 * ahead + (v - 1) * p;
  ahead = std::min(ahead, all);
  const bool split = splits(pipeline.schedule);
  const std::size_t late = pipeline.schedule == PassSchedule::zb_h2 ? 2 * stage : stage;
  std::vector<Pass> passes;
  for (std::size_t k = 0; k < ahead; ++k) passes.push_back(pass(k, Kind::forward));
  for (std::size_t k = 0; k < all; ++k) {
    if (ahead + k < all) passes.push_back(pass(ahead + k, Kind::forward));
    passes.push_back(pass(k, Kind::backward));
    if (split && k >= late) passes.push_back(pass(k - late, Kind::weights));
  }
  if (!split) return passes;
  for (std::size_t k = all - std::min(late, all); k < all; ++k) {
    passes.push_back(pass(k, Kind::weights));
  }
  return passes;
}

class PassSimulation {
 public:
  PassSimulation(const PassPipeline& pipeline, const std::function<void(const PassDone&)>& watch)
      : pipeline_(pipeline),
        watch_(watch),
        p_(static_cast<std::size_t>(pipeline.stages)),
        parts_(p_ * static_cast<std::size_t>(pipeline.chunks)),
        split_(splits(pipeline.schedule)),
        stages_(p_),
        arrivals_(pipeline.rows.size(), std::vector<std::optional<Ms>>(2 * parts_)) {
    for (std::size_t s = 0; s < p_; ++s) stages_[s].passes = passes_of(pipeline, s);
    for (auto& row : arrivals_) row.front() = 0;
  }

  PassRun run() && {
    // Each sweep runs every stage until its next input is unknown.
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < p_; ++s) {
        while (may_go_on(s)) {
          go_on(s);
          moved = true;
        }
      }
    }
    PassRun run;
    for (const Stage& stage : stages_) {
      assert(stage.next == stage.passes.size());
      run.end = std::max(run.end, stage.free);
      run.busy.push_back(stage.busy);
      run.idle.push_back(stage.idle);
      run.held.push_back(stage.most);
    }
    return run;
  }

 private:
  struct Stage {
    std::vector<Pass> passes;
    std::size_t next = 0;
    Ms free = 0;
    Ms busy = 0;
    Ms idle = 0;
    std::int64_t held = 0;
    std::int64_t most = 0;
  };

  // Returns the place of a pass on the way of its micro-batch: forward through part k it is k,
  // backward 2 parts - 1 - k.
  std::size_t place(std::size_t s, const Pass& pass) const {
    const std::size_t part = pass.chunk * p_ + s;
    return pass.kind == Kind::forward ? part : 2 * parts_ - 1 - part;
  }

  bool may_go_on(std::size_t s) const {
    const Stage& stage = stages_[s];
    if (stage.next == stage.passes.size()) return false;
    const Pass& pass = stage.passes[stage.next];
    // The stage itself has made the input of the pass for weights.
    return pass.kind == Kind::weights || arrivals_[pass.row][place(s, pass)];
  }

  void go_on(std::size_t s) {
    Stage& stage = stages_[s];
    const Pass& pass = stage.passes[stage.next];
    const PassTimes& times = pipeline_.rows[pass.row][pass.chunk * p_ + s];
    Ms takes = pass.kind == Kind::forward ? times.forward : times.backward;
    if (pass.kind == Kind::weights) {
      takes = times.weights;
    } else if (pass.kind == Kind::backward && !split_) {
      takes += times.weights;
    }
    Ms start = stage.free;
    if (pass.kind != Kind::weights) start = std::max(start, *arrivals_[pass.row][place(s, pass)]);
    if (stage.next++ > 0) stage.idle += start - stage.free;
    stage.free = start + takes;
    stage.busy += takes;
    if (pass.kind == Kind::forward) stage.most = std::max(stage.most, ++stage.held);
    if (pass.kind == (split_ ? Kind::weights : Kind::backward)) --stage.held;
    if (watch_) watch_({s, pass.chunk, pass.row, pass.kind, start, stage.free});
    if (pass.kind != Kind::weights) send(s, pass);
  }

  // Hands the output to the next place. Behind the last part, the gradient exists as soon as the
  // output.
  void send(std::size_t s, const Pass& pass) {
    const std::size_t next = place(s, pass) + 1;
    if (next == 2 * parts_) return;
    const bool stays = p_ == 1 || next == parts_;
    arrivals_[pass.row][next] = stages_[s].free + (stays ? 0 : pipeline_.send);
  }

  const PassPipeline& pipeline_;
  const std::function<void(const PassDone&)>& watch_;
  const std::size_t p_;
  const std::size_t parts_;
  const bool split_;
  std::vector<Stage> stages_;
  std::vector<std::vector<std::optional<Ms>>> arrivals_;  // of each micro-batch, by place
};

}  // namespace

PassRun simulate_passes(const PassPipeline& pipeline,
                        const std::function<void(const PassDone&)>& watch) {
  assert(pipeline.stages >= 1 && pipeline.chunks >= 1);
  assert(pipeline.chunks == 1 || pipeline.schedule == PassSchedule::interleaved);
  return PassSimulation(pipeline, watch).run();
}

Ms least_end(const PassPipeline& pipeline) {
  const auto p = static_cast<std::size_t>(pipeline.stages);
  const auto v = static_cast<std::size_t>(pipeline.chunks);
  const bool split = splits(pipeline.schedule);
  Ms bound = 0;
  for (std::size_t s = 0; s < p; ++s) {
    Ms passes = 0;
    Ms weights = 0;
    Ms there = kInfinity;  // earliest arrival of the first micro-batch
    Ms back = kInfinity;   // least way back of the last micro-batch
    for (const std::vector<PassTimes>& row : pipeline.rows) {
      Ms to = 0;
      Ms from = 0;
      for (std::size_t k = 0; k < s; ++k) {
        to += row[k].forward + pipeline.send;
        from += row[k].backward + (split ? 0 : row[k].weights) + pipeline.send;
      }
      there = std::min(there, to);
      back = std::min(back, from);
      for (std::size_t c = 0; c < v; ++c) {
        passes += row[c * p + s].forward + row[c * p + s].backward;
        weights += row[c * p + s].weights;
      }
    }
    if (pipeline.rows.empty()) continue;
    // Passes of weights may come behind all passes whose results go back.
    bound = std::max(bound, split ? there + std::max(passes + back, passes + weights)
                                  : there + passes + weights + back);
  }
  return bound;
}

}  // namespace stowage
