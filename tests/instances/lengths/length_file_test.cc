// Files of lengths in all formats that are read, with selections. Errors: tests/instances/json.
#include "instances/lengths/length_file.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "instances/units.h"
#include "tests/instances/lengths/binary_files.h"

namespace stowage::lengths_length_file_test {
namespace {

struct Case {
  std::string text;
  LengthChoice choice;
  std::vector<Tokens> expected;
  std::string remark = "";
};

void expect_read(const Case& c) {
  SCOPED_TRACE(c.text);
  const Result<LengthFile> read = read_any_lengths(c.text, "f", c.choice);
  ASSERT_TRUE(read) << to_string(read.errors().front());
  EXPECT_EQ(read->lengths, c.expected);
  EXPECT_EQ(read->remark, c.remark);
}

TEST(LengthFile, ListsMayHaveAHeaderAndBlankLastLines) {
  for (const Case& c : std::vector<Case>{
           {"", {}, {}},
           {"\n\n", {}, {}},
           {"7\n8\n", {}, {7, 8}},
           {"7\r\n8\r\n\r\n \n\n", {}, {7, 8}},
           {"\xEF\xBB\xBF"
            "7\n8",
            {},
            {7, 8}},
           {"tokens\n7\n8\n", {}, {7, 8}, "the first line, \"tokens\", is taken for a header"},
           {"tokens\n7\n8\n", {"tokens", {}}, {7, 8}},
           {"\"tokens\"\n7.0\n8.0\n\n", {"tokens", {}}, {7, 8}},
           {"tokens\n7\n8\n9\n",
            {"", {.first = 1, .count = 1}},
            {8},
            "the first line, \"tokens\", is taken for a header"},
       }) {
    expect_read(c);
  }
}

TEST(LengthFile, TablesHaveANamedColumn) {
  const std::string azure =
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.97,4808,10\r\n"
      "2023-11-16 18:17:04.03,3180,8\r\n";
  for (const Case& c : std::vector<Case>{
           {azure, {"ContextTokens", {}}, {4808, 3180}},
           {azure, {"GeneratedTokens", {}}, {10, 8}},
           {azure, {"ContextTokens", {.first = 1}}, {3180}},
           {azure, {"ContextTokens", {.count = 1}}, {4808}},
           {"Timestamp,Model,Request tokens\n5,ChatGPT,472\n45,GPT-4,1087",
            {"Request tokens", {}},
            {472, 1087}},
           {"a;b\n1;2\n", {"b", {}}, {2}},
           {"a\tb, c\n1\t2\n\n", {"b, c", {}}, {2}},
           {"\"a,\"\"x\"\"\",b\n\"p\nq\",7.00\n\"r\" , 8 \n", {"b", {}}, {7, 8}},
           {"\"a,\"\"x\"\"\",b\n7,8\n", {"a,\"x\"", {}}, {7}},
           {"1,2\n3,4\n", {"2", {}}, {4}},
       }) {
    expect_read(c);
  }
}

TEST(LengthFile, JsonIsLinesOrAnArrayOrAnObject) {
  const std::string mooncake =
      "{\"timestamp\": 0, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [0]}\n"
      "{\"timestamp\": 0, \"input_length\": 7322, \"output_length\": 490, \"hash_ids\": [0]}\n\n";
  for (const Case& c : std::vector<Case>{
           {mooncake, {"input_length", {}}, {6758, 7322}},
           {mooncake, {"input_length", {.first = 1, .count = 1}}, {7322}},
           {"{\"n\": 5}\n", {"n", {}}, {5}},
           {"{\"usage\": {\"in\": 5.0}}\n{\"usage.in\": 6}", {"usage.in", {}}, {5, 6}},
           {" [4808, 3180]\n", {}, {4808, 3180}},
           {"[4808, 3180, 3]", {"", {.first = 1, .count = 1}}, {3180}},
           {"{\"lengths\": [4808,\n 3180], \"x-source\": 1}", {}, {4808, 3180}},
           {"[{\"n\": 5, \"text\": \"x\"}, {\"n\": 6.0}]", {"n", {}}, {5, 6}},
           {"[]", {}, {}},
       }) {
    expect_read(c);
  }
}

TEST(LengthFile, ArraysOfNumPyHaveAnyIntegerType) {
  for (const char* type : {"<i8", ">i8", "<u8", "<i4", ">i4", "<u4", "<i2", ">u2", "|u1", "|i1"}) {
    for (const int version : {1, 2, 3}) {
      expect_read({npy_file(type, "(3,)", {7, 100, 1}, version), {}, {7, 100, 1}});
    }
  }
  expect_read({npy_file("<i8", "(0,)", {}), {}, {}});
  expect_read({npy_file("<i8", "(3,)", {7, 8, 9}), {"", {.first = 1, .count = 1}}, {8}});
  expect_read({npy_file("<i8", "(1,)", {kMaxExact}), {}, {kMaxExact}});
}

TEST(LengthFile, AnIndexOfMegatronHasDocuments) {
  expect_read({megatron_index({7, 8, 9}, {0, 1, 2, 3}), {}, {7, 8, 9}});
  expect_read({megatron_index({7, 8, 9}, {0, 1, 2, 3}, true), {}, {7, 8, 9}});
  expect_read({megatron_index({7, 8, 9}, {0, 1, 2, 3}), {"", {.first = 2}}, {9}});
  expect_read({megatron_index({7, 8, 9}, {0, 2, 3}),
               {},
               {15, 9},
               "the lengths are those of the 2 documents, which have 3 sequences"});
}

TEST(LengthFile, TheFirstBytesTellLinesAndBinaryFiles) {
  EXPECT_TRUE(is_json_lines("{\"a\": 1}\n{\"a\": 2}\n"));
  for (const char* other :
       {"", "{\"a\": 1}", "{\"a\": 1}\n\n", "{\n\"a\": 1}", "[1]\n[2]\n", "{]\n{]\n"}) {
    EXPECT_FALSE(is_json_lines(other)) << other;
  }
  EXPECT_TRUE(is_binary_length_file(npy_file("<i8", "(0,)", {})));
  EXPECT_TRUE(is_binary_length_file(megatron_index({1}, {0, 1})));
  EXPECT_FALSE(is_binary_length_file("7\n"));
}

}  // namespace
}  // namespace stowage::lengths_length_file_test
