// Random layouts are valid, overlaps are found, and each mutation breaks its rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <random>
#include <set>

#include "instances/layout/verify/verify.h"
#include "instances/numeric/random.h"
#include "tests/instances/layout/layout_rules.h"
#include "tests/instances/random_layout.h"
#include "tests/layout_check.h"

namespace stowage::layout_verify_test {
namespace {

constexpr int kPlans = 400;

bool overlaps(const LayoutInstance& instance, const LayoutPlan& plan) {
  for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Buffer& a = instance.buffers[i];
      const Buffer& b = instance.buffers[j];
      if (a.size == 0 || b.size == 0 || !need_memory_together(a, b)) continue;
      if (plan.offsets[i] < plan.offsets[j] + b.size &&
          plan.offsets[j] < plan.offsets[i] + a.size) {
        return true;
      }
    }
  }
  return false;
}

TEST(RandomLayouts, AreValid) {
  for (int seed = 0; seed < 10 * kPlans; ++seed) {
    Draw draw(static_cast<std::uint64_t>(seed));
    const LayoutInstance instance = random_layout(draw);
    ASSERT_EQ(all_of(verify(instance, random_layout_plan(instance, draw))), "") << "seed " << seed;
  }
}

// The sweep is compared with all pairs, on plans of which about half are invalid.
TEST(RandomLayouts, OverlapsAreSeenAndOnlyThey) {
  int wrong = 0;
  for (int seed = 0; seed < 10 * kPlans; ++seed) {
    Draw draw(static_cast<std::uint64_t>(seed));
    const LayoutInstance instance = random_layout(draw, {.alignments = false, .pins = false});
    LayoutPlan plan = random_layout_plan(instance, draw);
    for (std::int64_t moves = draw.whole(1, 2); moves > 0; --moves) {
      plan.offsets[draw.below(plan.offsets.size())] = draw.whole(0, 200);
    }
    restate(instance, plan);
    const bool overlap = overlaps(instance, plan);
    wrong += overlap ? 1 : 0;
    const auto rules = broken_rules(verify(instance, plan));
    ASSERT_EQ(rules, overlap ? std::set<std::string>{"overlap"} : std::set<std::string>{})
        << "seed " << seed;
  }
  EXPECT_GT(wrong, kPlans);
  EXPECT_LT(wrong, 9 * kPlans);
}

struct Mutation {
  std::string name;
  std::string rule;  // the rule that must be reported
  // returns false if it does not apply here
  std::function<bool(LayoutInstance&, LayoutPlan&, std::size_t)> change;
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

const Mutation kMutations[] = {
    {"drop_an_offset", "offsets",
     [](I&, P& p, std::size_t i) {
       p.offsets.erase(p.offsets.begin() + static_cast<std::ptrdiff_t>(i));
       return true;
     }},
    {"below_zero", "offset_range",
     [](I&, P& p, std::size_t i) {
       p.offsets[i] = -1 - p.offsets[i];
       return true;
     }},
    {"off_its_alignment", "alignment",
     [](I& in, P& p, std::size_t i) {
       ++p.offsets[i];
       return alignment_of(in, in.buffers[i]) > 1;
     }},
    {"off_its_pin", "pin",
     [](I& in, P& p, std::size_t i) {
       if (!in.buffers[i].offset) return false;
       p.offsets[i] += alignment_of(in, in.buffers[i]);
       return true;
     }},
    {"on_top_of_another", "overlap",
     [](I& in, P& p, std::size_t i) {
       for (std::size_t j = 0; j < in.buffers.size(); ++j) {
         if (j == i || in.buffers[i].size == 0 || in.buffers[j].size == 0) continue;
         if (!need_memory_together(in.buffers[i], in.buffers[j])) continue;
         p.offsets[i] = p.offsets[j];
         return true;
       }
       return false;
     }},
    {"alive_too_long", "overlap",
     [](I& in, P& p, std::size_t i) {
       for (std::size_t j = 0; j < in.buffers.size(); ++j) {
         if (j == i || in.buffers[i].size == 0 || in.buffers[j].size == 0) continue;
         if (need_memory_together(in.buffers[i], in.buffers[j])) continue;
         if (p.offsets[i] >= p.offsets[j] + in.buffers[j].size ||
             p.offsets[j] >= p.offsets[i] + in.buffers[i].size) {
           continue;
         }
         in.buffers[i].lower = 0;
         in.buffers[i].upper = 1'000;
         in.buffers[i].gaps.clear();
         in.buffers[j].gaps.clear();
         return true;
       }
       return false;
     }},
    {"too_little_capacity", "capacity",
     [](I& in, P& p, std::size_t) {
       in.capacity = p.peak_bytes - 1;
       return true;
     }},
    {"peak_off_by_one", "peak",
     [](I&, P& p, std::size_t i) {
       p.peak_bytes += i % 2 == 0 ? 1 : -1;
       return true;
     }},
    {"bound_above_the_peak", "bound",
     [](I&, P& p, std::size_t) {
       p.bound_bytes = p.peak_bytes + 1;
       return true;
     }},
    {"bound_without_a_name", "bound",
     [](I&, P& p, std::size_t) {
       p.bound_by.clear();
       return p.bound_bytes > 0;
     }},
};

class MutatedLayout : public testing::TestWithParam<Mutation> {};

TEST_P(MutatedLayout, IsNotValid) {
  int applied = 0;
  for (int seed = 0; seed < kPlans; ++seed) {
    Draw draw(static_cast<std::uint64_t>(seed));
    LayoutInstance instance = random_layout(draw);
    LayoutPlan plan = random_layout_plan(instance, draw);
    if (!GetParam().change(instance, plan, draw.below(instance.buffers.size()))) continue;
    ++applied;
    const auto violations = verify(instance, plan);
    ASSERT_THAT(broken_rules(violations), testing::Contains(GetParam().rule))
        << "seed " << seed << '\n'
        << all_of(violations);
  }
  EXPECT_GE(applied, kPlans / 20);
}

INSTANTIATE_TEST_SUITE_P(Mutations, MutatedLayout, testing::ValuesIn(kMutations),
                         [](const auto& each) { return each.param.name; });

// Many buffers, most of them at valid offsets: the definition and the verifier report the same
// overlaps.
TEST(LayoutVerify, FindsTheOneOverlapAmongMany) {
  std::mt19937_64 random(5);
  int overlapping = 0;
  for (int trial = 0; trial < 40; ++trial) {
    LayoutInstance instance;
    LayoutPlan plan;
    for (int i = 0; i < 1200; ++i) {  // a grid of cells, each buffer inside its own
      const auto lower = static_cast<std::int64_t>(10 * (i % 40) + draw(random, 5));
      const auto offset = static_cast<Bytes>(100 * (i / 40) + draw(random, 50));
      instance.buffers.push_back({.lower = lower,
                                  .upper = lower + 1 + static_cast<std::int64_t>(draw(random, 5)),
                                  .size = 1 + static_cast<Bytes>(draw(random, 50))});
      plan.offsets.push_back(offset);
    }
    Buffer& moved = instance.buffers[draw(random, 1200)];
    moved.upper += static_cast<std::int64_t>(draw(random, 12));
    for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
      plan.peak_bytes = std::max(plan.peak_bytes, plan.offsets[i] + instance.buffers[i].size);
    }
    const std::string fault = layout_fault(instance, plan.offsets, plan.peak_bytes);
    EXPECT_EQ(verify(instance, plan).empty(), fault.empty()) << fault;
    overlapping += fault.empty() ? 0 : 1;
  }
  EXPECT_GT(overlapping, 5);
  EXPECT_LT(overlapping, 35);
}

}  // namespace
}  // namespace stowage::layout_verify_test
