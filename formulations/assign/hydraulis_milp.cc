#include "formulations/assign/hydraulis_milp.h"

#include <string>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using milp::Row;

}  // namespace

HydraulisRows build_hydraulis_rows(const AssignTable& table, int scheme,
                                   std::span<const int> positions, int rows) {
  HydraulisRows out;
  const Tokens cap = table.schemes()[at(scheme)].max_tokens;
  const int longest = out.model.add_variable({.name = "M", .objective = 1});
  std::vector<Row> covered;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    covered.push_back({.name = "H1_" + std::to_string(i), .lower = 1, .upper = 1});
  }
  for (int j = 0; j < rows; ++j) {
    const std::string suffix = "_" + std::to_string(j);
    Row tokens{.name = "H2" + suffix, .upper = static_cast<double>(cap)};
    Row time{.name = "H3" + suffix, .upper = 0, .terms = {{longest, -1}}};
    Row filled{.name = "filled" + suffix, .lower = 1};
    out.in_row.emplace_back();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const int o = out.model.add_variable(
          {.name = "o" + suffix + "_" + std::to_string(i), .upper = 1, .integer = true});
      out.in_row.back().push_back(o);
      covered[i].terms.push_back({o, 1});
      tokens.terms.push_back({o, static_cast<double>(table.length(positions[i]))});
      time.terms.push_back({o, table.work(positions[i], scheme)});
      filled.terms.push_back({o, 1});
    }
    out.model.add_row(std::move(tokens));
    out.model.add_row(std::move(time));
    out.model.add_row(std::move(filled));
  }
  for (Row& row : covered) out.model.add_row(std::move(row));
  return out;
}

}  // namespace stowage
