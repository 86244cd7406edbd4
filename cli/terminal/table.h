// Text tables with aligned columns, for terminals and for Markdown.
//
//   Table table({{"method", Align::left}, {"ms", Align::right}});
//   table.add({"lpt", "17 960"});
//   std::string text = table.text();
#pragma once

#include <string>
#include <vector>

namespace stowage {

enum class Align { left, right };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);

  // Requires one cell per column. Cells are made printable (instances/json/text.h).
  void add(std::vector<std::string> cells);

  // Lines of padded cells, two spaces between columns, no trailing blanks; each line ends in '\n'.
  std::string text() const;

  // A GitHub-flavoured Markdown table; '|' in cells is escaped.
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// `text` padded with blanks to `width` bytes on the side away from `align`.
std::string padded(const std::string& text, std::size_t width, Align align);

}  // namespace stowage
