// Tables of measured rows: valid ones are read, and all errors are reported at once.
#include "instances/scatter/fit/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage::scatter_fit_sample_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> errors_of(const std::string& text) {
  std::vector<std::string> said;
  if (const auto read = read_samples_csv(text, "s.csv"); !read) {
    for (const InputError& error : read.errors()) said.push_back(to_string(error));
  }
  return said;
}

TEST(Samples, AreReadWithColumnsInAnyOrder) {
  const auto read = read_samples_csv(
      "time_ms,x-note,degree,lengths_tokens,exchange,peak_mib\r\n"
      "812.5,first,1,4096,,31240\r\n"
      "1630.1,, 4 ,32768 2048;512,ring,\n\n",
      "s.csv");
  ASSERT_TRUE(read) << to_string(read.errors().front());
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].degree, 1);
  EXPECT_EQ((*read)[0].ms, 812.5);
  EXPECT_EQ((*read)[0].mib, 31240);
  EXPECT_EQ((*read)[0].exchange, ExchangeKind::none);
  EXPECT_EQ((*read)[1].degree, 4);
  EXPECT_THAT((*read)[1].lengths, ElementsAre(32768, 2048, 512));
  EXPECT_EQ((*read)[1].exchange, ExchangeKind::ring);
  EXPECT_FALSE((*read)[1].mib);
  const auto brief = read_samples_csv("degree,lengths,ms,mib\n2,7 9,1e2,5\n", "s.csv");
  ASSERT_TRUE(brief);
  EXPECT_EQ(brief->front().ms, 100);
  EXPECT_EQ(brief->front().mib, 5);
}

TEST(Samples, EveryBadFieldIsNamedInOnePass) {
  EXPECT_THAT(
      errors_of("degree,lengths_tokens,time_ms,peak_mib,exchange\n"
                "0,12,3,4,none\n"
                "1,12 x,3,4,\n"
                "1,,3,4,\n"
                "1,12,-3,4,\n"
                "1,12,inf,4,\n"
                "1,12,3,0,\n"
                "1,12,3,4,rings\n"
                "1,12,3\n"
                "1,0,nan,,\n"),
      ElementsAre(
          "E413 s.csv:2:degree: must be an integer from 1 to 1000000, is \"0\"",
          "E413 s.csv:3:lengths_tokens: must be lengths of at least 1 token between spaces or "
          "semicolons, at most 2^53, is \"x\"",
          "E413 s.csv:4:lengths_tokens: must be at least one length, is \"\"",
          "E413 s.csv:5:time_ms: must be a number above 0, at most 2^53, is \"-3\"",
          "E413 s.csv:6:time_ms: must be a number above 0, at most 2^53, is \"inf\"",
          "E413 s.csv:7:peak_mib: must be a number above 0, at most 2^53, is \"0\"",
          "E413 s.csv:8:exchange: must be none, all_to_all, ring, all_gather or two_level, is "
          "\"rings\"",
          "E412 s.csv:9: must have 5 fields, is a line of 3",
          "E413 s.csv:10:lengths_tokens: must be lengths of at least 1 token between spaces or "
          "semicolons, at most 2^53, is \"0\"",
          "E413 s.csv:10:time_ms: must be a number above 0, at most 2^53, is \"nan\""));
}

TEST(Samples, ABadHeaderIsNamed) {
  EXPECT_THAT(errors_of("degree,lenghts,ms,ms\n"),
              ElementsAre("E411 s.csv:1: must name known columns, is \"lenghts\", did you mean "
                          "\"lengths\"?",
                          "E411 s.csv:1: must name each column once, is \"ms\" again",
                          "E411 s.csv:1: must name the column lengths_tokens, is without it"));
  EXPECT_EQ(errors_of("").size(), 4U);
  EXPECT_THAT(errors_of("\xEF\xBB\xBF"
                        "degree,lengths,ms\n"),
              ElementsAre("E103 s.csv:1: must not start with a byte order mark, is one"));
  EXPECT_THAT(errors_of("degree,lengths,ms\n1,\xFF,2\n"),
              ElementsAre("E102 s.csv:2:3: must be UTF-8 text, is byte 255"));
}

TEST(Samples, AMillionBadLinesAreCounted) {
  std::string text = "degree,lengths,ms\n";
  for (int i = 0; i < 1000; ++i) text += "0,1,1\n";
  const std::vector<std::string> said = errors_of(text);
  EXPECT_EQ(said.size(), 101U);
  EXPECT_EQ(said.back(), "E109 /: and 900 more errors");
}

}  // namespace
}  // namespace stowage::scatter_fit_sample_test
