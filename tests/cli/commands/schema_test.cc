// The documents of the commands satisfy their schemas, and can be read again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "tests/cli/fixture.h"

namespace stowage::commands_schema_test {
namespace {

using nlohmann::json;

// Returns all violations of the schema, one per line.
std::string faults(const json& document, const std::string& schema_name) {
  const json text = json::parse(run_stowage({"schema", schema_name}).out);
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
  valijson::ValidationResults results;
  valijson::Validator().validate(schema, valijson::adapters::NlohmannJsonAdapter(document),
                                 &results);
  std::string lines;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& step : error.context) lines += step;
    lines += ": " + error.description + '\n';
  }
  return lines;
}

class Schemas : public testing::Test {
 protected:
  Schemas() { fill_with_examples(dir_); }

  json answer(const std::vector<std::string>& arguments) const {
    return json::parse(run_stowage(arguments, {.directory = dir_.path()}).out);
  }

  TempDir dir_;
};

TEST_F(Schemas, OutcomesOfEveryKind) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"solve", "instance.json", "--node-limit", "1000"},
           {"solve", "instance.json", "--node-limit", "1000", "--timeless"},
           {"solve", "instance.json", "--method", "homogeneous-1"},
           {"solve", "infeasible.json"},
           {"solve", "missing.json"},
           {"solve", "instance.json", "--nonsense"}}) {
    EXPECT_EQ(faults(answer(arguments), "outcome"), "") << testing::PrintToString(arguments);
  }
}

// The outcomes have certificates of each kind, and a layout.
TEST_F(Schemas, OutcomesOfEveryFamily) {
  std::set<std::string> bounds;
  for (const std::vector<std::string>& generated : std::vector<std::vector<std::string>>{
           {"scatter", "--count", "12"},
           {"assign"},
           {"layout"},
           {"strategy"},
           {"order", "--kind", "transformer", "--operators", "60"},
           {"order", "--kind", "layered-local", "--operators", "60", "--seed", "31"},
           {"order", "--kind", "layered", "--operators", "80", "--seed", "37"}}) {
    std::vector<std::string> arguments = {"generate"};
    arguments.insert(arguments.end(), generated.begin(), generated.end());
    arguments.insert(arguments.end(), {"-o", "generated.json"});
    run_stowage(arguments, {.directory = dir_.path()});
    arguments = {"solve", "generated.json", "--node-limit", "20000"};
    if (generated[0] == "order") arguments.insert(arguments.end(), {"--layout", "layout.json"});
    const json outcome = answer(arguments);
    EXPECT_EQ(faults(outcome, "outcome"), "") << testing::PrintToString(generated);
    bounds.insert(outcome["bound_by"]);
  }
  for (const char* name : {"cut", "search", "forced"}) EXPECT_TRUE(bounds.contains(name)) << name;
}

TEST_F(Schemas, PlansInFilesAndInOutcomes) {
  EXPECT_EQ(faults(json::parse(dir_.read("plan.json")), "scatter-plan"), "");
  EXPECT_EQ(faults(json::parse(dir_.read("outcome.json"))["plan"], "scatter-plan"), "");
  EXPECT_EQ(json::parse(dir_.read("outcome.json"))["plan"], json::parse(dir_.read("plan.json")));
}

TEST_F(Schemas, TrainerFiles) {
  EXPECT_EQ(faults(answer({"convert", "instance.json", "-", "--plan", "plan.json"}), "trainer"),
            "");
}

TEST_F(Schemas, Audits) {
  for (const char* text : {R"({"lengths": [6, 5, 4], "partition": [[0, 1], [2]]})",
                           R"({"lengths": [6, 5, 4], "rows": [[[0], [1]], [[2]]]})",
                           R"({"lengths": [6, 5, 4], "batch_rebalance": [[[0, 1]], [[2]]]})",
                           R"({"lengths": [6, 5], "sample_id_groups": [[[0], [1]]]})"}) {
    const json work = json::parse(text);
    EXPECT_EQ(faults(work, "audited-work"), "");
    dir_.write("work.json", text);
    json verdict = answer({"audit", "work.json"});
    EXPECT_EQ(faults(verdict, "audit"), "") << text;
    EXPECT_EQ(verdict.contains("plan"), work.contains("sample_id_groups"));
    verdict["lost_at_least"] = 1.5;
    EXPECT_NE(faults(verdict, "audit"), "");
    verdict["lost_at_least"] = 0;
    verdict.erase(verdict.contains("plan") ? "plan" : "rows");
    EXPECT_NE(faults(verdict, "audit"), "") << "a verdict without its plan";
  }
}

TEST_F(Schemas, InstancesThatAreMade) {
  EXPECT_EQ(faults(answer({"generate", "scatter", "--count", "9"}), "scatter-instance"), "");
  EXPECT_EQ(faults(answer({"convert", "lengths.txt", "-"}), "scatter-instance"), "");
}

TEST_F(Schemas, MadeInstancesCanBeSolvedRunAndVerified) {
  const RunOptions here{.directory = dir_.path()};
  EXPECT_EQ(run_stowage({"convert", "lengths.txt", "step.json", "--devices", "16"}, here).exit_code,
            0);
  const Finished solved =
      run_stowage({"solve", "step.json", "--method", "fast", "-o", "step-plan.json"}, here);
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_EQ(run_stowage({"verify", "step.json", "step-plan.json"}, here).exit_code, 0);
  const Finished executed =
      run_stowage({"run", "step.json", "step-plan.json", "--work", "0.1"}, here);
  EXPECT_EQ(executed.exit_code, 0) << executed.err;
}

}  // namespace
}  // namespace stowage::commands_schema_test
