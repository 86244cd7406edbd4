// Readers of damaged documents: they may accept or refuse, but an accepted document must be valid.
#include <gtest/gtest.h>

#include <random>

#include "instances/assign/json/json.h"
#include "instances/assign/verify/verify.h"
#include "instances/document/header.h"
#include "instances/layout/json/json.h"
#include "instances/layout/verify/verify.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/mutate.h"

namespace stowage::json_mutation_test {
namespace {

TEST(JsonMutation, DamagedInstancesAreRefusedOrSound) {
  std::mt19937_64 random(1);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutate(std::string(kValidInstance), random);
    const Result<ScatterInstance> read = read_scatter_instance(text);
    (void)read_head(text);
    if (!read) {
      ASSERT_FALSE(read.errors().empty());
      ASSERT_LE(read.errors().size(), 101U);
      continue;
    }
    ++accepted;
    const Result<ScatterInstance> again = read_scatter_instance(write_scatter_instance(*read));
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(*again, *read) << text;
    ASSERT_GE(read->cluster.devices, 1);
    ASSERT_FALSE(read->cluster.degrees.empty());
    for (const Tokens length : read->lengths) ASSERT_GE(length, 1);
  }
  EXPECT_GT(accepted, 50);  // otherwise the damage is too coarse to reach the readers
  EXPECT_LT(accepted, 2500);
}

TEST(JsonMutation, DamagedPlansAreRefusedOrSound) {
  std::mt19937_64 random(2);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutate(std::string(kValidPlan), random);
    const Result<ScatterPlan> read = read_scatter_plan(text);
    if (!read) continue;
    ++accepted;
    const Result<ScatterPlan> again = read_scatter_plan(write_scatter_plan(*read));
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(*again, *read) << text;
  }
  EXPECT_GT(accepted, 50);
}

TEST(JsonMutation, DamagedAssignInstancesAreRefusedOrSound) {
  std::mt19937_64 random(5);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutate(std::string(kValidAssign), random);
    const Result<AssignInstance> read = read_assign_instance(text);
    if (!read) {
      ASSERT_FALSE(read.errors().empty());
      ASSERT_LE(read.errors().size(), 101U);
      continue;
    }
    ++accepted;
    const Result<AssignInstance> again = read_assign_instance(write_assign_instance(*read));
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(*again, *read) << text;
    ASSERT_EQ(unplaceable_sequences(*read).empty(), !usable_strategies(*read).empty()) << text;
    ASSERT_FALSE(read->strategies.empty());
    for (const Strategy& strategy : read->strategies) {
      ASSERT_EQ(strategy.replicas.size(), read->schemes.size());
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, 2500);
}

TEST(JsonMutation, DamagedAssignPlansAreRefusedOrSound) {
  std::mt19937_64 random(6);
  const Result<AssignInstance> instance = read_assign_instance(kValidAssign);
  ASSERT_TRUE(instance);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutate(std::string(kValidAssignPlan), random);
    const Result<AssignPlan> read = read_assign_plan(text);
    if (!read) continue;
    ++accepted;
    const Result<AssignPlan> again = read_assign_plan(write_assign_plan(*read));
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(*again, *read) << text;
    for (const Violation& v : verify(*instance, *read)) ASSERT_FALSE(to_string(v).empty());
  }
  EXPECT_GT(accepted, 50);
}

TEST(JsonMutation, DamagedLayoutsAreRefusedOrSound) {
  std::mt19937_64 random(3);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutate(std::string(kValidLayout), random);
    const Result<LayoutInstance> read = read_layout_instance(text);
    if (!read) {
      ASSERT_FALSE(read.errors().empty());
      ASSERT_LE(read.errors().size(), 101U);
      continue;
    }
    ++accepted;
    const Result<LayoutInstance> again = read_layout_instance(write_layout_instance(*read));
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(*again, *read) << text;
    for (const Buffer& buffer : read->buffers) {
      ASSERT_LT(buffer.lower, buffer.upper);
      ASSERT_GE(buffer.size, 0);
      ASSERT_GE(buffer.alignment, 1);
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, 2500);
}

TEST(JsonMutation, DamagedLayoutPlansAreRefusedOrSound) {
  std::mt19937_64 random(4);
  const Result<LayoutInstance> instance = read_layout_instance(kValidLayout);
  ASSERT_TRUE(instance);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutate(std::string(kValidLayoutPlan), random);
    const Result<LayoutPlan> read = read_layout_plan(text);
    if (!read) continue;
    ++accepted;
    const Result<LayoutPlan> again = read_layout_plan(write_layout_plan(*read));
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(*again, *read) << text;
    for (const Violation& v : verify(*instance, *read)) ASSERT_FALSE(to_string(v).empty());
  }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace stowage::json_mutation_test
