// Unusual graphs: each has the documented error, or the answer worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::families_order_edges_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class OrderEdges : public testing::Test {
 protected:
  // Returns the answer of `solve`, and runs `verify` if it has a plan.
  json solve(const json& tensors, const json& operators, int exit_code) {
    const json graph = {{"format", "stowage/instance"}, {"version", 1},
                        {"problem", "order"},           {"name", "edge"},
                        {"tensors", tensors},           {"operators", operators}};
    dir_.write("graph.json", graph.dump());
    const Finished finished =
        run_stowage({"solve", "graph.json", "--timeless"}, {.directory = dir_.path()});
    EXPECT_EQ(finished.exit_code, exit_code) << finished.out << finished.err;
    json answer = json::parse(finished.out);
    if (exit_code != 0) return answer;
    dir_.write("outcome.json", finished.out);
    const Finished verified =
        run_stowage({"verify", "graph.json", "outcome.json"}, {.directory = dir_.path()});
    EXPECT_EQ(verified.exit_code, 0) << verified.out;
    EXPECT_EQ(json::parse(verified.out)["proven"], true) << verified.out;
    return answer;
  }

  std::string error(const json& tensors, const json& operators) {
    const json first = solve(tensors, operators, 2)["errors"][0];
    return first["code"].get<std::string>() + ' ' + first["pointer"].get<std::string>() + ": " +
           first["message"].get<std::string>();
  }

  static json input(const std::string& id, std::int64_t bytes) {
    return {{"id", id}, {"size_bytes", bytes}, {"input", true}};
  }
  static json tensor(const std::string& id, std::int64_t bytes) {
    return {{"id", id}, {"size_bytes", bytes}};
  }

  TempDir dir_;
};

constexpr std::int64_t kLargest = std::int64_t{1} << 53;

TEST_F(OrderEdges, ACycleIsNamedWithItsMembers) {
  EXPECT_THAT(
      error({tensor("a", 1), tensor("b", 1)}, {{{"id", "f"}, {"reads", {"a"}}, {"writes", {"b"}}},
                                               {{"id", "g"}, {"reads", {"b"}}, {"writes", {"a"}}}}),
      HasSubstr("E375 /operators/0: must not wait for itself, is in a cycle: \"f\" after "
                "\"g\" after \"f\""));
  EXPECT_THAT(
      error(json::array(), {{{"id", "f"}, {"after", {"g"}}}, {{"id", "g"}, {"after", {"f"}}}}),
      HasSubstr("E375"));
}

TEST_F(OrderEdges, ATensorHasOneWriter) {
  EXPECT_THAT(error(json::array({tensor("a", 1)}),
                    {{{"id", "f"}, {"writes", {"a"}}}, {{"id", "g"}, {"writes", {"a"}}}}),
              HasSubstr("E373 /operators/1/writes/0"));
  EXPECT_THAT(error(json::array({input("a", 1)}), json::array({{{"id", "f"}, {"writes", {"a"}}}})),
              HasSubstr("E373"));
  EXPECT_THAT(error(json::array({tensor("a", 1)}), json::array({{{"id", "f"}, {"reads", {"a"}}}})),
              HasSubstr("E374 /tensors/0"));
}

// A tensor without readers that is not an output lives only while it is written.
TEST_F(OrderEdges, AnUnreadResultGoesAtOnce) {
  const json writers = {{{"id", "f"}, {"writes", {"a"}}}, {{"id", "g"}, {"writes", {"b"}}}};
  EXPECT_EQ(solve({tensor("a", 5), tensor("b", 7)}, writers, 0)["objective_bytes"], 7);
  json kept = tensor("a", 5);
  kept["output"] = true;
  // The output that stays is written last.
  EXPECT_EQ(solve({kept, tensor("b", 7)}, writers, 0)["objective_bytes"], 7);
  json both = tensor("b", 7);
  both["output"] = true;
  EXPECT_EQ(solve({kept, both}, writers, 0)["objective_bytes"], 12);
  // An input without readers is never freed.
  EXPECT_EQ(solve({input("x", 3), tensor("a", 5), tensor("b", 7)}, writers, 0)["objective_bytes"],
            10);
}

// A reader that precedes an update in the list reads the old contents, so it must run first.
TEST_F(OrderEdges, AnUpdateWaitsForThoseWhoReadBefore) {
  const json tensors = {input("w", 10), tensor("big", 100), tensor("small", 1), tensor("end", 1)};
  const json reads_old = {{"id", "old"}, {"reads", {"w"}}, {"writes", {"big"}}};
  const json update = {{"id", "update"}, {"updates", {"w"}}, {"writes", {"small"}}};
  const json both = {{"id", "both"}, {"reads", {"big", "small"}}, {"writes", {"end"}}};
  // While w is updated, big is in memory: 10 + 100 + 1.
  EXPECT_EQ(solve(tensors, {reads_old, update, both}, 0)["objective_bytes"], 111);
  const json answer = solve(tensors, {update, reads_old, both}, 0);
  // In this list the update comes first: 10 + 1 + 100 at the reader.
  EXPECT_EQ(answer["objective_bytes"], 111);
  EXPECT_EQ(answer["plan"]["order"], json({0, 1, 2}));
  EXPECT_THAT(
      error(json::array({tensor("a", 1)}), json::array({{{"id", "f"}, {"updates", {"a"}}}})),
      HasSubstr("E374"));
}

TEST_F(OrderEdges, AnEmptyGraphNeedsWhatIsThere) {
  EXPECT_EQ(solve(json::array(), json::array(), 0)["objective_bytes"], 0);
  const json answer = solve({input("x", 4), input("y", 6)}, json::array(), 0);
  EXPECT_EQ(answer["objective_bytes"], 10);
  EXPECT_EQ(answer["status"], "optimal");
  EXPECT_EQ(answer["plan"]["order"], json::array());
  // Operators without tensors need no memory.
  EXPECT_EQ(solve(json::array(), {{{"id", "f"}}, {{"id", "g"}}}, 0)["objective_bytes"], 0);
}

TEST_F(OrderEdges, SizesUpToTheLargestAreExact) {
  const json read = json::array({{{"id", "f"}, {"reads", {"x", "y"}}}});
  EXPECT_EQ(solve({input("x", kLargest - 1), input("y", 1)}, read, 0)["objective_bytes"], kLargest);
  EXPECT_THAT(error({input("x", kLargest), input("y", 1)}, read), HasSubstr("E376"));
  EXPECT_THAT(error({input("x", kLargest + 1), input("y", 0)}, read), HasSubstr("E205"));
  EXPECT_EQ(solve({input("x", 0), input("y", 0)}, read, 0)["objective_bytes"], 0);
}

}  // namespace
}  // namespace stowage::families_order_edges_test
