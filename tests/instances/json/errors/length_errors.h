// Ways to break files of lengths, flags of generators, and inputs of partitions and samples.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "instances/audit/work.h"
#include "instances/lengths/length_file.h"
#include "instances/partition/micro_batches.h"
#include "instances/partition/partition.h"
#include "instances/scatter/fit/fit.h"
#include "instances/scatter/generate/generate.h"
#include "instances/trainer/step.h"
#include "tests/instances/json/errors/error_case.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/lengths/binary_files.h"

namespace stowage::json_errors_test {

inline Case file_case(std::string name, std::string bytes, LengthChoice choice,
                      std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_any_lengths(bytes, "f", choice)); },
          std::move(expected)};
}

inline Case generator_case(std::string name, ScatterGenerator generator,
                           std::vector<std::string> expected) {
  return {std::move(name),
          [=] {
            return errors_of(generate_scatter(generator, {5, 6, 7}));
          },
          std::move(expected)};
}

inline std::vector<Case> length_file_cases() {
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

inline std::vector<Case> generator_cases() {
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

inline std::vector<Case> partition_cases() {
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

inline std::vector<Case> sample_cases() {
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

}  // namespace stowage::json_errors_test
