// The pages of the formats are true: their snippets can be read, and their tables match the code.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include "instances/assign/json/json.h"
#include "instances/assign/trainer.h"
#include "instances/assign/verify/verify.h"
#include "instances/document/header.h"
#include "instances/json/limits.h"
#include "instances/layout/json/json.h"
#include "instances/layout/verify/verify.h"
#include "instances/lengths/json.h"
#include "instances/order/json/json.h"
#include "instances/order/verify/verify.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/trainer.h"
#include "instances/scatter/verify/verify.h"
#include "instances/strategy/configuration.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/verify/verify.h"
#include "instances/trainer/step.h"
#include "instances/violation.h"
#include "tests/instances/json_fixture.h"

namespace stowage::readme_test {
namespace {

constexpr char kScatter[] = "reference/scatter.md";
constexpr char kAssign[] = "reference/assign.md";
constexpr char kLayout[] = "reference/layout.md";
constexpr char kOrder[] = "reference/order.md";
constexpr char kStrategy[] = "reference/strategy.md";
constexpr char kTrainer[] = "reference/trainer.md";

std::string page(const std::string& path) { return file_text(kDocsDir / path); }

// The text of every page under instances/ and docs/reference/.
std::vector<std::string> all_pages() {
  std::vector<std::string> texts;
  for (const auto& folder : {kInstancesDir, kDocsDir / "reference"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".md") texts.push_back(file_text(entry.path()));
    }
  }
  return texts;
}

std::vector<std::string> snippets(const std::string& text) {
  static const std::string kBegin = "\n```json\n";
  std::vector<std::string> found;
  for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    const std::size_t end = text.find("\n```", at);
    found.push_back(text.substr(at, end - at));
  }
  return found;
}

// Reads a snippet with the reader of its head, and counts it under "problem format".
template <class Read>
void expect_read(const Result<Read>& read, const std::string& snippet) {
  EXPECT_TRUE(read) << to_string(read.errors()[0]) << '\n' << snippet;
}

TEST(InstancesReadme, EverySnippetIsReadByItsReader) {
  std::vector<std::string> all;
  for (const std::string& text : all_pages()) {
    for (std::string& snippet : snippets(text)) all.push_back(std::move(snippet));
  }
  std::map<std::string, int> seen;
  for (const std::string& snippet : all) {
    if (snippet.find("\"stowage/trainer\"") != std::string::npos) {
      ++seen["trainer"];
      expect_read(read_trainer_json(snippet), snippet);
      continue;
    }
    const Result<Head> head = read_head(snippet);
    ASSERT_TRUE(head) << to_string(head.errors()[0]) << '\n' << snippet;
    const bool instance = head->format == "stowage/instance";
    ++seen[head->problem + (instance ? " instance" : " plan")];
    if (head->problem == "assign" && instance) {
      expect_read(read_assign_instance(snippet), snippet);
    } else if (head->problem == "assign") {
      expect_read(read_assign_plan(snippet), snippet);
    } else if (head->problem == "layout" && instance) {
      expect_read(read_layout_instance(snippet), snippet);
    } else if (head->problem == "layout") {
      expect_read(read_layout_plan(snippet), snippet);
    } else if (head->problem == "order" && instance) {
      expect_read(read_order_instance(snippet), snippet);
    } else if (head->problem == "order") {
      expect_read(read_order_plan(snippet), snippet);
    } else if (head->problem == "strategy" && instance) {
      expect_read(read_strategy_instance(snippet), snippet);
    } else if (head->problem == "strategy" && snippet.find("\"stages\"") == std::string::npos) {
      const auto its = read_strategy_instance(snippets(page(kStrategy))[0]);
      ASSERT_TRUE(its);
      expect_read(complete_strategy_plan(snippet, *its), snippet);
    } else if (head->problem == "strategy") {
      expect_read(read_strategy_plan(snippet), snippet);
    } else if (instance) {
      expect_read(read_scatter_instance(snippet, kInstancesDir), snippet);
    } else {
      expect_read(read_scatter_plan(snippet), snippet);
    }
  }
  EXPECT_EQ(seen, (std::map<std::string, int>{{"assign instance", 2},
                                              {"assign plan", 2},
                                              {"layout instance", 1},
                                              {"layout plan", 1},
                                              {"order instance", 1},
                                              {"order plan", 1},
                                              {"scatter instance", 9},
                                              {"scatter plan", 2},
                                              {"strategy instance", 1},
                                              {"strategy plan", 2},
                                              {"trainer", 1}}));
}

template <class Instance, class Plan>
void expect_valid(const Result<Instance>& instance, const Result<Plan>& plan) {
  ASSERT_TRUE(instance);
  ASSERT_TRUE(plan);
  for (const Violation& violation : verify(*instance, *plan)) ADD_FAILURE() << to_string(violation);
  EXPECT_EQ(plan->instance_hash, instance_hash(*instance));
  EXPECT_EQ(plan->name, instance->name);
}

TEST(InstancesReadme, ThePlanSnippetsAreValidPlansOfTheInstanceSnippets) {
  const std::vector<std::string> scatter = snippets(page(kScatter));
  const std::vector<std::string> assign = snippets(page(kAssign));
  const std::vector<std::string> layout = snippets(page(kLayout));
  ASSERT_EQ(scatter.size(), 8U);
  ASSERT_EQ(assign.size(), 4U);
  const std::vector<std::string> order = snippets(page(kOrder));
  ASSERT_EQ(layout.size(), 2U);
  ASSERT_EQ(order.size(), 2U);
  const std::vector<std::string> strategy = snippets(page(kStrategy));
  ASSERT_EQ(strategy.size(), 3U);
  expect_valid(read_scatter_instance(scatter[0]), read_scatter_plan(scatter[7]));
  expect_valid(read_assign_instance(assign[0]), read_assign_plan(assign[1]));
  expect_valid(read_assign_instance(assign[2]), read_assign_plan(assign[3]));
  expect_valid(read_layout_instance(layout[0]), read_layout_plan(layout[1]));
  expect_valid(read_order_instance(order[0]), read_order_plan(order[1]));
  expect_valid(read_strategy_instance(strategy[0]), read_strategy_plan(strategy[1]));
}

TEST(InstancesReadme, TheTrainerSnippetIsMadeOfThePlanSnippet) {
  const std::vector<std::string> scatter = snippets(page(kScatter));
  ASSERT_EQ(scatter.size(), 8U);
  const auto step =
      trainer_step(*read_scatter_instance(scatter[0]), *read_scatter_plan(scatter[7]));
  ASSERT_TRUE(step);
  std::string text = write_trainer_json(*step);
  text.pop_back();  // the newline belongs to the fence
  EXPECT_EQ(snippets(page(kTrainer)), std::vector<std::string>{text});
}

// Rows "| `name` | ..." of the tables under the heading of a page.
std::vector<std::string> first_column(const std::string& path, const std::string& heading) {
  const std::string text = page(path);
  const std::size_t begin = text.find("\n## " + heading + '\n');
  EXPECT_NE(begin, std::string::npos) << path << ": " << heading;
  const std::string section = text.substr(begin, text.find("\n## ", begin + 1) - begin);
  std::vector<std::string> names;
  const std::regex pattern("\n\\| `([a-z0-9_]+)` \\|");
  for (auto it = std::sregex_iterator(section.begin(), section.end(), pattern);
       it != std::sregex_iterator(); ++it) {
    names.push_back((*it)[1]);
  }
  return names;
}

TEST(InstancesReadme, TheVerifiersRulesAreListedInOrder) {
  std::vector<std::string> rules;
  for (const std::string_view rule : scatter_verify_rules()) rules.emplace_back(rule);
  EXPECT_EQ(first_column(kScatter, "What the verifier checks"), rules);
  rules.clear();
  for (const std::string_view rule : assign_verify_rules()) rules.emplace_back(rule);
  EXPECT_EQ(first_column(kAssign, "What the verifier checks in an assign plan"), rules);
  rules.clear();
  for (const std::string_view rule : layout_verify_rules()) rules.emplace_back(rule);
  EXPECT_EQ(first_column(kLayout, "What the verifier checks in a layout plan"), rules);
  rules.clear();
  for (const std::string_view rule : order_verify_rules()) rules.emplace_back(rule);
  EXPECT_EQ(first_column(kOrder, "What the verifier checks in an order plan"), rules);
  rules.clear();
  for (const std::string_view rule : strategy_verify_rules()) rules.emplace_back(rule);
  EXPECT_EQ(first_column(kStrategy, "What the verifier checks in a strategy plan"), rules);
}

TEST(InstancesReadme, EveryKeyThatIsWrittenIsDescribed) {
  const std::regex key("\"([a-z][a-z0-9_]*)\":");
  const auto expect_described = [&](const std::string& document, const char* path,
                                    const std::string& heading) {
    const std::vector<std::string> described = first_column(path, heading);
    for (auto it = std::sregex_iterator(document.begin(), document.end(), key);
         it != std::sregex_iterator(); ++it) {
      EXPECT_NE(std::find(described.begin(), described.end(), (*it)[1]), described.end())
          << (*it)[1] << " is not in the tables of " << heading;
    }
  };
  const auto instance = read_scatter_instance(kValidInstance);
  const auto plan = read_scatter_plan(kValidPlan);
  ASSERT_TRUE(instance);
  ASSERT_TRUE(plan);
  expect_described(write_scatter_instance(*instance), kScatter, "Scatter instance");
  expect_described(write_scatter_plan(*plan), kScatter, "Scatter plan");
  AssignInstance assign{.schemes = {{}}, .strategies = {{}}};
  assign.constraints.chunks = ChunkRule{.size = 1};
  expect_described(write_assign_instance(assign), kAssign, "Assign instance");
  const auto assign_plan = read_assign_plan(kValidAssignPlan);
  ASSERT_TRUE(assign_plan);
  expect_described(write_assign_plan(*assign_plan), kAssign, "Assign plan");
  const auto layout = read_layout_instance(kValidLayout);
  ASSERT_TRUE(layout);
  expect_described(write_layout_instance(*layout), kLayout, "Layout instance");
  expect_described(write_layout_plan({}), kLayout, "Layout plan");
  const auto order = read_order_instance(kValidOrder);
  ASSERT_TRUE(order);
  expect_described(write_order_instance(*order), kOrder, "Order instance");
  expect_described(write_order_plan({}), kOrder, "Order plan");
  const auto strategy = read_strategy_instance(kValidStrategy);
  const auto strategy_plan = read_strategy_plan(kValidStrategyPlan);
  ASSERT_TRUE(strategy);
  ASSERT_TRUE(strategy_plan);
  expect_described(write_strategy_instance(*strategy), kStrategy, "Strategy instance");
  expect_described(write_strategy_plan(*strategy_plan), kStrategy, "Strategy plan");
  const auto step = trainer_step(*instance, *plan);
  ASSERT_TRUE(step);
  expect_described(write_trainer_json(*step), kTrainer, "The JSON form");
}

TEST(InstancesReadme, TheLimitsAreThoseOfTheCode) {
  const std::string text = file_text(kInstancesDir / "limits.md");
  for (const auto limit : {static_cast<std::int64_t>(kMaxDocumentBytes),
                           kMaxSequences,
                           kMaxValues,
                           kMaxContainers,
                           kMaxTexts,
                           static_cast<std::int64_t>(kMaxNumberBytes),
                           static_cast<std::int64_t>(kMaxTextBytes),
                           kMaxBuffers,
                           kMaxTensors,
                           kMaxOperators,
                           kMaxLayers,
                           kMaxOptionValues,
                           kMaxModelWidth,
                           kMaxSchemes,
                           kMaxStrategies,
                           std::int64_t{kMaxStages},
                           kMaxRecomputations,
                           kMaxDeviceKinds,
                           std::int64_t{kMaxDepth},
                           std::int64_t{kMaxDevices},
                           kMaxCosts,
                           kMaxParts,
                           kMaxTrainerSlots}) {
    EXPECT_NE(text.find("| " + std::to_string(limit)), std::string::npos) << limit;
  }
}

}  // namespace
}  // namespace stowage::readme_test
