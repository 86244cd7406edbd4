#include "instances/layout/generate/generate.h"

#include <gtest/gtest.h>

#include "instances/layout/json/json.h"
#include "instances/layout/load.h"

namespace stowage::layout_generate_test {
namespace {

using Kind = LayoutGenerator::Kind;

GeneratedLayout made(const LayoutGenerator& generator) {
  Result<GeneratedLayout> result = generate_layout(generator);
  if (!result) {
    ADD_FAILURE() << to_string(result.errors()[0]);
    return {};
  }
  return *std::move(result);
}

TEST(LayoutGenerator, TheSameParametersGiveTheSameInstance) {
  for (const Kind kind : {Kind::random, Kind::short_lived, Kind::rolling, Kind::guillotine}) {
    EXPECT_EQ(made({.kind = kind, .seed = 5}), made({.kind = kind, .seed = 5}));
    EXPECT_NE(made({.kind = kind, .seed = 5}).instance.buffers,
              made({.kind = kind, .seed = 6}).instance.buffers);
  }
  // On every machine.
  EXPECT_EQ(instance_hash(made({.buffers = 50, .seed = 1}).instance), "fnv1a64:cc9ef2f2d9ac2d57");
  EXPECT_EQ(instance_hash(made({.kind = Kind::guillotine, .buffers = 50, .seed = 1}).instance),
            "fnv1a64:1461bb19a056c39a");
}

TEST(LayoutGenerator, IsReadBack) {
  for (const Kind kind : {Kind::random, Kind::short_lived, Kind::rolling, Kind::guillotine}) {
    const LayoutInstance instance =
        made({.kind = kind, .unit = 256, .alignment = 128, .seed = 2}).instance;
    EXPECT_EQ(instance.buffers.size(), 100U);
    const auto read = read_layout_instance(write_layout_instance(instance));
    ASSERT_TRUE(read) << to_string(read.errors()[0]);
    EXPECT_EQ(*read, instance);
    for (const Buffer& buffer : instance.buffers) {
      EXPECT_EQ(buffer.size % 256, 0);
      EXPECT_LE(buffer.upper, 100);
      if (kind == Kind::short_lived) {
        EXPECT_LE(buffer.upper - buffer.lower, 100 / 16);
      }
      if (kind == Kind::rolling) {
        EXPECT_EQ(buffer.upper - buffer.lower, 100 / 16);
      }
    }
  }
}

TEST(LayoutGenerator, LifetimesMayBeGiven) {
  std::int64_t longest = 0;
  const LayoutInstance drawn = made({.kind = Kind::random, .lifetime = 9, .seed = 3}).instance;
  EXPECT_EQ(drawn.name, "random-100-lifetime9-seed3");
  for (const Buffer& buffer : drawn.buffers)
    longest = std::max(longest, buffer.upper - buffer.lower);
  EXPECT_EQ(longest, 9);
  for (const Buffer& buffer : made({.kind = Kind::rolling, .lifetime = 9}).instance.buffers) {
    EXPECT_EQ(buffer.upper - buffer.lower, 9);
  }
  const auto too_long = generate_layout({.kind = Kind::rolling, .steps = 5, .lifetime = 6});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.errors()[0].pointer, "/lifetime");
  EXPECT_FALSE(generate_layout({.kind = Kind::guillotine, .lifetime = 6}));
}

// Every step of a cut rectangle needs all its height, so that no layout is lower than the cuts.
TEST(LayoutGenerator, GuillotineCutsFillTheRectangle) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const GeneratedLayout cut = made({.kind = Kind::guillotine,
                                      .buffers = 60,
                                      .steps = 30,
                                      .bytes = 200,
                                      .unit = seed % 2 == 0 ? 1 : 4,
                                      .seed = seed});
    EXPECT_EQ(cut.instance.buffers.size(), 60U);
    EXPECT_EQ(cut.optimum, 200);
    std::vector<Bytes> load(30);
    for (const Buffer& buffer : cut.instance.buffers) {
      for (auto step = buffer.lower; step < buffer.upper; ++step) {
        load[static_cast<std::size_t>(step)] += buffer.size;
      }
    }
    EXPECT_EQ(load, std::vector<Bytes>(30, 200)) << "seed " << seed;
  }
}

TEST(LayoutGenerator, ASmallRectangleHasFewPieces) {
  const GeneratedLayout cut =
      made({.kind = Kind::guillotine, .buffers = 100, .steps = 3, .bytes = 8, .unit = 4});
  EXPECT_EQ(cut.instance.buffers.size(), 6U);
}

TEST(LayoutGenerator, SaysWhatMakesNoSense) {
  const auto errors_of = [](const LayoutGenerator& generator) {
    std::string all;
    const Result<GeneratedLayout> result = generate_layout(generator);
    if (result) return all;
    for (const InputError& error : result.errors()) all += to_string(error) + '\n';
    return all;
  };
  EXPECT_EQ(errors_of({.buffers = 0}), "");
  EXPECT_EQ(errors_of({.kind = Kind::guillotine, .buffers = 0}),
            "E504 /buffers: must be an integer from 1 to 1000000, is 0\n");
  EXPECT_EQ(errors_of({.steps = 0, .bytes = 0}),
            "E504 /steps: must be an integer from 1 to 1099511627776, is 0\n"
            "E504 /bytes: must be an integer from 1 to 4294967296, is 0\n");
  EXPECT_EQ(errors_of({.bytes = 100, .unit = 3}), "E504 /unit: must divide the bytes, 100, is 3\n");
  EXPECT_EQ(errors_of({.kind = Kind::guillotine, .alignment = 2}),
            "E504 /alignment: must divide the unit, 1, is 2\n");
  EXPECT_EQ(errors_of({.seed = UINT64_MAX}),
            "E504 /seed: must be at most 9007199254740992, is 18446744073709551615\n");
}

TEST(LayoutGenerator, AMillionBuffers) {
  EXPECT_EQ(
      made({.kind = Kind::guillotine, .buffers = 1'000'000, .steps = 1 << 20, .bytes = 1 << 24})
          .instance.buffers.size(),
      1'000'000U);
}

}  // namespace
}  // namespace stowage::layout_generate_test
