// Each way to break an input is named with its code, place and reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "instances/scatter/json/json.h"
#include "tests/instances/json/errors/error_case.h"
#include "tests/instances/json/errors/length_errors.h"
#include "tests/instances/json/errors/memory_errors.h"
#include "tests/instances/json/errors/order_errors.h"
#include "tests/instances/json/errors/step_errors.h"
#include "tests/instances/json/errors/text_errors.h"
#include "tests/instances/json_fixture.h"

namespace stowage::json_errors_test {
namespace {

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
