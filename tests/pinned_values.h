// Values of bounds on random instances, compared with a file of values, so that a change that makes
// a bound weaker or stronger is seen. Tests against brute force only see a bound that is too
// strong.
//
//   BoundValues values("order");
//   values.add(seed, "operator", operator_bound(table).bytes);
//   values.compare();
//
// STOWAGE_UPDATE_GOLDEN=1 writes the file anew: read the difference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>

namespace stowage {

class PinnedValues {
 public:
  // `file` is the path from the root of the checkout.
  explicit PinnedValues(std::string_view file)
      : path_(std::string(STOWAGE_SOURCE_DIR "/") + std::string(file)) {}

  void add(std::uint64_t seed, std::string_view name, double value) {
    text_ << seed << ' ' << name << ' ' << std::setprecision(13) << value << '\n';
  }

  void compare() const {
    if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(path_) << text_.str();
      return;
    }
    std::ifstream file(path_);
    ASSERT_TRUE(file) << path_ << ": run this test once with STOWAGE_UPDATE_GOLDEN=1";
    std::istringstream have(text_.str());
    std::string line;
    for (std::string wanted; std::getline(file, wanted);) {
      ASSERT_TRUE(std::getline(have, line)) << "is missing: " << wanted;
      ASSERT_TRUE(same(line, wanted)) << "have " << line << "\nwant " << wanted << "\n" << path_;
    }
    EXPECT_FALSE(std::getline(have, line)) << "is new: " << line;
  }

 private:
  // Sums of other machines may differ in their last digits.
  static constexpr double kTolerance = 1e-9;

  static bool same(const std::string& have, const std::string& want) {
    const std::size_t at = have.rfind(' ');
    if (at != want.rfind(' ') || have.compare(0, at, want, 0, at) != 0) return false;
    const double a = std::strtod(have.c_str() + at, nullptr);
    const double b = std::strtod(want.c_str() + at, nullptr);
    return a == b || std::abs(a - b) <= kTolerance * std::max(std::abs(a), std::abs(b));
  }

  std::string path_;
  std::ostringstream text_;
};

}  // namespace stowage
