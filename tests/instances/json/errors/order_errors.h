// Ways to break order and strategy documents, and files for trainers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "instances/order/json/json.h"
#include "instances/strategy/configuration.h"
#include "instances/strategy/fit/runs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/trainers.h"
#include "instances/trainer/step.h"
#include "tests/instances/json/errors/error_case.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/lengths/binary_files.h"

namespace stowage::json_errors_test {

// Returns a trainer file's binary form with `bytes` at `at`, and without the last `cut` bytes.
inline Case trainer_case(std::string name, std::size_t at, std::string bytes, std::size_t cut,
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

inline Case order_case(std::string name, std::string from, std::string to,
                       std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_order_instance(with(kValidOrder, from, to))); },
          std::move(expected)};
}

inline std::vector<Case> order_cases() {
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

inline Case strategy_case(std::string name, std::string from, std::string to,
                          std::vector<std::string> expected) {
  return {std::move(name),
          [=] { return errors_of(read_strategy_instance(with(kValidStrategy, from, to))); },
          std::move(expected)};
}

// Returns the strategy instance, with other ZeRO levels if `zero` is not empty.
inline StrategyInstance small_strategy(const std::string& zero) {
  const std::string levels = zero.empty() ? "[0, 3]" : zero;
  return *read_strategy_instance(with(kValidStrategy, "[0, 3]", levels));
}

inline std::vector<Case> strategy_cases() {
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

inline std::vector<Case> trainer_cases() {
  return {
      trainer_case("valid trainer file", 0, "", 0, {}),
      trainer_case("another magic", 1, "stowage", 0, {"E601 byte 0: must be a trainer file"}),
      trainer_case("header cut", 0, "", 140, {"E601"}),
      trainer_case("version 5", 8, "\5", 0, {"E208 byte 8: must be version 1 to 4, is 5"}),
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

}  // namespace stowage::json_errors_test
