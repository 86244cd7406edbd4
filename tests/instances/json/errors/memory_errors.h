// Ways to break assign and layout documents, and tables of buffers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "instances/assign/json/json.h"
#include "instances/json/limits.h"
#include "instances/layout/json/csv.h"
#include "instances/layout/json/json.h"
#include "instances/trainer/step.h"
#include "tests/instances/json/errors/error_case.h"
#include "tests/instances/json_fixture.h"

namespace stowage::json_errors_test {

inline Case layout_case(std::string name, std::string from, std::string to,
                        std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_layout_instance(with(kValidLayout, from, to))); },
          std::move(expected)};
}

inline Case layout_plan_case(std::string name, std::string from, std::string to,
                             std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_layout_plan(with(kValidLayoutPlan, from, to))); },
          std::move(expected)};
}

inline Case assign_case(std::string name, std::string from, std::string to,
                        std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_assign_instance(with(kValidAssign, from, to))); },
          std::move(expected)};
}

inline Case assign_plan_case(std::string name, std::string from, std::string to,
                             std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_assign_plan(with(kValidAssignPlan, from, to))); },
          std::move(expected)};
}

inline std::vector<Case> assign_cases() {
  const std::string table = R"({"2x2": 1, "1x1": 4})";
  const std::string scheme = R"({"tp": 1, "pp": 1, "quadratic_ms": 0.004, "linear_ms": 2, )"
                             R"("fixed_ms": 1,
            "max_tokens": 64})";
  std::string schemes = "{";
  std::string strategies = R"({"both": {"1x1": 1}, )";
  for (std::int64_t i = 0; i < kMaxSchemes - 1; ++i) {
    schemes += '"' + std::to_string(i) + "\": " + scheme + ", ";
  }
  for (std::int64_t i = 0; i < kMaxStrategies; ++i) {
    strategies += '"' + std::to_string(i) + R"(": {"1x1": 1}, )";
  }
  return {
      assign_case("valid assign", "five", "5", {}),
      assign_case("no schemes at all", "\"schemes\"", "\"x-schemes\"",
                  {"E201 /schemes", "E342 /strategies/both/2x2", "E342 /strategies/both/1x1",
                   "E342 /strategies/small/1x1"}),
      assign_case("no strategies at all", "\"strategies\"", "\"x-strategies\"",
                  {"E201 /strategies"}),
      assign_case("misspelt linear_ms", "linear_ms", "linear",
                  {"E202 /schemes/2x2/linear: must be a known key, is \"linear\"",
                   "E201 /schemes/2x2/linear_ms"}),
      assign_case("scheme as text", scheme, "\"1x1\"",
                  {"E203 /schemes/1x1: must be an object, is \"1x1\""}),
      assign_case("strategy as list", table, "[\"2x2\"]",
                  {"E203 /strategies/both: must be an object of numbers of replicas keyed by name, "
                   "is an array"}),
      assign_case(
          "schemes as list", "\"schemes\": {", "\"schemes\": [], \"x-s\": {",
          {"E203 /schemes: must be an object of schemes keyed by name, is an array",
           "E342 /strategies/both/2x2", "E342 /strategies/both/1x1", "E342 /strategies/small/1x1"}),
      assign_case("half a replica", "\"1x1\": 4", "\"1x1\": 4.5", {"E204 /strategies/both/1x1"}),
      assign_case("minus one replica", "\"1x1\": 4", "\"1x1\": -1",
                  {"E205 /strategies/both/1x1: must be an integer from 0 to 1000000, is -1"}),
      assign_case("no stage", "\"pp\": 2", "\"pp\": 0", {"E205 /schemes/2x2/pp"}),
      assign_case("too many stages", "\"pp\": 2", "\"pp\": 1025",
                  {"E205 /schemes/2x2/pp: must be an integer from 1 to 1024, is 1025"}),
      assign_case("no cap", "\"max_tokens\": 128", "\"max_tokens\": 0",
                  {"E205 /schemes/2x2/max_tokens"}),
      assign_case("negative cost", "0.001", "-0.001", {"E206 /schemes/2x2/quadratic_ms"}),
      assign_case("no multiple", "\"rows_multiple_of\": 2", "\"rows_multiple_of\": 0",
                  {"E205 /constraints/rows_multiple_of"}),
      assign_case("equal rows as number", "\"equal_rows\": true", "\"equal_rows\": 1",
                  {"E203 /constraints/equal_rows"}),
      assign_case("scheme twice", "\"1x1\": {", "\"2x2\": {",
                  {"E104 /schemes/2x2", "E342 /strategies/both/1x1", "E342 /strategies/small/1x1"}),
      assign_case("scatter as assign", "\"assign\"", "\"scatter\"", {"E209 /problem"}),
      assign_case("more targets than tokens", "\"lengths\":",
                  "\"loss_tokens\": [101, 50, 30, 20, 10], \"lengths\":", {"E306 /loss_tokens/0"}),
      assign_case("too many tokens", "[100, 50", "[9007199254740992, 50", {"E304 /lengths"}),
      assign_case("zero length", "[100, 50", "[0, 50", {"E205 /lengths/0"}),
      assign_case("lengths as text", "[100, 50, 30, 20, 10]", "\"l.txt\"", {"E203 /lengths"}),
      assign_case(
          "schemes of nobody", "\"schemes\": {", "\"schemes\": {}, \"x-s\": {",
          {"E341 /schemes: must hold at least one scheme, is empty", "E342 /strategies/both/2x2",
           "E342 /strategies/both/1x1", "E342 /strategies/small/1x1"}),
      assign_case("strategies of nobody", "\"strategies\": {", "\"strategies\": {}, \"x-s\": {",
                  {"E341 /strategies: must hold at least one strategy, is empty"}),
      assign_case("unknown scheme", "\"1x1\": 4", "\"1x2\": 4",
                  {"E342 /strategies/both/1x2: must be a scheme of /schemes, is \"1x2\", did you "
                   "mean \"1x1\"?"}),
      assign_case("too many devices", "\"1x1\": 4", "\"1x1\": 5",
                  {"E343 /strategies/both: must use at most the 8 devices, is replicas of 9"}),
      assign_case("no replica", table, "{\"2x2\": 0, \"x-note\": 1}",
                  {"E344 /strategies/both: must have at least one replica, is without"}),
      assign_case("equal rows of chunks", "\"rows_multiple_of\": 2",
                  "\"chunks\": {\"size_tokens\": 50}",
                  {"E345 /constraints/equal_rows: must be false beside chunks",
                   "E345 /constraints/allow_empty: must be true beside chunks"}),
      assign_case("keys and values",
                  "\"rows_multiple_of\": 2, \"equal_rows\": true, \"allow_empty\": false",
                  "\"chunks\": {\"size_tokens\": 50, \"key_value_bytes\": 35}",
                  {"E346 /constraints/chunks/key_value_bytes: must be at most the 34 "
                   "activation_bytes, of which it is a part, is 35"}),
      assign_case(
          "most schemes", "\"schemes\": {", "\"schemes\": " + schemes + "\"x-s\": 1}, \"x-t\": {",
          {"E342 /strategies/both/2x2", "E342 /strategies/both/1x1", "E342 /strategies/small/1x1"}),
      assign_case(
          "too many schemes", "\"schemes\": {",
          "\"schemes\": " + schemes + "\"more\": 1, \"x-s\": 1}, \"x-t\": {",
          {"E108 /schemes: must be at most 1000 schemes, is 1001", "E342 /strategies/both/2x2",
           "E342 /strategies/both/1x1", "E342 /strategies/small/1x1"}),
      assign_case("too many strategies", "\"strategies\": {",
                  "\"strategies\": " + strategies + "\"x-s\": 1}, \"x-t\": {",
                  {"E108 /strategies: must be at most 10000 strategies, is 10002"}),
      assign_plan_case("valid assign plan", "five", "5", {}),
      assign_plan_case("no strategy chosen", "\"strategy\"", "\"x-strategy\"", {"E201 /strategy"}),
      assign_plan_case("no simulated time", "\"simulated_1f1b_ms\": 41.5, ", "",
                       {"E201 /simulated_1f1b_ms"}),
      assign_plan_case("rows as object", "\"rows\": []", "\"rows\": {}", {"E203 /replicas/1/rows"}),
      assign_plan_case("negative id", "[0, 4]", "[0, -4]", {"E205 /replicas/0/rows/0/sequences/1"}),
      assign_plan_case("scheme as number", "\"1x1\"", "11", {"E203 /replicas/1/scheme"}),
      assign_plan_case("layout plan", "\"assign\"", "\"layout\"", {"E209 /problem"}),
  };
}

inline Errors read_too_many_buffers() {
  std::string text =
      R"({"format": "stowage/instance", "version": 1, "problem": "layout", "buffers": [0)";
  for (std::int64_t i = 0; i < kMaxBuffers; ++i) text += ",0";
  return errors_of(read_layout_instance(text + "]}"));
}

inline std::vector<Case> layout_cases() {
  return {
      layout_case("valid layout", "five", "5", {}),
      layout_case("no buffers at all", "\"buffers\"", "\"x-buffers\"", {"E201 /buffers"}),
      layout_case("misspelt size", "size_bytes", "size",
                  {"E202 /buffers/0/size: must be a known key, is \"size\" (known: id, lower, "
                   "upper, size_bytes",
                   "E201 /buffers/0/size_bytes"}),
      layout_case("gap as number", "[5, 9]", "5",
                  {"E203 /buffers/4/gaps/0: must be an array of two steps, [from, to], is 5"}),
      layout_case("gap of three steps", "[5, 9]", "[5, 7, 9]", {"E203 /buffers/4/gaps/0"}),
      layout_case("gaps as text", "[[5, 9], [12, 13]]", "\"5-9\"",
                  {"E203 /buffers/4/gaps: must be an array of gaps [from, to], is \"5-9\""}),
      layout_case("half a byte", "\"size_bytes\": 7", "\"size_bytes\": 7.5",
                  {"E204 /buffers/4/size_bytes"}),
      layout_case("negative size", "\"size_bytes\": 7", "\"size_bytes\": -7",
                  {"E205 /buffers/4/size_bytes"}),
      layout_case("negative step", "\"lower\": 0", "\"lower\": -1", {"E205 /buffers/0/lower"}),
      layout_case("no alignment", "\"alignment\": 32", "\"alignment\": 0",
                  {"E205 /buffers/1/alignment: must be an integer from 1"}),
      layout_case("null capacity", "4096", "null", {"E203 /capacity_bytes"}),
      layout_case("size beyond 2^53", "\"size_bytes\": 7", "\"size_bytes\": 9007199254740993",
                  {"E205 /buffers/4/size_bytes"}),
      {"too many buffers",
       read_too_many_buffers,
       {"E108 /buffers: must be at most 1000000 buffers, is 1000001"}},
      layout_case("scatter as layout", "\"layout\"", "\"scatter\"", {"E209 /problem"}),
      layout_case("no step", "\"upper\": 3,", "\"upper\": 1,",
                  {"E331 /buffers/1/upper: must be above lower, 1, is 1"}),
      layout_case("steps backwards", "\"upper\": 3,", "\"upper\": 0,", {"E331 /buffers/1/upper"}),
      layout_case("gap outside", "[12, 13]", "[12, 21]",
                  {"E332 /buffers/4/gaps/1: must be inside the lifetime [2, 20), is [12, 21)"}),
      layout_case("gap before", "[5, 9]", "[1, 9]", {"E332 /buffers/4/gaps/0"}),
      layout_case("gaps that touch", "[12, 13]", "[9, 13]",
                  {"E332 /buffers/4/gaps/1: must be later than the gap before it and not touch it, "
                   "is [9, 13)"}),
      layout_case("gap without steps", "[12, 13]", "[12, 12]",
                  {"E332 /buffers/4/gaps/1: must be a gap [from, to) with from below to"}),
      layout_case("repeated id", "\"id\": \"c\"", "\"id\": \"a\"",
                  {"E333 /buffers/2/id: must be unique, is \"a\", as is buffer 0"}),
      layout_case("id of a nameless buffer", "\"id\": \"c\"", "\"id\": \"4\"",
                  {"E333 /buffers/4/id: must be unique, is \"4\", as is buffer 2"}),
      layout_case("pin beside its alignment", "512", "516",
                  {"E334 /buffers/4/offset_bytes: must be a multiple of the alignment, 8, is 516"}),
      layout_case("pin beyond the range", "512", "9007199254740992",
                  {"E334 /buffers/4/offset_bytes: must end, with the size, at most at"}),
      layout_case("no common alignment", "\"alignment\": 32", "\"alignment\": 9007199254740991",
                  {"E335 /buffers/1/alignment: must have a common multiple with"}),
      layout_case("sum beyond 2^53", "\"size_bytes\": 64", "\"size_bytes\": 9007199254740992",
                  {"E335 /buffers/1/size_bytes: must sum, with the buffers before it"}),
      layout_case("sum beyond 2^53 once rounded", "\"alignment\": 32",
                  "\"alignment\": 9007199254740992", {"E335 /buffers/1/size_bytes"}),
      layout_case("unknown buffer in a block", "[2, 3]", "[2, 5]",
                  {"E336 /layers/0/occurrences/1/1: must be the index of a buffer, below 5, is 5"}),
      layout_case("buffer in two occurrences", "[2, 3]", "[2, 0]",
                  {"E336 /layers/0/occurrences/1/1: must be a buffer that stands in no other"}),
      layout_case("pinned buffer in a block", "[2, 3]", "[2, 4]",
                  {"E336 /layers/0/occurrences/1/1: must be a buffer that is not pinned, is 4"}),
      layout_case("shorter occurrence", "[2, 3]", "[2]",
                  {"E336 /layers/0/occurrences/1: must be as many buffers as occurrence 0 has, 2, "
                   "is 1"}),
      layout_case("occurrence out of step", "[2, 3]", "[3, 2]",
                  {"E336 /layers/0/occurrences/1/0: must be buffer 0 again 11 steps later"}),
      layout_case("occurrence of another shape", "\"size_bytes\": 64, \"alignment\": 32}",
                  "\"size_bytes\": 64, \"alignment\": 16}", {"E336 /layers/0/occurrences/1/1"}),
      layout_case("recorded from no block", "\"name\": \"five\",",
                  R"("recorded_from": {"hidden": 8, "heads": 4, "kv_heads": 3, "head_dim": 5,
                     "ffn": 6, "layers": 1, "lengths": [4]},)",
                  {"E337 /recorded_from/kv_heads: must divide the heads, 4, is 3",
                   "E337 /recorded_from/head_dim: must be even, is 5"}),
      layout_case("occurrences as numbers", "[[0, 1], [2, 3]]", "[0, 1]",
                  {"E203 /layers/0/occurrences/0", "E203 /layers/0/occurrences/1"}),
      layout_plan_case("valid layout plan", "five", "5", {}),
      layout_plan_case("negative offset", "[0, 128", "[-1, 128", {"E205 /offsets/0"}),
      layout_plan_case("no offsets", "\"offsets\"", "\"x-offsets\"", {"E201 /offsets"}),
      layout_plan_case("fraction of a peak", "519,", "519.0,", {"E204 /peak_bytes"}),
      layout_plan_case("no peak", "\"peak_bytes\": 519,", "", {"E201 /peak_bytes"}),
      layout_plan_case("scatter plan", "\"layout\"", "\"scatter\"", {"E209 /problem"}),
  };
}

inline Case csv_case(std::string name, std::string text, std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_layout_csv(text, "t.csv")); },
          std::move(expected)};
}

inline std::vector<Case> csv_cases() {
  const std::string head = "id,lower,upper,size,alignment,gaps,offset\n";
  return {
      csv_case("valid table", head + "a,0,9,4,8,2-3 5-6,16\nb,0,9,4,,,\n\n", {}),
      csv_case("empty table", "",
               {"E411 t.csv:1: must name known columns, is \"\"",
                "E411 t.csv:1: must name the column id, is without it", "E411", "E411", "E411"}),
      csv_case("misspelt column", "id,lower,uper,size\n",
               {"E411 t.csv:1: must name known columns, is \"uper\", did you mean \"upper\"?",
                "E411 t.csv:1: must name the column upper, is without it"}),
      csv_case("column twice", "id,lower,upper,size,start\n",
               {"E411 t.csv:1: must name each column once, is \"start\" again"}),
      csv_case("too few fields", head + "a,0,9,4,8,\n",
               {"E412 t.csv:2: must have 7 fields, is a line of 6"}),
      csv_case("empty line amid the table", head + "\na,0,9,4,,,\n",
               {"E412 t.csv:2: must have 7 fields, is a line of 1"}),
      csv_case("words for numbers", head + "a,no,9,4.5,0,,-1\nb,0,,4,,,\n",
               {"E413 t.csv:2:lower: must be an integer from 0 to 9007199254740992, is \"no\"",
                "E413 t.csv:2:size", "E413 t.csv:2:alignment: must be an integer from 1",
                "E413 t.csv:2:offset", "E413 t.csv:3:upper"}),
      csv_case("gap of reversed addresses", head + "a,0,9,4,,2-3@16:0,\n",
               {"E413 t.csv:2:gaps: must be gaps FROM-TO or FROM-TO@FROM:TO between spaces, is "
                "\"2-3@16:0\""}),
      csv_case("gap of one step", head + "a,0,9,4,,2,\n", {"E413 t.csv:2:gaps"}),
      csv_case("no step in a table", head + "a,9,9,4,,,\n",
               {"E331 t.csv:2:upper: must be above lower, 9, is 9"}),
      csv_case("gap outside in a table", head + "a,0,9,4,,2-3 8-10,\n", {"E332 t.csv:2:gaps/1"}),
      csv_case("one id twice in a table", head + "a,0,9,4,,,\na,0,9,4,,,\n",
               {"E333 t.csv:3:id: must be unique, is \"a\", as is buffer 0"}),
      csv_case("pin beside its alignment in a table", head + "a,0,9,4,8,,12\n",
               {"E334 t.csv:2:offset_bytes"}),
      csv_case("table of another encoding", head + "\xFF,0,9,4,8,,12\n", {"E102 t.csv:2:1"}),
      csv_case("table with a byte order mark", "\xEF\xBB\xBF" + head, {"E103 t.csv:1"}),
      {"id with a comma",
       [] {
         return errors_of(write_layout_csv({.buffers = {{.id = "a,b", .upper = 1},
                                                        {.id = " c", .upper = 1},
                                                        {.id = "a\x1b[2J", .upper = 1},
                                                        {.id = "=1+1", .upper = 1},
                                                        {.id = "@x", .upper = 1}}}));
       },
       {"E414 /buffers/0/id: must be without commas, control characters, outer spaces and =, +, - "
        "or "
        "@ in front, is \"a,b\"",
        "E414 /buffers/1/id", "E414 /buffers/2/id", "E414 /buffers/3/id", "E414 /buffers/4/id"}},
  };
}

}  // namespace stowage::json_errors_test
