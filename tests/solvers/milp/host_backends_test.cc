// A host program that uses GLPK and CBC itself while it plans with stowage, in the same threads and
// in others. Its problems, hooks and memory limit must not change, and both sides must get the same
// answers as alone.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "solvers/milp/backend.h"
#include "solvers/solve.h"
#include "tests/solvers/oracle.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_scatter.h"
#ifdef STOWAGE_WITH_GLPK
#include <glpk.h>
#endif
#ifdef STOWAGE_WITH_CBC
#include <CbcModel.hpp>
#include <OsiClpSolverInterface.hpp>
#endif

namespace stowage::milp_host_backends_test {
namespace {

// The host's problem: maximal profit of three products within three resources. The optimum, 2, 0
// and 1 units, is integral (Chvatal, Linear Programming, 1983, chapter 2).
constexpr int kSize = 3;
constexpr double kProfit[kSize] = {5, 4, 3};
constexpr double kRoom[kSize] = {5, 11, 8};
constexpr double kUse[kSize][kSize] = {{2, 3, 1}, {4, 1, 2}, {3, 4, 2}};
constexpr double kMaxProfit = 13;

#ifdef STOWAGE_WITH_GLPK
// Belongs to one thread, like all objects of GLPK.
class HostGlpk {
 public:
  HostGlpk() : problem_(glp_create_prob()) {
    glp_term_hook(
        [](void* lines, const char*) {
          ++*static_cast<int*>(lines);
          return 1;
        },
        &lines_);
    glp_mem_limit(kMegabytes);
    glp_set_obj_dir(problem_, GLP_MAX);
    glp_add_cols(problem_, kSize);
    glp_add_rows(problem_, kSize);
    const int index[] = {0, 1, 2, 3};  // GLPK counts from 1
    for (int i = 0; i < kSize; ++i) {
      glp_set_col_bnds(problem_, i + 1, GLP_LO, 0, 0);
      glp_set_col_kind(problem_, i + 1, GLP_IV);
      glp_set_obj_coef(problem_, i + 1, kProfit[i]);
      const double row[] = {0, kUse[i][0], kUse[i][1], kUse[i][2]};
      glp_set_mat_row(problem_, i + 1, kSize, index, row);
      glp_set_row_bnds(problem_, i + 1, GLP_UP, 0, kRoom[i]);
    }
  }
  ~HostGlpk() {
    glp_delete_prob(problem_);
    glp_free_env();
  }
  HostGlpk(const HostGlpk&) = delete;
  HostGlpk& operator=(const HostGlpk&) = delete;

  // Returns the optimum of a branch and cut that begins during the previous one.
  double most_profit() {
    glp_simplex(problem_, nullptr);
    glp_intopt(problem_, nullptr);
    return glp_mip_obj_val(problem_);
  }

  int lines() const { return lines_; }

  // Bytes of this thread's environment, which no other thread's work may change.
  std::size_t bytes() const {
    std::size_t now = 0;
    glp_mem_usage(nullptr, nullptr, &now, nullptr);
    return now;
  }

 private:
  static constexpr int kMegabytes = 3;

  glp_prob* problem_;
  int lines_ = 0;
};
#endif

#ifdef STOWAGE_WITH_CBC
class HostCbc {
 public:
  HostCbc() {
    for (int j = 0; j < kSize; ++j) {
      osi_.addCol(0, nullptr, nullptr, 0, osi_.getInfinity(), -kProfit[j]);
      osi_.setInteger(j);
    }
    const int index[] = {0, 1, 2};
    for (int i = 0; i < kSize; ++i) {
      osi_.addRow(kSize, index, kUse[i], -osi_.getInfinity(), kRoom[i]);
    }
    osi_.messageHandler()->setLogLevel(0);
    osi_.getModelPtr()->setMaximumSeconds(3600);
  }

  double most_profit() {
    CbcModel model(osi_);
    model.setLogLevel(0);
    model.initialSolve();
    model.branchAndBound();
    return -model.getObjValue();
  }

  double seconds_limit() const { return osi_.getModelPtr()->maximumSeconds(); }
  int log_level() const { return osi_.messageHandler()->logLevel(); }

 private:
  OsiClpSolverInterface osi_;
};
#endif

// Returns stowage's results as text: the facade on an instance of each family, and each backend.
std::string planned(int k) {
  const auto seed = static_cast<std::uint64_t>(k);
  std::string text;
  for (const Instance& instance : {Instance(tiny_scatter(seed, 6)), Instance(tiny_assign(seed, 6)),
                                   Instance(tiny_layout(seed, 6))}) {
    Budget budget({.node_limit = 100});
    const Outcome outcome = solve(instance, {.method = "exact"}, budget);
    text += std::string(to_string(outcome.status)) + ' ' +
            std::to_string(outcome.objective.value_or(-1)) + ' ' + outcome.detail + '\n';
  }
  for (const MilpBackend backend : built_backends()) {
    Budget budget;
    const MilpResult result = solve_milp(backend, makespan_model(3, 6, seed), {}, budget);
    text += std::to_string(static_cast<int>(result.status)) + ' ' +
            std::to_string(result.objective) + '\n';
  }
  return text;
}

constexpr int kRounds = 8;

// Alternates the host's work and ours. Returns the number of rounds with a wrong result.
int wrong_rounds(const std::vector<std::string>& alone) {
  int wrong = 0;
  const auto expect = [&wrong](bool right, const char* what) {
    if (right) return;
    ++wrong;
    ADD_FAILURE() << what;
  };
#ifdef STOWAGE_WITH_GLPK
  HostGlpk glpk;
  expect(std::abs(glpk.most_profit() - kMaxProfit) < 1e-9, "the host's GLPK");
#endif
#ifdef STOWAGE_WITH_CBC
  HostCbc cbc;
  const double seconds = cbc.seconds_limit();
#endif
  for (int k = 0; k < kRounds; ++k) {
#ifdef STOWAGE_WITH_GLPK
    const int lines = glpk.lines();
    const std::size_t bytes = glpk.bytes();
#endif
    expect(planned(k) == alone[static_cast<std::size_t>(k)], "our answer");
#ifdef STOWAGE_WITH_GLPK
    expect(glpk.lines() == lines, "we write through the host's hook");
    expect(glpk.bytes() == bytes, "we allocate in the host's environment");
    expect(std::abs(glpk.most_profit() - kMaxProfit) < 1e-9, "the host's GLPK");
    expect(glpk.lines() > lines, "the host's hook is lost");
#endif
#ifdef STOWAGE_WITH_CBC
    expect(std::abs(cbc.most_profit() - kMaxProfit) < 1e-9, "the host's CBC");
    expect(cbc.seconds_limit() == seconds && cbc.log_level() == 0,
           "the settings of the host's CBC");
#endif
  }
  return wrong;
}

TEST(HostBackends, OneThreadOfBoth) {
  std::vector<std::string> alone;
  for (int k = 0; k < kRounds; ++k) alone.push_back(planned(k));
  EXPECT_EQ(wrong_rounds(alone), 0);
}

TEST(HostBackends, FourThreadsOfBoth) {
  std::vector<std::string> alone;
  for (int k = 0; k < kRounds; ++k) alone.push_back(planned(k));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&] { wrong += wrong_rounds(alone); });
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace stowage::milp_host_backends_test
