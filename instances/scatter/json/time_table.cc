#include "instances/scatter/json/time_table.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

constexpr NumberRange kSquares = {.least = 0, .most = 0x1p106};

void table_error(ErrorList& errors, const JsonPath& path, const std::string& message) {
  errors.add(code::kTable, path.pointer(), message);
}

// Reads numbers of at least 0. Returns an empty list after an error.
std::vector<double> read_numbers(const JsonValue& value, const JsonPath& path, NumberRange range,
                                 ErrorList& errors) {
  std::vector<double> numbers;
  const JsonValue::Array* const listed = value.array();
  if (listed == nullptr) {
    add_wrong_type(value, path, "an array of numbers", errors);
    return numbers;
  }
  const std::int64_t before = errors.found();
  for (std::size_t i = 0; i < listed->size(); ++i) {
    const JsonPath where = path.index(static_cast<std::int64_t>(i));
    numbers.push_back(read_number((*listed)[i], where, range, errors).value_or(0));
  }
  if (errors.found() != before) numbers.clear();
  return numbers;
}

// Reads an axis: at least two entries, from 0 on, each above the one before by the least divisor or
// more, since times between entries are divided by the difference.
std::vector<double> read_axis(const ObjectReader& reader, std::string_view key, NumberRange range) {
  const JsonValue* const value = reader.require(key);
  if (value == nullptr) return {};
  ErrorList& errors = reader.errors();
  const JsonPath path = reader.at(key);
  const std::int64_t before = errors.found();
  std::vector<double> axis = read_numbers(*value, path, range, errors);
  if (errors.found() != before) return {};
  const auto entries = std::ssize(axis);
  if (entries < 2 || entries > kMaxTableEntries) {
    table_error(errors, path,
                "must have 2 to " + std::to_string(kMaxTableEntries) + " entries, has " +
                    std::to_string(entries));
    return {};
  }
  if (axis.front() != 0) {
    table_error(errors, path.index(0),
                "must be 0, where a group has no sequence yet, is " + shortest(axis.front()));
  }
  for (std::size_t i = 1; i < axis.size(); ++i) {
    if (axis[i] - axis[i - 1] >= kLeastDivisor) continue;
    table_error(errors, path.index(static_cast<std::int64_t>(i)),
                "must be above the entry before it, " + shortest(axis[i - 1]) + ", by " +
                    shortest(kLeastDivisor) + " or more, is " + shortest(axis[i]));
  }
  if (errors.found() != before) axis.clear();
  return axis;
}

// Reads a row for each number of tokens.
void read_times(const ObjectReader& reader, TimeGrid& grid) {
  const JsonValue* const value = reader.require("ms");
  if (value == nullptr) return;
  ErrorList& errors = reader.errors();
  const JsonPath path = reader.at("ms");
  const JsonValue::Array* const rows = value->array();
  if (rows == nullptr) {
    add_wrong_type(*value, path, "an array of arrays of numbers", errors);
    return;
  }
  if (grid.tokens.empty() || grid.squares.empty()) return;
  if (rows->size() != grid.tokens.size()) {
    table_error(errors, path,
                "must have a row for each of the " + std::to_string(grid.tokens.size()) +
                    " entries of tokens, has " + std::to_string(rows->size()));
    return;
  }
  const std::int64_t before = errors.found();
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const JsonPath where = path.index(static_cast<std::int64_t>(i));
    const std::int64_t good = errors.found();
    const std::vector<double> times = read_numbers((*rows)[i], where, kQuantity, errors);
    if (errors.found() != good) continue;
    if (times.size() != grid.squares.size()) {
      table_error(errors, where,
                  "must have a time for each of the " + std::to_string(grid.squares.size()) +
                      " entries of squares, has " + std::to_string(times.size()));
    }
    grid.ms.insert(grid.ms.end(), times.begin(), times.end());
  }
  if (errors.found() != before) return;
  for (std::size_t i = 0; i < grid.tokens.size(); ++i) {
    for (std::size_t j = 0; j < grid.squares.size(); ++j) {
      const auto check = [&](double other, const char* of) {
        if (grid.entry(i, j) >= other) return;
        table_error(errors,
                    path.index(static_cast<std::int64_t>(i)).index(static_cast<std::int64_t>(j)),
                    "must be at least the time of fewer " + std::string(of) + ", " +
                        shortest(other) + ", is " + shortest(grid.entry(i, j)) +
                        ": more work takes no less time, so measure again or smooth the times");
      };
      if (i > 0) check(grid.entry(i - 1, j), "tokens");
      if (j > 0) check(grid.entry(i, j - 1), "squares");
    }
  }
}

// Checks that the grid reaches as far as groups of the degree can.
void check_cover(const ScatterInstance& instance, int degree, const TimeGrid& grid,
                 const JsonPath& path, ErrorList& errors) {
  const Tokens most = group_capacity(instance, degree);
  const auto longest = static_cast<double>(std::min(longest_in_group(instance, degree), most));
  const auto tokens = static_cast<double>(most);
  const std::string remedy =
      ": measure larger groups, or limit them with rules.max_tokens_per_rank";
  const std::string groups = "groups of degree " + std::to_string(degree);
  if (grid.tokens.back() < tokens) {
    table_error(errors, path.key("tokens"),
                "must reach the " + std::to_string(most) + " tokens that " + groups +
                    " may hold, ends at " + shortest(grid.tokens.back()) + remedy);
  }
  if (grid.squares.back() < tokens * longest) {
    table_error(errors, path.key("squares"),
                "must reach " + shortest(tokens * longest) + ", the most squares that " + groups +
                    " may have, ends at " + shortest(grid.squares.back()) + remedy);
  }
}

}  // namespace

TimeGrid read_time_grid(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  const ObjectReader reader(value, path, errors, {"tokens", "squares", "ms"});
  TimeGrid grid;
  if (value.object() == nullptr) return grid;
  grid.tokens = read_axis(reader, "tokens", kQuantity);
  grid.squares = read_axis(reader, "squares", kSquares);
  read_times(reader, grid);
  return grid;
}

void check_table(const ScatterInstance& instance, const JsonPath& cost, ErrorList& errors) {
  if (instance.cost.table.empty()) return;
  const JsonPath path = cost.key("table");
  if (!instance.model.recomputation.empty()) {
    table_error(errors, path,
                "must stand without model.recomputation, whose factors it does not know, is "
                "beside it: make a table for each way, and an instance");
  }
  if (!instance.cluster.kinds.empty()) {
    table_error(errors, path,
                "must stand without cluster.kinds, whose speeds it does not know, is beside them");
  }
  if (!instance.rules.packed) {
    table_error(errors, path,
                "must stand without \"packed\": false, as it has the times of packed rows, is "
                "beside it");
    return;  // groups have other limits in this case
  }
  for (const int degree : allowed_degrees(instance)) {
    const auto found = instance.cost.table.find(degree);
    if (found == instance.cost.table.end()) {
      table_error(errors, path,
                  "must have a grid for every allowed degree, lacks " + std::to_string(degree));
    } else if (!found->second.ms.empty()) {
      check_cover(instance, degree, found->second, path.key(std::to_string(degree)), errors);
    }
  }
}

void write_json(JsonWriter& json, const TimeGrid& grid) {
  json.begin_object();
  const auto write_numbers = [&](std::span<const double> numbers) {
    json.begin_array(JsonWriter::Layout::line);
    for (const double number : numbers) json.number(number);
    json.end_array();
  };
  json.key("tokens");
  write_numbers(grid.tokens);
  json.key("squares");
  write_numbers(grid.squares);
  json.key("ms");
  json.begin_array();
  // All times, also of a grid with too few or too many, whose rows the reader refuses.
  const std::span<const Ms> times = grid.ms;
  const std::size_t row = std::max<std::size_t>(grid.squares.size(), 1);
  for (std::size_t first = 0; first < times.size(); first += row) {
    write_numbers(times.subspan(first, std::min(row, times.size() - first)));
  }
  json.end_array();
  json.end_object();
}

}  // namespace stowage
