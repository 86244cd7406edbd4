// Every text gives a well-formed document; a text without control characters is read back
// unchanged.
#include "instances/pictures/drawing/xml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "instances/pictures/drawing/panel.h"
#include "tests/svg_document.h"

namespace stowage::drawing_xml_test {
namespace {

std::string tooltip_of(const std::string& text) {
  Svg svg;
  svg.rect({0, 0, 1, 1}, "c0", text);
  const SvgDocument document(svg_document({{"", svg.take(), 10}}, "heading"));
  EXPECT_EQ(document.error, "") << testing::PrintToString(text);
  return document.shapes.empty() ? "" : document.shapes.back().title;
}

TEST(Xml, EscapesWhatMeansSomething) {
  EXPECT_EQ(xml_text("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(xml_text("]]>"), "]]&gt;");
  EXPECT_EQ(xml_text("größer → 長い 🚢"), "größer → 長い 🚢");
}

TEST(Xml, ReplacesWhatNoDocumentMayHold) {
  EXPECT_EQ(xml_text(std::string("a\0b\x01\x1b[31m\x7f", 10)), "a?b??[31m?");
  EXPECT_EQ(xml_text("\xEF\xBF\xBE\xEF\xBF\xBF"), "??");  // U+FFFE, U+FFFF
  EXPECT_EQ(xml_text("\xC0\xAF"), "??");                  // overlong
  EXPECT_EQ(xml_text("\xED\xA0\x80"), "???");             // a surrogate
  EXPECT_EQ(xml_text("\xF4\x90\x80\x80"), "????");        // above U+10FFFF
  EXPECT_EQ(xml_text("\xE2\x86"), "??");                  // cut off
  EXPECT_EQ(xml_text("tab\tline\n"), "tab?line?");
  EXPECT_EQ(xml_text("\xE2\x80\xAE\xE2\x80\x8B\xC2\x85\xEF\xBB\xBF"), "????");
}

TEST(Xml, NoNameBeginsALineOfATitle) {
  EXPECT_EQ(tooltip_of("a\nb"), "a?b");
  Svg svg;
  svg.rect({0, 0, 1, 1}, "c0", ShapeTitle::of_lines({"a\nb", "c"}));
  EXPECT_NE(svg.take().find("<title>a?b\nc</title>"), std::string::npos);
}

TEST(Xml, ComesBackFromAParser) {
  for (const std::string text :
       {"</title><script>alert(1)</script>", "&amp;", "\"' <!-- ]]> ?>", "größer → 長い 🚢"}) {
    EXPECT_EQ(tooltip_of(text), text);
  }
}

RC_GTEST_PROP(Xml, AnyBytesMakeAWellFormedDocument, (const std::string& bytes)) {
  std::string text = bytes;
  // Few random bytes are UTF-8 or markup, so some are replaced.
  for (char& c : text) c = c % 7 == 0 ? '<' : c % 11 == 0 ? '\xE2' : c;
  const std::string once = tooltip_of("x" + text);
  RC_ASSERT(tooltip_of(once) == once);
}

}  // namespace
}  // namespace stowage::drawing_xml_test
