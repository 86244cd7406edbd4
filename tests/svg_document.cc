#include "tests/svg_document.h"

#include <libxml/parser.h>
#include <libxml/tree.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "instances/pictures/drawing/style.h"
#include "instances/pictures/drawing/text_width.h"

namespace stowage {
namespace {

std::string name_of(const xmlNode* node) { return reinterpret_cast<const char*>(node->name); }

std::string attribute(xmlNode* node, const char* name) {
  const std::unique_ptr<xmlChar, void (*)(void*)> value(
      xmlGetProp(node, reinterpret_cast<const xmlChar*>(name)), xmlFree);
  return value ? reinterpret_cast<const char*>(value.get()) : "";
}

double number(xmlNode* node, const char* name) {
  return std::strtod(attribute(node, name).c_str(), nullptr);
}

// Returns the text directly in a node, without the text of its children.
std::string own_text(const xmlNode* node) {
  std::string text;
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (child->type == XML_TEXT_NODE) text += reinterpret_cast<const char*>(child->content);
  }
  return text;
}

std::string title_of(xmlNode* node) {
  for (xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (child->type == XML_ELEMENT_NODE && name_of(child) == "title") return own_text(child);
  }
  return "";
}

class Reader {
 public:
  explicit Reader(SvgDocument& document) : document_(document) {}

  void read(xmlNode* node, double down) {
    for (; node != nullptr; node = node->next) {
      if (node->type != XML_ELEMENT_NODE) continue;
      const std::string name = name_of(node);
      document_.elements.insert(name);
      if (name == "script") ++document_.scripts;
      check_attributes(node);
      if (name == "svg") document_.heights.push_back(number(node, "height"));
      if (name == "text") add_text(node, down);
      if (name == "rect" || name == "line" || name == "polyline" || name == "polygon") {
        document_.shapes.push_back({name, attribute(node, "class"), title_of(node),
                                    Box{number(node, name == "line" ? "x1" : "x"),
                                        number(node, name == "line" ? "y1" : "y") + down,
                                        number(node, "width"), number(node, "height")}});
      }
      const std::string transform = attribute(node, "transform");
      const std::size_t comma = transform.find(',');
      const double by =
          comma == std::string::npos ? 0 : std::strtod(transform.c_str() + comma + 1, nullptr);
      read(node->children, down + by);
    }
  }

 private:
  void check_attributes(xmlNode* node) {
    for (const xmlAttr* a = node->properties; a != nullptr; a = a->next) {
      const std::string name = reinterpret_cast<const char*>(a->name);
      if (name == "href" || name == "src" || name == "id" || name.starts_with("on")) {
        document_.faults.push_back("attribute " + name);
      }
    }
  }

  void add_text(xmlNode* node, double down) {
    const std::string classes = attribute(node, "class");
    const bool heading = classes == kHeading;
    const double size = heading ? kHeadingSize : kTextSize;
    const std::string text = own_text(node);
    // Bold text is wider.
    const double width = text_width(text, heading ? size * 1.15 : size);
    const std::string anchor = attribute(node, "text-anchor");
    const double shift = anchor == "middle" ? width / 2 : anchor == "end" ? width : 0;
    document_.texts.push_back(
        {static_cast<int>(document_.heights.size()),
         // The height of a line of DejaVu Sans, accents and descenders included.
         {number(node, "x") - shift, number(node, "y") + down - 0.93 * size, width, 1.17 * size},
         text});
  }

  SvgDocument& document_;
};

bool touch(const Box& a, const Box& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

}  // namespace

SvgDocument::SvgDocument(const std::string& bytes) {
  const std::unique_ptr<xmlParserCtxt, void (*)(xmlParserCtxt*)> context(xmlNewParserCtxt(),
                                                                         xmlFreeParserCtxt);
  const std::unique_ptr<xmlDoc, void (*)(xmlDoc*)> parsed(
      xmlCtxtReadMemory(context.get(), bytes.data(), static_cast<int>(bytes.size()), "picture",
                        nullptr, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING),
      xmlFreeDoc);
  if (!parsed || context->wellFormed != 1) {
    const xmlError* last = xmlCtxtGetLastError(context.get());
    error = last == nullptr ? "not well-formed" : last->message;
    return;
  }
  Reader(*this).read(xmlDocGetRootElement(parsed.get()), 0);
}

bool SvgDocument::has_tooltip(const std::string& part) const {
  return std::ranges::any_of(
      shapes, [&](const Shape& shape) { return shape.title.find(part) != std::string::npos; });
}

std::vector<SvgDocument::Shape> SvgDocument::rects(const std::string& classes) const {
  std::vector<Shape> found;
  for (const Shape& shape : shapes) {
    if (shape.element == "rect" && shape.classes == classes) found.push_back(shape);
  }
  return found;
}

std::string SvgDocument::complaints() const {
  if (!error.empty()) return error;
  std::string lines;
  for (const std::string& fault : faults) lines += fault + '\n';
  for (const char* forbidden : {"image", "use", "foreignObject", "link", "iframe"}) {
    if (elements.contains(forbidden)) lines += std::string("element ") + forbidden + '\n';
  }
  // A page has the one script of all pages, a picture has none.
  if (scripts > (elements.contains("html") ? 1 : 0)) lines += "element script\n";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Text& text = texts[i];
    const double height = heights[static_cast<std::size_t>(text.picture) - 1];
    if (text.box.x < 0 || text.box.right() > kPictureWidth || text.box.y < 0 ||
        text.box.bottom() > height) {
      lines += "outside: " + text.text + '\n';
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (texts[j].picture == text.picture && touch(texts[j].box, text.box)) {
        lines += "touch: " + texts[j].text + " | " + text.text + '\n';
      }
    }
  }
  return lines;
}

}  // namespace stowage
