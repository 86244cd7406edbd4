// Packs sequences into micro-batches of given makespans: longest first, each into the first group
// with enough time and memory.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "heuristics/scatter/construct/multifit/batch_target.h"
#include "heuristics/scatter/construct/multifit/open_groups.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Packs the same sequences for one list of targets after another. Sequences of one length are
// packed together: a group takes as many of them as it has room for.
class MultifitPacking {
 public:
  MultifitPacking(const ScatterTable& table, std::span<const int> positions);
  // Returns true if all sequences fit micro-batches of at most `targets`. Earlier targets are
  // filled first. If `waste` > 1, a sequence first tries open groups at up to `waste` times its
  // least device-time.
  bool fit(std::span<const BatchTarget> targets, double waste = 1);

  // Allows or forbids uniting groups, see unite().
  void let_unite(bool may) { unites_ = may; }
  // Keeps the packing of the last successful fit(). Swaps it with the packing kept before, so that
  // a second call restores the earlier one.
  void keep();

  // Returns the makespans and modes of the kept micro-batches, in the order of their targets.
  const std::vector<BatchTarget>& kept() const { return kept_; }
  // Returns the kept packing as a step.
  WorkingStep draft() const;

 private:
  struct Run {
    int kind = 0;
    std::size_t first = 0;  // index into positions_
    std::size_t count = 0;
    std::size_t configs =
        0;  // levels_[configurations, levels_end) can hold the run, least area first
    std::size_t levels_end = 0;
    double rest = 0;  // lower bound on the device-time of this run and the runs after it
  };
  struct Made {  // a group
    std::size_t batch = 0;
    int config = 0;
    bool united = false;  // united with another group into a larger group
  };
  struct Part {  // positions_[first, last) in a group
    std::size_t group = 0;
    std::size_t first = 0;
    std::size_t last = 0;
  };
  void add_run(int kind, std::size_t first);
  Tokens length(int kind) const { return table_.kinds()[static_cast<std::size_t>(kind)].length; }
  double area(int kind, int config) const {
    return table_.configs()[static_cast<std::size_t>(config)].degree *
           table_.kind_cost(kind, config);
  }

  std::size_t fill_config(const Run& run, int config, std::span<const BatchTarget> targets,
                          std::size_t next, bool may_open);
  bool unite(const Run& run, std::span<const BatchTarget> targets);
  bool unite(const Run& run, std::size_t batch, Ms target, int half, int config);
  void note_most(int config, std::size_t batch);
  static OpenGroups::Room most_of(const OpenGroups::Room& a, const OpenGroups::Room& b) {
    return {std::max(a.time, b.time), std::max(a.tokens, b.tokens)};
  }

  std::size_t fill(const Run& run, int config, std::size_t batch, Ms target, std::size_t next,
                   bool may_open);

  const ScatterTable& table_;
  std::span<const int> positions_;
  std::vector<Run> runs_;
  std::vector<int> configs_;
  std::vector<OpenGroups> open_;        // by micro-batch and configuration
  std::vector<OpenGroups::Room> most_;  // maxima of open_, by configuration and micro-batch

  // Maxima over all micro-batches: of the rooms, by configuration, and of the free devices.
  std::vector<OpenGroups::Room> roomiest_;
  int most_left_ = 0;
  std::vector<Made> made_;
  std::vector<Part> parts_;
  std::vector<int> devices_left_;  // by micro-batch
  double area_left_ = 0;           // device-time left before the targets
  std::vector<Made> kept_made_;
  std::vector<Part> kept_parts_;
  std::vector<BatchTarget> kept_;
  std::vector<Load> loads_;    // loads of the kept groups
  std::vector<char> has_way_;  // by micro-batch, scratch space of keep()
  bool unites_ = false;
};

}  // namespace stowage
