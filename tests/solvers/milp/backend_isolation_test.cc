// A library must not print, take over signals, or share state with its process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "solvers/milp/backend.h"
#include "tests/solvers/oracle.h"
#ifdef STOWAGE_WITH_GLPK
#include <glpk.h>

#include "solvers/milp/glpk_solver.h"
#endif

namespace stowage::milp_backend_isolation_test {
namespace {

class Isolation : public testing::TestWithParam<MilpBackend> {
 protected:
  static MilpResult solve(const milp::Model& model, const MilpParams& params = {},
                          const Budget::Limits& limits = {}) {
    Budget budget(limits);
    return solve_milp(GetParam(), model, params, budget);
  }
};

// Redirects file descriptors 1 and 2 to a file and counts the bytes written there.
class Captured {
 public:
  Captured() {
    std::fflush(nullptr);
    file_ = std::tmpfile();
    saved_out_ = dup(1);
    saved_err_ = dup(2);
    dup2(fileno(file_), 1);
    dup2(fileno(file_), 2);
  }
  ~Captured() { std::fclose(file_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string finish() {
    std::fflush(nullptr);
    dup2(saved_out_, 1);
    dup2(saved_err_, 2);
    close(saved_out_);
    close(saved_err_);
    std::string text(static_cast<std::size_t>(lseek(fileno(file_), 0, SEEK_END)), ' ');
    const ssize_t n = pread(fileno(file_), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, n)));
    return text;
  }

 private:
  std::FILE* file_;
  int saved_out_ = -1;
  int saved_err_ = -1;
};

TEST_P(Isolation, PrintsNothing) {
  std::mt19937_64 random(3);
  Captured captured;
  for (int k = 0; k < 300; ++k) solve(random_model(random).model);
  solve(makespan_model(3, 8, 1));
  solve(assignment_model(8, 40, 3), {}, {.node_limit = 50});
  solve(assignment_model(8, 40, 3), {}, {.time_limit_s = 0.02});
  EXPECT_EQ(captured.finish(), "");
}

#ifdef STOWAGE_WITH_GLPK
TEST(GlpkIsolation, FatalErrorsPrintNothing) {
  milp::Model broken;
  broken.add_variable({.upper = 1});
  broken.add_variable({.upper = 1});
  broken.add_row({.upper = 1, .terms = {{0, 1}, {0, 1}}});
  const MilpParams params;
  const MilpObserver observer = [](const MilpEvent&) {};
  Budget budget;
  Captured captured;
  std::string what;
  try {
    run_glpk({broken, params, budget, observer});
  } catch (const BackendError& error) {
    what = error.what();
  }
  EXPECT_EQ(captured.finish(), "");
  EXPECT_NE(what.find("duplicate"), std::string::npos) << what;
}

// The host's problem and hook belong to its own thread and survive any number of solves in it.
TEST(GlpkIsolation, TheHostsEnvironmentIsItsOwn) {
  int lines = 0;
  glp_term_hook(
      [](void* count, const char*) {
        ++*static_cast<int*>(count);
        return 1;
      },
      &lines);
  glp_prob* mine = glp_create_prob();
  glp_add_cols(mine, 1);
  glp_set_col_bnds(mine, 1, GLP_DB, 0, 3);
  glp_set_obj_dir(mine, GLP_MAX);
  glp_set_obj_coef(mine, 1, 2);
  for (int k = 0; k < 20; ++k) {
    Budget budget;
    EXPECT_EQ(solve_milp(MilpBackend::glpk, makespan_model(3, 6, 1), {}, budget).status,
              MilpStatus::optimal);
  }
  EXPECT_EQ(lines, 0) << "a solve wrote through the host's hook";
  EXPECT_EQ(glp_simplex(mine, nullptr), 0);
  EXPECT_EQ(glp_get_obj_val(mine), 6);
  EXPECT_GT(lines, 0) << "the host's hook was lost";
  glp_delete_prob(mine);
  glp_free_env();
}
#endif

std::atomic<int> signals_handled{0};

void count_signal(int) { signals_handled.fetch_add(1); }

// Sends SIGINT repeatedly while `work` runs, and waits each time until our handler has seen it. If
// a solver installed its own handler, a signal would be lost and the count would stop.
template <class Work>
void under_fire(Work work) {
  struct sigaction ours = {};
  struct sigaction before = {};
  ours.sa_handler = count_signal;
  sigaction(SIGINT, &ours, &before);
  signals_handled = 0;
  std::atomic<bool> over{false};
  int sent = 0;
  std::jthread sender([&] {
    while (!over) {
      kill(getpid(), SIGINT);
      ++sent;
      while (signals_handled < sent && !over) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  work();
  over = true;
  sender.join();
  for (int k = 0; signals_handled < sent && k < 5000;
       ++k) {  // the last signal may not have arrived yet
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  struct sigaction after = {};
  sigaction(SIGINT, &before, &after);
  EXPECT_EQ(after.sa_handler, count_signal) << "the handler was replaced";
  EXPECT_EQ(signals_handled, sent) << "a signal was swallowed";
}

TEST_P(Isolation, SigintBelongsToTheProcess) {
  const milp::Model integral = market_split_model(4, 1);
  const milp::Model large = assignment_model(20, 150, 1);
  milp::Model linear;
  for (milp::Variable v : large.variables()) {
    v.integer = false;
    linear.add_variable(v);
  }
  for (const milp::Row& row : large.rows()) linear.add_row(row);
  const double lp_truth = solve(linear).objective;
  const MilpResult milp_truth = solve(integral, {}, {.node_limit = 30});
  under_fire([&] {
    for (int k = 0; k < 5; ++k) {
      const MilpResult lp = solve(linear);
      ASSERT_EQ(lp.status, MilpStatus::optimal) << lp.detail;
      EXPECT_EQ(lp.objective, lp_truth);
    }
  });
  under_fire([&] {
    const MilpResult milp = solve(integral, {}, {.node_limit = 30});
    EXPECT_EQ(milp.status, milp_truth.status);
    EXPECT_EQ(milp.limit, StopReason::node_limit);
    EXPECT_EQ(milp.objective, milp_truth.objective);
    EXPECT_EQ(milp.bound, milp_truth.bound);
  });
}

TEST_P(Isolation, ManyThreadsAgree) {
  constexpr int kThreads = 4;
  constexpr int kModels = 120;
  std::mt19937_64 random(77);
  std::vector<RandomModel> models;
  for (int k = 0; k < kModels; ++k) models.push_back(random_model(random));
  std::vector<Truth> truths;
  for (const RandomModel& model : models) truths.push_back(enumerate(model));
  const double makespan = makespan_optimum(3, 9, 4);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t k = 0; k < models.size(); ++k) {
          const std::size_t i = (k * 7 + static_cast<std::size_t>(t) * 31) % models.size();
          const MilpResult result = solve(models[i].model);
          if (result.status != truths[i].status) ++wrong;
          if (result.status == MilpStatus::optimal &&
              std::abs(result.objective - truths[i].objective) > 1e-6) {
            ++wrong;
          }
          if (k % 30 == 0) {
            const MilpResult hard = solve(makespan_model(3, 9, 4));
            if (hard.status != MilpStatus::optimal) ++wrong;
            if (std::abs(hard.objective - makespan) > 1e-6) ++wrong;
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Isolation, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Isolation);

}  // namespace
}  // namespace stowage::milp_backend_isolation_test
