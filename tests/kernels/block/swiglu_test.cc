#include "kernels/block/operation/swiglu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/numbers.h"

namespace stowage::kernels::block_swiglu_test {
namespace {

double sigmoid(double g) { return 1 / (1 + std::exp(-g)); }

// Within a few units of the last place for every gate, small and large, at every length of a rest.
TEST(Swiglu, EqualsTheFormula) {
  for (const std::int64_t count : {1, 3, 15, 16, 17, 400}) {
    for (const float size : {0.01f, 1.0f, 20.0f}) {
      const std::vector<float> gate = normal_values(count, 1, size), up = normal_values(count, 2);
      const std::vector<float> dout = normal_values(count, 3);
      std::vector<float> out(gate.size()), dgate(gate.size()), dup(gate.size());
      swiglu_forward(gate, up, out);
      swiglu_backward(gate, up, dout, dgate, dup);
      for (std::size_t i = 0; i < gate.size(); ++i) {
        const double g = gate[i], s = sigmoid(g);
        // A machine without fused multiply-adds loses more of the exponent of a large gate.
        const double unit = 6e-7 * (1 + std::abs(g) / 8);
        EXPECT_NEAR(out[i], g * s * up[i], unit * std::abs(g * s * up[i]) + 1e-36) << g;
        EXPECT_NEAR(dup[i], dout[i] * g * s, unit * std::abs(dout[i] * g * s) + 1e-36) << g;
        const double slope = s * (1 + g * (1 - s));
        const double terms = s * (1 + std::abs(g) * (1 - s));
        EXPECT_NEAR(dgate[i], dout[i] * up[i] * slope,
                    unit * std::abs(dout[i] * up[i]) * terms + 1e-36)
            << g;
      }
    }
  }
}

TEST(Swiglu, TheEndsOfTheRange) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> gate = {-1e30f, -1000, -88, -87, 0, 88, 1000, 1e30f, kInf, kNan};
  const std::vector<float> one(gate.size(), 1.0f);
  std::vector<float> out(gate.size()), dgate(gate.size()), dup(gate.size());
  swiglu_forward(gate, one, out);
  swiglu_backward(gate, one, one, dgate, dup);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 0);
  EXPECT_NEAR(out[2], 0, 1e-36);
  EXPECT_EQ(out[4], 0);
  EXPECT_EQ(dgate[4], 0.5f);
  EXPECT_EQ(out[5], 88);
  EXPECT_EQ(out[6], 1000);
  EXPECT_EQ(dgate[6], 1);
  EXPECT_EQ(out[7], 1e30f);
  EXPECT_EQ(out[8], kInf);
  EXPECT_TRUE(std::isnan(out[9]) && std::isnan(dgate[9]) && std::isnan(dup[9]));
}

}  // namespace
}  // namespace stowage::kernels::block_swiglu_test
