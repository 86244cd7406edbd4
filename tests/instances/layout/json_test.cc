// Layout documents read back as what was written.
#include "instances/layout/json/json.h"

#include <gtest/gtest.h>

#include "instances/layout/verify/verify.h"
#include "instances/violation.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/random_layout.h"

namespace stowage::layout_json_test {
namespace {

LayoutInstance read_or_die(std::string_view text) {
  Result<LayoutInstance> read = read_layout_instance(text);
  if (!read) {
    ADD_FAILURE() << to_string(read.errors()[0]);
    return {};
  }
  return *std::move(read);
}

TEST(LayoutJson, AnyInstanceAndPlanReadBackAsThemselves) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Draw draw(seed);
    LayoutInstance instance = random_layout(draw);
    if (draw.coin()) instance.capacity = draw.whole(0, 500);
    const std::string text = write_layout_instance(instance);
    const LayoutInstance read = read_or_die(text);
    ASSERT_EQ(read, instance) << text;
    ASSERT_EQ(write_layout_instance(read), text);
    ASSERT_EQ(instance_hash(read), instance_hash(instance));
    const LayoutPlan plan = random_layout_plan(instance, draw);
    const std::string plan_text = write_layout_plan(plan);
    const Result<LayoutPlan> plan_read = read_layout_plan(plan_text);
    ASSERT_TRUE(plan_read) << to_string(plan_read.errors()[0]);
    ASSERT_EQ(*plan_read, plan);
    ASSERT_EQ(write_layout_plan(*plan_read), plan_text);
  }
}

TEST(LayoutJson, EveryMemberIsReadAndWritten) {
  const LayoutInstance read = read_or_die(kValidLayout);
  const LayoutInstance expected = {
      .name = "five",
      .capacity = 4096,
      .alignment = 8,
      .buffers = {{.id = "a", .lower = 0, .upper = 4, .size = 100},
                  {.id = "b", .lower = 1, .upper = 3, .size = 64, .alignment = 32},
                  {.id = "c", .lower = 10, .upper = 14, .size = 100},
                  {.id = "d", .lower = 11, .upper = 13, .size = 64, .alignment = 32},
                  {.lower = 2, .upper = 20, .size = 7, .offset = 512, .gaps = {{5, 9}, {12, 13}}}},
      .layers = {{.name = "forward", .occurrences = {{0, 1}, {2, 3}}}}};
  EXPECT_EQ(read, expected);
  EXPECT_EQ(write_layout_instance(read), R"({
  "format": "stowage/instance",
  "version": 1,
  "problem": "layout",
  "name": "five",
  "capacity_bytes": 4096,
  "alignment": 8,
  "buffers": [
    {"id": "a", "lower": 0, "upper": 4, "size_bytes": 100},
    {"id": "b", "lower": 1, "upper": 3, "size_bytes": 64, "alignment": 32},
    {"id": "c", "lower": 10, "upper": 14, "size_bytes": 100},
    {"id": "d", "lower": 11, "upper": 13, "size_bytes": 64, "alignment": 32},
    {"lower": 2, "upper": 20, "size_bytes": 7, "offset_bytes": 512, "gaps": [[5, 9], [12, 13]]}
  ],
  "layers": [
    {
      "name": "forward",
      "occurrences": [
        [0, 1],
        [2, 3]
      ]
    }
  ]
}
)");
}

TEST(LayoutJson, WhereItWasRecordedIsReadAndWrittenAndChangesNoHash) {
  LayoutInstance instance = read_or_die(kValidLayout);
  const std::string hash = instance_hash(instance);
  instance.recorded_from = RecordedBlock{.hidden = 48,
                                         .heads = 6,
                                         .kv_heads = 3,
                                         .head_dim = 10,
                                         .ffn = 70,
                                         .layers = 2,
                                         .lengths = {33, 0, 20}};
  const std::string text = write_layout_instance(instance);
  EXPECT_EQ(read_or_die(text), instance);
  EXPECT_EQ(instance_hash(instance), hash);
  const auto errors_with = [&text](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    std::string found;
    const Result<LayoutInstance> read = read_layout_instance(changed);
    if (read) return found;
    for (const InputError& error : read.errors()) found += error.code + ' ' + error.pointer + '\n';
    return found;
  };
  EXPECT_EQ(errors_with("\"heads\": 6", "\"heads\": 4"), "E337 /recorded_from/kv_heads\n");
  EXPECT_EQ(errors_with("\"hidden\": 48", "\"hidden\": 0"), "E205 /recorded_from/hidden\n");
  EXPECT_EQ(errors_with("\"ffn\": 70,", ""), "E201 /recorded_from/ffn\n");
  EXPECT_EQ(errors_with("[33, 0, 20]", "33"), "E203 /recorded_from/lengths\n");
  EXPECT_EQ(errors_with("\"layers\": 2", "\"layer\": 2"),
            "E202 /recorded_from/layer\nE201 /recorded_from/layers\n");
}

TEST(LayoutJson, ExtremesAreLegal) {
  const std::string head =
      R"({"format": "stowage/instance", "version": 1, "problem": "layout", "buffers": [)";
  EXPECT_EQ(read_or_die(head + "]}"), LayoutInstance{});
  const std::string most = std::to_string(kMaxExact);
  const LayoutInstance one =
      read_or_die(head + R"({"lower": 0, "upper": )" + most + R"(, "size_bytes": )" + most + "}]}");
  EXPECT_EQ(one.buffers[0].size, kMaxExact);
  EXPECT_EQ(one.buffers[0].upper, kMaxExact);
  const LayoutInstance aligned = read_or_die(
      head + R"({"lower": 0, "upper": 1, "size_bytes": 1, "alignment": )" + most + "}]}");
  EXPECT_EQ(aligned.buffers[0].alignment, kMaxExact);
  // No bytes, and a lifetime that is all gap.
  const LayoutInstance nothing = read_or_die(head + R"({"lower": 0, "upper": 2, "size_bytes": 0},
                {"lower": 0, "upper": 2, "size_bytes": 5, "gaps": [[0, 2]]}]})");
  EXPECT_EQ(nothing.buffers[1].gaps.size(), 1U);
  // Clashing pins and too little capacity are infeasible, not wrong.
  read_or_die(head + R"({"lower": 0, "upper": 2, "size_bytes": 5, "offset_bytes": 0},
                        {"lower": 0, "upper": 2, "size_bytes": 5, "offset_bytes": 0}],
                       "capacity_bytes": 0})");
}

TEST(LayoutJson, TheHashFollowsTheMeaning) {
  const LayoutInstance instance = read_or_die(kValidLayout);
  const auto hash_with = [&](auto change) {
    LayoutInstance changed = instance;
    change(changed);
    return instance_hash(changed);
  };
  const std::string hash = instance_hash(instance);
  EXPECT_EQ(hash, "fnv1a64:315a06f2bbefd48d");  // a plan on disk outlives this release
  EXPECT_EQ(hash, hash_with([](auto& i) { i.name = "other"; }));
  EXPECT_EQ(hash, hash_with([](auto& i) { i.buffers[0].id = "other"; }));
  EXPECT_EQ(hash, hash_with([](auto& i) { i.layers.clear(); }));
  const std::vector<std::string> others = {
      hash_with([](auto& i) { i.capacity = 0; }),
      hash_with([](auto& i) { i.capacity.reset(); }),
      hash_with([](auto& i) { i.alignment = 1; }),
      hash_with([](auto& i) { i.buffers[0].lower = 1; }),
      hash_with([](auto& i) { i.buffers[0].upper = 5; }),
      hash_with([](auto& i) { i.buffers[0].size = 101; }),
      hash_with([](auto& i) { i.buffers[0].alignment = 2; }),
      hash_with([](auto& i) { i.buffers[0].offset = 0; }),
      hash_with([](auto& i) { i.buffers[4].offset.reset(); }),
      hash_with([](auto& i) { i.buffers[4].gaps.pop_back(); }),
      hash_with([](auto& i) { i.buffers[4].gaps[0].lower = 6; }),
      hash_with([](auto& i) { i.buffers.pop_back(); }),
      hash_with([](auto& i) { std::swap(i.buffers[0], i.buffers[1]); }),
  };
  for (std::size_t a = 0; a < others.size(); ++a) {
    EXPECT_NE(others[a], hash) << a;
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(others[a], others[b]) << a << ' ' << b;
  }
}

TEST(LayoutJson, AnOutcomeLendsItsPlan) {
  const Result<LayoutPlan> alone = read_layout_plan(kValidLayoutPlan);
  const Result<LayoutPlan> inside = read_layout_plan(
      "{\"format\": \"stowage/outcome\", \"plan\": " + std::string(kValidLayoutPlan) + "}");
  ASSERT_TRUE(alone);
  ASSERT_TRUE(inside);
  EXPECT_EQ(*alone, *inside);
  const Result<LayoutInstance> instance = read_layout_instance(kValidLayout);
  ASSERT_TRUE(instance);
  for (const Violation& v : verify(*instance, *alone)) ADD_FAILURE() << to_string(v);
}

TEST(LayoutJson, AQuarterMillionBuffersRoundTrip) {
  LayoutInstance instance;
  for (std::int64_t i = 0; i < 250'000; ++i) {
    instance.buffers.push_back({.id = "b" + std::to_string(i),
                                .lower = i,
                                .upper = i + 1 + i * 7919 % 9973,
                                .size = i * 31 % 4096,
                                .alignment = 1 + i % 2});
  }
  EXPECT_EQ(read_or_die(write_layout_instance(instance)), instance);
}

}  // namespace
}  // namespace stowage::layout_json_test
