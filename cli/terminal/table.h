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

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

  // Returns lines of padded cells, with two spaces between columns and no trailing blanks. Each
  // line ends in '
  // '.
  std::string text() const;

  // Returns a GitHub-flavoured Markdown table; '|' in cells is escaped.
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Returns `text` padded with blanks to `width` bytes, on the side opposite to `align`.
std::string padded(const std::string& text, std::size_t width, Align align);

}  // namespace stowage
