// The curve of a method is where the plain count of its gaps puts it.
#include "instances/pictures/performance_profile.h"

#include <gtest/gtest.h>

#include "tests/svg_document.h"

namespace stowage {
namespace {

TEST(PerformanceProfile, CountsInstancesWithinTheGap) {
  // Four instances, three planned: a quarter up at the left end, a half at 1 %, three at 10 %.
  const Picture picture = performance_profile("four", 4, {{"a<b>", {0.1, 0.0, 0.01}}});
  const SvgDocument document(svg_document({picture}, ""));
  EXPECT_EQ(document.complaints(), "");
  EXPECT_TRUE(document.has_tooltip("a<b>: 3 of 4 instances planned"));
  // The plot is 180 px high and begins at x = 72; 0.01 % to 10 % are three decades of 712 px.
  const std::size_t at = picture.elements.find("<polyline class=\"l1\" points=\"72,");
  ASSERT_NE(at, std::string::npos);
  const std::string points = picture.elements.substr(at, picture.elements.find('>', at) - at);
  const double bottom = std::stod(points.substr(points.find("72,") + 3));
  const auto y = [&](double share) { return svg_number(bottom - share * 180); };
  EXPECT_NE(points.find(" 72," + y(0.25) + " 546.67," + y(0.25) + " 546.67," + y(0.5) + " 784," +
                        y(0.5) + " 784," + y(0.75)),
            std::string::npos)
      << points;
}

TEST(PerformanceProfile, TellsManyMethodsApart) {
  std::vector<ProfiledMethod> methods;
  for (std::size_t m = 0; m < 14; ++m) {
    methods.push_back({"method " + std::to_string(m), {0.01 * static_cast<double>(m)}, m});
  }
  const SvgDocument document(svg_document({performance_profile("many", 1, methods)}, ""));
  EXPECT_EQ(document.complaints(), "");
  std::set<std::string> looks;
  for (const auto& shape : document.shapes) {
    if (shape.element == "polyline") looks.insert(shape.classes);
  }
  EXPECT_EQ(looks.size(), 14U);
}

TEST(PerformanceProfile, NeedsNoPlan) {
  const SvgDocument document(svg_document({performance_profile("none", 2, {{"nothing", {}}})}, ""));
  EXPECT_EQ(document.complaints(), "");
}

}  // namespace
}  // namespace stowage
