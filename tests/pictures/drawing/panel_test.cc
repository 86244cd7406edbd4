// Texts of any width stay on the canvas and apart; at most ten colours are used.
#include "instances/pictures/drawing/panel.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "instances/pictures/drawing/hues.h"
#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/text_width.h"
#include "tests/svg_document.h"

namespace stowage::drawing_panel_test {
namespace {

TEST(Panel, TextsOfAnyWidthStayOnTheCanvasAndApart) {
  const std::string wide(300, 'W');
  const std::string foreign =
      "長い名前長い名前長い名前長い名前長い名前長い名前長い名前長い名前長い名前長い名前";
  for (const std::string& text :
       {std::string("short"), wide, wide + ' ' + wide, foreign + foreign}) {
    Panel panel(text);
    panel.say(text + " and " + text);
    panel.plot(100);
    std::vector<LegendEntry> legend;
    for (int i = 0; i < 12; ++i) legend.push_back({.classes = "c1", .text = text});
    panel.legend(legend);
    panel.say("the end");
    const SvgDocument document(svg_document({std::move(panel).finish()}, text));
    EXPECT_EQ(document.complaints(), "");
  }
}

TEST(Panel, PicturesStandBelowEachOther) {
  Panel one("one");
  one.plot(200);
  Panel two("two");
  const SvgDocument document(
      svg_document({std::move(one).finish(), std::move(two).finish()}, "both"));
  ASSERT_EQ(document.texts.size(), 2U);
  EXPECT_GT(document.texts[1].box.y, document.texts[0].box.y + 200);
  EXPECT_EQ(document.complaints(), "");
}

TEST(TextWidth, ShortensToWhatFits) {
  EXPECT_EQ(shortened("ranks", 12, 100), "ranks");
  const std::string cut = shortened("a very long name indeed", 12, 60);
  EXPECT_LE(text_width(cut, 12), 60);
  EXPECT_TRUE(cut.ends_with("…")) << cut;
  // A text is never cut inside a character.
  for (double width = 0; width < 60; ++width) {
    EXPECT_EQ(SvgDocument("<a>" + shortened("größter", 12, width) + "</a>").error, "") << width;
  }
}

TEST(Hues, NeighboursShareWhereThereAreMoreKindsThanHues) {
  std::vector<std::string> kinds;
  for (int k = 0; k < 10; ++k) kinds.push_back("kind " + std::to_string(k));
  const Hues hues(kinds);
  std::set<std::size_t> used;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    used.insert(hues.of(k));
    EXPECT_GE(hues.of(k), hues.of(k == 0 ? 0 : k - 1));
  }
  EXPECT_EQ(used.size(), kHues);
  EXPECT_EQ(hues.legend().size(), kHues);
  EXPECT_EQ(hues.legend()[0].text, "kind 0 to kind 1");
  EXPECT_EQ(Hues({"a", "b"}, 2).of(0), 2U);
}

TEST(Style, HasTenColoursInEachMode) {
  const std::string text(stylesheet());
  const std::size_t dark = text.find("@media (prefers-color-scheme:dark)");
  ASSERT_NE(dark, std::string::npos);
  const auto colours = [](const std::string& part) {
    static const std::regex hex("#[0-9a-f]{6}");
    return std::set<std::string>(std::sregex_token_iterator(part.begin(), part.end(), hex),
                                 std::sregex_token_iterator());
  };
  EXPECT_EQ(colours(text.substr(0, dark)).size(), 10U);
  EXPECT_LE(colours(text.substr(dark)).size(), 3U);  // the neutrals: paper, ink, waste
}

}  // namespace
}  // namespace stowage::drawing_panel_test
