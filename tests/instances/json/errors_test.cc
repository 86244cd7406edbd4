// One line per way to break an input. Longer than 300 lines because it is a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>

#include "instances/assign/json/json.h"
#include "instances/audit/work.h"
#include "instances/document/header.h"
#include "instances/json/document.h"
#include "instances/json/limits.h"
#include "instances/layout/json/csv.h"
#include "instances/layout/json/json.h"
#include "instances/lengths/length_file.h"
#include "instances/lengths/list.h"
#include "instances/order/json/json.h"
#include "instances/partition/micro_batches.h"
#include "instances/partition/partition.h"
#include "instances/scatter/fit/fit.h"
#include "instances/scatter/generate/generate.h"
#include "instances/scatter/json/json.h"
#include "instances/strategy/configuration.h"
#include "instances/strategy/fit/runs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/trainers.h"
#include "instances/trainer/step.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/lengths/binary_files.h"

namespace stowage::json_errors_test {
namespace {

using Errors = std::vector<InputError>;

template <class T>
Errors errors_of(const Result<T>& result) {
  return result ? Errors{} : result.errors();
}

struct Case {
  std::string name;
  std::function<Errors()> read;
  std::vector<std::string> expected;  // prefixes of the errors, in order
};

// The instance with one text replaced by another.
Case instance_case(std::string name, std::string from, std::string to,
                   std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_scatter_instance(with(kValidInstance, from, to))); },
          std::move(expected)};
}

Case plan_case(std::string name, std::string from, std::string to,
               std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_scatter_plan(with(kValidPlan, from, to))); },
          std::move(expected)};
}

Case text_case(std::string name, std::string text, std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_scatter_instance(text)); },
          std::move(expected)};
}

Case head_case(std::string name, std::string text, std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_head(text)); }, std::move(expected)};
}

Case list_case(std::string name, std::string text, LengthSelection selection,
               std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_length_list(text, "l.txt", selection)); },
          std::move(expected)};
}

Case file_case(std::string name, std::string bytes, LengthChoice choice,
               std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_any_lengths(bytes, "f", choice)); },
          std::move(expected)};
}

Case generator_case(std::string name, ScatterGenerator generator,
                    std::vector<std::string> expected) {
  return {std::move(name),
          [=] {
            return errors_of(generate_scatter(generator, {5, 6, 7}));
          },
          std::move(expected)};
}

std::string times(int count, std::string_view text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// A file of zeros that takes no space on disk.
Errors read_huge_file() {
  const auto path = std::filesystem::path(testing::TempDir()) / "stowage_huge.json";
  std::ofstream(path).put('{');
  std::filesystem::resize_file(path, kMaxDocumentBytes + 1);
  Errors errors = errors_of(read_text_file(path));
  std::filesystem::remove(path);
  for (InputError& error : errors) error.pointer = path.filename().string();
  return errors;
}

Errors read_endless_stream() {
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

std::vector<Case> text_cases() {
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

std::vector<Case> key_cases() {
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

std::vector<Case> meaning_cases() {
  return {
      instance_case("no degrees", "[1, 2, 4]", "[]",
                    {"E301 /cluster/degrees: must list at least one degree, is empty"}),
      instance_case("repeated degree", "[1, 2, 4]", "[1, 2, 2, 4]",
                    {"E301 /cluster/degrees/2: must be above the degree before it, 2, is 2"}),
      instance_case("falling degrees", "[1, 2, 4]", "[4, 2]", {"E301 /cluster/degrees/1"}),
      instance_case("degree above N", "[1, 2, 4]", "[1, 2, 4, 8]",
                    {"E301 /cluster/degrees/3: must be at most the 4 devices, is 8"}),
      instance_case(
          "no chain", "[1, 2, 4]", "[1, 2, 3]",
          {"E302 /cluster/degrees/2: must be a multiple of the degree before it, 2 (or write "
           "\"aligned\": false in /cluster), is 3"}),
      instance_case(
          "missing bandwidth", "\"2\": 8, \"4\": 4", "\"2\": 8",
          {"E303 /cost/all_to_all/mib_per_ms: must hold a bandwidth for every allowed degree "
           "above 1, lacks 4"}),
      instance_case(
          "missing bandwidths of default degrees",
          "\"devices\": 4, \"devices_per_node\": 2, \"memory_mib\": 100, \"degrees\": [1, 2, 4]",
          "\"devices\": 17, \"memory_mib\": 100",
          {"E303 /cost/all_to_all/mib_per_ms: must hold a bandwidth for every allowed degree "
           "above 1, lacks 8, 16"}),
      instance_case("exchange beside all_to_all", "\"fixed_ms\": 3,",
                    "\"fixed_ms\": 3, \"exchange\": {\"kinds\": [\"ring\"], "
                    "\"keys_values_mib_per_token\": 1, \"inside_mib_per_ms\": 1, "
                    "\"across_mib_per_ms\": 1},",
                    {"E305 /cost/exchange: must stand in place of all_to_all, is beside it"}),
      instance_case(
          "sum beyond 2^53", "80, 60", "9007199254740991, 60",
          {"E304 /lengths: must sum, padded, to at most 9007199254740992 tokens, is beyond "
           "that at sequence 1"}),
      instance_case("chunks of no logits", "\"activation_mib_per_token\": 1",
                    "\"activation_mib_per_token\": 1, \"logits_chunk_tokens\": 8",
                    {"E307 /model/logits_chunk_tokens: must stand beside a logits_mib_per_token "
                     "above 0, is without"}),
      instance_case("ways to recompute of one name", "\"activation_mib_per_token\": 1",
                    "\"activation_mib_per_token\": 1, \"recomputation\": [{\"name\": \"full\"}, "
                    "{\"name\": \"full\", \"linear_factor\": 1.25}]",
                    {"E308 /model/recomputation/1/name: must be a name of its own, is \"full\""}),
      instance_case(
          "kinds of other nodes than there are", "\"memory_mib\": 100",
          "\"memory_mib\": 100, \"kinds\": [{\"nodes\": 1}, {\"nodes\": 2, \"speed\": 2}]",
          {"E309 /cluster/kinds: must be of 4 devices, is of 6"}),
      instance_case("a table beside a formula", "\"fixed_ms\": 3,",
                    "\"fixed_ms\": 3, \"table\": {},",
                    {"E310 /cost/quadratic_ms: must not stand beside a table, which has all of the "
                     "time, is there",
                     "E310 /cost/linear_ms", "E310 /cost/fixed_ms", "E310 /cost/all_to_all"}),
      instance_case("padding beside a multiple", "\"pad_multiple\": 16",
                    "\"pad_multiple\": 16, \"padding\": {}",
                    {"E311 /padding: must stand in place of pad_multiple, is beside it"}),
      instance_case("padding to huge multiples", "\"pad_multiple\": 16",
                    "\"padding\": {\"sequence_multiple\": 1073741823}",
                    {"E311 /padding: must pad to multiples of at most 1073741824 tokens, pads "
                     "groups of degree 2 to more"}),
      instance_case("padding without a common multiple", "\"pad_multiple\": 16",
                    "\"padding\": {\"sequence_multiple\": 1073741823, \"row_multiple\": 2}",
                    {"E311 /padding/row_multiple: must have a common multiple with "
                     "sequence_multiple of at most 1073741824, has none"}),
      instance_case("padding of parts of no device", "\"pad_multiple\": 16",
                    "\"padding\": {\"per_degree\": false, \"device_multiple\": 2}",
                    {"E311 /padding/device_multiple: must be 1 where per_degree is false, is 2"}),
      instance_case("offload of more than activations", "\"activation_mib_per_token\": 1",
                    "\"activation_mib_per_token\": 1, \"offload\": {\"mib_per_token\": 1.5, "
                    "\"out_mib_per_ms\": 24, \"in_mib_per_ms\": 24}",
                    {"E312 /model/offload/mib_per_token: must be at most activation_mib_per_token, "
                     "1, is 1.5"}),
      instance_case("offload over no link", "\"activation_mib_per_token\": 1",
                    "\"activation_mib_per_token\": 1, \"offload\": {\"mib_per_token\": 1, "
                    "\"out_mib_per_ms\": 0, \"in_mib_per_ms\": 24, \"forward_share\": 2}",
                    {"E206 /model/offload/out_mib_per_ms: must be a number from 1e-09",
                     "E206 /model/offload/forward_share: must be a number from 0 to 1"}),
      instance_case("offload of sequences", "\"activation_mib_per_token\": 1",
                    "\"activation_mib_per_token\": 1, \"sequence_mib\": 1, \"offload\": "
                    "{\"mib_per_token\": 1, \"out_mib_per_ms\": 24, \"in_mib_per_ms\": 24}",
                    {"E312 /model/offload: must stand without sequence_mib"}),
      instance_case("offload in a pipeline of sequences that run one by one",
                    "\"activation_mib_per_token\": 1}",
                    "\"activation_mib_per_token\": 1, \"offload\": {\"mib_per_token\": 1, "
                    "\"out_mib_per_ms\": 24, \"in_mib_per_ms\": 24}}, \"pipeline_stages\": 2, "
                    "\"rules\": {\"packed\": false}",
                    {"E312 /model/offload: must stand without \"packed\": false in /rules",
                     "E312 /model/offload: must stand with one pipeline stage"}),
      instance_case(
          "missing volumes", "\"all_to_all\"",
          "\"exchange\": {\"kinds\": [\"all_to_all\"], \"all_to_all_mib_per_token\": {\"2\": 1}, "
          "\"inside_mib_per_ms\": 1, \"across_mib_per_ms\": 1}, \"x-\"",
          {"E303 /cost/exchange/all_to_all_mib_per_token: must hold a volume for every number of "
           "devices that exchange, lacks 4"}),
      instance_case("targets of some sequences",
                    "\"lengths\":", "\"loss_tokens\": [1, 2], \"lengths\":",
                    {"E306 /loss_tokens: must have an entry for each of the 4 lengths, has 2"}),
      instance_case(
          "more targets than tokens",
          "\"lengths\":", "\"loss_tokens\": [100, 81, 60, 0], \"lengths\":",
          {"E306 /loss_tokens/1: must be from 0 to the length of the sequence, 80, is 81"}),
      instance_case("negative targets", "\"lengths\":",
                    "\"loss_tokens\": [100, -1, 60, 0], \"lengths\":", {"E205 /loss_tokens/1"}),
      instance_case("targets as text", "\"lengths\":", "\"loss_tokens\": \"all\", \"lengths\":",
                    {"E203 /loss_tokens"}),
      instance_case("missing list of targets", "\"lengths\":",
                    "\"loss_tokens\": {\"file\": \"no.txt\"}, \"lengths\":", {"E110 no.txt"}),
      instance_case(
          "absolute list", "[100, 80, 60, 20]", "{\"file\": \"/etc/hosts\"}",
          {"E401 /lengths/file: must be a path relative to the instance, is \"/etc/hosts\""}),
      instance_case("nameless list", "[100, 80, 60, 20]", "{\"file\": \"\"}",
                    {"E401 /lengths/file"}),
      instance_case("missing list", "[100, 80, 60, 20]", "{\"file\": \"no.txt\"}", {"E110 no.txt"}),
      instance_case("list without a file", "[100, 80, 60, 20]", "{\"count\": -1}",
                    {"E201 /lengths/file", "E205 /lengths/count"}),
      list_case("word in a list", "12\nmany\n13\n", {},
                {"E402 l.txt:2: must be an integer from 1 to 9007199254740992, is \"many\""}),
      list_case("blank line", "12\n\n13\n", {}, {"E402 l.txt:2"}),
      list_case("zero, sign, fraction, space", "0\n-3\n+3\n1.5\n 7\n", {},
                {"E402 l.txt:1", "E402 l.txt:2", "E402 l.txt:3", "E402 l.txt:4", "E402 l.txt:5"}),
      list_case("beyond 2^53", "9007199254740993\n", {}, {"E402 l.txt:1"}),
      list_case("selection beyond the end", "1\n2\n3\n", {.first = 2, .count = 2},
                {"E403 l.txt: must hold the lines 3 to 4, is a list of 3 lines"}),
      list_case("first beyond the end", "1\n2\n3\n", {.first = 4},
                {"E403 l.txt: must hold the line 4, before those selected, is a list of 3 lines"}),
  };
}

std::vector<Case> length_file_cases() {
  const LengthChoice b{.column = "b"};
  const std::string long_count = npy_file("<i8", "(4,)", {1, 2, 3});
  return {
      file_case("blank line of a list", "tokens\n7\n\n8\n", {}, {"E402 f:3: must be an integer"}),
      file_case("list on one line", "4808, 3180\n", {}, {"E402 f:1: must be an integer from 1"}),
      file_case(
          "table without a column", "a,b\n1,2\n", {},
          {"E404 f: must be read with a column of lengths (--column NAME), has \"a\", \"b\""}),
      file_case("unknown column of a table", "Tokens,b\n1,2\n", {.column = "tokens"},
                {"E404 f: must have the column \"tokens\", has \"Tokens\", \"b\", did you mean "
                 "\"Tokens\"?"}),
      file_case("unknown column of a list", "7\n8\n", b,
                {"E404 f: must have the column \"b\", has \"7\""}),
      file_case("column twice", "b,b\n1,2\n", b, {"E411 f:1: must name each column once"}),
      file_case("entries of a table", "a,b\n1,2\n1,x\n1,\n1,2.5\n1,-3\n1,0\n1,9007199254740993\n",
                b,
                {"E402 f:3: must be an integer from 1 to 9007199254740992, is \"x\"", "E402 f:4",
                 "E402 f:5", "E402 f:6", "E402 f:7", "E402 f:8"}),
      file_case("fields of a table", "a,b\n1\n1,2,3\n\"1\n\",x\n", b,
                {"E412 f:2: must have 2 fields as the header, has 1", "E412 f:3", "E402 f:4"}),
      file_case("open quotation mark", "a,b\n1,2\n\"1,3\n", b,
                {"E412 f:3: must close its quotation marks"}),
      file_case("open quotation mark of a header", "\"a,b\n1,2\n", b, {"E412 f:1: must close"}),
      file_case("selection beyond a table", "a,b\n1,2\n", {"b", {.first = 1, .count = 1}},
                {"E403 f: must hold 2 entries for the selection, is a list of 1"}),
      file_case(
          "JSON lines without a column", "{\"a\": 1, \"c\": {\"d\": 2}}\n{}\n", {},
          {"E404 f: must be read with a column of lengths (--column NAME), has \"a\", \"c.d\""}),
      file_case("unknown key of JSON lines", "{\"a\": 1}\n{\"b\": 1}\n", b,
                {"E404 f: must have the column \"b\", has \"a\""}),
      file_case("entries of JSON lines",
                "{\"b\": 1}\n{\"a\": 1}\n{\"b\": [1]}\n{\"b\": 2.5}\n{\"b\"}\n\n{\"b\": 1}\n", b,
                {"E201 f:2: must have the key \"b\", is without it",
                 "E402 f:3: must be an integer from 1 to 9007199254740992, is an array", "E402 f:4",
                 "E101 f:5", "E101 f:6"}),
      file_case("array of objects without a column", "[{\"a\": 1}]", {},
                {"E404 f: must be read with"}),
      file_case("array of objects of other keys", "[{\"b\": 1}, {\"a\": 1}]", b, {"E201 /1"}),
      file_case("column of an array of integers", "[1, 2]", b, {"E404 f: must have the column"}),
      file_case("entries of an array", "[1, -2, \"x\", 2.0]", {},
                {"E205 /1", "E203 /2", "E204 /3"}),
      file_case("text for an array", "{\"lengths\": \"x\"}", {}, {"E203 /lengths"}),
      file_case("no lengths in an object", "{\"length\": [1]}", {},
                {"E202 /length", "E201 /lengths"}),
      file_case("byte order mark of a document", "\xEF\xBB\xBF[1]", {}, {"E103"}),
      file_case("column of an array of NumPy", npy_file("<i8", "(1,)", {1}), b,
                {"E404 f: must be read without a column"}),
      file_case("entries of an array of NumPy", npy_file("<i8", "(3,)", {1, 0, -5}), {},
                {"E402 f[1]: must be an integer from 1 to 9007199254740992, is 0",
                 "E402 f[2]: must be an integer from 1 to 9007199254740992, is -5"}),
      file_case("entry beyond 63 bits", npy_file("<u8", "(1,)", {-1}), {}, {"E402 f[0]"}),
      file_case("floats of NumPy", npy_file("<f8", "(1,)", {1}), {},
                {"E405 f: must be an array of integers, is of the type \"'<f8'\": save "
                 "array.astype(numpy.int64)"}),
      file_case("two dimensions", npy_file("<i8", "(1, 1)", {1}), {},
                {"E405 f: must be an array of one dimension, has the shape \"(1, 1)\": save "
                 "array.reshape(-1)"}),
      file_case("no dimension", npy_file("<i8", "()", {1}), {},
                {"E405 f: must be an array of one"}),
      file_case("array cut short", long_count, {},
                {"E405 f: must have 4 elements of 8 bytes, has 24 bytes"}),
      file_case("header cut short", long_count.substr(0, 40), {}, {"E405 f: must be a whole .npy"}),
      file_case("magic of NumPy alone", "\x93NUMPY", {}, {"E405 f: must be a .npy file"}),
      file_case("newer version of NumPy", npy_file("<i8", "(1,)", {1}, 9), {},
                {"E405 f: must be a .npy"}),
      file_case("header without its keys", npy_file("'", "", {}), {},
                {"E405 f: must be an array of"}),
      file_case("index cut short", megatron_index({7, 8}, {0, 1, 2}).substr(0, 60), {},
                {"E405 f: must have the bytes of 2 sequences and 3 bounds of documents, has 26"}),
      file_case("header of an index cut short", megatron_index({7}, {0, 1}).substr(0, 20), {},
                {"E405 f: must be a whole index of Megatron-LM"}),
      file_case("bounds of an index", megatron_index({7, 8}, {0, 1}), {},
                {"E405 f: must have documents from sequence 0 to sequence 2, has others"}),
      file_case("order of an index", megatron_index({7, 8}, {0, 2, 1, 2}), {},
                {"E405 f: must have documents in order, is not at document 1"}),
      file_case("far bound of an index", megatron_index({7, 8}, {0, 99, 2}), {},
                {"E405 f: must have documents in order, is not at document 0"}),
      file_case("empty document of an index", megatron_index({7, 8}, {0, 0, 2}), {},
                {"E402 f[0]: must be an integer from 1 to 9007199254740992, is 0"}),
      file_case("negative sequence of an index", megatron_index({7, -8}, {0, 2}), {},
                {"E402 f[0]"}),
      file_case("Parquet", "PAR1xxxx", {},
                {"E405 f: must be UTF-8 text, .npy or an index of Megatron-LM, is a Parquet file"}),
      file_case("gzip", "\x1f\x8b\x08", {}, {"E405 f: "}),
      file_case("UTF-16",
                std::string("\xff\xfe"
                            "7\0\n\0",
                            6),
                {}, {"E405 f: "}),
  };
}

std::vector<Case> plan_cases() {
  const std::string outcome = "{\"format\": \"stowage/outcome\", \"plan\": ";
  return {
      plan_case("no hash", "\"instance_hash\": \"fnv1a64:0123456789abcdef\",", "",
                {"E201 /instance_hash"}),
      plan_case("unknown key", "first_rank", "first_rnk",
                {"E202 /micro_batches/0/groups/0/first_rnk",
                 "E201 /micro_batches/0/groups/0/first_rank"}),
      plan_case("negative id", "[0, 2]", "[0, -2]", {"E205 /micro_batches/0/groups/0/sequences/1"}),
      plan_case("fraction of a token", "176,", "176.0,", {"E204 /micro_batches/0/groups/0/tokens"}),
      plan_case("groups as object", "[\n    {", "{\n    \"a\": {", {"E101 "}),
      plan_case("group as number", "\"micro_batches\": [{", "\"micro_batches\": [3, {",
                {"E203 /micro_batches/0: must be an object, is 3"}),
      plan_case("time as text", "\"time_ms\": 40.5", "\"time_ms\": \"40.5\"",
                {"E203 /micro_batches/0/groups/0/time_ms: must be a number, is \"40.5\""}),
      plan_case("an instance", "stowage/plan", "stowage/instance", {"E207 /format"}),
      {"outcome without a plan",
       [=] { return errors_of(read_scatter_plan(outcome + "null}")); },
       {"E211 /plan: must be a plan, is an outcome without one"}},
      {"outcome with a broken plan",
       [=] {
         return errors_of(
             read_scatter_plan(outcome + with(kValidPlan, "[0, 2]", "[0, null]") + "}"));
       },
       {"E203 /plan/micro_batches/0/groups/0/sequences/1"}},
      head_case("unknown format",
                "{\"format\": \"stowage/plans\", \"version\": 1, \"problem\": \"scatter\"}",
                {"E207 /format: must be one of stowage/instance, stowage/plan, stowage/outcome, is "
                 "\"stowage/plans\", did you mean \"stowage/plan\"?"}),
      head_case("unknown problem",
                "{\"format\": \"stowage/plan\", \"version\": 1, \"problem\": \"scater\"}",
                {"E209 /problem: must be one of scatter, assign, layout, order, strategy, is "
                 "\"scater\", did you mean "
                 "\"scatter\"?"}),
      head_case("later version",
                "{\"format\": \"stowage/plan\", \"version\": 3, \"problem\": \"scatter\"}",
                {"E208 /version: must be 1, is 3"}),
      head_case("all wrong", "{\"version\": 1.0, \"problem\": [1]}",
                {"E201 /format", "E208 /version", "E209 /problem"}),
      head_case("more arrays than allowed", "[" + times(4'000'000, "[],") + "0]",
                {"E108 /3999999: must be among the first 4000000 arrays and objects"}),
      head_case("more strings than allowed",
                "[[" + times(5'000'000, "\"\",") + "0], [" + times(5'000'001, "\"\",") + "0]]",
                {"E108 /1/5000000: must be among the first 10000000 keys and strings"}),
      head_case("more elements than allowed", "[" + times(10'000'001, "0,") + "0]",
                {"E108 /10000000: must be among the first 10000000 elements"}),
  };
}

Case layout_case(std::string name, std::string from, std::string to,
                 std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_layout_instance(with(kValidLayout, from, to))); },
          std::move(expected)};
}

Case layout_plan_case(std::string name, std::string from, std::string to,
                      std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_layout_plan(with(kValidLayoutPlan, from, to))); },
          std::move(expected)};
}

Case assign_case(std::string name, std::string from, std::string to,
                 std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_assign_instance(with(kValidAssign, from, to))); },
          std::move(expected)};
}

Case assign_plan_case(std::string name, std::string from, std::string to,
                      std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_assign_plan(with(kValidAssignPlan, from, to))); },
          std::move(expected)};
}

std::vector<Case> assign_cases() {
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

Errors read_too_many_buffers() {
  std::string text =
      R"({"format": "stowage/instance", "version": 1, "problem": "layout", "buffers": [0)";
  for (std::int64_t i = 0; i < kMaxBuffers; ++i) text += ",0";
  return errors_of(read_layout_instance(text + "]}"));
}

std::vector<Case> layout_cases() {
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

Case csv_case(std::string name, std::string text, std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_layout_csv(text, "t.csv")); },
          std::move(expected)};
}

std::vector<Case> csv_cases() {
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

std::vector<Case> generator_cases() {
  const ScatterGenerator valid{.source = {.kind = LengthSource::Kind::constant}, .count = 3};
  const auto changed = [&](auto change) {
    ScatterGenerator generator = valid;
    change(generator);
    return generator;
  };
  using Kind = LengthSource::Kind;
  return {
      generator_case("valid", valid, {}),
      generator_case("unknown model", changed([](auto& g) { g.preset.model = "gpt-7bb"; }),
                     {"E501 /model: must be one of llama-7b, llama-13b, llama-30b, "}),
      generator_case("too many devices",
                     changed([](auto& g) { g.preset.devices = kMaxPresetDevices + 1; }),
                     {"E501 /devices"}),
      generator_case("a degree beyond the devices", changed([](auto& g) {
                       g.preset.largest_degree = 17;
                       g.preset.devices = 16;
                     }),
                     {"E501 /largest_degree"}),
      generator_case("negative memory", changed([](auto& g) { g.preset.memory_mib = -1; }),
                     {"E501 /memory_mib"}),
      generator_case(
          "unpublished limit", changed([](auto& g) { g.preset.limit_tokens = 1000; }),
          {"E502 /limit_tokens: must be one of 64000, 192000, 384000 for gpt-7b, is 1000"}),
      generator_case("states fill the memory",
                     changed([](auto& g) { g.preset = {.model = "gpt-30b", .devices = 16}; }),
                     {"E503 /memory_mib"}),
      generator_case("negative count", changed([](auto& g) { g.count = -1; }), {"E504 /count"}),
      generator_case("huge seed", changed([](auto& g) { g.seed = UINT64_MAX; }), {"E504 /seed"}),
      generator_case("no padding", changed([](auto& g) { g.pad_multiple = 0; }),
                     {"E504 /pad_multiple"}),
      generator_case(
          "step beyond the list",
          changed([](auto& g) { g.source = {.kind = Kind::slice, .step = 1}; }),
          {"E504 /step: must select lines of the list, which has 3: step 1 of count 3 ends "
           "behind line 6"}),
      generator_case("sample beyond the list", changed([](auto& g) {
                       g.source.kind = Kind::sample;
                       g.count = 4;
                     }),
                     {"E504 /count"}),
      generator_case("empty range", changed([](auto& g) {
                       g.source = {.kind = Kind::uniform, .least = 5, .most = 4};
                     }),
                     {"E504 /most"}),
      generator_case("lognormal parameters", changed([](auto& g) {
                       g.source = {.kind = Kind::lognormal, .mu = -1, .sigma = 11};
                     }),
                     {"E504 /mu", "E504 /sigma"}),
      {"generator without a source",
       [] {
         return errors_of(read_scatter_generator(
             "{\"x-generator\": {\"model\": \"gpt-7b\", \"devices\": 64, \"limit_tokens\": 192000, "
             "\"memory_mib\": 30720, \"source\": \"dice\", \"count\": 1, \"seed\": 0, "
             "\"above_limit\": \"cut\"}}"));
       },
       {"E504 /x-generator/source", "E504 /x-generator/above_limit"}},
      {"generator with odd degrees",
       [] {
         return errors_of(read_scatter_generator(
             "{\"x-generator\": {\"model\": \"gpt-7b\", \"devices\": 64, \"limit_tokens\": 192000, "
             "\"memory_mib\": 30720, \"degrees\": \"odd\", \"largest_degree\": 0, "
             "\"source\": \"uniform\", \"least\": 1, \"most\": 2, \"count\": 1, \"seed\": 0, "
             "\"above_limit\": \"drop\"}}"));
       },
       {"E504 /x-generator/degrees", "E205 /x-generator/largest_degree"}},
      {"no generator",
       [] { return errors_of(read_scatter_generator("{}")); },
       {"E201 /x-generator"}},
  };
}

// Returns a trainer file's binary form with `bytes` at `at`, and without the last `cut` bytes.
Case trainer_case(std::string name, std::size_t at, std::string bytes, std::size_t cut,
                  std::vector<std::string> expected) {
  return {std::move(name),
          [=] {
            const TrainerStep step{
                .problem = "scatter",
                .ranks = 2,
                .micro_batches = 1,
                .batches = {{.sequences = {0}, .cu_seqlens = {0, 2}, .cu_seqlens_padded = {0, 4}},
                            {.group = 1,
                             .first_rank = 1,
                             .sequences = {1},
                             .cu_seqlens = {0, 1},
                             .cu_seqlens_padded = {0, 4}}}};
            std::string file = write_trainer_binary(step);
            file.replace(at, bytes.size(), bytes);
            file.resize(file.size() - cut);
            return errors_of(read_trainer_file(file));
          },
          std::move(expected)};
}

Case order_case(std::string name, std::string from, std::string to,
                std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_order_instance(with(kValidOrder, from, to))); },
          std::move(expected)};
}

std::vector<Case> order_cases() {
  return {
      order_case("valid order", "three", "3", {}),
      order_case("no operators at all", "\"operators\"", "\"x-operators\"", {"E201 /operators"}),
      order_case("tensor named twice", "\"id\": \"y\"", "\"id\": \"x\"",
                 {"E372 /operators/1/writes/0: must be the id of a tensor, is \"y\"",
                  "E371 /tensors/3/id: must be unique, is \"x\", as is tensors/0"}),
      order_case("unknown operator", "[\"f\"]", "[\"g\"]",
                 {"E372 /operators/1/after/0: must be the id of an operator, is \"g\""}),
      order_case("two writers", "\"writes\": [\"y\"]", "\"writes\": [\"y\", \"2\"]",
                 {"E373 /operators/1/writes/1: must be a tensor that no other operator writes"}),
      order_case("written input", "\"writes\": [\"y\"]", "\"writes\": [\"y\", \"x\"]",
                 {"E373 /operators/1/writes/1: must be no input, is \"x\""}),
      order_case("nobody writes", "\"writes\": [\"y\"], ", "",
                 {"E374 /tensors/3: must be an input or be written by an operator"}),
      order_case("cycle", "\"after\": [\"f\"]", "\"after\": [\"1\"]",
                 {"E375 /operators/1: must not wait for itself, is in a cycle: \"1\" after \"1\""}),
      order_case("sum beyond 2^53", "\"size_bytes\": 8", "\"size_bytes\": 9007199254740900",
                 {"E376 /tensors/3/size_bytes: must sum"}),
      order_case("update that runs again", "\"updates\": [\"w\"]",
                 "\"updates\": [\"w\"], \"recompute\": true",
                 {"E377 /operators/2/recompute: must be false for an operator that updates"}),
      order_case(
          "bytes per token of no length", "\"size_bytes\": 8",
          "\"size_bytes\": 8, \"bytes_per_token\": 2",
          {"E378 /tensors/3/bytes_per_token: must be 0 in an instance without `tokens`, is 2"}),
      order_case("in place of what it does not read", "\"writes\": [\"y\"]",
                 "\"writes\": [\"y\"], \"in_place\": [\"x\"]",
                 {"E379 /operators/1/in_place/0: must be a tensor that the operator reads, is "}),
      order_case(
          "in place of another size", "\"writes\": [\"y\"]",
          "\"writes\": [\"y\"], \"in_place\": [\"2\"]",
          {"E379 /operators/1/in_place/0: must be of the same size, rounded up, as a tensor"}),
      order_case("in place of an output", "\"writes\": [\"2\"]",
                 "\"writes\": [\"2\"], \"in_place\": [\"w\"]",
                 {"E379 /operators/0/in_place/0: must be no output of the graph"}),
      order_case(
          "in place of an update", "\"updates\": [\"w\"]",
          "\"updates\": [\"w\", \"2\"], \"in_place\": [\"2\"]",
          {"E379 /operators/2/in_place/0: must be a tensor that the operator does not update"}),
      order_case("in place of no tensor", "\"writes\": [\"y\"]",
                 "\"writes\": [\"y\"], \"in_place\": [\"u\"]",
                 {"E372 /operators/1/in_place/0: must be the id of a tensor, is \"u\""}),
      order_case("in place beside the time", "\"operators\": [\n    {\"id\": \"f\",",
                 "\"objective\": \"time\", \"operators\": [\n    {\"id\": \"f\", \"in_place\": "
                 "[\"x\"],",
                 {"E379 /operators/0/in_place: must be left out in an instance with objective "}),
      order_case("empty range of lengths", "\"operators\"",
                 "\"tokens\": {\"from\": 9, \"to\": 8}, \"operators\"",
                 {"E378 /tokens/from: must be at most `to`, 8, is 9"}),
  };
}

Case strategy_case(std::string name, std::string from, std::string to,
                   std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_strategy_instance(with(kValidStrategy, from, to))); },
          std::move(expected)};
}

// Returns the strategy instance, with other ZeRO levels if `zero` is not empty.
StrategyInstance small_strategy(const std::string& zero) {
  const std::string levels = zero.empty() ? "[0, 3]" : zero;
  return *read_strategy_instance(with(kValidStrategy, "[0, 3]", levels));
}

std::vector<Case> strategy_cases() {
  const std::string lengths = "[1000, 500, 250, 250]";
  return {
      strategy_case("valid strategy", "small", "s", {}),
      strategy_case("strategy without a model", "\"model\"", "\"x-model\"", {"E201 /model"}),
      strategy_case("strategy without lengths", lengths, "[]",
                    {"E381 /lengths: must have at least one sequence, is empty"}),
      strategy_case("strategy option without values", "\"cp\": [1]", "\"cp\": []",
                    {"E381 /options/cp: must have at least one value, is empty"}),
      strategy_case("too many layers", "\"count\": 4", "\"count\": 999",
                    {"E108 /model/blocks: must be at most 1000 layers, is 1001"}),
      strategy_case("too many nodes", "\"nodes\": 2", "\"nodes\": 250001",
                    {"E382 /cluster: must have at most 1000000 devices, has 1000004"}),
      strategy_case("more experts than there are", "\"top_k\": 2", "\"top_k\": 5",
                    {"E383 /model/blocks/1/experts/top_k: must be at most the 4 experts of a "
                     "layer, is 5"}),
      strategy_case("ranks for no experts", "\"experts\"", "\"x-experts\"",
                    {"E384 /options/ep: must be 1 where no block has two experts or more, has 2"}),
      strategy_case("measured block that is none", "\"block\": 0", "\"block\": 2",
                    {"E385 /cost/measured/0/block: must be below the 2 blocks of the model, is 2"}),
      strategy_case("measured lengths that fall", "[100, 1000],", "[100, 100],",
                    {"E385 /cost/measured/0/tokens: must ascend"}),
      strategy_case(
          "a length that was not measured", "[0.5, 4]", "[0.5]",
          {"E385 /cost/measured/0/ms: must have a time for each of the 2 lengths, has 1"}),
      strategy_case("experts without a width", "\"top_k\": 2, \"ffn\": 256", "\"top_k\": 2",
                    {"E201 /model/blocks/1/experts/ffn"}),
      strategy_case("no experts", "{\"count\": 4, \"top_k\"", "{\"count\": 0, \"top_k\"",
                    {"E205 /model/blocks/1/experts/count"}),
      strategy_case("unknown recomputation", "\"none\", \"full\"", "\"none\", \"some\"",
                    {"E203 /options/recompute/1"}),
      strategy_case("no such level", "\"zero\": [0, 3]", "\"zero\": [0, 4]",
                    {"E205 /options/zero/1"}),
      strategy_case("rates of a stack that there is not", "\"cost\": {",
                    "\"cost\": {\"rates\": {\"source\": \"stack\", \"stack\": \"megatron\"}, ",
                    {"E386 /cost/rates/stack: must be a stack of published steps, which the source "
                     "\"stack\" needs, is \"megatron\""}),
      strategy_case(
          "a kept rate that there is not", "\"cost\": {",
          "\"cost\": {\"rates\": {\"source\": \"fitted\", \"kept\": [\"inside\", \"x\"]}, ",
          {"E386 /cost/rates/kept/1: must be the key of a rate, is \"x\""}),
      {"a configuration that does not divide the devices",
       [] { return errors_of(read_configuration("pp=3,micro_batches=1", small_strategy(""))); },
       {"E387 pp: must divide the 8 devices together with tp and cp, is pp 3, tp 1 and cp 1"}},
      {"a configuration without micro-batches",
       [] { return errors_of(read_configuration("pp=2,pb=1", small_strategy(""))); },
       {"E387 pb: must be one of pp, v, tp, cp, dp"}},
      {"an option without a value that the trainer takes",
       [] { return errors_of(options_for(small_strategy("[0, 1]"), "torchtitan")); },
       {"E388 /options/zero: must have a value that the trainer takes, has 0, 1: torchtitan "
        "shards gradients"}},
      {"a log that is none",
       [] {
         const RunFiles files{.text = "tp,step_ms\n1,5\n", .name = "train.log", .read = {}};
         return errors_of(read_runs(files, "tp", small_strategy("")));
       },
       {"E363 --configuration: must be known keys and values like tp=8, has \"tp\""}},
  };
}

std::vector<Case> partition_cases() {
  const auto of = [](std::string name, PartitionInstance batch, std::vector<std::string> expected) {
    return Case{std::move(name), [=] { return check(batch); }, std::move(expected)};
  };
  const auto capped = [](std::string name, MicroBatchInstance batch,
                         std::vector<std::string> expected) {
    return Case{std::move(name), [=] { return check(batch); }, std::move(expected)};
  };
  return {
      of("fewer sequences than bins", {.lengths = {1, 1}, .bins = 3},
         {"E351 /bins: must be at most the number of sequences, 2, is 3"}),
      of("counts that cannot be equal",
         {.lengths = {1, 1, 1}, .bins = 2, .counts = PartitionCounts::equal},
         {"E352 /bins: must divide the number of sequences, 3"}),
      of("costs beyond 2^53", {.lengths = {kMaxExact}}, {"E353 /lengths/0"}),
      capped("a sequence above the token limit", {.lengths = {5, 9}, .max_tokens = 8},
             {"E354 /lengths/1: must be at most max_tokens, 8, is 9"}),
      capped("fewer sequences than micro-batches", {.lengths = {5}, .ranks = 2}, {"E355 /ranks"}),
      capped("labels of other sequences", {.lengths = {5}, .kept = {1, 2}}, {"E356 /kept"}),
      {"audited work without a rank",
       [] { return check(TrainerWork{.lengths = {}}); },
       {"E357 /rows: must have a rank, has none"}},
  };
}

std::vector<Case> sample_cases() {
  const auto of = [](std::string name, std::vector<TimedRow> rows,
                     std::vector<std::string> expected) {
    return Case{std::move(name), [=] { return errors_of(fit_cost(rows, structure_of(rows))); },
                std::move(expected)};
  };
  return {
      of("a ring without cost.exchange",
         {{.degree = 2, .lengths = {8}, .ms = 1, .exchange = ExchangeKind::ring}},
         {"E361 /samples/0/exchange: must be all_to_all without an instance"}),
      of("too few samples", {{.lengths = {8}, .ms = 1}}, {"E362 /samples: must be at least 4"})};
}

std::vector<Case> trainer_cases() {
  return {
      trainer_case("valid trainer file", 0, "", 0, {}),
      trainer_case("another magic", 1, "stowage", 0, {"E601 byte 0: must be a trainer file"}),
      trainer_case("header cut", 0, "", 140, {"E601"}),
      trainer_case("version 4", 8, "\4", 0, {"E208 byte 8: must be version 1, 2 or 3, is 4"}),
      trainer_case("names before version 3", 60, "\1", 0,
                   {"E602 byte 56: must be eight times 0 before version 3"}),
      trainer_case("many names", 60, "\x9", 0,
                   {"E602 byte 56", "E602 byte 60: must be at most 8 names, and 0 or 1, is 9"}),
      trainer_case("problem 3", 12, "\3", 0, {"E602 byte 12: must be problem 1"}),
      trainer_case("file cut", 0, "", 1, {"E602 byte 16: must be the bytes of the file, "}),
      trainer_case("more batches", 40, "\3", 0,
                   {"E602 byte 16: must be the bytes that the counts"}),
      trainer_case("many ranks", 32, "\xff\xff\xff\xff", 0,
                   {"E604 byte 32: must hold at most 1000000 ranks, is 4294967295",
                    "E604 byte 36: must hold at most 20000000 ranks times micro-batches"}),
      trainer_case("denominator", 24, "\5", 0,
                   {"E603 /loss_denominator: must be the targets of all batches, 3, is 5"}),
  };
}

// 150 bad lengths: 100 errors and a count.
std::vector<Case> count_cases() {
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) expected.push_back("E205 /lengths/" + std::to_string(i) + ":");
  expected.push_back("E109 /: and 50 more errors");
  return {instance_case("150 bad lengths", "[100, 80, 60, 20]", "[" + times(149, "0, ") + "0]",
                        std::move(expected))};
}

struct Evaluated {
  Case expected;
  Errors errors;
};

std::vector<Evaluated> evaluate() {
  std::vector<Evaluated> all;
  for (const auto& part :
       {text_cases(), key_cases(), meaning_cases(), length_file_cases(), plan_cases(),
        assign_cases(), layout_cases(), order_cases(), strategy_cases(), csv_cases(),
        generator_cases(), partition_cases(), sample_cases(), trainer_cases(), count_cases()}) {
    for (const Case& c : part) all.push_back({c, c.read()});
  }
  return all;
}

void expect_codes_places_and_reasons(const std::vector<Evaluated>& all) {
  for (const auto& [c, errors] : all) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(errors.size(), c.expected.size());
    for (std::size_t i = 0; i < std::min(errors.size(), c.expected.size()); ++i) {
      const std::string text = to_string(errors[i]);
      EXPECT_EQ(text.substr(0, c.expected[i].size()), c.expected[i]) << text;
    }
    for (std::size_t i = c.expected.size(); i < errors.size(); ++i) {
      ADD_FAILURE() << "unexpected: " << to_string(errors[i]);
    }
  }
}

// Expects one line of UTF-8 with the words "must" and "is".
void expect_plain_messages(const std::vector<Evaluated>& all) {
  for (const auto& [c, errors] : all) {
    for (const InputError& error : errors) {
      if (error.code == "E109") continue;
      const std::string text = to_string(error);
      EXPECT_EQ(error.message.compare(0, 5, "must "), 0) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_LT(text.size(), 400U) << text;
    }
  }
}

TEST(JsonErrors, AllErrorsComeInOnePass) {
  std::string text = with(kValidInstance, "\"devices\": 4", "\"devices\": 4.5");
  text = with(text, "0.001", "null");
  text = with(text, "\"states_mib\"", "\"state_mib\"");
  text = with(text, "\"pad_multiple\": 16", "\"pad_multiple\": 0, \"pad\": 1");
  text = with(text, "60, 20", "60, -20");
  std::set<std::string> found;
  for (const InputError& error : errors_of(read_scatter_instance(text))) {
    found.insert(error.code + ' ' + error.pointer);
  }
  EXPECT_EQ(found,
            (std::set<std::string>{"E202 /pad", "E202 /model/state_mib", "E201 /model/states_mib",
                                   "E204 /cluster/devices", "E203 /cost/quadratic_ms",
                                   "E205 /pad_multiple", "E205 /lengths/3"}));
}

TEST(JsonErrors, AStreamWithoutEndIsCutOff) {
  const Errors errors = read_endless_stream();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, "E107");
  EXPECT_EQ(errors[0].pointer, "stdin");
}

std::set<std::string> codes_in(const std::filesystem::path& path, const std::regex& pattern) {
  std::set<std::string> codes;
  const std::string text = file_text(path);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it) {
    codes.insert((*it)[1]);
  }
  return codes;
}

// The index in errors.md, the sources and the cases name the same codes.
void expect_all_codes(const std::vector<Evaluated>& all) {
  std::set<std::string> in_sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kInstancesDir)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc") continue;
    in_sources.merge(codes_in(entry.path(), std::regex("\"(E[0-9]{3})\"")));
  }
  const std::set<std::string> in_index = codes_in(
      kInstancesDir / "errors.md", std::regex("\n\\| (E[0-9]{3}) \\| [^|]+ \\| [^|]+ \\|"));
  std::set<std::string> in_cases;
  for (const auto& [c, errors] : all) {
    for (const InputError& error : errors) in_cases.insert(error.code);
  }
  EXPECT_EQ(in_sources, in_index);
  EXPECT_EQ(in_sources, in_cases);
  EXPECT_GE(in_sources.size(), 30U);
}

// All cases are in one test, since some cases read the largest documents.
TEST(JsonErrors, EachBreakIsNamedWithCodePlaceAndReason) {
  const std::vector<Evaluated> all = evaluate();
  expect_codes_places_and_reasons(all);
  expect_plain_messages(all);
  expect_all_codes(all);
}

}  // namespace
}  // namespace stowage::json_errors_test
