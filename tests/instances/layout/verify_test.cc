// Each rule of the layout verifier with a plan that breaks it and a similar valid plan, and random
// valid plans with one change each.
#include "instances/layout/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <limits>
#include <ostream>
#include <set>
#include <sstream>

#include "instances/violation.h"
#include "tests/instances/layout/layout_rules.h"

namespace stowage::layout_verify_test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

// Steps run to the right, addresses upwards; d is pinned and rests during [4, 6).
//
//   40  d d d . . d
//   24  b b b b
//    0  a a   c c c
LayoutInstance four_buffers() {
  return {.name = "four",
          .capacity = 56,
          .alignment = 4,
          .buffers = {{.id = "a", .lower = 0, .upper = 2, .size = 24},
                      {.id = "b", .lower = 0, .upper = 4, .size = 16, .alignment = 6},
                      {.id = "c", .lower = 2, .upper = 6, .size = 20},
                      {.id = "d",
                       .lower = 0,
                       .upper = 7,
                       .size = 12,
                       .alignment = 1,
                       .offset = 40,
                       .gaps = {{4, 6}}}}};
}

LayoutPlan good_plan() {
  return {.name = "four",
          .instance_hash = "abc",
          .peak_bytes = 52,
          .bound_bytes = 52,
          .bound_by = "pins",
          .offsets = {0, 24, 0, 40}};
}

struct Case {
  std::string name;
  std::set<std::string> rules;  // exactly these are broken; empty: still a valid plan
  std::function<void(LayoutInstance&, LayoutPlan&)> change;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class LayoutChange : public testing::TestWithParam<Case> {};

TEST_P(LayoutChange, BreaksExactlyTheseRules) {
  LayoutInstance instance = four_buffers();
  LayoutPlan plan = good_plan();
  GetParam().change(instance, plan);
  const auto violations = verify(instance, plan);
  EXPECT_EQ(broken_rules(violations), GetParam().rules) << all_of(violations);
  for (const Violation& violation : violations) {
    EXPECT_THAT(layout_verify_rules(), testing::Contains(violation.rule));
  }
}

const Case kCases[] = {
    {"unchanged", {}, [](I&, P&) {}},

    {"an_offset_missing", {"offsets"}, [](I&, P& p) { p.offsets.pop_back(); }},
    {"an_offset_more", {"offsets"}, [](I&, P& p) { p.offsets.push_back(0); }},
    {"no_offsets", {"offsets"}, [](I&, P& p) { p.offsets.clear(); }},

    {"negative", {"offset_range"}, [](I&, P& p) { p.offsets[0] = -24; }},
    {"lowest", {"offset_range"}, [](I&, P& p) { p.offsets[0] = kLeast; }},
    {"highest", {"offset_range", "alignment"}, [](I&, P& p) { p.offsets[0] = kMost; }},
    {"beyond_2_to_the_53", {"offset_range"}, [](I&, P& p) { p.offsets[0] = kMaxExact - 20; }},
    {"up_to_2_to_the_53",
     {},
     [](I& i, P& p) {
       i.capacity.reset();
       p.offsets[0] = kMaxExact - 24;
       p.peak_bytes = kMaxExact;
     }},

    {"off_the_common_alignment", {"alignment"}, [](I&, P& p) { p.offsets[2] = 2; }},
    {"off_its_own_alignment", {"alignment"}, [](I& i, P&) { i.buffers[1].alignment = 7; }},
    {"on_both_alignments", {}, [](I&, P& p) { p.offsets[2] = 4; }},

    {"beside_its_pin",
     {"pin", "peak"},
     [](I& i, P& p) {
       p.offsets[3] = 44;
       i.capacity = 56;
     }},
    {"where_it_would_be_free", {}, [](I& i, P&) { i.buffers[3].offset.reset(); }},

    {"overlap_from_below", {"overlap"}, [](I&, P& p) { p.offsets[0] = 12; }},
    {"overlap_from_above", {"overlap"}, [](I&, P& p) { p.offsets[1] = 12; }},
    {"same_place", {"overlap"}, [](I&, P& p) { p.offsets[1] = 0; }},
    {"overlap_by_a_byte", {"overlap"}, [](I& i, P&) { i.buffers[0].size = 25; }},
    {"overlap_at_one_step", {"overlap"}, [](I& i, P&) { i.buffers[0].upper = 3; }},
    {"inside_another",
     {"overlap"},
     [](I& i, P& p) {
       i.buffers[1].size = 4;
       p.offsets[1] = 12;
     }},
    {"in_the_gap_of_the_pin",
     {},
     [](I& i, P& p) {
       i.buffers[2] = {.id = "c", .lower = 4, .upper = 6, .size = 16};
       p.offsets[2] = 40;
       p.peak_bytes = 56;
     }},
    {"longer_than_the_gap",
     {"overlap"},
     [](I& i, P& p) {
       i.buffers[2] = {.id = "c", .lower = 4, .upper = 7, .size = 12};
       p.offsets[2] = 40;
     }},
    {"earlier_than_the_gap",
     {"overlap"},
     [](I& i, P& p) {
       i.buffers[2] = {.id = "c", .lower = 3, .upper = 6, .size = 12};
       p.offsets[2] = 40;
     }},
    {"no_gap",
     {"overlap"},
     [](I& i, P& p) {
       i.buffers[2] = {.id = "c", .lower = 4, .upper = 6, .size = 12};
       i.buffers[3].gaps.clear();
       p.offsets[2] = 40;
     }},
    {"nothing_takes_no_room",
     {},
     [](I& i, P& p) {
       i.buffers[1].size = 0;
       p.offsets[1] = 12;
     }},

    {"above_the_capacity", {"capacity"}, [](I& i, P&) { i.capacity = 51; }},
    {"at_the_capacity", {}, [](I& i, P&) { i.capacity = 52; }},
    {"without_capacity", {}, [](I& i, P&) { i.capacity.reset(); }},
    {"nothing_above_the_capacity",
     {"capacity", "peak"},
     [](I& i, P& p) {
       i.buffers[0].size = 0;
       p.offsets[0] = 60;
     }},

    {"peak_too_small", {"peak"}, [](I&, P& p) { p.peak_bytes = 51; }},
    {"peak_too_large", {"peak"}, [](I&, P& p) { p.peak_bytes = 53; }},
    {"peak_negative", {"peak"}, [](I&, P& p) { p.peak_bytes = -52; }},
    {"peak_lowest", {"peak"}, [](I&, P& p) { p.peak_bytes = kLeast; }},

    {"bound_above_the_peak", {"bound"}, [](I&, P& p) { p.bound_bytes = 53; }},
    {"bound_hidden_by_a_false_peak",
     {"bound", "peak"},
     [](I&, P& p) { p.peak_bytes = p.bound_bytes = 53; }},
    {"bound_negative", {"bound"}, [](I&, P& p) { p.bound_bytes = -1; }},
    {"bound_nameless", {"bound"}, [](I&, P& p) { p.bound_by.clear(); }},
    {"no_bound",
     {},
     [](I&, P& p) {
       p.bound_by.clear();
       p.bound_bytes = 0;
     }},
};

INSTANTIATE_TEST_SUITE_P(Rules, LayoutChange, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

TEST(LayoutVerify, SaysWhatIsWhere) {
  LayoutPlan plan = good_plan();
  plan.offsets = {12, 24, 0, 41};
  EXPECT_EQ(all_of(verify(four_buffers(), plan)),
            "alignment at /offsets/3: has 41, needs a multiple of 4\n"
            "pin at /offsets/3: has 41, needs 40, where the buffer is pinned\n"
            "overlap at /offsets/1: has bytes [24, 40) beside buffer 0 in [12, 36) at step 0, "
            "needs bytes of its own\n"
            "peak at /peak_bytes: has 52 bytes, needs 53 bytes\n");
}

TEST(LayoutVerify, AnEmptyPlanFitsAnEmptyInstance) {
  EXPECT_EQ(all_of(verify(LayoutInstance{}, LayoutPlan{})), "");
}

TEST(LayoutVerify, ThePlanIsMadeForThisVeryInstance) {
  EXPECT_EQ(all_of(verify_instance_hash(good_plan(), "abc")), "");
  EXPECT_EQ(all_of(verify_instance_hash(good_plan(), "abd")),
            "instance_hash at /instance_hash: has abc, needs abd\n");
  EXPECT_EQ(all_of(verify_instance_hash(LayoutPlan{}, "abd")),
            "instance_hash at /instance_hash: has no hash, needs abd\n");
}

// A quadratic algorithm would not end.
TEST(LayoutVerify, HalfAMillionBuffersOnOnePlace) {
  LayoutInstance instance;
  LayoutPlan plan;
  instance.buffers.resize(500'000, {.lower = 0, .upper = 9, .size = 8});
  plan.offsets.resize(500'000, 0);
  plan.peak_bytes = 8;
  const auto violations = verify(instance, plan);
  ASSERT_EQ(violations.size(), kMaxViolationsPerRule + 1);
  EXPECT_EQ(to_string(violations[0]),
            "overlap at /offsets/1: has bytes [0, 8) beside buffer 0 in [0, 8) at step 0, needs "
            "bytes of its own");
  EXPECT_EQ(to_string(violations.back()), "overlap: and 499979 more");
}

TEST(LayoutVerify, HalfAMillionBuffersInOneColumn) {
  LayoutInstance instance;
  LayoutPlan plan;
  for (std::int64_t i = 0; i < 500'000; ++i) {
    instance.buffers.push_back({.lower = i % 7, .upper = 9 + i % 5, .size = 8});
    plan.offsets.push_back(8 * (i * 7919 % 500'000));
  }
  plan.peak_bytes = 4'000'000;
  EXPECT_EQ(all_of(verify(instance, plan)), "");
}

// A verifier that used the planner's arithmetic would share its errors.
TEST(LayoutVerify, SharesNoCodeWithThePlanners) {
  std::ifstream in(STOWAGE_SOURCE_DIR "/instances/layout/verify/verify.cc");
  ASSERT_TRUE(in);
  std::stringstream text;
  text << in.rdbuf();
  for (const std::string word : {"alignment_of", "needs_of", "instances/layout/load.h",
                                 "instances/layout/planning_table.h"}) {
    EXPECT_EQ(text.str().find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace stowage::layout_verify_test
