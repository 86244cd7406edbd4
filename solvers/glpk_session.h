// A thread's own GLPK: silent, and throwing where GLPK would abort the process.
//
// GLPK's memory and hooks are per thread, so the work runs on a thread of its own and the host
// program's GLPK is not disturbed. Only glpk_*.cc include this.
//
//   on_glpk_thread([&] { result = solve(task); });   // throws what the work throws
#pragma once

#include <glpk.h>

#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "formulations/model.h"
#include "solvers/milp_backend.h"

namespace stowage {

class GlpkSession {
 public:
  GlpkSession() {
    glp_term_hook(&GlpkSession::line, this);
    glp_error_hook(&GlpkSession::fatal, this);
  }
  ~GlpkSession() {
    glp_error_hook(nullptr, nullptr);
    glp_free_env();  // frees every problem object of this thread, also after a fatal error
  }
  GlpkSession(const GlpkSession&) = delete;
  GlpkSession& operator=(const GlpkSession&) = delete;

 private:
  static int line(void* self, const char* text) {
    std::string& log = static_cast<GlpkSession*>(self)->log_;
    if (log.size() < 4096) log += text;
    return 1;  // 1: do not print
  }
  [[noreturn]] static void fatal(void* self) {
    std::string log = std::move(static_cast<GlpkSession*>(self)->log_);
    while (!log.empty() && log.back() == '\n') log.pop_back();
    throw BackendError("GLPK stopped: " + log);
  }

  std::string log_;
};

template <class Work>
void on_glpk_thread(Work work) {
  std::exception_ptr thrown;
  {
    std::jthread worker([&] {
      try {
        const GlpkSession session;
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
  }
  if (thrown) std::rethrow_exception(thrown);
}

inline int glpk_bound_type(double lower, double upper) {
  if (lower == -milp::kInfinity) return upper == milp::kInfinity ? GLP_FR : GLP_UP;
  if (upper == milp::kInfinity) return GLP_LO;
  return lower == upper ? GLP_FX : GLP_DB;
}

}  // namespace stowage
