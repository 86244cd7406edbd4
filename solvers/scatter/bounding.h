// The certified bounds of one scatter solve: which search, for how long, and when again.
// Not installed.
//
//   ScatterBounding bounding(run);
//   bounding.quickly();                                      // for `fast`
//   bounding.lead(limited);                                  // for exact methods
//   if (!run.done()) bounding.follow();
//   while (!run.done()) bounding.again();
//
// The step LP (step_bound.h) bounds any step, the search by makespans
// (profile_bound.h) steps of few micro-batches, where it is the stronger. Only what the
// checker confirms becomes a bound.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "instances/scatter/certificate.h"
#include "solvers/scatter/profile_bound.h"
#include "solvers/scatter/run.h"
#include "solvers/scatter/step_bound.h"

namespace stowage {

// All but the constructor need an incumbent with a plan.
class ScatterBounding {
 public:
  // `run` must outlive this.
  explicit ScatterBounding(ScatterRun& run) : run_(run) {}

  // A few linear programmes, as many as pay.
  void quickly();
  void quickly_by_makespans();

  // The better of the two searches for this step. `limited`: something besides a proof will end
  // the solve.
  void lead(bool limited);

  // After lead(): whether that was the search by makespans, and the makespans where it has its
  // weakest spot, empty if there is none.
  bool by_makespans() const { return by_makespans_; }
  std::vector<Ms> weakest() const;

  // The other of the two, for a while.
  void follow();

  // More of both, where there was more to gain.
  void again();

  const std::optional<ScatterCertificate>& certificate() const { return certificate_; }

 private:
  void search(bool makespans, double share);
  void begin_step(StepBoundOptions options);
  bool raise_step(double seconds, std::int64_t lps);
  void begin_profile();
  bool raise_profile(double seconds, std::int64_t boxes);
  void confirm(const char* name);

  ScatterRun& run_;
  std::optional<ScatterStepBound> step_;
  std::optional<ScatterProfileBound> profile_;
  std::optional<ScatterCertificate> found_;        // the last that a search made
  std::optional<ScatterCertificate> certificate_;  // the last that was confirmed
  bool by_makespans_ = false;
  std::int64_t boxes_ = 0;   // at a time
  bool step_rises_ = false;  // there may be more to gain from it
  bool profile_rises_ = false;
};

}  // namespace stowage
