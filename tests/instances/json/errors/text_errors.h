// Ways to break the text and the keys of a scatter instance.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "instances/json/document.h"
#include "instances/json/limits.h"
#include "instances/lengths/list.h"
#include "instances/scatter/json/json.h"
#include "instances/trainer/step.h"
#include "tests/instances/json/errors/error_case.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/lengths/binary_files.h"

namespace stowage::json_errors_test {

inline Case text_case(std::string name, std::string text, std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_scatter_instance(text)); },
          std::move(expected)};
}

// A file of zeros that takes no space on disk.
inline Errors read_huge_file() {
  const auto path = std::filesystem::path(testing::TempDir()) / "stowage_huge.json";
  std::ofstream(path).put('{');
  std::filesystem::resize_file(path, kMaxDocumentBytes + 1);
  Errors errors = errors_of(read_text_file(path));
  std::filesystem::remove(path);
  for (InputError& error : errors) error.pointer = path.filename().string();
  return errors;
}

inline Errors read_endless_stream() {
  struct Endless : std::streambuf {
    std::string block = std::string(1 << 20, ' ');
    int_type underflow() override {
      setg(block.data(), block.data(), block.data() + block.size());
      return traits_type::to_int_type(' ');
    }
  } endless;
  std::istream stream(&endless);
  return errors_of(read_text_stream(stream, "stdin", 1 << 22));
}

inline std::vector<Case> text_cases() {
  const std::string deep = times(65, "[") + times(65, "]");
  return {
      text_case("empty", "", {"E101 1:1: must be JSON, is not: unexpected end of input"}),
      text_case("truncated", std::string(kValidInstance.substr(0, 100)),
                {"E101 3:15: must be JSON, is not: unexpected end of input"}),
      text_case("missing colon", "{\"a\" 1}", {"E101 1:6: must be JSON, is not: unexpected"}),
      text_case("comment", "{} // no", {"E101 1:4"}),
      text_case("single quotes", "{'a': 1}", {"E101 1:2"}),
      text_case("leading zero", "{\"a\": 01}", {"E101 1:8"}),
      text_case("trailing comma", "{\"a\": 1,}", {"E101 1:9"}),
      text_case("trailing garbage", std::string(kValidInstance) + " x", {"E101 10:3"}),
      text_case("second document", std::string(kValidInstance) + "{}", {"E101 10:2"}),
      text_case("columns count characters", "{\"\xC3\xA4\xC3\xB6\": x}", {"E101 1:8"}),
      text_case("zero byte after the document", std::string(kValidInstance) + '\0' + "}",
                {"E102 10:2: must be UTF-8 text, is byte 0"}),
      instance_case("lone continuation byte", "four", "fo\x80ur", {"E102 2:80"}),
      instance_case("overlong slash", "four", "\xC0\xAF", {"E102 2:"}),
      instance_case("surrogate", "four", "\xED\xA0\x80", {"E102 2:"}),
      instance_case("beyond Unicode", "four", "\xF4\x90\x80\x80", {"E102 2:"}),
      instance_case("cut character", "four\"", "\xE2\x82\"", {"E102 2:"}),
      instance_case("control character", "four", "fo\x01ur", {"E102 2:"}),
      instance_case("lone surrogate escape", "four", "\\ud800", {"E101 2:"}),
      text_case("byte order mark", "\xEF\xBB\xBF" + std::string(kValidInstance), {"E103 1:1"}),
      instance_case("duplicate key", "\"pad_multiple\": 16",
                    "\"lengths\": [1], \"pad_multiple\": 16",
                    {"E104 /lengths: must stand once in its object, is repeated"}),
      instance_case("duplicate deep key", "\"2\": 8", "\"2\": 8, \"2\": 8",
                    {"E104 /cost/all_to_all/mib_per_ms/2"}),
      instance_case(
          "duplicate among many", "\"pad_multiple\"",
          "\"x-a\": {\"0\":0,\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,"
          "\"9\":0,\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"3\":0,\"g\":0},"
          "\"pad_multiple\"",
          {"E104 /x-a/3", "E104 /x-a/g"}),
      instance_case("pointer escapes", "\"pad_multiple\"",
                    "\"x-/~\": {\"a\":1,\"a\":2}, \"pad_multiple\"", {"E104 /x-~1~0/a"}),
      instance_case("nan", "0.001", "nan", {"E105 6:28: must be a finite number, is nan"}),
      instance_case("NaN again", "0.001", "NaN", {"E105 6:28: must be a finite number, is nan"}),
      instance_case("Infinity", "0.001", "Infinity", {"E105 6:28"}),
      instance_case("-Infinity", "0.001", "-Infinity", {"E105 6:29"}),
      instance_case("number overflow", "0.001", "1e999", {"E105 6:32: must be a number a double"}),
      text_case("endless digits", "{\"a\": 1" + std::string(kMaxNumberBytes, '0') + "}",
                {"E111 1:7: must be a number of at most 4096 characters, is longer"}),
      text_case("endless fraction", "[0." + std::string(kMaxNumberBytes, '3') + "]", {"E111 1:2"}),
      text_case("endless name", "{\"name\": \"" + std::string(kMaxTextBytes, 'x') + "\"}",
                {"E111 1:10: must be a text of at most 1048576 bytes, is longer"}),
      text_case("endless key", "{\n\"" + std::string(kMaxTextBytes, '\\') + "\": 1}",
                {"E111 2:1: must be a text"}),
      text_case("a text without end", "{\n\"" + std::string(kMaxTextBytes, 'x'), {"E111 2:1"}),
      text_case("deep", deep, {"E106 " + times(64, "/0") + ": must be nested at most 64"}),
      {"huge file", read_huge_file, {"E107 stowage_huge.json: must be at most 536870912 bytes"}},
      {"missing file",
       [] { return errors_of(read_text_file("no/such/file")); },
       {"E110 no/such/file: must be a file that can be read, is missing"}},
      {"directory",
       [] { return errors_of(read_text_file("/")); },
       {"E110 /: must be a file that can be read, is a directory"}},
      {"device", [] { return errors_of(read_text_file("/dev/zero")); }, {"E110 /dev/zero"}},
  };
}

inline std::vector<Case> key_cases() {
  const std::string head =
      "{\"format\": \"stowage/instance\", \"version\": 1, \"problem\": \"scatter\"";
  return {
      text_case("nothing but a head", head + "}",
                {"E201 /cluster: must be given, is missing", "E201 /model", "E201 /cost",
                 "E201 /lengths"}),
      text_case("no object", "[]", {"E203 /: must be an object, is an array"}),
      text_case("no head", "{}",
                {"E201 /format", "E201 /version", "E201 /problem", "E201 /cluster", "E201 /model",
                 "E201 /cost", "E201 /lengths"}),
      instance_case("misspelt key", "memory_mib", "memory_mb",
                    {"E202 /cluster/memory_mb: must be a known key, is \"memory_mb\", did you mean "
                     "\"memory_mib\"?",
                     "E201 /cluster/memory_mib"}),
      instance_case("key from elsewhere", "\"aligned\"", "\"colour\": 1, \"aligned\"",
                    {"E202 /cluster/colour: must be a known key, is \"colour\" (known: devices, "
                     "devices_per_node, memory_mib, degrees, aligned, kinds)"}),
      instance_case(
          "null", "\"memory_mib\": 100", "\"memory_mib\": null",
          {"E203 /cluster/memory_mib: must be a number from 0 to 9007199254740992, is null"}),
      instance_case("number as string", "\"devices\": 4", "\"devices\": \"4\"",
                    {"E203 /cluster/devices: must be an integer from 1 to 1000000, is \"4\""}),
      instance_case("truth as number", "true", "1",
                    {"E203 /cluster/aligned: must be true or false, is 1"}),
      instance_case("name as number", "\"four\"", "4", {"E203 /name: must be a string, is 4"}),
      instance_case(
          "array as object", "{\"4\": 0.5}", "[0.5]",
          {"E203 /cost/all_to_all/latency_ms: must be an object of numbers keyed by degree, "
           "is an array"}),
      instance_case("lengths as number", "[100, 80, 60, 20]", "7",
                    {"E203 /lengths: must be an array of integers or {\"file\": ...}, is 7"}),
      instance_case("degrees as number", "[1, 2, 4]", "4", {"E203 /cluster/degrees"}),
      instance_case(
          "whole fraction", "\"devices\": 4", "\"devices\": 4.0",
          {"E204 /cluster/devices: must be an integer from 1 to 1000000 without fraction or "
           "exponent, is 4.0"}),
      instance_case("exponent", "\"pad_multiple\": 16", "\"pad_multiple\": 1e3",
                    {"E204 /pad_multiple"}),
      instance_case("half a token", "80, 60", "80.5, 60", {"E204 /lengths/1"}),
      instance_case("negative length", "80, 60", "-4, 60",
                    {"E205 /lengths/1: must be an integer from 1 to 9007199254740992, is -4"}),
      instance_case("zero length", "80, 60", "0, 60", {"E205 /lengths/1"}),
      instance_case("beyond 2^53", "80, 60", "9007199254740993, 60",
                    {"E205 /lengths/1: must be an integer from 1 to 9007199254740992, is "
                     "9007199254740993"}),
      instance_case("beyond 2^63", "80, 60", "9223372036854775808, 60",
                    {"E205 /lengths/1: must be an integer from 1 to 9007199254740992, is "
                     "9223372036854775808"}),
      instance_case("beyond 2^64", "80, 60", "-99999999999999999999, 60",
                    {"E205 /lengths/1: must be an integer from 1 to 9007199254740992, is "
                     "-99999999999999999999"}),
      instance_case("many digits", "80, 60", "1" + std::string(60, '7') + ", 60",
                    {"E205 /lengths/1: must be an integer from 1 to 9007199254740992, is "
                     "1777777777777777777777777777777777777777..."}),
      instance_case("many digits of a number", "\"memory_mib\": 100",
                    "\"memory_mib\": 18446744073709551617",
                    {"E206 /cluster/memory_mib: must be a number from 0 to 9007199254740992, is "
                     "18446744073709551617"}),
      instance_case("no devices", "\"devices\": 4", "\"devices\": 0", {"E205 /cluster/devices"}),
      instance_case("minus one", "\"pad_multiple\": 16", "\"pad_multiple\": -1",
                    {"E205 /pad_multiple: must be an integer from 1 to 1073741824, is -1"}),
      instance_case("negative memory", "\"memory_mib\": 100", "\"memory_mib\": -1",
                    {"E206 /cluster/memory_mib"}),
      instance_case("memory that no double holds", "\"memory_mib\": 100",
                    "\"memory_mib\": 9007199254740993",
                    {"E206 /cluster/memory_mib: must be a number that a double holds exactly, is "
                     "9007199254740993"}),
      instance_case("free activations", "\"activation_mib_per_token\": 1",
                    "\"activation_mib_per_token\": 0",
                    {"E206 /model/activation_mib_per_token: must be a number above 0"}),
      instance_case("negative memory of a sequence", "\"activation_mib_per_token\": 1",
                    "\"activation_mib_per_token\": 1, \"sequence_mib\": -1",
                    {"E206 /model/sequence_mib"}),
      instance_case("logits in chunks of none", "\"activation_mib_per_token\": 1",
                    "\"activation_mib_per_token\": 1, \"logits_mib_per_token\": 1, "
                    "\"logits_chunk_tokens\": 0",
                    {"E205 /model/logits_chunk_tokens"}),
      instance_case("negative cost", "0.001", "-0.001", {"E206 /cost/quadratic_ms"}),
      instance_case("huge cost", "0.001", "1e300", {"E206 /cost/quadratic_ms"}),
      instance_case("no bandwidth at all", "\"2\": 8", "\"2\": 0",
                    {"E206 /cost/all_to_all/mib_per_ms/2: must be a number from 1e-09"}),
      instance_case("negative latency", "{\"4\": 0.5}", "{\"4\": -0.5}",
                    {"E206 /cost/all_to_all/latency_ms/4"}),
      instance_case("a plan", "stowage/instance", "stowage/plan",
                    {"E207 /format: must be \"stowage/instance\", is \"stowage/plan\""}),
      instance_case("version 2", "\"version\": 1", "\"version\": 2",
                    {"E208 /version: must be 1, is 2"}),
      instance_case("version as text", "\"version\": 1", "\"version\": \"1\"", {"E208 /version"}),
      instance_case("other problem", "\"scatter\"", "\"layout\"",
                    {"E209 /problem: must be \"scatter\", is \"layout\""}),
      instance_case(
          "padded degree", "\"2\": 8", "\"02\": 8",
          {"E210 /cost/all_to_all/mib_per_ms/02: must be keyed by a degree from 1 to 1000000, "
           "is \"02\""}),
      instance_case("signed degree", "{\"4\": 0.5}", "{\"+4\": 0.5}", {"E210 "}),
      instance_case("degree with a unit", "{\"4\": 0.5}", "{\"4ms\": 0.5}", {"E210 "}),
      instance_case("degree zero", "{\"4\": 0.5}", "{\"0\": 0.5}", {"E210 "}),
      instance_case("huge degree", "{\"4\": 0.5}", "{\"99999999999\": 0.5}", {"E210 "}),
  };
}

}  // namespace stowage::json_errors_test
