#include "solvers/milp/glpk_session.h"

#include <glpk.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>
#include <utility>

#include "formulations/milp/model.h"
#include "solvers/milp/contract.h"
#include "solvers/milp/watch.h"

namespace stowage {
namespace {

// Seconds. GLPK rounds times to milliseconds in many places, so ending earlier by at most this is
// no clock jump.
constexpr double kRounded = 0.05;

class Session {
 public:
  Session() {
    glp_term_hook(&Session::line, this);
    glp_error_hook(&Session::fatal, this);
  }
  ~Session() {
    glp_error_hook(nullptr, nullptr);
    glp_free_env();  // frees every problem object of this thread, also after a fatal error
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  static int line(void* self, const char* text) {
    std::string& log = static_cast<Session*>(self)->log_;
    if (log.size() < 4096) log += text;
    return 1;  // 1: do not print
  }
  [[noreturn]] static void fatal(void* self) {
    std::string log = std::move(static_cast<Session*>(self)->log_);
    while (!log.empty() && log.back() == '\n') log.pop_back();
    throw BackendError("GLPK stopped: " + log);
  }

  std::string log_;
};

}  // namespace

void on_glpk_thread(const std::function<void()>& work) {
  on_own_thread([&] {
    const Session session;
    work();
  });
}

int within_glpk_limit(const Budget& budget, const std::function<int(int)>& run) {
  const double left = budget.seconds_left() * 1000;
  const int code = run(left >= INT_MAX ? INT_MAX : std::max(0, static_cast<int>(std::ceil(left))));
  return code == GLP_ETMLIM && budget.seconds_left() > kRounded ? run(INT_MAX) : code;
}

int glpk_bound_type(double lower, double upper) {
  if (lower == -milp::kInfinity) return upper == milp::kInfinity ? GLP_FR : GLP_UP;
  if (upper == milp::kInfinity) return GLP_LO;
  return lower == upper ? GLP_FX : GLP_DB;
}

}  // namespace stowage
