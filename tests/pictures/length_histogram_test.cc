// Bars count the lengths between their edges.
#include "instances/pictures/length_histogram.h"

#include <gtest/gtest.h>

#include "tests/svg_document.h"

namespace stowage::length_histogram_test {
namespace {

SvgDocument document_of(const std::vector<PlacedLength>& lengths) {
  const std::vector<std::string> kinds = {"degree 1", "degree 2"};
  return SvgDocument(svg_document({length_histogram("lengths", lengths, kinds, Hues(kinds))}, ""));
}

TEST(LengthHistogram, CountsBetweenItsEdges) {
  // 2^9.5 = 724.1: the bins are 512 to 724, 725 to 1 023 and 1 024 to 1 448.
  const SvgDocument document =
      document_of({{512, 0}, {724, 0}, {725, 0}, {1023, 1}, {1023, 0}, {1024, 1}});
  EXPECT_EQ(document.complaints(), "");
  for (const char* text : {"degree 1: 2 sequences of 512 to 724 tokens, 1 236 in all",
                           "degree 1: 2 sequences of 725 to 1 023 tokens, 1 748 in all",
                           "degree 2: 1 sequence of 725 to 1 023 tokens, 1 023 in all",
                           "degree 2: 1 sequence of 1 024 to 1 448 tokens, 1 024 in all"}) {
    EXPECT_TRUE(document.has_tooltip(text)) << text;
  }
}

TEST(LengthHistogram, TakesAnyLengths) {
  EXPECT_EQ(document_of({}).complaints(), "");
  EXPECT_EQ(document_of({{1, 0}}).complaints(), "");
  EXPECT_EQ(document_of({{0, 0}, {1, 1}, {Tokens{1} << 53, 1}}).complaints(), "");
  std::vector<PlacedLength> powers;
  for (int k = 0; k <= 53; ++k) powers.push_back({Tokens{1} << k, 0});
  EXPECT_EQ(document_of(powers).complaints(), "");
}

}  // namespace
}  // namespace stowage::length_histogram_test
