// Includes point only in the directions that the architecture allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/tree/source_files.h"

namespace stowage::layers_test {
namespace {

using ::testing::HasSubstr;

// Which folders a folder may include, besides itself. Tests may include everything.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"instances", {}},
    {"formulations", {"instances"}},
    {"heuristics", {"instances"}},
    {"kernels", {"instances"}},
    {"solvers", {"instances", "formulations", "heuristics"}},
    {"cli", {"instances", "formulations", "heuristics", "kernels", "solvers"}},
    {"bench", {"instances", "formulations", "heuristics", "kernels", "solvers"}},
    {"python", {"instances", "formulations", "heuristics", "solvers", "cli"}},
};

// Third-party headers that only one folder may include. The prefix is that of the included path.
struct Fence {
  std::string prefix;
  std::set<std::string> folders;
  bool in_headers;  // whether headers of these folders may include it
};
const Fence kFences[] = {
    {"glpk", {"solvers"}, false},        {"Cbc", {"solvers"}, false},
    {"Osi", {"solvers"}, false},         {"Coin", {"solvers"}, false},
    {"Clp", {"solvers"}, false},         {"Cgl", {"solvers"}, false},
    {"coin/", {"solvers"}, false},       {"CLI/", {"cli", "bench"}, true},
    {"nlohmann/", {"instances"}, false}, {"mpi", {"kernels"}, false},
    {"nanobind/", {"python"}, true},     {"interfaces/highs", {"solvers"}, true},
};

std::vector<std::string> includes_of(const SourceFile& file) {
  static const std::regex directive(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  std::vector<std::string> includes;
  for (const std::string& line : lines_of(file.text)) {
    std::smatch match;
    if (std::regex_match(line, match, directive)) includes.push_back(match[1]);
  }
  return includes;
}

bool is_header(const SourceFile& file) { return file.path.ends_with(".h"); }
bool is_source(const SourceFile& file) { return file.path.ends_with(".cc") || is_header(file); }

// Returns the error of one include of one file, or an empty string.
std::string complaint(const SourceFile& file, const std::string& include) {
  const std::string folder = file.folder();
  const auto allowed = kMayInclude.find(folder);
  if (allowed == kMayInclude.end()) return "";  // tests
  const std::string target = SourceFile{include, ""}.folder();
  if (target != folder && kMayInclude.contains(target) && !allowed->second.contains(target)) {
    return folder + " must not include " + target;
  }
  if (target == "tests") return "only tests include tests";
  for (const Fence& fence : kFences) {
    if (!include.starts_with(fence.prefix)) continue;
    if (!fence.folders.contains(folder)) return folder + " must not see " + include;
    if (is_header(file) && !fence.in_headers) return include + " must stay out of headers";
  }
  return "";
}

TEST(Layers, IncludesPointTheAllowedWay) {
  int seen = 0;
  for (const SourceFile& file : source_files()) {
    if (!is_source(file)) continue;
    for (const std::string& include : includes_of(file)) {
      ++seen;
      EXPECT_EQ(complaint(file, include), "") << file.path << " includes " << include;
    }
  }
  EXPECT_GT(seen, 100) << "the tree was not found";
}

TEST(Layers, TheRulesCatchWhatTheyAreFor) {
  const auto say = [](const std::string& path, const std::string& include) {
    return complaint({path, ""}, include);
  };
  EXPECT_THAT(say("instances/a.cc", "solvers/solve.h"), HasSubstr("must not include"));
  EXPECT_THAT(say("heuristics/a.h", "formulations/milp/model.h"), HasSubstr("must not include"));
  EXPECT_THAT(say("formulations/a.h", "heuristics/a.h"), HasSubstr("must not include"));
  EXPECT_THAT(say("kernels/a.h", "solvers/solve.h"), HasSubstr("must not include"));
  EXPECT_THAT(say("solvers/a.h", "kernels/a.h"), HasSubstr("must not include"));
  EXPECT_THAT(say("solvers/a.h", "cli/a.h"), HasSubstr("must not include"));
  EXPECT_THAT(say("cli/a.cc", "glpk.h"), HasSubstr("must not see"));
  EXPECT_THAT(say("cli/a.cc", "coin/CbcModel.hpp"), HasSubstr("must not see"));
  EXPECT_THAT(say("cli/a.cc", "mpi.h"), HasSubstr("must not see"));
  EXPECT_THAT(say("kernels/a.h", "mpi.h"), HasSubstr("out of headers"));
  EXPECT_THAT(say("solvers/a.h", "CbcModel.hpp"), HasSubstr("out of headers"));
  EXPECT_THAT(say("instances/a.h", "nlohmann/json.hpp"), HasSubstr("out of headers"));
  EXPECT_THAT(say("instances/a.cc", "tests/a.h"), HasSubstr("only tests"));
  EXPECT_EQ(say("instances/a.cc", "nlohmann/json.hpp"), "");
  EXPECT_EQ(say("solvers/a.cc", "CbcModel.hpp"), "");
  EXPECT_EQ(say("cli/a.cc", "kernels/a.h"), "");
  EXPECT_EQ(includes_of({"a.cc", "#include <a>\n  # include \"b/c.h\"  // why\n//#include <d>"}),
            (std::vector<std::string>{"a", "b/c.h"}));
}

// The verifier may use the basic types of instances/, and none of its computations.
TEST(Layers, TheVerifierStandsAlone) {
  const std::set<std::string> words = {
      "instances/units.h",
      "instances/violation.h",
      "instances/proof/plan_claims.h",  // held to this itself
      "instances/proof.h",
      "instances/proof/infeasibility_check.h",  // held to this itself
      "instances/proof/pipeline_reference.h",   // held to this itself
      "instances/numeric/tolerances.h",         // numbers alone
      "instances/assign/certificate.h",
      "instances/assign/verify/counterexample_plan.h",  // its plan is verified
      "instances/assign/verify/verify.h",
      "instances/layout/verify/number_set.h",
      "instances/layout/verify/counterexample_plan.h",  // its plan is verified
      "instances/layout/verify/verify.h",
      "instances/order/certificate.h",
      "instances/order/verify/flow_check.h",                // held to this itself
      "instances/order/verify/running_memory_reference.h",  // held to this itself
      "instances/order/verify/search_proof_check.h",        // held to this itself
      "instances/order/verify/flow_finder.h",               // its flows are added up
      "instances/order/verify/counterexample_plan.h",       // its plan is verified
      "instances/order/verify/verify.h",
      "instances/order/verify/exhaustive_check.h",  // held to this itself
      "instances/audit/verdict.h",
      "instances/audit/work.h",
      "instances/partition/bound_check.h",  // held to this itself
      "instances/partition/micro_batches.h",
      "instances/partition/partition.h",
      "instances/strategy/certificate.h",
      "instances/strategy/verify/exhaustive_check.h",  // held to this itself
      "instances/strategy/verify/verify.h",
      "instances/scatter/certificate.h",
      "instances/scatter/verify/counterexample_plan.h",  // its plan is verified
      "instances/scatter/verify/verify.h",
      "instances/scatter/verify/exhaustive_check.h",  // held to this itself
      "instances/scatter/table/group_form.h",
      "instances/scatter/verify/certificate/certificate_checker.h",  // held to this itself
      "instances/assign/verify/rules/plan_checker.h",                // held to this itself
      "instances/proof/stated_number.h",
      "instances/scatter/verify/rules/plan_checker.h",  // held to this itself
      "instances/scatter/verify/profile_check.h",       // held to this itself
      "instances/scatter/cost/time_grid.h",
      "instances/scatter/verify/reference_counts.h",  // held to this itself
      "instances/proof/violation_list.h"};
  const std::vector<std::string> parts = {"/verify.",          "reference",
                                          "certificate_check", "profile_check",
                                          "plan_claims",       "violation",
                                          "exhaustive_check",  "infeasibility",
                                          "flow_check",        "search_proof_check",
                                          "bound_check",       "micro_batch_verify",
                                          "verdict",           "/verify/certificate/",
                                          "/verify/rules/"};
  int seen = 0;
  for (const SourceFile& file : source_files()) {
    if (file.folder() != "instances" || !is_source(file)) continue;
    const bool of_verifier = std::ranges::any_of(
        parts, [&](const std::string& part) { return file.path.find(part) != std::string::npos; });
    // These two files only call the verifiers of the families.
    if (!of_verifier || file.path == "instances/verify.h" || file.path == "instances/verify.cc") {
      continue;
    }
    ++seen;
    for (const std::string& include : includes_of(file)) {
      if (include.find('/') == std::string::npos) continue;  // standard library
      const bool own = words.contains(include) || (include.find("/verify/") != std::string::npos &&
                                                   include.find("reference") != std::string::npos);
      const bool data = include.ends_with("/instance.h") || include.ends_with("/plan.h");
      EXPECT_TRUE(own || data) << file.path << " includes " << include;
    }
  }
  EXPECT_GE(seen, 12);
}

// Returns the public headers, as solvers/cmake/public_headers.cmake lists them.
std::set<std::string> public_headers(const std::vector<SourceFile>& files) {
  std::set<std::string> headers;
  for (const SourceFile& file : files) {
    if (file.path != "solvers/cmake/public_headers.cmake") continue;
    for (std::string line : lines_of(file.text)) {
      line.erase(0, line.find_first_not_of(' '));
      if (line.ends_with(')')) line.pop_back();
      if (line.ends_with(".h") && !line.starts_with('#')) headers.insert(line);
    }
  }
  return headers;
}

// An installation contains every header that an installed header includes.
TEST(Layers, InstalledHeadersIncludeOnlyInstalledOnes) {
  const std::vector<SourceFile> files = source_files();
  const std::set<std::string> installed = public_headers(files);
  EXPECT_GE(installed.size(), 10u);
  EXPECT_LE(installed.size(), 30u) << "a front door is small";
  std::size_t found = 0;
  for (const SourceFile& file : files) {
    if (!installed.contains(file.path)) continue;
    ++found;
    for (const std::string& include : includes_of(file)) {
      if (include.find('/') == std::string::npos) continue;  // standard library
      EXPECT_TRUE(installed.contains(include)) << file.path << " includes " << include;
    }
  }
  EXPECT_EQ(found, installed.size()) << "public_headers.cmake names a file that is not there";
}

TEST(Layers, InstalledHeadersSayWhatThreadsMayDo) {
  const std::vector<SourceFile> files = source_files();
  const std::set<std::string> installed = public_headers(files);
  for (const SourceFile& file : files) {
    if (!installed.contains(file.path)) continue;
    EXPECT_THAT(file.text, HasSubstr("// Thread safety: ")) << file.path;
  }
}

// Headers that take long to compile must not reach programs that use the library.
TEST(Layers, InstalledHeadersIncludeNoSlowOnes) {
  const std::set<std::string> slow = {"algorithm",  "chrono",   "cmath",      "condition_variable",
                                      "filesystem", "fstream",  "functional", "future",
                                      "iomanip",    "iostream", "istream",    "memory",
                                      "mutex",      "ostream",  "random",     "ranges",
                                      "regex",      "sstream",  "thread",     "unordered_map"};
  const std::vector<SourceFile> files = source_files();
  const std::set<std::string> installed = public_headers(files);
  for (const SourceFile& file : files) {
    if (!installed.contains(file.path)) continue;
    for (const std::string& include : includes_of(file)) {
      EXPECT_FALSE(slow.contains(include)) << file.path << " includes <" << include << ">";
    }
  }
}

TEST(Layers, HeadersArePragmaOnceAndOpenWithAParagraph) {
  for (const SourceFile& file : source_files()) {
    if (!is_header(file)) continue;
    EXPECT_TRUE(file.text.starts_with("// ")) << file.path;
    EXPECT_THAT(file.text, HasSubstr("\n#pragma once\n")) << file.path;
  }
}

}  // namespace
}  // namespace stowage::layers_test
