// A directory with the plans of a stream, one file per step: "00000012.json". Sorted by name, the
// files are sorted by step. On request, a trainer's file lies beside each plan.
//
//   const PlanDirectory plans("plans", {.trainer = TrainerFormat::binary});
//   Result<StoredStep> stored = plans.resume(12, step);
//   if (auto error = plans.put(planned)) complain(*error);
//
// The files beside a plan, the step as an instance and a trainer's file, are derived from the step
// and its plan. So they never cause planning again, and existing files of any format are kept
// consistent with the plan. Steps that are planned together have a file of their window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/stream/window_file.h"
#include "heuristics/scatter/window/window_deal.h"
#include "instances/result.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/window_rule.h"
#include "solvers/plan_stream.h"

namespace stowage {

enum class TrainerFormat { none, json, binary };

enum class StoredPlan {
  missing,
  invalid,  // a plan of this step that the verifier refuses, or whose bound is false
  there,
};

// The stored state of a step.
struct StoredStep {
  StoredPlan plan = StoredPlan::missing;
  bool claimed = false;  // true if the bound was reported by a backend and is not proven
  // name of a file beside the plan that was missing or inconsistent and was rewritten, or ""
  std::string mended;
};

// Collects files with the same remark, which is printed as one line for all files.
class FilesAlike {
 public:
  void add(const std::string& file);
  bool empty() const { return count_ == 0; }

  // Returns, for instance, "plans/00000012.json: is invalid, as 3 more". Requires a file.
  std::string say(const std::string& what) const;

 private:
  std::int64_t count_ = 0;
  std::string first_;
};

// The files that are written beside each plan.
struct BesidePlan {
  TrainerFormat trainer = TrainerFormat::none;
  bool instance = false;
};

class PlanDirectory {
 public:
  explicit PlanDirectory(std::string path, BesidePlan beside = {})
      : path_(std::move(path)), beside_(beside) {}

  // Returns the state of the step's plan: whether it is stored, belongs to exactly this step, and
  // is verified. Its bound must be recomputed or proven by the certificate in
  // "00000012.outcome.json". A valid plan is not changed. The files beside it are compared with the
  // plan and rewritten if they differ. Errors: E002 if the plan's file contains something else
  // (plans of another batch size, cluster or list must not be mixed with these), if it is not a
  // regular file (reading it could wait), or if a file beside it cannot be written; E110 and E107
  // if a file cannot be read; E604.
  Result<StoredStep> resume(std::int64_t index, const ScatterInstance& step) const;

  // Writes the step's files, including its outcome if the plan's bound has a certificate. The plan
  // is written last, so that a process that waits for it finds the other files. A killed run leaves
  // no plan or an invalid plan, and the step is then planned again. Requires a plan. Errors: E002,
  // E110, E604.
  std::optional<InputError> put(const PlannedStep& step) const;

  // Returns the deal of a window whose drawn steps begin with step `first`, or nullopt if its file,
  // "00000008.window.json" for the window that begins with step 8, is missing. Errors: E002 if the
  // file is not of this window under the rule; E110 and E107 if it cannot be read.
  Result<std::optional<WindowDeal>> stored_deal(std::int64_t first,
                                                const std::vector<ScatterInstance>& drawn,
                                                const WindowRule& rule) const;

  // Returns whether there is a file where the plan of a step, or the deal of a window, would be.
  bool has(std::int64_t index) const;
  bool has_window(std::int64_t first) const;

  // Returns E002 if the directory has the file of a window.
  std::optional<InputError> refuse_windows() const;

  // Writes the file of a window. It is written before the plans of its steps. Errors: E110, E604.
  std::optional<InputError> put(const WindowFile& window) const;

  // Returns, for instance, "plans/00000012.json" for 12 and ".json".
  std::string file_of(std::int64_t index, const std::string& ending) const;

 private:
  Result<std::string> keep_beside(std::int64_t index, const ScatterInstance& step,
                                  const ScatterPlan& plan) const;

  std::string path_;
  BesidePlan beside_;
};

}  // namespace stowage
