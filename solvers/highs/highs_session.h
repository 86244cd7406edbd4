// One solver object of HiGHS: it prints nothing, uses one thread, obeys a budget, and throws where
// HiGHS returns an error.
//
//   on_own_thread([&] {                       // solvers/milp/watch.h
//     HighsSession session(model, budget);
//     session.run();
//     if (session.model_status() == kHighsModelStatusOptimal) x = session.values();
//   });
//
// HiGHS keeps its task scheduler per thread, so a session belongs into a thread of its own: a host
// program may use HiGHS with more threads. Only highs_*.cc include this.
#pragma once

#include <interfaces/highs_c_api.h>

#include <functional>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/budget.h"

namespace stowage {

class HighsSession {
 public:
  // What HiGHS says while it runs, in the units of the model. Called from the thread of run().
  struct Listener {
    std::function<void(std::int64_t nodes, double bound)> progress;
    std::function<void(double objective, const double* values)> incumbent;
    // Returns true if the run shall end.
    std::function<bool()> stop;
  };

  // Loads the model. Throws BackendError.
  HighsSession(const milp::Model& model, const Budget& budget, Listener listener);
  ~HighsSession();
  HighsSession(const HighsSession&) = delete;
  HighsSession& operator=(const HighsSession&) = delete;

  void set(const char* option, bool value);
  void set(const char* option, int value);
  void set(const char* option, double value);
  void set(const char* option, const char* value);

  // Solves within the time that the budget has left. Throws BackendError if HiGHS fails.
  void run();

  int model_status() const { return Highs_getModelStatus(highs_); }
  std::vector<double> values() const;
  bool has_point() const;                 // a feasible point was found
  double number(const char* info) const;  // a real number of HiGHS' list `info`
  std::int64_t nodes() const;
  void* get() { return highs_; }  // for calls of HiGHS' C interface

 private:
  static void call_back(int kind, const char* message, const HighsCallbackDataOut* out,
                        HighsCallbackDataIn* in, void* self);

  void* highs_;
  std::size_t columns_;
  std::size_t rows_;
  const Budget& budget_;
  Listener listener_;
};

}  // namespace stowage
