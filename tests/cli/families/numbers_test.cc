// Extreme numbers in every numeric field of every instance. The fields come from the schemas, so
// that a new key is tested automatically. Each number is refused, or the instance is solved and
// every reader accepts the result. Longer than 300 lines for its samples.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/outcome/check_outcome.h"
#include "cli/families/outcome/stated_outcome.h"
#include "instances/documents.h"
#include "instances/numeric/random.h"
#include "instances/pictures/drawing/panel.h"
#include "instances/schema/schema.h"
#include "instances/violation.h"
#include "solvers/explain/explain.h"
#include "solvers/solve.h"
#include "tests/long_run.h"

namespace stowage::families_numbers_test {
namespace {

using nlohmann::json;

// The numbers are texts, since the JSON library cannot represent some of them.
const std::vector<std::string> kExtremes = {"0",
                                            "5e-324",
                                            "1e-308",
                                            "1e-100",
                                            "1e-20",
                                            "-1",
                                            "0.5",
                                            "1e308",
                                            "9007199254740992",
                                            "9007199254740993",
                                            "9223372036854775807",
                                            "9223372036854775808",
                                            "18446744073709551617",
                                            "1e400"};

// One instance of each kind with different keys.
const std::vector<std::string> kSamples = {
    R"({"problem": "scatter", "cluster": {"devices": 4, "memory_mib": 100, "degrees": [1, 2, 4]},
        "model": {"states_mib": 10, "activation_mib_per_token": 1},
        "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 2, "window": {"tokens": 8,
          "share": 0.5}, "all_to_all": {"mib_per_token": 1, "mib_per_ms": {"2": 8, "4": 4},
          "latency_ms": {"2": 0.5}}},
        "rules": {"micro_batches_multiple_of": 1},
        "lengths": [120, 50, 30, 12, 5], "loss_tokens": [20, 10, 30, 12, 5]})",
    R"({"problem": "scatter", "cluster": {"devices": 4, "devices_per_node": 2, "memory_mib": 100,
          "kinds": [{"nodes": 1, "speed": 1, "memory_mib": 100}, {"nodes": 1, "speed": 0.5,
          "memory_mib": 80}]},
        "model": {"states_mib": 10, "activation_mib_per_token": 1, "logits_mib_per_token": 0.1,
          "recomputation": [{"name": "none"}, {"name": "full", "activation_mib_per_token": 0.5,
          "quadratic_factor": 1.3, "linear_factor": 1.3, "exchange_factor": 1.3}]},
        "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 2, "exchange": {"kinds":
          ["all_to_all", "ring"], "all_to_all_mib_per_token": 1, "keys_values_mib_per_token": 0.5,
          "inside_mib_per_ms": 8, "across_mib_per_ms": 2, "inside_latency_ms": 0.1,
          "across_latency_ms": 0.2, "overlap": 0.5}},
        "lengths": [120, 50, 30, 12, 5]})",
    R"({"problem": "scatter", "cluster": {"devices": 4, "memory_mib": 200, "degrees": [1, 2, 4]},
        "model": {"states_mib": 10, "activation_mib_per_token": 1, "offload": {"mib_per_token": 0.5,
          "out_mib_per_ms": 2, "in_mib_per_ms": 1, "host_mib": 10, "forward_share": 0.25}},
        "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 2, "exchange": {"kinds":
          ["all_to_all", "ring"], "all_to_all_mib_per_token": {"2": 1, "4": 1.5},
          "keys_values_mib_per_token": 0.5, "inside_mib_per_ms": 8}},
        "padding": {"sequence_multiple": 2, "row_multiple": 4, "device_multiple": 2},
        "lengths": [120, 50, 30, 12, 5]})",
    R"({"problem": "scatter", "cluster": {"devices": 2, "memory_mib": 100, "degrees": [1, 2]},
        "model": {"states_mib": 0, "activation_mib_per_token": 1},
        "cost": {"table": {"1": {"tokens": [0, 50, 100], "squares": [0, 5000, 10000],
          "ms": [[4, 6, 8], [30, 37, 40], [50, 61, 70]]},
          "2": {"tokens": [0, 100, 200], "squares": [0, 40000], "ms": [[6, 8], [28, 36],
          [48, 60]]}}},
        "lengths": [90, 50, 30, 12, 5]})",
    R"({"problem": "assign", "devices": 8, "schemes": {"2x2": {"tp": 2, "pp": 2,
          "quadratic_ms": 0.01, "linear_ms": 1, "fixed_ms": 1, "max_tokens": 60},
          "1x1": {"tp": 1, "pp": 1, "quadratic_ms": 0.02, "linear_ms": 2, "fixed_ms": 1,
          "max_tokens": 30}},
        "strategies": {"S": {"2x2": 1, "1x1": 2}, "T": {"1x1": 4}}, "constraints":
          {"rows_multiple_of": 1}, "pad_multiple": 2, "lengths": [25, 20, 9, 4],
        "loss_tokens": [5, 2, 9, 4]})",
    R"({"problem": "assign", "devices": 4, "schemes": {"1x4": {"tp": 1, "pp": 4,
          "quadratic_ms": 0.01, "linear_ms": 1, "fixed_ms": 1, "max_tokens": 60}},
        "strategies": {"S": {"1x4": 1}}, "constraints": {"chunks": {"size_tokens": 20,
          "retained": 2, "activation_bytes": 34, "key_value_bytes": 4}},
        "lengths": [70, 20, 9, 4]})",
    R"({"problem": "layout", "capacity_bytes": 100, "alignment": 2, "buffers": [
          {"lower": 0, "upper": 4, "size_bytes": 10, "gaps": [[1, 2]]},
          {"lower": 1, "upper": 6, "size_bytes": 20, "alignment": 4},
          {"lower": 2, "upper": 8, "size_bytes": 6, "offset_bytes": 0}]})",
    R"({"problem": "layout", "buffers": [{"lower": 0, "upper": 4, "size_bytes": 10},
          {"lower": 1, "upper": 6, "size_bytes": 20}, {"lower": 10, "upper": 14, "size_bytes": 10},
          {"lower": 11, "upper": 16, "size_bytes": 20}],
        "layers": [{"name": "l", "occurrences": [[0, 1], [2, 3]]}]})",
    R"({"problem": "order", "objective": "time", "capacity_bytes": 40, "host":
          {"out_bytes_per_ms": 10, "in_bytes_per_ms": 10, "capacity_bytes": 20}, "tensors": [
          {"id": "x", "size_bytes": 5, "input": true}, {"id": "a", "size_bytes": 20},
          {"id": "b", "size_bytes": 2}, {"id": "c", "size_bytes": 30}, {"id": "d",
          "size_bytes": 1}, {"id": "y", "size_bytes": 1, "output": true}], "operators": [
          {"id": "f", "reads": ["x"], "writes": ["a"], "ms": 2}, {"id": "g", "reads": ["a"],
          "writes": ["b"], "ms": 2}, {"id": "m", "reads": ["b"], "writes": ["c"], "ms": 1},
          {"id": "n", "reads": ["c"], "writes": ["d"], "ms": 1}, {"id": "h", "reads": ["a", "d",
          "x"], "writes": ["y"], "ms": 1, "workspace_bytes": 1}]})",
    R"({"problem": "order", "objective": "time", "capacity_bytes": 40, "tensors": [
          {"id": "x", "size_bytes": 5, "input": true}, {"id": "a", "size_bytes": 20}, {"id": "b",
          "size_bytes": 2}, {"id": "c", "size_bytes": 30}, {"id": "y", "size_bytes": 1,
          "output": true}], "operators": [
          {"id": "f", "reads": ["x"], "writes": ["a"], "ms": 2, "recompute": true}, {"id": "g",
          "reads": ["a"], "writes": ["b"], "ms": 1}, {"id": "m", "reads": ["b"], "writes": ["c"],
          "ms": 1}, {"id": "h", "reads": ["a", "c"], "writes": ["y"], "ms": 1}]})",
    R"({"problem": "order", "alignment": 1, "tokens": {"from": 1, "to": 8}, "tensors": [
          {"id": "x", "size_bytes": 1, "input": true}, {"id": "a", "size_bytes": 16}, {"id": "b",
          "size_bytes": 0, "bytes_per_token": 4}, {"id": "c", "size_bytes": 8}, {"id": "s",
          "size_bytes": 1, "output": true}], "operators": [
          {"id": "f", "reads": ["x"], "writes": ["a"], "workspace_bytes_per_token": 1}, {"id": "g",
          "reads": ["x"], "writes": ["b"]}, {"id": "h", "reads": ["a"], "writes": ["c"]},
          {"id": "i", "reads": ["b", "c"], "writes": ["s"]}]})",
    R"({"problem": "order", "capacity_bytes": 64, "alignment": 1, "tensors": [
          {"id": "x", "size_bytes": 8, "input": true}, {"id": "a",
          "size_bytes": 8}, {"id": "y", "size_bytes": 8, "output": true}], "operators": [
          {"id": "f", "reads": ["x"], "writes": ["a"], "in_place": ["x"]},
          {"id": "g", "reads": ["a"], "writes": ["y"], "in_place": ["a"]}]})",
    R"({"problem": "strategy", "model": {"hidden": 64, "heads": 4, "kv_width": 16,
          "vocabulary": 100, "blocks": [{"count": 2, "ffn": 128}, {"count": 2, "ffn": 64,
          "experts": {"count": 4, "top_k": 2, "ffn": 32}}]},
        "cluster": {"nodes": 2, "devices_per_node": 2, "memory_mib": 1000, "mib_per_ms":
          {"inside": 224, "across": 24}},
        "cost": {"linear_tflops": 193, "attention_tflops": 140, "half_width": 128, "overlap": 0.8,
          "measured": [{"block": 0, "tp": 1, "cp": 1, "recompute": "none", "tokens": [64, 128],
          "ms": [1, 2]}]},
        "options": {"pp": [1, 2], "v": [1, 2], "tp": [1, 2], "cp": [1, 2], "ep": [1, 2], "zero":
          [1, 3], "recompute": ["none", "full"], "logit_chunks": [1, 4], "stream_chunks": [1, 2],
          "micro_batches": [1, 2]},
        "lengths": [128, 64, 32, 16]})"};

const char kMark[] = "@number@";

// The location of a number in the document of a sample.
using Pointer = json::json_pointer;

// Walks over the schema of an instance and follows its references.
class SchemaWalk {
 public:
  // Called with the name of a number's location, its schema, the document with kMark at that
  // location, and the pointer to it.
  using Visit = std::function<void(const std::string&, const json&, const json&, const Pointer&)>;

  SchemaWalk(json schema, json sample, Visit visit)
      : root_(std::move(schema)), document_(std::move(sample)), visit_(std::move(visit)) {}

  void run() { walk(root_, document_, "", Pointer()); }

  // Collects the locations of all numbers in a schema, independent of a sample.
  static void places(const json& root, const json& any, const std::string& place,
                     std::set<std::string>& found) {
    const json& schema = followed(root, any);
    if (is_number(schema)) found.insert(place);
    if (schema.contains("oneOf")) {
      for (const json& branch : schema["oneOf"]) places(root, branch, place, found);
    }
    if (names_file(schema)) return;
    each_member(schema, [&](const std::string& key, const json& member) {
      places(root, member, place + '/' + key, found);
    });
    if (schema.contains("items")) places(root, schema["items"], place + "/[]", found);
  }

 private:
  static const json& followed(const json& root, const json& schema) {
    if (!schema.contains("$ref")) return schema;
    return root.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
  }
  const json& followed(const json& schema) const { return followed(root_, schema); }

  static bool is_number(const json& schema) {
    const json type = schema.value("type", json());
    return type == "integer" || type == "number";
  }
  // Returns true for a list or a cost in a separate file.
  static bool names_file(const json& schema) {
    return schema.contains("properties") && schema["properties"].contains("file");
  }

  // Calls `read` for each member by key; the key * stands for members whose keys the user chooses.
  template <class Read>
  static void each_member(const json& schema, Read read) {
    if (schema.contains("properties")) {
      for (const auto& [key, member] : schema["properties"].items()) read(key, member);
    }
    if (schema.contains("patternProperties")) {
      for (const auto& [pattern, member] : schema["patternProperties"].items()) {
        if (pattern != "^x-") read("*", member);
      }
    }
    if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object()) {
      read("*", schema["additionalProperties"]);
    }
  }

  // Returns the smallest valid value of a schema, for members that a sample does not have.
  json stub(const json& any) const {
    const json& schema = followed(any);
    if (schema.contains("oneOf")) return stub(schema["oneOf"][0]);
    if (schema.contains("enum")) return schema["enum"][0];
    const std::string type = schema.value("type", "");
    if (is_number(schema)) return 1;
    if (type == "string") return "";
    if (type == "boolean") return false;
    if (type == "array") {
      json list = json::array();
      if (schema.contains("items")) list.push_back(stub(schema["items"]));
      return list;
    }
    json object = json::object();
    for (const json& key : schema.value("required", json::array())) {
      object[key.get<std::string>()] = stub(schema["properties"][key.get<std::string>()]);
    }
    return object;
  }

  void walk(const json& any, json& value, const std::string& place, const Pointer& at) {
    const json& schema = followed(any);
    if (schema.contains("oneOf")) {
      for (const json& branch : schema["oneOf"]) {
        if (fits(branch, value)) walk(branch, value, place, at);
      }
      return;
    }
    if (is_number(schema)) {
      const json kept = std::exchange(value, kMark);
      visit_(place, schema, document_, at);
      value = kept;
    } else if (value.is_array() && schema.contains("items")) {
      // Elements are alike, so only the first and the last are visited.
      for (std::size_t i = 0; i < value.size(); i += std::max<std::size_t>(1, value.size() - 1)) {
        walk(schema["items"], value[i], place + "/[]", at / i);
      }
    } else if (value.is_object()) {
      each_member(schema, [&](const std::string& key, const json& member) {
        if (key == "*") return walk_users(member, schema, value, place, at);
        const bool there = value.contains(key);
        if (!there) value[key] = stub(member);
        walk(member, value[key], place + '/' + key, at / key);
        if (!there) value.erase(key);
      });
    }
  }

  void walk_users(const json& member, const json& schema, json& value, const std::string& place,
                  const Pointer& at) {
    std::vector<std::string> keys;
    for (const auto& [key, own] : value.items()) {
      if (!schema.contains("properties") || !schema["properties"].contains(key)) {
        keys.push_back(key);
      }
    }
    for (const std::string& key : keys) walk(member, value[key], place + "/*", at / key);
  }

  // Returns whether the value matches the branch: its type and its required members.
  bool fits(const json& any, const json& value) const {
    const json& schema = followed(any);
    const std::string type = schema.value("type", "");
    if (type == "array") return value.is_array();
    if (is_number(schema)) return value.is_number();
    if (type != "object" || !value.is_object()) return false;
    for (const json& key : schema.value("required", json::array())) {
      if (!value.contains(key.get<std::string>())) return false;
    }
    return true;
  }

  json root_;
  json document_;
  Visit visit_;
};

// Returns whether the number is outside of the schema's range, so that it must be refused.
bool outside(const json& schema, const std::string& text) {
  const double number = std::strtod(text.c_str(), nullptr);
  return (schema.contains("minimum") && number < schema["minimum"].get<double>()) ||
         (schema.contains("maximum") && number > schema["maximum"].get<double>()) ||
         (schema.contains("exclusiveMinimum") &&
          number <= schema["exclusiveMinimum"].get<double>());
}

// Reads the plan and the claims of an outcome's text as `verify` and `render` do.
InstanceAndPlan read_back(const Instance& instance, const std::string& text) {
  const Result<Plan> plan = read_plan(text, instance);
  const auto claims = read_outcome_claims(text, instance);
  InstanceAndPlan both{.instance = instance, .plan_document = text};
  if (!plan || !claims) {
    ADD_FAILURE() << to_string((plan ? claims.errors() : plan.errors()).front());
    return both;
  }
  both.plan = *plan;
  both.claims = *claims;
  Families::with_name(family_name(instance), [&](auto family) {
    auto certificate = family.read_certificate(text);
    if (!certificate) {
      ADD_FAILURE() << to_string(certificate.errors().front());
    } else if (*certificate) {
      both.certificate = std::optional<Certificate>(*std::move(certificate));
    }
  });
  return both;
}

void expect_no_violation(const std::vector<Violation>& violations) {
  for (const Violation& violation : violations) ADD_FAILURE() << to_string(violation);
}

std::string outcome_text(const Instance& instance, const Outcome& outcome) {
  return outcome_json(outcome, {.instance = &instance, .exit_code = exit_code(outcome)});
}

void rename(Instance& instance, const std::string& name) {
  std::visit([&](auto& any) { any.name = name; }, instance);
}

// Expects that every reader accepts the documents of `solve`.
void expect_read_back(const Instance& instance, const Outcome& outcome) {
  const std::string text = outcome_text(instance, outcome);
  if (!outcome.plan) {
    const auto claims = read_outcome_claims(text, instance);
    ASSERT_TRUE(claims) << to_string(claims.errors().front());
    if (outcome.status != Status::infeasible) return;
    expect_no_violation(judge(InfeasibleAnswer{instance, std::nullopt, **claims}).violations);
    return;
  }
  ASSERT_TRUE(std::isfinite(*outcome.objective));
  ASSERT_TRUE(std::isfinite(outcome.bound));
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  const InstanceAndPlan both = read_back(instance, text);
  if (testing::Test::HasFailure()) return;
  const CheckedOutcome judgement = judge(both);
  expect_no_violation(judgement.violations);
  const std::string drawing =
      svg_document({plan_picture(instance, both.plan, judgement.shown)}, "");
  EXPECT_EQ(drawing.find("nan"), std::string::npos) << drawing;
  EXPECT_EQ(drawing.find("inf\""), std::string::npos) << drawing;
  // The plan starts another solve, of the same instance with another name.
  Instance renamed = instance;
  rename(renamed, "renamed");
  Budget budget({.node_limit = 0});
  const Outcome again = solve(renamed, {.method = "auto", .start = both.plan}, budget);
  ASSERT_TRUE(again.plan) << again.detail;
  EXPECT_LE(*again.objective, *outcome.objective);
  expect_no_violation(judge(read_back(renamed, outcome_text(renamed, again))).violations);
}

constexpr std::size_t kExplained = 30;  // one of this number of instances is explained

void expect_explained(const Instance& instance, const Outcome& outcome) {
  Budget budget({.time_limit_s = 0.001, .clock = BudgetClock::looks});
  const Explanation why = explain(instance, outcome.plan, {.nodes = 5}, budget);
  for (const WhatIf& change : why.what_if) EXPECT_TRUE(std::isfinite(change.bound)) << change.text;
  for (const Remedy& remedy : why.remedies) EXPECT_TRUE(std::isfinite(remedy.objective));
}

class Numbers : public testing::TestWithParam<std::size_t> {};

// A number that was accepted in a sample.
struct Accepted {
  Pointer at;
  std::string number;
};

class Sweep {
 public:
  explicit Sweep(const std::string& text) : sample_(json::parse(text)) {
    sample_["format"] = "stowage/instance";
    sample_["version"] = 1;
  }

  // Tries each number of the schema alone.
  void one_by_one() {
    ASSERT_TRUE(read_instance(sample_.dump())) << sample_;
    const auto name = sample_["problem"].get<std::string>() + "-instance";
    SchemaWalk(json::parse(*schema(name)), sample_,
               [&](const std::string& place, const json& schema, const json& document,
                   const Pointer& at) { try_all(place, schema, document, at); })
        .run();
    EXPECT_GT(solved_, 10U);
  }

  // Tries several accepted numbers together: all computed values must stay finite.
  void together(std::uint64_t draws) {
    std::mt19937_64 random(1);
    std::size_t before = solved_;
    for (std::uint64_t k = 0; k < draws; ++k) {
      json document = sample_;
      std::map<std::string, std::string> numbers;  // by their marks
      for (int n = 0; n < 3; ++n) {
        const Accepted& one = accepted_[draw(random, accepted_.size())];
        const std::string mark = kMark + std::to_string(n);
        document[one.at] = mark;
        numbers[mark] = one.number;
      }
      std::string text = document.dump();
      for (const auto& [mark, number] : numbers) {
        const std::size_t at = text.find('"' + mark + '"');
        if (at != std::string::npos) text.replace(at, mark.size() + 2, number);
      }
      SCOPED_TRACE(text);
      if (const Result<Instance> instance = read_instance(text)) try_instance(*instance);
    }
    EXPECT_GT(solved_, before);
  }

 private:
  void try_all(const std::string& place, const json& schema, const json& document,
               const Pointer& at) {
    std::vector<std::string> texts = kExtremes;
    for (const char* end : {"minimum", "maximum"}) {
      if (schema.contains(end)) texts.push_back(schema[end].dump());
    }
    for (const std::string& number : texts) {
      SCOPED_TRACE(place + " = " + number);
      std::string text = document.dump();
      const std::string marked = '"' + std::string(kMark) + '"';
      text.replace(text.find(marked), marked.size(), number);
      const Result<Instance> instance = read_instance(text);
      if (!instance) continue;
      EXPECT_FALSE(outside(schema, number)) << "the schema refuses it, the reader does not";
      if (sample_.contains(at)) accepted_.push_back({at, number});
      try_instance(*instance);
    }
  }

  // Tries one method after another.
  void try_instance(const Instance& instance) {
    const std::vector<Method> all = methods(instance);
    const Method& method = all[solved_++ % all.size()];
    if (method.name == "reinsert") return;  // takes seconds for every size
    SCOPED_TRACE(method.name);
    Budget budget({.time_limit_s = 0.0003, .node_limit = 20, .clock = BudgetClock::looks});
    const Outcome outcome = solve(instance, {.method = method.name}, budget);
    expect_no_violation(outcome.violations);
    EXPECT_NE(outcome.status, Status::error) << outcome.detail;
    expect_read_back(instance, outcome);
    if (solved_ % kExplained == 0) expect_explained(instance, outcome);
  }

  json sample_;
  std::vector<Accepted> accepted_;
  std::size_t solved_ = 0;
};

TEST_P(Numbers, AreRefusedOrSolvedAndReadAgain) {
  Sweep sweep(kSamples[GetParam()]);
  sweep.one_by_one();
  sweep.together(static_cast<std::uint64_t>(in_long_run(30, 2000)));
}

INSTANTIATE_TEST_SUITE_P(Samples, Numbers, testing::Range(std::size_t{0}, kSamples.size()));

// Every numeric field of a schema must occur in a test with one of the samples.
TEST(NumbersOfSchemas, AllAreTried) {
  std::map<std::string, std::set<std::string>> tried;
  for (const std::string& text : kSamples) {
    const json sample = json::parse(text);
    const std::string name = sample["problem"].get<std::string>() + "-instance";
    SchemaWalk(json::parse(*schema(name)), sample,
               [&](const std::string& place, const json&, const json&, const Pointer&) {
                 tried[name].insert(place);
               })
        .run();
  }
  for (const auto& [name, places] : tried) {
    const json root = json::parse(*schema(name));
    std::set<std::string> all;
    SchemaWalk::places(root, root, "", all);
    EXPECT_EQ(places, all) << name;
  }
  EXPECT_EQ(tried.size(), 5U);
}

}  // namespace
}  // namespace stowage::families_numbers_test
