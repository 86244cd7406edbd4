// Each type has one definition: the linker would silently merge two types of one name in one
// namespace if neither source includes the other's header.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/tree/source_files.h"

namespace stowage::names_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool is_product_code(const SourceFile& file) {
  const std::string folder = file.folder();
  return (file.path.ends_with(".h") || file.path.ends_with(".cc")) && folder != "tests" &&
         folder != "examples";
}

// The types that a file defines for others to see: those at the start of a line, as the format has
// it, outside of unnamed namespaces.
std::vector<std::string> types_in(const std::string& text) {
  static const std::regex opened(R"(namespace ?([a-z:_]*) ?\{)");
  static const std::regex defined(R"((?:struct|class|enum class|enum) ([A-Za-z0-9_]+)( .*)?\{.*)");
  std::vector<std::string> types;
  std::vector<std::string> spaces;
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (std::regex_match(line, match, opened)) {
      spaces.push_back(match[1]);
    } else if (line.starts_with("}  // namespace") && !spaces.empty()) {
      spaces.pop_back();
    } else if (std::regex_match(line, match, defined)) {
      std::string name;
      bool seen = true;
      for (const std::string& space : spaces) {
        seen = seen && !space.empty();
        name += space + "::";
      }
      if (seen) types.push_back(name + match[1].str());
    }
  }
  return types;
}

// "stowage::Exchange in a.h, b.h", for each name that several files define.
std::vector<std::string> defined_twice(const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> places;
  for (const SourceFile& file : files) {
    if (!is_product_code(file)) continue;
    for (const std::string& type : types_in(file.text)) {
      std::string& known = places[type];
      known += (known.empty() ? "" : ", ") + file.path;
    }
  }
  std::vector<std::string> twice;
  for (const auto& [type, where] : places) {
    if (where.find(',') != std::string::npos) twice.push_back(type + " in " + where);
  }
  return twice;
}

TEST(Names, NoTwoTypesHaveTheSame) { EXPECT_THAT(defined_twice(source_files()), IsEmpty()); }

TEST(Names, TypesOfOneNameAreFound) {
  const std::string one = "namespace stowage {\nstruct Exchange {\n};\n}  // namespace stowage\n";
  const std::string own =
      "namespace stowage {\nnamespace {\nclass Exchange final : public Base {\n};\n}  // "
      "namespace\n"
      "}  // namespace stowage\n";
  const std::string inner =
      "namespace stowage::kernels {\nstruct Exchange {};\n}  // namespace stowage::kernels\n";
  EXPECT_THAT(defined_twice({{"instances/a.h", one},
                             {"heuristics/b.h", one},
                             {"heuristics/c.cc", own},
                             {"kernels/d.h", inner},
                             {"tests/e.h", one}}),
              ElementsAre("stowage::Exchange in instances/a.h, heuristics/b.h"));
}

}  // namespace
}  // namespace stowage::names_test
