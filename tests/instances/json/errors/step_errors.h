// Ways to break the meaning of a scatter instance, and its plans.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "instances/assign/json/json.h"
#include "instances/document/header.h"
#include "instances/layout/json/json.h"
#include "instances/lengths/list.h"
#include "instances/order/json/json.h"
#include "instances/scatter/json/json.h"
#include "instances/strategy/json/json.h"
#include "instances/trainer/step.h"
#include "tests/instances/json/errors/error_case.h"
#include "tests/instances/json_fixture.h"
#include "tests/instances/lengths/binary_files.h"

namespace stowage::json_errors_test {

inline Case head_case(std::string name, std::string text, std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_head(text)); }, std::move(expected)};
}

inline Case list_case(std::string name, std::string text, LengthSelection selection,
                      std::vector<std::string> expected) {
  return {std::move(name), [=] { return errors_of(read_length_list(text, "l.txt", selection)); },
          std::move(expected)};
}

inline std::vector<Case> meaning_cases() {
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
      instance_case("mixed of a share beyond one", "\"lengths\"",
                    "\"mixed\": {\"hidden_share\": 1.5}, \"lengths\"",
                    {"E206 /mixed/hidden_share: must be a number from 0 to 1",
                     "E313 /mixed: must stand beside the degrees 1 and 4"}),
      instance_case("mixed beside several stages and other degrees", "\"lengths\"",
                    "\"mixed\": {}, \"pipeline_stages\": 2, \"rules\": {\"no_idle_ranks\": true}, "
                    "\"lengths\"",
                    {"E313 /mixed: must stand beside the degrees 1 and",
                     "E313 /mixed: must stand without rules but max_tokens_per_rank",
                     "E313 /mixed: must stand with one pipeline stage"}),
      instance_case("mixed beside offload and memory of sequences",
                    "\"activation_mib_per_token\": 1}",
                    "\"activation_mib_per_token\": 1, \"recomputation\": [{\"name\": \"none\"}], "
                    "\"sequence_mib\": 1, \"offload\": {\"mib_per_token\": 1, "
                    "\"out_mib_per_ms\": 24, \"in_mib_per_ms\": 24}}, \"mixed\": {}",
                    {"E312 /model/offload: must stand without sequence_mib",
                     "E313 /mixed: must stand beside the degrees 1 and 4",
                     "E313 /mixed: must stand without sequence_mib",
                     "E313 /mixed: must stand without recomputation",
                     "E313 /mixed: must stand without offload"}),
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

inline std::vector<Case> plan_cases() {
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

// 150 bad lengths: 100 errors and a count.
inline std::vector<Case> count_cases() {
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) expected.push_back("E205 /lengths/" + std::to_string(i) + ":");
  expected.push_back("E109 /: and 50 more errors");
  return {instance_case("150 bad lengths", "[100, 80, 60, 20]", "[" + times(149, "0, ") + "0]",
                        std::move(expected))};
}

}  // namespace stowage::json_errors_test
