#include "formulations/milp/write_mps.h"

#include <string>
#include <utility>

#include "formulations/milp/column_names.h"
#include "formulations/milp/export_text.h"
#include "instances/json/text.h"

namespace stowage::milp {
namespace {

// A row of the file: type L, G or E, and the width of its range, or 0.
struct MpsRow {
  std::string name;
  char type;
  double side;
  double range;
};

class MpsWriter {
 public:
  MpsWriter(const Model& model, std::ostream& out)
      : model_(model), out_(out), columns_(column_names(model)) {}

  void write(const std::vector<std::string>& comments) {
    make_rows();
    for (const std::string& comment : comments) out_ << "* " << printable(comment) << '\n';
    out_ << "NAME stowage FREE\nROWS\n N obj\n";
    for (const MpsRow& row : rows_) out_ << ' ' << row.type << ' ' << row.name << '\n';
    columns();
    out_ << "RHS\n";
    for (const MpsRow& row : rows_) {
      if (row.side != 0) out_ << " RHS " << row.name << ' ' << number_text(row.side) << '\n';
    }
    out_ << "RANGES\n";
    for (const MpsRow& row : rows_) {
      if (row.range != 0) out_ << " RNG " << row.name << ' ' << number_text(row.range) << '\n';
    }
    bounds();
    out_ << "ENDATA\n";
  }

 private:
  void make_rows() {
    entries_.resize(names_.size());
    ExportNames row_names;
    row_names.make("obj");
    for (std::size_t i = 0; i < model_.rows().size(); ++i) {
      const Row& row = model_.rows()[i];
      const std::string name =
          row_names.make(row.name.empty() ? std::string(1, 'r') + std::to_string(i) : row.name);
      const std::vector<Term> terms = summed_terms(row.terms);
      const double range = row.upper - row.lower;
      if (row.lower == row.upper) {
        add(terms, {name, 'E', row.lower, 0});
      } else if (row.lower == -kInfinity) {
        if (row.upper < kInfinity) add(terms, {name, 'L', row.upper, 0});
      } else if (row.upper == kInfinity) {
        add(terms, {name, 'G', row.lower, 0});
      } else if (range > 0 && row.lower + range == row.upper) {
        add(terms, {name, 'G', row.lower, range});
      } else if (range > 0 && row.upper - range == row.lower) {
        add(terms, {name, 'L', row.upper, range});
      } else {
        add(terms, {row_names.make(name + "_lo"), 'G', row.lower, 0});
        add(terms, {row_names.make(name + "_hi"), 'L', row.upper, 0});
      }
    }
  }

  void add(const std::vector<Term>& terms, MpsRow row) {
    for (const Term& t : terms) {
      entries_[static_cast<std::size_t>(t.variable)].push_back({rows_.size(), t.coefficient});
    }
    rows_.push_back(std::move(row));
  }

  void columns() {
    out_ << "COLUMNS\n";
    bool integer = false;
    int markers = 0;
    const auto mark = [&](bool wanted) {
      if (wanted == integer) return;
      integer = wanted;
      out_ << " M" << ++markers << " 'MARKER' " << (wanted ? "'INTORG'" : "'INTEND'") << '\n';
    };
    for (std::size_t j = 0; j < names_.size(); ++j) {
      const Variable& v = model_.variables()[j];
      mark(v.integer);
      // The entry is written even if it is zero, so that the column exists.
      if (v.objective != 0 || entries_[j].empty()) {
        out_ << ' ' << names_[j] << " obj " << number_text(v.objective + 0.0) << '\n';
      }
      for (const auto& [row, coefficient] : entries_[j]) {
        out_ << ' ' << names_[j] << ' ' << rows_[row].name << ' ' << number_text(coefficient)
             << '\n';
      }
    }
    mark(false);
    if (model_.offset() != 0) {
      out_ << ' ' << offset_ << " obj " << number_text(model_.offset()) << '\n';
    }
  }

  // Writes every bound that differs from the format's default, and all bounds of integers. Readers
  // disagree on whether an integer without bounds ends at 1.
  void bounds() {
    out_ << "BOUNDS\n";
    if (model_.offset() != 0) out_ << " FX BND " << offset_ << " 1\n";
    for (std::size_t j = 0; j < names_.size(); ++j) {
      const Variable& v = model_.variables()[j];
      const auto line = [&](const char* type) { out_ << ' ' << type << " BND " << names_[j]; };
      const auto valued = [&](const char* type, double value) {
        line(type);
        out_ << ' ' << number_text(value + 0.0) << '\n';
      };
      if (v.lower == v.upper) {
        valued("FX", v.lower);
        continue;
      }
      if (v.lower == -kInfinity) {
        line(v.upper == kInfinity ? "FR" : "MI");
        out_ << '\n';
      } else if (v.lower != 0 || v.integer || v.upper < kInfinity) {
        valued("LO", v.lower);
      }
      if (v.upper < kInfinity) {
        valued("UP", v.upper);
      } else if (v.integer && v.lower > -kInfinity) {
        line("PL");
        out_ << '\n';
      }
    }
  }

  const Model& model_;
  std::ostream& out_;
  const ColumnNames columns_;
  const std::vector<std::string>& names_ = columns_.variables;
  const std::string& offset_ = columns_.offset;
  std::vector<MpsRow> rows_;
  std::vector<std::vector<std::pair<std::size_t, double>>>
      entries_;  // by column: row and coefficient
};

}  // namespace

void write_mps(const Model& model, std::ostream& out, const std::vector<std::string>& comments) {
  MpsWriter(model, out).write(comments);
}

std::vector<std::string> columns_of_mps(const Model& model) {
  ColumnNames names = column_names(model);
  if (model.offset() != 0) names.variables.push_back(names.offset);
  return names.variables;
}

}  // namespace stowage::milp
