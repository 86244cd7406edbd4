#include "cli/terminal/table.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "instances/json/text.h"

namespace stowage {

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].title.size();
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      line += (c == 0 ? "" : "  ") + padded(cell_of(c), widths[c], columns_[c].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  add_line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) add_line([&](std::size_t c) { return row[c]; });
  return text;
}

std::string Table::markdown() const {
  const auto escaped = [](const std::string& cell) {
    std::string text;
    for (const char c : cell) text += c == '|' ? std::string("\\|") : std::string(1, c);
    return text;
  };
  std::string text = "|";
  for (const Column& column : columns_) text += ' ' + escaped(column.title) + " |";
  text += "\n|";
  for (const Column& column : columns_) text += column.align == Align::left ? "---|" : "---:|";
  text += '\n';
  for (const auto& row : rows_) {
    text += '|';
    for (const std::string& cell : row) text += ' ' + escaped(cell) + " |";
    text += '\n';
  }
  return text;
}

}  // namespace stowage
