#include "formulations/milp/write_lp.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "formulations/milp/column_names.h"
#include "formulations/milp/export_text.h"
#include "instances/json/text.h"

namespace stowage::milp {
namespace {

constexpr int kTermsPerLine = 6;  // some readers accept at most 255 characters per line

// Returns the variables of the objective's terms. Readers only know variables that occur in the
// objective or in a row, so the objective has those that no row has.
std::vector<std::size_t> in_objective(const Model& model) {
  std::vector<bool> in_rows(model.variables().size());
  for (const Row& row : model.rows()) {
    for (const Term& t : row.terms) in_rows[static_cast<std::size_t>(t.variable)] = true;
  }
  std::vector<std::size_t> all;
  for (std::size_t j = 0; j < in_rows.size(); ++j) {
    if (model.variables()[j].objective != 0 || !in_rows[j]) all.push_back(j);
  }
  return all;
}

class LpWriter {
 public:
  LpWriter(const Model& model, std::ostream& out)
      : model_(model), out_(out), names_(column_names(model)) {}

  void write(const std::vector<std::string>& comments) {
    out_ << "\\ stowage: " << model_.variables().size() << " variables, " << model_.rows().size()
         << " rows\n";
    for (const std::string& comment : comments) out_ << "\\ " << printable(comment) << '\n';
    objective();
    rows();
    bounds();
    integers();
    out_ << "End\n";
  }

 private:
  void term(double coefficient, const std::string& name) {
    if (on_line_++ == kTermsPerLine) {
      out_ << "\n   ";
      on_line_ = 1;
    }
    out_ << (std::signbit(coefficient) ? " - " : " + ") << number_text(std::fabs(coefficient))
         << ' ' << name;
  }

  void objective() {
    out_ << "Minimize\n obj:";
    on_line_ = 0;
    for (const std::size_t j : in_objective(model_)) {
      term(model_.variables()[j].objective + 0.0, columns_[j]);
    }
    // The offset term is always written, so that empty objectives and empty rows can be written
    // too.
    term(model_.offset() + 0.0, offset_);
    out_ << '\n';
  }

  void side(const std::string& name, const std::vector<Term>& terms, const char* relation,
            double bound) {
    out_ << ' ' << name << ':';
    on_line_ = 0;
    for (const Term& t : terms) term(t.coefficient, columns_[static_cast<std::size_t>(t.variable)]);
    if (terms.empty()) term(0, offset_);
    out_ << ' ' << relation << ' ' << number_text(bound + 0.0) << '\n';
  }

  void rows() {
    ExportNames names;
    names.make("obj");
    out_ << "Subject To\n";
    for (std::size_t i = 0; i < model_.rows().size(); ++i) {
      const Row& row = model_.rows()[i];
      const std::string name = names.make(row.name.empty() ? "r" + std::to_string(i) : row.name);
      const std::vector<Term> terms = summed_terms(row.terms);
      if (row.lower == row.upper) {
        side(name, terms, "=", row.lower);
        continue;
      }
      const bool both = row.lower > -kInfinity && row.upper < kInfinity;
      if (row.lower > -kInfinity) {
        side(both ? names.make(name + "_lo") : name, terms, ">=", row.lower);
      }
      if (row.upper < kInfinity) {
        side(both ? names.make(name + "_hi") : name, terms, "<=", row.upper);
      }
    }
    // CBC's reader rejects models without rows.
    side(names.make("offset_is_one"), {}, "<=", 1);
  }

  void bounds() {
    out_ << "Bounds\n " << offset_ << " = 1\n";
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const Variable& v = model_.variables()[j];
      const std::string& name = columns_[j];
      if (v.lower == v.upper) {
        out_ << ' ' << name << " = " << number_text(v.lower + 0.0) << '\n';
      } else if (v.lower == -kInfinity && v.upper == kInfinity) {
        out_ << ' ' << name << " free\n";
      } else if (v.upper == kInfinity) {
        if (v.lower != 0) out_ << ' ' << name << " >= " << number_text(v.lower) << '\n';
      } else {
        out_ << ' ' << (v.lower == -kInfinity ? "-inf" : number_text(v.lower + 0.0))
             << " <= " << name << " <= " << number_text(v.upper + 0.0) << '\n';
      }
    }
  }

  void integers() {
    bool any = false;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!model_.variables()[j].integer) continue;
      if (!any) out_ << "Generals\n";
      any = true;
      out_ << ' ' << columns_[j] << '\n';
    }
  }

  const Model& model_;
  std::ostream& out_;
  const ColumnNames names_;
  const std::vector<std::string>& columns_ = names_.variables;
  const std::string& offset_ = names_.offset;
  int on_line_ = 0;
};

}  // namespace

void write_lp(const Model& model, std::ostream& out, const std::vector<std::string>& comments) {
  LpWriter(model, out).write(comments);
}

std::vector<std::string> columns_of_lp(const Model& model) {
  const ColumnNames names = column_names(model);
  std::vector<std::string> order;
  std::vector<bool> seen(names.variables.size());
  const auto add = [&](std::size_t j) {
    if (!seen[j]) order.push_back(names.variables[j]);
    seen[j] = true;
  };
  for (const std::size_t j : in_objective(model)) add(j);
  order.push_back(names.offset);
  for (const Row& row : model.rows()) {
    if (row.lower == -kInfinity && row.upper == kInfinity) continue;
    for (const Term& t : summed_terms(row.terms)) add(static_cast<std::size_t>(t.variable));
  }
  for (std::size_t j = 0; j < seen.size(); ++j) add(j);
  return order;
}

}  // namespace stowage::milp
