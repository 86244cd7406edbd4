// Exported models, read by two solvers that we did not write, must have the optimum they had.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "formulations/milp/write_lp.h"
#include "formulations/milp/write_mps.h"
#include "tests/solvers/oracle.h"
#ifdef STOWAGE_WITH_GLPK
#include <glpk.h>
#endif
#ifdef STOWAGE_WITH_CBC
#include <CbcModel.hpp>
#include <OsiClpSolverInterface.hpp>
#endif

namespace stowage::milp_export_read_back_test {
namespace {

constexpr int kModels = 300;

std::string scratch_file(const char* extension) {
  return (std::filesystem::path(testing::TempDir()) /
          ("stowage_export_" + std::to_string(getpid()) + extension))
      .string();
}

std::string saved(const milp::Model& model, bool mps) {
  std::string path = scratch_file(mps ? ".mps" : ".lp");
  std::ofstream file(path);
  if (mps) {
    milp::write_mps(model, file);
  } else {
    milp::write_lp(model, file);
  }
  return path;
}

// GLPK refuses fractional bounds on integers, in files as anywhere.
milp::Model with_whole_bounds(const milp::Model& model) {
  milp::Model whole;
  for (milp::Variable v : model.variables()) {
    if (v.integer) {
      v.lower = std::ceil(v.lower);
      v.upper = std::floor(v.upper);
    }
    whole.add_variable(std::move(v));
  }
  for (const milp::Row& row : model.rows()) whole.add_row(row);
  whole.set_offset(model.offset());
  return whole;
}

// Calls `read` with files of models that enumeration found an optimum for.
template <class Read>
void for_models(Read read) {
  std::mt19937_64 random(31);
  int checked = 0;
  for (int k = 0; checked < kModels; ++k) {
    const RandomModel instance = random_model(random);
    const Truth truth = enumerate(instance);
    if (truth.status != MilpStatus::optimal) continue;
    ++checked;
    SCOPED_TRACE("model " + std::to_string(k));
    for (const bool mps : {false, true}) {
      const std::string path = saved(with_whole_bounds(instance.model), mps);
      read(path, mps, truth.objective);
      std::remove(path.c_str());
      if (testing::Test::HasFailure()) {
        milp::write_lp(instance.model, std::cerr);
        return;
      }
    }
  }
}

#ifdef STOWAGE_WITH_GLPK
TEST(ExportReadBack, ByGlpk) {
  glp_term_out(GLP_OFF);
  for_models([](const std::string& path, bool mps, double objective) {
    glp_prob* problem = glp_create_prob();
    ASSERT_EQ(mps ? glp_read_mps(problem, GLP_MPS_FILE, nullptr, path.c_str())
                  : glp_read_lp(problem, nullptr, path.c_str()),
              0);
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    glp_iocp branch;
    glp_init_iocp(&branch);
    ASSERT_EQ(glp_simplex(problem, &simplex), 0);
    ASSERT_EQ(glp_get_status(problem), GLP_OPT);
    if (glp_get_num_int(problem) > 0) {
      ASSERT_EQ(glp_intopt(problem, &branch), 0);
      EXPECT_NEAR(glp_mip_obj_val(problem), objective, 1e-6);
    } else {
      EXPECT_NEAR(glp_get_obj_val(problem), objective, 1e-6);
    }
    glp_delete_prob(problem);
  });
  glp_free_env();
}
#endif

#ifdef STOWAGE_WITH_CBC
TEST(ExportReadBack, ByCbc) {
  for_models([](const std::string& path, bool mps, double objective) {
    OsiClpSolverInterface osi;
    osi.messageHandler()->setLogLevel(0);
    osi.setHintParam(OsiDoReducePrint, true, OsiHintTry);
    ASSERT_EQ(mps ? osi.readMps(path.c_str(), "") : osi.readLp(path.c_str()), 0);
    CbcModel cbc(osi);
    cbc.setLogLevel(0);
    cbc.solver()->messageHandler()->setLogLevel(0);
    cbc.branchAndBound();
    ASSERT_TRUE(cbc.isProvenOptimal());
    EXPECT_NEAR(cbc.getObjValue(), objective, 1e-6);
  });
}
#endif

}  // namespace
}  // namespace stowage::milp_export_read_back_test
