// Readers fed with damaged documents: they may accept or refuse, but what they accept must be
// sound.
#include <gtest/gtest.h>

#include <random>

#include "instances/json.h"
#include "instances/random.h"
#include "json_fixture.h"

namespace stowage {
namespace {

// `text` with one to eight bytes changed, removed, inserted or repeated.
std::string mutate(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kFavourites = "{}[]\",:-+.0123456789eEntf\\/ \n\x80\xFF";
  for (std::uint64_t n = 1 + draw(random, 8); n > 0 && !text.empty(); --n) {
    const std::size_t at = draw(random, text.size());
    const char byte = draw(random, 4) == 0 ? static_cast<char>(draw(random, 256))
                                           : kFavourites[draw(random, kFavourites.size())];
    switch (draw(random, 5)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.erase(at, 1 + draw(random, 4));
        break;
      case 2:
        text.insert(at, 1, byte);
        break;
      case 3:
        text.insert(at, text.substr(draw(random, text.size()), draw(random, 40)));
        break;
      default:
        text.resize(text.size() - draw(random, 3));
        break;
    }
  }
  return text;
}

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
  EXPECT_GT(accepted, 50);  // else the damage is too coarse to reach the readers
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

}  // namespace
}  // namespace stowage
