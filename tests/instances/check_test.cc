// Instances made by programs: those the readers would take pass, the others are told why not.
#include "instances/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "tests/chunked_assign.h"
#include "tests/instances/random_assign.h"
#include "tests/instances/random_layout.h"
#include "tests/instances/random_scatter_plan.h"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> told(const Instance& instance) {
  std::vector<std::string> all;
  for (const InputError& error : check(instance)) all.push_back(error.code + ' ' + error.pointer);
  return all;
}

TEST(Check, PassesInstancesOfEveryFamily) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    EXPECT_THAT(check(random_scatter_instance(draw)), IsEmpty()) << seed;
    EXPECT_THAT(check(random_assign_instance(draw)), IsEmpty()) << seed;
    EXPECT_THAT(check(chunked_assign(draw)), IsEmpty()) << seed;
    EXPECT_THAT(check(random_layout(draw)), IsEmpty()) << seed;
  }
}

ScatterInstance two_devices() {
  return {.name = "two",
          .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
          .model = {.activation_mib_per_token = 1},
          .cost = {.linear_ms = 0.5},
          .lengths = {64, 80}};
}

TEST(Check, NamesWhatIsWrongWithAScatterInstance) {
  const auto with = [](auto change) {
    ScatterInstance instance = two_devices();
    change(instance);
    return told(instance);
  };
  EXPECT_THAT(with([](auto&) {}), IsEmpty());
  EXPECT_THAT(with([](auto& i) { i.cluster.degrees = {}; }), ElementsAre("E301 /cluster/degrees"));
  EXPECT_THAT(with([](auto& i) {
                i.cluster.degrees = {2, 1};
              }),
              ElementsAre("E301 /cluster/degrees/1"));
  EXPECT_THAT(with([](auto& i) {
                i.cluster.degrees = {1, 4};
              }),
              ElementsAre("E301 /cluster/degrees/1"));
  EXPECT_THAT(with([](auto& i) { i.cluster.devices = 0; }),
              testing::Contains("E205 /cluster/devices"));
  EXPECT_THAT(with([](auto& i) {
                i.lengths = {0, -5};
              }),
              ElementsAre("E205 /lengths/0", "E205 /lengths/1"));
  EXPECT_THAT(with([](auto& i) { i.pad_multiple = 0; }), ElementsAre("E205 /pad_multiple"));
  EXPECT_THAT(with([](auto& i) { i.cost.all_to_all.mib_per_token = 1; }),
              ElementsAre("E303 /cost/all_to_all/mib_per_ms"));
  EXPECT_THAT(with([](auto& i) { i.cost.linear_ms = std::numeric_limits<double>::quiet_NaN(); }),
              ElementsAre("E203 /cost/linear_ms"));
}

TEST(Check, NamesWhatIsWrongWithAnAssignInstance) {
  const AssignInstance instance{.devices = 2,
                                .schemes = {{.name = "a", .linear_ms = 1, .max_tokens = 8}},
                                .strategies = {{.name = "s", .replicas = {1}}},
                                .lengths = {4}};
  EXPECT_THAT(told(instance), IsEmpty());
  AssignInstance none = instance;
  none.strategies.clear();
  EXPECT_THAT(told(none), testing::SizeIs(1));
  for (const std::vector<int>& replicas : {std::vector<int>{}, {1, 1}, {-1}}) {
    AssignInstance other = instance;
    other.strategies[0].replicas = replicas;
    EXPECT_THAT(told(other), ElementsAre("E205 /strategies/s"));
  }
}

TEST(Check, NamesWhatIsWrongWithALayoutInstance) {
  const LayoutInstance instance{.buffers = {{.id = "a", .lower = 0, .upper = 1, .size = 8}}};
  EXPECT_THAT(told(instance), IsEmpty());
  LayoutInstance other = instance;
  other.buffers[0].upper = 0;
  EXPECT_THAT(told(other), ElementsAre("E331 /buffers/0/upper"));
  other = instance;
  other.buffers[0].size = -1;
  EXPECT_THAT(told(other), ElementsAre("E205 /buffers/0/size_bytes"));
  other = instance;
  other.alignment = 0;
  EXPECT_THAT(told(other), ElementsAre("E205 /alignment"));
}

// The quick look never takes what a reader would not.
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
      if (surely_sound(instance)) {
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
}  // namespace stowage
