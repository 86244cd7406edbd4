#include "instances/json/writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace stowage::json_writer_test {
namespace {

TEST(JsonWriter, ObjectsGoLineByLineAndShortThingsOnOne) {
  JsonWriter json;
  json.begin_object();
  json.key("empty");
  json.begin_object();
  json.end_object();
  json.key("rows");
  json.begin_array();
  json.integers({});
  json.integers({1, -2});
  json.begin_object(JsonWriter::Layout::line);
  json.boolean("yes", true);
  json.key("in");
  json.begin_array();  // inside a line everything stays on the line
  json.null();
  json.text("x");
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  EXPECT_EQ(json.take(), R"({
  "empty": {},
  "rows": [
    [],
    [1, -2],
    {"yes": true, "in": [null, "x"]}
  ]
}
)");
}

std::string written(double value) {
  JsonWriter json;
  json.number(value);
  std::string text = json.take();
  text.pop_back();
  return text;
}

TEST(JsonWriter, NumbersAreTheShortestThatReadBack) {
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(written(30720), "30720");
  EXPECT_EQ(written(-0.0), "0");
  EXPECT_EQ(written(5e-324), "5e-324");
  EXPECT_EQ(written(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonWriter, TextIsEscapedAndMended) {
  JsonWriter json;
  json.text("a\"b\\c\n\x01\xC3\xA4 \xFF\xC3");
  EXPECT_EQ(json.take(), "\"a\\\"b\\\\c\\n\\u0001\xC3\xA4 ??\"\n");
}

TEST(JsonWriter, NothingInATextSteersATerminal) {
  JsonWriter json;
  json.text("\x1b[2J\x7f\xC2\x9B\xE2\x80\xAE\xE2\x81\xA9 \xC2\xA0\xE2\x82\xAC\xFF\xE2\x80\xAE");
  EXPECT_EQ(json.take(),
            "\"\\u001b[2J\\u007f\\u009b\\u202e\\u2069 \xC2\xA0\xE2\x82\xAC?\\u202e\"\n");
}

}  // namespace
}  // namespace stowage::json_writer_test
