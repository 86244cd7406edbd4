// The reach of `verify`: every member of the outcomes of every family is changed, one at a time,
// and the rule that refuses the change is a row of instances/reach.md. STOWAGE_UPDATE_GOLDEN=1
// rewrites the tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/families/outcome/check_outcome.h"
#include "instances/order/json/json.h"
#include "instances/order/verify/exhaustive_check.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"
#include "tests/cli/process.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_host.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_order.h"
#include "tests/tiny_scatter.h"
#include "tests/tiny_strategy.h"

namespace stowage::families_reach_test {
namespace {

using nlohmann::json;

// The results for a member.
struct MemberReach {
  std::set<std::string> refused;  // rules and error codes
  std::set<std::string> passed;   // kinds of changes that no rule refused
};

// Results by table ("scatter plan"), then by member.
using Tables = std::map<std::string, std::map<std::string, MemberReach>>;

// Members for which some change passes, with the reason why the change proves nothing false. A
// prefix covers all members below it.
const std::vector<std::pair<std::string_view, std::string_view>>& reasons() {
  static const std::vector<std::pair<std::string_view, std::string_view>> kReasons = {
      {"outcome/rates/error", "of published steps that the program which solved knew; unchecked"},
      {"outcome/method", "tells how the plan came about; unchecked"},
      {"outcome/solver", "tells how the plan came about; unchecked but for known names"},
      {"outcome/seed", "tells how the plan came about; unchecked"},
      {"outcome/detail", "a sentence for people; unchecked"},
      {"outcome/remedy", "a sentence for people; unchecked"},
      {"outcome/violations", "of another candidate; unchecked"},
      {"outcome/seconds", "held against `improvements` only: more time is possible"},
      {"outcome/nodes", "held against `improvements` only: more work is possible"},
      {"outcome/found_by", "held against `improvements` only"},
      {"outcome/stopped_by", "limits and ends of the work are not told apart"},
      {"outcome/status", "an optimum is also a feasible plan"},
      {"outcome/bounds", "a bound below that of the outcome is not needed"},
      {"outcome/gap", "a difference of at most 1e-9 is rounding"},
      {"outcome/name", "for people; held against the plan's only"},
      {"outcome/bound_", "of an outcome without a plan any bound is true"},
      {"outcome/method_bound_", "a smaller bound is true as well"},
      {"outcome/improvements", "the way to the plan: it must rise and end at the outcome"},
      {"outcome/infeasibility", "another proof that holds"},
      {"plan/bound_by", "a bound of 0 needs no name; another bound may prove as much"},
      {"plan/bound_", "a smaller bound is true as well"},
      {"plan/rows", "a smaller bound of a row is true as well"},
      {"plan/transfers", "another transfer that keeps the rules"},
      {"plan/in_place", "a tensor has memory of its own where the peak allows it"},
      {"plan/", "another plan that keeps the rules and takes as much"},
      {"certificate/", "other prices or branches that prove the bound, or more than it"},
  };
  return kReasons;
}

std::string_view reason_of(const std::string& member) {
  for (const auto& [prefix, reason] : reasons()) {
    if (member.starts_with(prefix)) return reason;
  }
  return "";
}

// Returns the outcome of a solve without a time limit, so that it is the same on every machine.
json outcome_of(const Instance& instance, const std::string& method) {
  Budget budget({.node_limit = 200, .clock = BudgetClock::looks});
  const Outcome outcome = solve(instance, {.method = method}, budget);
  const OutcomeFrame frame{.instance = &instance, .exit_code = exit_code(outcome)};
  return json::parse(outcome_json(outcome, frame));
}

std::vector<Instance> instances() {
  std::vector<Instance> all;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    all.emplace_back(tiny_scatter(seed, 20));
    all.emplace_back(tiny_full_scatter(seed, 14));
    all.emplace_back(tiny_recomputing_scatter(seed, 14));
    all.emplace_back(tiny_kinds_scatter(seed, 14));
    all.emplace_back(tiny_measured_scatter(seed, 14));
    all.emplace_back(tiny_assign(seed, 30));
    all.emplace_back(tiny_layout(seed, 12));
    all.emplace_back(tiny_order(seed, 12));
    all.emplace_back(tiny_growing_order(seed, 12));
    all.emplace_back(tiny_in_place_order(seed, 12));
  }
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    all.emplace_back(tiny_strategy(seed, 6));
    all.emplace_back(tiny_experts(seed, 6));
  }
  for (std::uint64_t seed = 0; seed < 8; ++seed) all.emplace_back(tiny_host(seed, 5));
  // One tensor must be offloaded to the host.
  all.emplace_back(*read_order_instance(read_text(std::filesystem::path(STOWAGE_SOURCE_DIR) /
                                                  "instances/data/order/tiny/on-the-host.json")));
  // Instances without a plan: two buffers pinned to the same offset, and an order with a
  // certificate of infeasibility.
  all.emplace_back(LayoutInstance{
      .name = "pins",
      .buffers = {{.upper = 2, .size = 8, .offset = 0}, {.upper = 2, .size = 8, .offset = 4}}});
  ScatterInstance longer = tiny_scatter(1);
  longer.lengths = {1, 100'000};
  all.emplace_back(longer);
  AssignInstance starving{.name = "starving",
                          .devices = 2,
                          .schemes = {{.name = "a", .linear_ms = 1, .max_tokens = 10}},
                          .strategies = {{.name = "both", .replicas = {2}}},
                          .constraints = {.allow_empty = false},
                          .lengths = {5}};
  all.emplace_back(starving);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    OrderInstance graph = tiny_order(seed, 9, false);
    if (graph.operators.empty()) continue;
    graph.capacity = *least_peak(graph) - 1;
    if (*graph.capacity >= 0) all.emplace_back(std::move(graph));
  }
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    all.emplace_back(with_partial_sharing(tiny_strategy(seed, 6), seed));
  }
  StrategyInstance copied = tiny_strategy(2, 6);  // two replicas with all states each
  copied.cluster.nodes = 1;
  copied.cluster.devices_per_node = 2;
  copied.cluster.memory_mib = 1e6;
  copied.options = {.shard = {1}};
  copied.lengths = {64, 64};
  all.emplace_back(copied);
  StrategyInstance streamed = tiny_strategy(1);
  streamed.options.recompute = {StrategyRecompute::full};
  streamed.options.stream_chunks = {3};
  all.emplace_back(streamed);
  StrategyInstance crowded = tiny_strategy(0);
  crowded.cluster.memory_mib = 0.5;
  all.emplace_back(crowded);
  for (std::uint64_t seed = 0; seed < 4; ++seed) all.emplace_back(tiny_offload_scatter(seed, 14));
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    all.emplace_back(with_offload(tiny_strategy(seed, 6), seed));
  }
  return all;
}

class ReachRun {
 public:
  explicit ReachRun(Tables& tables) : tables_(tables) {}

  void add(const Instance& instance, const std::string& method) {
    json outcome = outcome_of(instance, method);
    const std::string status = outcome["status"];
    const bool without_plan = outcome["plan"].is_null();
    if (without_plan && status != "infeasible") return;
    without_plan_ = without_plan ? " without a plan" : "";
    dir_.write(
        "instance.json",
        std::visit([](const auto& any) { return FamilyOf<decltype(any)>::write_instance(any); },
                   instance));
    ASSERT_EQ(refusal(outcome), "") << instance_name(instance) << ' ' << method;
    family_ = std::string(family_name(instance));
    walk(outcome, outcome, "");
  }

 private:
  // Returns the first rule or error code that refuses the outcome, or an empty string.
  std::string refusal(const json& outcome) const {
    dir_.write("outcome.json", outcome.dump());
    const Loaded<Answer> answer =
        load_answer((dir_ / "instance.json").string(), (dir_ / "outcome.json").string());
    if (!answer.value) return answer.errors.front().error.code;
    return std::visit(
        [](const auto& any) {
          const auto judgement = judge(any);
          return judgement.violations.empty() ? std::string() : judgement.violations.front().rule;
        },
        *answer.value);
  }

  // Returns the table of a member and its name in it, without indices and units.
  std::pair<std::string, std::string> place_of(const std::string& path) const {
    for (const std::string_view part : {"plan/", "certificate/"}) {
      if (path.starts_with(part)) {
        return {family_ + ' ' + std::string(part.substr(0, part.size() - 1)), path};
      }
    }
    std::string name = "outcome/" + path;
    for (const std::string_view unit : {"_ms", "_bytes"}) {
      if (name.ends_with(unit)) name = name.substr(0, name.size() - unit.size()) + "_UNIT";
    }
    return {"outcome" + without_plan_, name};
  }

  // Tries `change` of the member at `path`, unless it does not change the value.
  void attempt(json& root, json& value, const std::string& path, const std::string& kind,
               json changed) {
    if (changed == value) return;
    const auto [table, name] = place_of(path);
    if (++tried_[table + name + kind] > kMaxTries) return;
    MemberReach& reach = tables_[table][name];
    const json before = value;
    value = std::move(changed);
    const std::string rule = refusal(root);
    value = before;
    if (rule.empty()) {
      reach.passed.insert(kind);
    } else {
      reach.refused.insert(rule);
    }
  }

  void walk(json& root, json& value, const std::string& path) {
    if (value.is_object()) {
      for (auto& [key, member] : value.items()) {
        walk(root, member, path.empty() ? key : path + '/' + key);
      }
      return;
    }
    if (path.empty()) return;
    if (value.is_array()) {
      if (value.empty()) return;
      json shorter = value;
      shorter.erase(shorter.size() - 1);
      attempt(root, value, path, "shorter", shorter);
      json longer = value;
      longer.push_back(value.back());
      attempt(root, value, path, "longer", longer);
      walk(root, value.front(), path + "[]");
      if (value.size() > 1) walk(root, value.back(), path + "[]");
    } else if (value.is_string()) {
      attempt(root, value, path, "other", value.get<std::string>() + "-other");
    } else if (value.is_boolean()) {
      attempt(root, value, path, "other", !value.get<bool>());
    } else if (value.is_number_integer()) {
      attempt(root, value, path, "more", value.get<std::int64_t>() + 1);
      if (value.get<std::int64_t>() > 0) {
        attempt(root, value, path, "less", value.get<std::int64_t>() - 1);
      }
    } else if (value.is_number()) {
      attempt(root, value, path, "more", value.get<double>() * 1.5 + 0.001);
      attempt(root, value, path, "less", value.get<double>() * 0.5);
    }
  }

  static constexpr int kMaxTries = 3;  // tries per kind of change of a member

  Tables& tables_;
  TempDir dir_;
  std::string family_;
  std::string without_plan_;
  std::map<std::string, int> tried_;
};

// Collects the members that a schema lists, except objects and arrays of objects.
void members_of(const json& schema, const json& root, const std::string& path,
                std::set<std::string>& found) {
  if (schema.contains("$ref")) {
    const std::string ref = schema["$ref"];
    if (!ref.starts_with("#")) return;
    return members_of(root.at(json::json_pointer(ref.substr(1))), root, path, found);
  }
  for (const char* key : {"oneOf", "anyOf", "allOf"}) {
    if (!schema.contains(key)) continue;
    for (const json& each : schema[key]) members_of(each, root, path, found);
  }
  if (schema.contains("items")) return members_of(schema["items"], root, path + "[]", found);
  if (!schema.contains("properties")) {
    if (!path.empty() && !path.ends_with("[]")) found.insert(path);
    return;
  }
  for (const auto& [key, member] : schema["properties"].items()) {
    members_of(member, root, path.empty() ? key : path + '/' + key, found);
  }
}

std::string joined(const std::set<std::string>& words, const char* quote) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + (quote + word) + quote;
  return text.empty() ? "-" : text;
}

// Returns the member's name without the part in the heading.
std::string short_name(const std::string& member) { return member.substr(member.find('/') + 1); }

std::string page_of(const Tables& tables) {
  std::string page;
  for (const auto& [table, members] : tables) {
    page += "\n## " + std::string(1, static_cast<char>(std::toupper(table.front()))) +
            table.substr(1) +
            "\n\n| member | a change is refused by | a change that passes | why |\n" +
            "|---|---|---|---|\n";
    for (const auto& [member, reach] : members) {
      page += "| `" + short_name(member) + "` | " + joined(reach.refused, "`") + " | " +
              joined(reach.passed, "") + " | " +
              std::string(reach.passed.empty() ? "" : reason_of(member)) + " |\n";
    }
  }
  return page;
}

TEST(Reach, ThePageSaysWhatARunShows) {
  if (built_backends().empty())
    GTEST_SKIP() << "without a backend fewer outcomes have certificates";
  Tables tables;
  ReachRun run(tables);
  std::size_t count = 0;
  for (const Instance& instance : instances())
    run.add(instance, count++ % 3 == 0 ? "auto" : "fast");
  for (const auto& [table, members] : tables) {
    for (const auto& [member, reach] : members) {
      EXPECT_TRUE(reach.passed.empty() || !reason_of(member).empty())
          << table << ": nothing refuses " << joined(reach.passed, "") << " of " << member;
    }
  }
  EXPECT_EQ(tables.size(), 2 + 5 + 4U)
      << "outcomes with and without a plan, five plans, certificates of four families";
  const std::filesystem::path root = STOWAGE_SOURCE_DIR;
  // Members of plans that occur in no outcome of this run; the verifiers' tests change them.
  const std::set<std::string> apart = {};
  for (const std::string_view family : Families::names) {
    const json schema = json::parse(
        read_text(root / "instances/schema" / (std::string(family) + "-plan.schema.json")));
    std::set<std::string> members;
    members_of(schema, schema, "", members);
    EXPECT_GT(members.size(), 5U) << family;
    const auto& seen = tables[std::string(family) + " plan"];
    for (const std::string& member : members) {
      EXPECT_TRUE(seen.contains("plan/" + member) || apart.contains(member))
          << family << ": no outcome has " << member;
    }
  }
  const std::filesystem::path path = root / "instances/reach.md";
  const std::string page = read_text(path);
  const std::string_view mark = "<!-- made by tests/cli/families/reach_test.cc -->\n";
  const std::size_t place = page.find(mark);
  ASSERT_NE(place, std::string::npos);
  const std::string wanted = page.substr(0, place + mark.size()) + page_of(tables);
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << wanted;
    return;
  }
  EXPECT_EQ(page, wanted) << "run this test once with STOWAGE_UPDATE_GOLDEN=1, read the difference";
}

}  // namespace
}  // namespace stowage::families_reach_test
