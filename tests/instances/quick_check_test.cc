// The quick look at a step in a loop is never too kind.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "instances/assign/json/json.h"
#include "instances/check.h"
#include "instances/json/limits.h"
#include "instances/layout/json/json.h"
#include "instances/scatter/json/json.h"
#include "instances/strategy/instance.h"
#include "tests/chunked_assign.h"
#include "tests/instances/random_assign.h"
#include "tests/instances/random_layout.h"
#include "tests/instances/random_scatter_plan.h"

namespace stowage::check_test {
namespace {

// Makes one member, name or rule of a step invalid.
void break_something(Draw& draw, AssignInstance& step) {
  const double odd[] = {-1,
                        0,
                        1e300,
                        std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        9007199254740992.0,
                        9007199254740994.0};
  const int whole[] = {-1, 0, 1, kMaxStages, kMaxStages + 1, kMaxDevices, kMaxDevices + 1};
  const std::string names[] = {
      "", "x-own", "x", step.schemes[0].name, step.strategies[0].name, "\xff", "\n", "caf\xc3\xa9"};
  Scheme& scheme = step.schemes[draw.below(step.schemes.size())];
  Strategy& strategy = step.strategies[draw.below(step.strategies.size())];
  const double number = odd[draw.below(std::size(odd))];
  const int count = whole[draw.below(std::size(whole))];
  const std::string& name = names[draw.below(std::size(names))];
  double* const costs[] = {&scheme.quadratic_ms, &scheme.linear_ms, &scheme.fixed_ms};
  int* const counts[] = {&scheme.tp, &scheme.pp, &step.devices, &step.constraints.rows_multiple_of,
                         &strategy.replicas[draw.below(strategy.replicas.size())]};
  std::string* const named[] = {&scheme.name, &strategy.name, &step.name};
  switch (draw.below(5)) {
    case 0:
      *costs[draw.below(std::size(costs))] = number;
      break;
    case 1:
      *counts[draw.below(std::size(counts))] = count;
      break;
    case 2:
      *named[draw.below(std::size(named))] = name;
      break;
    case 3:
      step.constraints.chunks = ChunkRule{
          .size = count, .retained = whole[draw.below(std::size(whole))], .key_value_bytes = count};
      break;
    default:
      step.constraints.equal_rows = true;
      step.constraints.chunks = ChunkRule{.size = 1000};
  }
}

// The quick check accepts all that the reader accepts, except rare names.
TEST(Check, TheQuickLookTakesSoundSteps) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    EXPECT_TRUE(is_well_formed(random_assign_instance(draw))) << seed;
    EXPECT_TRUE(is_well_formed(chunked_assign(draw))) << seed;
  }
}

TEST(Check, TheQuickLookIsNeverTooKindToAStep) {
  int broken = 0;
  int sound = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    AssignInstance step = draw.coin() ? random_assign_instance(draw) : chunked_assign(draw);
    break_something(draw, step);
    const bool hidden = !hidden_assign_errors(step).empty();
    const bool read = !hidden && read_assign_instance(write_assign_instance(step));
    ++(read ? sound : broken);
    if (is_well_formed(step)) {
      EXPECT_TRUE(read) << seed << ": " << write_assign_instance(step);
    }
  }
  EXPECT_GT(broken, 500);
  EXPECT_GT(sound, 300);
}

// The quick check never accepts a step that the reader would refuse.
TEST(Check, TheQuickLookIsNeverTooKind) {
  int broken = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    ScatterInstance scatter = random_scatter_instance(draw);
    AssignInstance assign = random_assign_instance(draw);
    LayoutInstance layout = random_layout(draw);
    const std::int64_t odd[] = {0, -1, 1, kMaxExact, kMaxExact + 1, std::int64_t{1} << 60};
    const std::int64_t any = odd[draw.below(std::size(odd))];
    if (!scatter.lengths.empty()) scatter.lengths[draw.below(scatter.lengths.size())] = any;
    if (draw.coin()) scatter.pad_multiple = any;
    if (!assign.lengths.empty()) assign.lengths[draw.below(assign.lengths.size())] = any;
    if (draw.coin()) assign.schemes[draw.below(assign.schemes.size())].max_tokens = any;
    if (!layout.buffers.empty()) {
      Buffer& buffer = layout.buffers[draw.below(layout.buffers.size())];
      std::int64_t* const members[] = {&buffer.lower, &buffer.upper, &buffer.size,
                                       &buffer.alignment};
      *members[draw.below(std::size(members))] = any;
      if (draw.coin()) buffer.id = std::to_string(draw.below(layout.buffers.size()));
    }
    const auto look = [&](const auto& instance, const auto& read) {
      broken += read ? 0 : 1;
      if (is_well_formed(instance)) {
        EXPECT_TRUE(read) << seed << ": " << to_string(read.errors()[0]);
      }
    };
    look(scatter, read_scatter_instance(write_scatter_instance(scatter)));
    look(assign, read_assign_instance(write_assign_instance(assign)));
    look(layout, read_layout_instance(write_layout_instance(layout)));
  }
  EXPECT_GT(broken, 300);
}

}  // namespace
}  // namespace stowage::check_test
