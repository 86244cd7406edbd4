#include "kernels/memory/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace stowage::kernels::memory_arena_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Arena::Slot> three() {
  return {{.name = "x", .offset = 0, .size = 64},
          {.name = "y", .offset = 64, .size = 32},
          {.name = "z", .offset = 0, .size = 96}};
}

void fill(Arena& arena, std::size_t buffer) {
  for (std::byte& byte : arena.bytes(buffer)) byte = std::byte{7};
}

TEST(Arena, BuffersThatShareBytesInTurnAreFine) {
  Arena arena(three());
  EXPECT_EQ(arena.size(), 96);
  for (const std::size_t buffer : {0, 1}) {
    arena.begin(buffer);
    fill(arena, buffer);
    arena.check_free();
  }
  EXPECT_EQ(arena.high_water(), 96);
  arena.end(0);
  arena.end(1);
  arena.begin(2);
  fill(arena, 2);
  arena.check_free();
  arena.end(2);
  arena.begin(1);
  arena.check_free();
  EXPECT_THAT(arena.problems().list(), IsEmpty());
  // Each check covers all bytes except x's, then all except y's, and so on, including the guard;
  // begin() found clean canaries.
  EXPECT_EQ(arena.canaries_checked(), (32 + Arena::kGuard) + Arena::kGuard + Arena::kGuard +
                                          (64 + Arena::kGuard) + 64 + 32 + 96 + 32);
}

TEST(Arena, TheHighWaterMarkIsOfThoseThatLived) {
  Arena arena(three());
  EXPECT_EQ(arena.high_water(), 0);
  arena.begin(0);
  EXPECT_EQ(arena.high_water(), 64);
  arena.end(0);
  EXPECT_EQ(arena.high_water(), 64);
}

TEST(Arena, LivingBuffersThatShareBytesAreNamed) {
  Arena arena(three());
  arena.begin(1);
  arena.begin(2);
  EXPECT_THAT(arena.problems().list(),
              ElementsAre("z begins in bytes [0, 96) while y lives in bytes [64, 96)"));
  Arena other(three());
  other.begin(2);
  other.begin(1);
  EXPECT_THAT(other.problems().list(),
              ElementsAre("y begins in bytes [64, 96) while z lives in bytes [0, 96)"));
}

TEST(Arena, AWriteBesideTheBufferIsFound) {
  Arena arena(three());
  arena.begin(0);
  fill(arena, 0);
  arena.bytes(0).data()[64] = std::byte{1};  // y's first byte, which nobody owns
  arena.check_free();
  arena.check_free();  // the damage is reported once
  EXPECT_THAT(arena.problems().list(),
              ElementsAre("byte 64 was written, which no living buffer owns"));
}

TEST(Arena, AWriteAboveAllSlotsIsFound) {
  Arena arena(three());
  arena.begin(2);
  arena.bytes(2).data()[96 + Arena::kGuard - 1] = std::byte{1};
  arena.check_free();
  ASSERT_EQ(arena.problems().list().size(), 1U);
  EXPECT_THAT(arena.problems().list()[0],
              HasSubstr("byte " + std::to_string(96 + Arena::kGuard - 1)));
}

TEST(Arena, AWriteAfterTheEndIsFoundWhenTheNextBegins) {
  Arena arena(three());
  arena.begin(0);
  const std::span<std::byte> kept = arena.bytes(0);
  arena.end(0);
  kept[40] = std::byte{1};
  arena.begin(2);
  EXPECT_THAT(arena.problems().list(),
              ElementsAre("byte 40 was written before z began there, when no buffer owned it"));
}

TEST(Arena, BytesOfNobodyAreNoNumbers) {
  Arena arena({{.name = "a", .offset = 0, .size = 8}, {.name = "b", .offset = 12, .size = 8}});
  ArenaTensors tensors(arena);
  tensors.begin(1);
  EXPECT_TRUE(std::isnan(tensors.at(1)[0]));
  tensors.at(1)[0] = 1;
  tensors.end(1);
  EXPECT_TRUE(std::isnan(tensors.at(1)[0]));
}

TEST(Arena, NothingIsLegal) {
  Arena arena({});
  arena.check_free();
  EXPECT_EQ(arena.high_water(), 0);
  Arena empty({{.name = "none", .offset = 40, .size = 0}});
  empty.begin(0);
  empty.end(0);
  empty.check_free();
  EXPECT_EQ(empty.high_water(), 40);
  EXPECT_THAT(empty.problems().list(), IsEmpty());
}

}  // namespace
}  // namespace stowage::kernels::memory_arena_test
