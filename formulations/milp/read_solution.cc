#include "formulations/milp/read_solution.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

#include "instances/json/errors.h"

namespace stowage::milp {
namespace {

constexpr std::size_t kShown = 60;  // characters of a line in an error

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::optional<double> number_of(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

// Reads one file line by line.
class SolutionReader {
 public:
  SolutionReader(std::string_view text, const std::string& name) : text_(text) {
    file_.name = name;
  }

  Result<SolutionFile> run() {
    do {
      if (!next()) return wrong_format();
    } while (words_of(line_).empty());
    const std::string_view first = line_;
    if (first.starts_with("# Solution") || first.starts_with("# Objective")) {
      gurobi();
    } else if (first.starts_with("solution status:") || first.starts_with("objective value:")) {
      scip();
    } else if (first.starts_with("Model status")) {
      highs();
    } else if (words_of(first).size() == 1 && words_of(first)[0] == "Columns") {
      highs_pretty();
    } else if (first.starts_with("Problem:")) {
      glpk();
    } else if (first.starts_with("c ") || first.starts_with("s ")) {
      glpk_raw();
    } else if (first.find(" - objective value ") != std::string_view::npos) {
      cbc();
    } else {
      return wrong_format();
    }
    if (!errors_.empty()) return std::move(errors_).take();
    if (file_.values.empty()) {
      return InputError{kNoSolution, file_.name,
                        "must have the values of a solution, is a file of " + file_.solver +
                            " without any" +
                            (file_.status.empty() ? "" : ", status " + quoted(file_.status))};
    }
    return std::move(file_);
  }

 private:
  InputError wrong_format() const {
    return {kSolutionFormat, place(),
            "must begin a solution file of CBC, GLPK, HiGHS, SCIP or Gurobi, is " + quoted(line_)};
  }

  static std::string quoted(std::string_view text) {
    return '"' + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "") + '"';
  }
  std::string place() const { return file_.name + ':' + std::to_string(number_); }

  bool next() {
    if (text_.empty()) return false;
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    line_ = text_.substr(0, end);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++number_;
    return true;
  }

  // Adds a value. Word `column` of the line is a column's name, and word `value` is its value.
  void add(const std::vector<std::string_view>& words, std::size_t column, std::size_t value) {
    const std::optional<double> number =
        value < words.size() ? number_of(words[value]) : std::nullopt;
    if (!number) {
      errors_.add(kSolutionLine, place(),
                  "must be a column and its finite value, is " + quoted(line_));
      return;
    }
    file_.values.push_back({std::string(words[column]), *number, number_});
  }

  std::optional<double> last_number() const {
    const std::vector<std::string_view> words = words_of(line_);
    return words.empty() ? std::nullopt : number_of(words.back());
  }

  // Format: "Optimal - objective value 39.00000000", then per value a line with index, name, value
  // and reduced cost. Infeasible lines begin with "**".
  void cbc() {
    file_.solver = "CBC";
    file_.status = line_.substr(0, line_.find(" - "));
    file_.objective = last_number();
    while (next()) {
      const std::vector<std::string_view> words = words_of(line_);
      if (words.empty()) continue;
      const std::size_t stars = words[0] == "**" ? 1 : 0;
      add(words, std::min(stars + 1, words.size() - 1), stars + 2);
    }
  }

  // Format: "# Objective value = 39", then names and values.
  void gurobi() {
    file_.solver = "Gurobi";
    do {
      const std::vector<std::string_view> words = words_of(line_);
      if (words.empty()) continue;
      if (words[0].starts_with('#')) {
        if (line_.find("Objective value") != std::string_view::npos) {
          file_.objective = last_number();
        }
        continue;
      }
      add(words, 0, 1);
    } while (next());
  }

  // Format: "solution status: optimal solution found", "objective value: 39", then names, values
  // and "(obj:1)".
  void scip() {
    file_.solver = "SCIP";
    do {
      if (line_.starts_with("solution status:")) {
        file_.status = text_after(':');
      } else if (line_.starts_with("objective value:")) {
        file_.objective = last_number();
      } else if (const auto words = words_of(line_); !words.empty() &&
                                                     !line_.starts_with("no solution") &&
                                                     !words[0].starts_with('#')) {
        add(words, 0, 1);
      }
    } while (next());
  }

  // Format: the status under "Model status", then names and values under "# Columns N". The sparse
  // style has "# Columns -N sparse", and N lines with the column's index as a third word.
  void highs() {
    file_.solver = "HiGHS";
    if (next()) file_.status = line_;
    bool dual = false;
    while (next()) {
      if (line_.starts_with("# Dual")) dual = true;
      if (dual) continue;
      if (line_.starts_with("Objective ")) file_.objective = last_number();
      if (!line_.starts_with("# Columns")) continue;
      const std::vector<std::string_view> words = words_of(line_);
      const double columns = words.size() > 2 ? number_of(words[2]).value_or(0) : 0;
      for (int k = 0; k < std::fabs(columns) && next(); ++k) add(words_of(line_), 0, 1);
    }
  }

  // Format: a table under "Columns" with fields of fixed width, some of which are empty. A value
  // ends below the end of "Primal", and the name is the last word. "Model status: Optimal" follows
  // the tables, and values have 6 digits.
  void highs_pretty() {
    file_.solver = "HiGHS";
    file_.remedy = "; the pretty style has 6 digits, and write_solution_style = 0 writes all";
    std::size_t end = std::string_view::npos;
    bool columns = true;
    while (next()) {
      const std::vector<std::string_view> words = words_of(line_);
      if (words.empty()) continue;
      if (words[0] == "Index") {
        end = line_.find("Primal");
        end = end == std::string_view::npos ? end : end + std::string_view("Primal").size();
      } else if (line_.starts_with("Model status")) {
        file_.status = text_after(':');
      } else if (line_.starts_with("Objective value")) {
        file_.objective = last_number();
      } else if (words.size() == 1) {
        columns = words[0] == "Columns";
      } else if (columns) {
        const std::string_view before = line_.substr(0, std::min(end, line_.size()));
        const std::vector<std::string_view> up_to = words_of(before);
        add({words.back(), up_to.empty() ? "" : up_to.back()}, 0, 1);
      }
    }
  }

  // Format: "s mip ROWS COLUMNS STATUS OBJECTIVE", or "s bas" and "s ipt", and per value "j COLUMN
  // VALUE" with the number of the column in the model's file, from 1 on. The status has a word more
  // in "s bas", and a basic solution has a status before the value.
  void glpk_raw() {
    file_.solver = "GLPK";
    bool basic = false;
    do {
      const std::vector<std::string_view> words = words_of(line_);
      if (words.empty() || words[0] == "c" || words[0] == "i" || words[0] == "e") continue;
      if (words[0] == "s" && words.size() > 4) {
        basic = words[1] == "bas";
        const std::string_view status = words[4];
        file_.status = status == "o" ? "OPTIMAL" : status == "f" ? "FEASIBLE" : status;
        file_.objective = last_number();
        file_.by_number = true;
        continue;
      }
      if (words[0] == "j") {
        add(words, std::min<std::size_t>(1, words.size() - 1), basic ? 3 : 2);
      } else {
        add(words, 0, words.size());
      }
    } while (next());
  }

  // Format: "Status:     INTEGER OPTIMAL", "Objective:  obj = 39 (MINimum)", and a table of
  // columns: index, name, "*" or a status, value. The fields after a long name are on a line of
  // their own.
  void glpk() {
    file_.solver = "GLPK";
    bool columns = false;
    while (next()) {
      const std::vector<std::string_view> words = words_of(line_);
      if (!columns) {
        if (line_.starts_with("Status:")) file_.status = text_after(':');
        if (line_.starts_with("Objective:") && words.size() > 3) {
          file_.objective = number_of(words[3]);
        }
        columns = line_.find("No. Column name") != std::string_view::npos;
        continue;
      }
      if (words.empty()) return;
      if (words[0].starts_with("---")) continue;
      if (words.size() != 2) {
        add(words, std::min<std::size_t>(1, words.size() - 1), glpk_value(words, 2));
        continue;
      }
      const std::string name(words[1]);
      if (!next()) return add(words, 1, 2);
      std::vector<std::string_view> rest = words_of(line_);
      rest.insert(rest.begin(), name);
      add(rest, 0, glpk_value(rest, 1));
    }
  }

  // Returns the index of the value, which is the first word from `from` on that is a number.
  static std::size_t glpk_value(const std::vector<std::string_view>& words, std::size_t from) {
    return from < words.size() && !number_of(words[from]) ? from + 1 : from;
  }

  std::string text_after(char mark) const {
    const std::vector<std::string_view> words = words_of(line_.substr(line_.find(mark) + 1));
    std::string text;
    for (const std::string_view word : words) text += (text.empty() ? "" : " ") + std::string(word);
    return text;
  }

  std::string_view text_;  // unread text
  std::string_view line_;
  int number_ = 0;  // number of the current line
  SolutionFile file_;
  ErrorList errors_;
};

}  // namespace

Result<SolutionFile> read_solution(std::string_view text, const std::string& name) {
  return SolutionReader(text, name).run();
}

}  // namespace stowage::milp
