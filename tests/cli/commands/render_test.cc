// stowage render: every bundled instance, pages, refusals, and pictures byte for byte.
// STOWAGE_UPDATE_GOLDEN=1 rewrites the pictures in tests/cli/golden/render/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "instances/numeric/numbers.h"
#include "tests/cli/fixture.h"
#include "tests/svg_document.h"

namespace stowage::commands_render_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kRoot = STOWAGE_SOURCE_DIR;
const std::filesystem::path kGolden = kRoot / "tests/cli/golden/render";

struct Bundled {
  std::string folder;
  std::string file;
};

void PrintTo(const Bundled& b, std::ostream* out) { *out << b.folder << '/' << b.file; }

std::vector<Bundled> bundled() {
  std::vector<Bundled> all;
  for (const char* folder :
       {"scatter/tiny", "scatter/real", "assign/tiny", "assign/real", "layout/tiny", "layout/real",
        "order/tiny", "order/real", "strategy/tiny", "strategy/real"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(kRoot / "instances/data" / folder)) {
      if (entry.path().extension() == ".json") all.push_back({folder, entry.path().filename()});
    }
  }
  std::ranges::sort(all, {}, [](const Bundled& b) { return b.folder + '/' + b.file; });
  return all;
}

class EveryInstance : public testing::TestWithParam<Bundled> {};

TEST_P(EveryInstance, IsDrawnAsPictureAndAsPage) {
  const TempDir dir;
  const RunOptions here{.directory = dir.path()};
  const std::string instance = kRoot / "instances/data" / GetParam().folder / GetParam().file;
  const Finished solved = run_stowage({"solve", instance, "-t", "0.5", "--node-limit", "1"}, here);
  dir.write("outcome.json", solved.out);
  const Finished run = run_stowage({"render", instance, "outcome.json", "-o", "plan.svg"}, here);
  if (solved.exit_code != 0) {  // infeasible, so there is no plan to draw
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("E211"));
    EXPECT_EQ(dir.names(), std::vector<std::string>{"outcome.json"});
    return;
  }
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string bytes = dir.read("plan.svg");
  EXPECT_LT(bytes.size(), 5'000'000U);
  const SvgDocument picture(bytes);
  EXPECT_EQ(picture.complaints(), "");
  EXPECT_GT(picture.texts.size(), 5U);

  EXPECT_EQ(run_stowage({"render", instance, "outcome.json", "-o", "page.html"}, here).exit_code,
            0);
  const SvgDocument page(dir.read("page.html"));
  EXPECT_EQ(page.complaints(), "");
  EXPECT_EQ(page.texts.size(), picture.texts.size());
}

INSTANTIATE_TEST_SUITE_P(Render, EveryInstance, testing::ValuesIn(bundled()), [](const auto& each) {
  std::string name = each.param.folder + '_' + each.param.file;
  for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
  return name;
});

class Render : public testing::Test {
 protected:
  Render() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(Render, RefusesAnInvalidPlanAndListsItsViolations) {
  std::string plan = dir_.read("plan.json");
  const std::size_t at = plan.find("\"tokens\": ");
  plan.insert(at + 10, "1");
  dir_.write("broken.json", plan);
  const Finished refused = run({"render", "instance.json", "broken.json", "-o", "x.svg"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("violation tokens"));
  EXPECT_THAT(refused.err, HasSubstr("was not drawn"));
  EXPECT_THAT(refused.out, HasSubstr("\"exit_code\": 1"));
  EXPECT_THAT(refused.out, HasSubstr("\"rule\": \"tokens\""));
  EXPECT_THAT(dir_.names(), Not(testing::Contains("x.svg")));
}

TEST_F(Render, DrawsThePartsThatAreAskedFor) {
  const auto pictures = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"render", "instance.json", "outcome.json", "-o", "x.svg"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = run(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    int headings = 0;
    const std::string text = dir_.read("x.svg");
    for (std::size_t at = 0; (at = text.find("class=\"h\"", at)) != std::string::npos; ++at) {
      ++headings;
    }
    return headings;
  };
  EXPECT_EQ(pictures({}), 3);
  EXPECT_EQ(pictures({"--show", "plan"}), 1);
  EXPECT_EQ(pictures({"--show", "search,lengths"}), 2);
  // A plan without an outcome has no record of a search.
  EXPECT_EQ(run({"render", "instance.json", "plan.json", "-o", "x.svg"}).exit_code, 0);
  EXPECT_THAT(dir_.read("x.svg"), Not(HasSubstr("The search")));
}

TEST_F(Render, SaysWhatIsWrongWithItsFlags) {
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"render", "instance.json", "plan.json"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = run(words);
    EXPECT_EQ(finished.exit_code, 2);
    return finished.err;
  };
  EXPECT_THAT(error({}), HasSubstr("--output: must end in .svg or .html, is ''"));
  EXPECT_THAT(error({"-o", "x.png"}), HasSubstr("--output: must end in .svg or .html"));
  EXPECT_THAT(error({"-o", "x.svg", "--show", "plna"}), HasSubstr("did you mean 'plan'?"));
  EXPECT_THAT(error({"-o", "x.svg", "--show", "search"}), HasSubstr("--show: must name a picture"));
  EXPECT_THAT(error({"-o", "x.svg", "--comparison", "c.json"}), HasSubstr("--comparison"));
  EXPECT_THAT(error({"-o", "x.svg", "--against", "plan.json"}),
              HasSubstr("--against: has no effect on a picture: two plans side by side are a page; "
                        "end --output in .html"));
  EXPECT_THAT(error({"-o", "x.html", "--against", "-"}), HasSubstr("--against: must be a file"));
  EXPECT_THAT(error({"-o", "none/x.svg"}), HasSubstr("cannot be written"));
  EXPECT_THAT(error({"-o", "x.html", "--comparison", "plan.json"}), HasSubstr("E207"));
}

TEST_F(Render, APageHoldsTheTableOfMethods) {
  dir_.write("comparison.json",
             run({"compare", "instance.json", "--methods", "batch-ada,fast", "-t", "1"}).out);
  const Finished drawn = run({"render", "instance.json", "outcome.json", "-o", "page.html",
                              "--comparison", "comparison.json"});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  const std::string page = dir_.read("page.html");
  EXPECT_EQ(SvgDocument(page).complaints(), "");
  EXPECT_NE(page.find("<td>batch-ada (best)</td><td>baseline</td>"), std::string::npos);
  EXPECT_NE(page.find("computed again for this page"), std::string::npos);

  // Answers may have additional keys; keys that are read must have their type.
  std::string gained = dir_.read("comparison.json");
  gained.insert(gained.find("\"method\":"), "\"measured\": {\"scale\": 4}, ");
  dir_.write("gained.json", gained);
  EXPECT_EQ(run({"render", "instance.json", "outcome.json", "-o", "page.html", "--comparison",
                 "gained.json"})
                .exit_code,
            0);
  gained.replace(gained.find("\"best\": true"), 12, "\"best\": 1");
  dir_.write("gained.json", gained);
  const Finished typed = run({"render", "instance.json", "outcome.json", "-o", "page.html",
                              "--comparison", "gained.json"});
  EXPECT_EQ(typed.exit_code, 2);
  EXPECT_THAT(typed.err, HasSubstr("gained.json: E203 /methods/0/best: must be true or false"));

  // An instance with the same name and other lengths.
  std::string longer = dir_.read("instance.json");
  longer.replace(longer.find("100, 64"), 7, "101, 64");
  dir_.write("longer.json", longer);
  dir_.write("longer-comparison.json",
             run({"compare", "longer.json", "--methods", "fast", "-t", "1"}).out);
  const Finished mixed = run({"render", "instance.json", "outcome.json", "-o", "page.html",
                              "--comparison", "longer-comparison.json"});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("E209 /instance_hash: must be"));

  dir_.write("other.json", run({"compare", "layout.json", "-t", "1"}).out);
  const Finished other = run(
      {"render", "instance.json", "outcome.json", "-o", "page.html", "--comparison", "other.json"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("E209"));
}

TEST_F(Render, PutsTwoPlansSideBySide) {
  const std::string instance = kRoot / "instances/data/scatter/tiny/mixed.json";
  const std::string own = kGolden / "mixed.json";
  const std::string other = kGolden / "mixed_second.json";
  const Finished drawn =
      run({"render", instance, own, "--against", other, "-o", "both.html", "--timeless"});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  const json answer = json::parse(drawn.out);
  EXPECT_EQ(answer["pictures"], 6);
  EXPECT_TRUE(answer["against_proven"]);
  const std::string page = dir_.read("both.html");
  const SvgDocument document(page);
  EXPECT_EQ(document.complaints(), "");
  EXPECT_EQ(document.heights.size(), 6U);
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\">mixed.json</th><th scope=\"col\">mixed_second."));
  const double first = json::parse(read_text(own))["objective_ms"];
  const double second = json::parse(read_text(other))["objective_ms"];
  EXPECT_GT(second, first);
  EXPECT_THAT(page, HasSubstr("ms, verified</td><td>+" + ms_text(second - first) + " ms (+" +
                              percent_text(second / first - 1) + ")</td>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">gap to the higher bound</th><td>0.00%</td>"));
  // Exchanging both plans changes the signs.
  run({"render", instance, other, "--against", own, "-o", "turned.html"});
  EXPECT_THAT(dir_.read("turned.html"), HasSubstr("<td>-" + ms_text(second - first) + " ms (-"));

  // The same plan twice, without the record of its search in one of the two files.
  EXPECT_EQ(run({"render", "instance.json", "outcome.json", "--against", "plan.json", "-o",
                 "same.html", "--show", "lengths,search"})
                .exit_code,
            0);
  const std::string same = dir_.read("same.html");
  EXPECT_EQ(SvgDocument(same).heights.size(), 2U) << "equal pictures are shown once";
  EXPECT_THAT(same, HasSubstr("There is no such picture."));
  EXPECT_THAT(same, HasSubstr("<td>none</td>"));
}

TEST_F(Render, RefusesASecondPlanThatIsWrong) {
  const auto against = [&](const std::string& other) {
    return run({"render", "instance.json", "outcome.json", "--against", other, "-o", "x.html"});
  };
  std::string plan = dir_.read("plan.json");
  plan.insert(plan.find("\"tokens\": ") + 10, "1");
  dir_.write("broken.json", plan);
  const Finished invalid = against("broken.json");
  EXPECT_EQ(invalid.exit_code, 1);
  EXPECT_THAT(invalid.err, HasSubstr("violation tokens"));
  EXPECT_THAT(invalid.err, HasSubstr("broken.json: the plan is invalid and was not drawn: give"));
  EXPECT_EQ(json::parse(invalid.out)["refused"], "broken.json");

  std::string longer = dir_.read("instance.json");
  longer.replace(longer.find("100, 64"), 7, "101, 64");
  dir_.write("longer.json", longer);
  dir_.write("longer-outcome.json",
             run({"solve", "longer.json", "-o", "longer-plan.json", "--method", "fast"}).out);
  const Finished outcome = against("longer-outcome.json");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("longer-outcome.json: E209 /plan/instance_hash: must be \""));
  EXPECT_THAT(outcome.err, HasSubstr("give a plan of this instance"));
  EXPECT_THAT(against("longer-plan.json").err,
              HasSubstr("longer-plan.json: E209 /instance_hash: must be \""));
  const Finished family = against("layout-plan.json");
  EXPECT_EQ(family.exit_code, 2);
  EXPECT_THAT(family.err, HasSubstr("layout-plan.json: E209 /problem"));
  EXPECT_THAT(dir_.names(), Not(testing::Contains("x.html")));
}

// Names may contain any text, and markup in them must be escaped.
TEST_F(Render, NamesAreTextAndNoMarkup) {
  std::string table = "id,lower,upper,size\n";
  table += "</title><script>alert(1)</script>,0,3,4\n&amp;,2,5,4\n";
  dir_.write("evil.csv", table);
  EXPECT_EQ(run({"convert", "evil.csv", "evil.json"}).exit_code, 0);
  EXPECT_EQ(run({"solve", "evil.json", "-o", "evil-plan.json"}).exit_code, 0);
  for (const char* file : {"x.svg", "x.html"}) {
    EXPECT_EQ(run({"render", "evil.json", "evil-plan.json", "-o", file}).exit_code, 0);
    const SvgDocument document(dir_.read(file));
    EXPECT_EQ(document.complaints(), "");
    EXPECT_TRUE(document.has_tooltip("buffer </title><script>alert(1)</script>: 4 bytes"));
    EXPECT_TRUE(document.has_tooltip("buffer &amp;: 4 bytes"));
  }
}

TEST_F(Render, SaysWhatIsWrongWithAnOutcome) {
  std::string outcome = dir_.read("outcome.json");
  const std::size_t at = outcome.find("\"improvements\": [");
  outcome.insert(
      outcome.find('[', at) + 1,
      R"({"seconds": "soon", "bound_ms": 1, "objective_ms": null, "nodes": 0, "by": 3},)");
  dir_.write("outcome.json", outcome);
  const Finished wrong = run({"render", "instance.json", "outcome.json", "-o", "x.svg"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("outcome.json: E203 /improvements/0/seconds: must be"));
  EXPECT_THAT(wrong.err, HasSubstr("E203 /improvements/0/by: must be"));
}

struct GoldenCase {
  std::string name;
  std::string instance;
};

void PrintTo(const GoldenCase& c, std::ostream* out) { *out << c.name; }

class GoldenPicture : public testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenPicture, HasNotChanged) {
  const TempDir dir;
  for (const char* ending : {".svg", ".html"}) {
    const std::string file = GetParam().name + ending;
    const Finished run = run_stowage({"render", kRoot / "instances/data" / GetParam().instance,
                                      kGolden / (GetParam().name + ".json"), "-o", file},
                                     {.directory = dir.path()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(kGolden / file, std::ios::binary) << dir.read(file);
    }
    EXPECT_TRUE(dir.read(file) == read_text(kGolden / file)) << kGolden / file << " differs";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Render, GoldenPicture,
    testing::Values(GoldenCase{"mixed", "scatter/tiny/mixed.json"},
                    GoldenCase{"pipeline_rows", "assign/tiny/pipeline-rows.json"},
                    GoldenCase{"pins_with_a_hole", "layout/tiny/pins-with-a-hole.json"}),
    [](const auto& each) { return each.param.name; });

TEST(GoldenPage, OfTwoPlansHasNotChanged) {
  const TempDir dir;
  const Finished run = run_stowage(
      {"render", kRoot / "instances/data/scatter/tiny/mixed.json", kGolden / "mixed.json",
       "--against", kGolden / "mixed_second.json", "-o", "mixed_against.html"},
      {.directory = dir.path()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string page = dir.read("mixed_against.html");
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kGolden / "mixed_against.html", std::ios::binary) << page;
  }
  EXPECT_TRUE(page == read_text(kGolden / "mixed_against.html"));
}

}  // namespace
}  // namespace stowage::commands_render_test
