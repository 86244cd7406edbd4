// Steps that come back from their files.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "instances/trainer/step.h"
#include "tests/instances/json_fixture.h"

namespace stowage::trainer_step_test {

// Expects both forms, and the form that read_trainer_file() detects, to be read back unchanged.
inline void expect_comes_back(const TrainerStep& step) {
  EXPECT_TRUE(trainer_faults(step).empty()) << to_string(trainer_faults(step)[0]);
  for (const std::string& file : {write_trainer_json(step), write_trainer_binary(step)}) {
    const Result<TrainerStep> again = read_trainer_file(file);
    ASSERT_TRUE(again) << to_string(again.errors()[0]);
    EXPECT_EQ(*again, step);
  }
}

}  // namespace stowage::trainer_step_test
