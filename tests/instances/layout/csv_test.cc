#include "instances/layout/json/csv.h"

#include <gtest/gtest.h>

#include <random>

#include "instances/json/limits.h"
#include "instances/layout/json/json.h"
#include "instances/layout/load.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/mutate.h"
#include "tests/instances/random_layout.h"

namespace stowage::layout_csv_test {
namespace {

LayoutInstance read_or_die(std::string_view text) {
  Result<LayoutInstance> read = read_layout_csv(text, "t.csv");
  if (!read) {
    ADD_FAILURE() << to_string(read.errors()[0]);
    return {};
  }
  return *std::move(read);
}

TEST(LayoutCsv, ReadsWhatMiniMallocWrites) {
  const LayoutInstance expected = {.buffers = {{.id = "b1", .lower = 0, .upper = 3, .size = 4},
                                               {.id = "b2",
                                                .lower = 3,
                                                .upper = 9,
                                                .size = 4,
                                                .alignment = 8,
                                                .offset = 16,
                                                .gaps = {{5, 7}, {8, 9}}}}};
  EXPECT_EQ(read_or_die("id,lower,upper,size,alignment,gaps,offset\n"
                        "b1,0,3,4,1,,\nb2,3,9,4,8,5-7 8-9,16\n"),
            expected);
  // Other names, another order, blanks, carriage returns, no newline at the end.
  EXPECT_EQ(read_or_die("offset, size ,gaps,begin,upper,alignment,buffer_id\r\n"
                        ",4,,0,3,,b1\r\n16, 4,5-7  8-9,3,9,8,b2"),
            expected);
  // `end` is the last step, in gaps too.
  EXPECT_EQ(read_or_die("buffer,start,end,size,alignment,gaps,offset\n"
                        "b1,0,2,4,,,\nb2,3,8,4,8,5-6 8-8,16\n\n\n"),
            expected);
}

// A hint is an address to begin a search with, or -1. It changes no rule, and must be a number.
TEST(LayoutCsv, HintsAreReadAndIgnored) {
  EXPECT_EQ(
      read_or_die("id,lower,upper,size,alignment,hint,gaps\n0,5,10,15,1,0,\n1,6,12,18,2,-1,7-8\n"),
      read_or_die("id,lower,upper,size,alignment,gaps\n0,5,10,15,1,\n1,6,12,18,2,7-8\n"));
  EXPECT_EQ(read_or_die("hint,id,lower,upper,size\n,a,0,1,2\n"),
            read_or_die("id,lower,upper,size\na,0,1,2\n"));
  const Result<LayoutInstance> bad =
      read_layout_csv("id,lower,upper,size,hint\na,0,1,2,x\n", "t.csv");
  ASSERT_FALSE(bad);
  EXPECT_EQ(to_string(bad.errors()[0]),
            "E413 t.csv:2:hint: must be an integer from -1 to 9007199254740992, is \"x\"");
}

// Behind the @ are the bytes that the buffer needs within the gap.
TEST(LayoutCsv, GapsOfSomeBytesAreNoGapsAndCounted) {
  const std::string head = "id,lower,upper,size,gaps\na,0,9,16,";
  std::int64_t partial = -1;
  Result<LayoutInstance> read = read_layout_csv(head + "1-2 3-4@0:8 5-6@4:4\n", "t.csv", &partial);
  ASSERT_TRUE(read);
  EXPECT_EQ(partial, 1);
  const std::vector<Lifetime> gaps = {{1, 2}, {5, 6}};
  EXPECT_EQ(read->buffers[0].gaps, gaps);
  read = read_layout_csv(head + "1-2\n", "t.csv", &partial);
  EXPECT_EQ(partial, 0);
  for (const char* gap : {"3-4@", "3-4@8", "3-4@8:4", "3-4@0:x", "3@0:8", "@0:8", "3-4@-1:8"}) {
    EXPECT_FALSE(read_layout_csv(head + gap + "\n", "t.csv")) << gap;
  }
}

// Limits of JSON documents apply to tables too, and a line of commas is counted without storing it.
TEST(LayoutCsv, LimitsHoldBeforeMemoryIsTaken) {
  const auto first = [](const std::string& text) {
    const Result<LayoutInstance> read = read_layout_csv(text, "t.csv");
    return read ? std::string() : to_string(read.errors()[0]);
  };
  EXPECT_EQ(first(std::string(1'000'000, ',')),
            "E411 t.csv:1: must name at most 8 columns, is a line of 1000001 fields");
  EXPECT_EQ(first("id,lower,upper,size\n" + std::string(1'000'000, ',')),
            "E412 t.csv:2: must have 4 fields, is a line of 1000001");
  std::string gaps = "id,lower,upper,size,gaps\nx,0,9007199254740992,1,";
  for (std::int64_t k = 0; k < kMaxContainers; ++k) gaps += "1-2 ";
  EXPECT_EQ(first(gaps),
            "E108 t.csv:2: must be at most 4000000 buffers, lists of gaps and gaps, is more");
}

TEST(LayoutCsv, AHeaderAloneIsAnEmptyInstance) {
  EXPECT_EQ(read_or_die("id,lower,upper,size"), LayoutInstance{});
  EXPECT_EQ(*write_layout_csv(LayoutInstance{}), "id,lower,upper,size\n");
}

TEST(LayoutCsv, WritesNoColumnOfDefaults) {
  LayoutInstance instance{.buffers = {{.lower = 0, .upper = 3, .size = 4},
                                      {.id = "x", .lower = 1, .upper = 2, .size = 5}}};
  EXPECT_EQ(*write_layout_csv(instance), "id,lower,upper,size\n0,0,3,4\nx,1,2,5\n");
  EXPECT_EQ(*write_layout_csv(instance, LayoutPlan{.offsets = {0, 4}}),
            "id,lower,upper,size,offset\n0,0,3,4,0\nx,1,2,5,4\n");
  instance.alignment = 4;
  instance.buffers[1].alignment = 6;
  instance.buffers[1].gaps = {{1, 2}};
  EXPECT_EQ(*write_layout_csv(instance),
            "id,lower,upper,size,alignment,gaps\n0,0,3,4,4,\nx,1,2,5,12,1-2\n");
}

// All properties that the format can express are read back; a common alignment becomes one of each
// buffer.
TEST(LayoutCsv, AnyInstanceComesBack) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Draw draw(seed);
    LayoutInstance instance = random_layout(draw);
    const Result<std::string> text = write_layout_csv(instance);
    ASSERT_TRUE(text);
    LayoutInstance read = read_or_die(*text);
    ASSERT_EQ(*write_layout_csv(read), *text);
    for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
      Buffer& buffer = instance.buffers[i];
      buffer.alignment = alignment_of(instance, buffer);
      if (buffer.id.empty()) buffer.id = std::to_string(i);
    }
    instance.alignment = 1;
    instance.name = "";
    ASSERT_EQ(read, instance) << *text;

    // A plan pins every buffer to its offset.
    const LayoutPlan plan = random_layout_plan(instance, draw);
    read = read_or_die(*write_layout_csv(instance, plan));
    for (std::size_t i = 0; i < instance.buffers.size(); ++i) {
      ASSERT_EQ(read.buffers[i].offset, plan.offsets[i]);
    }
    ASSERT_FALSE(layout_infeasibility(read));
  }
}

TEST(LayoutCsv, DamagedTablesAreRefusedOrSound) {
  std::mt19937_64 random(5);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = mutate(
        "id,lower,end,size,alignment,gaps,offset\nb1,0,3,4,1,,\nb2,3,9,4,8,5-7 9-9,16\n", random);
    const Result<LayoutInstance> read = read_layout_csv(text, "t.csv");
    if (!read) {
      ASSERT_FALSE(read.errors().empty());
      ASSERT_LE(read.errors().size(), 101U);
      continue;
    }
    ++accepted;
    const Result<std::string> written = write_layout_csv(*read);
    ASSERT_TRUE(written) << text;
    ASSERT_TRUE(read_layout_instance(write_layout_instance(*read))) << text;
  }
  EXPECT_GT(accepted, 50);
  EXPECT_LT(accepted, 4000);
}

TEST(LayoutCsv, TheCapacityStandsInTheName) {
  EXPECT_EQ(capacity_in_file_name("some/where/A.1048576.csv"), 1048576);
  EXPECT_EQ(capacity_in_file_name("input.12.csv"), 12);
  EXPECT_EQ(capacity_in_file_name("B.9007199254740992.csv"), kMaxExact);
  for (const char* name : {"A.csv", "A.1.5k.csv", "A.-5.csv", "A..csv", "1048576.csv", "", "A.12",
                           "A.9007199254740993.csv", "12.5/A.csv"}) {
    EXPECT_EQ(capacity_in_file_name(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace stowage::layout_csv_test
