// Checks a step in memory without writing its lengths.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "instances/json/errors.h"
#include "instances/lengths/soundness.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/json/padding.h"

namespace stowage {
namespace {

// With a table, the writer leaves out all other members of a cost, and the readers give them their
// defaults.
void check_beside_table(const ScatterCost& cost, ErrorList& errors) {
  const ScatterCost none;
  const auto check = [&errors](bool there, const char* key) {
    if (!there) return;
    errors.add(code::kTable, std::string("/cost/") + key,
               "must not stand beside a table, which has all of the time, is there");
  };
  check(cost.quadratic_ms != none.quadratic_ms, "quadratic_ms");
  check(cost.linear_ms != none.linear_ms, "linear_ms");
  check(cost.fixed_ms != none.fixed_ms, "fixed_ms");
  check(cost.all_to_all != none.all_to_all, "all_to_all");
  check(cost.sequence_fixed_ms != none.sequence_fixed_ms, "sequence_fixed_ms");
  check(cost.split_ms != none.split_ms, "split_ms");
  check(cost.tile_tokens != none.tile_tokens, "tile_tokens");
  check(cost.window != none.window, "window");
  check(cost.exchange.has_value(), "exchange");
}

void check_grid(int degree, const TimeGrid& grid, ErrorList& errors) {
  // Both axes are in memory, so their product is far below 2^64.
  const std::size_t places = grid.tokens.size() * grid.squares.size();
  if (grid.ms.size() == places) return;
  errors.add(code::kTable, "/cost/table/" + std::to_string(degree) + "/ms",
             "must have a time for each of the " +
                 counted(static_cast<std::int64_t>(places), "place") +
                 " of the grid, tokens times squares, has " + std::to_string(grid.ms.size()));
}

// A document may list them in any order, and its reader sorts them.
void check_exchange_kinds(const Exchange& exchange, ErrorList& errors) {
  for (const auto& [degree, kinds] : exchange.kinds) {
    if (std::ranges::adjacent_find(kinds, std::ranges::greater_equal()) == kinds.end()) continue;
    errors.add(code::kExchange, "/cost/exchange/kinds/" + std::to_string(degree),
               "must be ascending, each kind once, is not");
  }
}

void check_names(const ScatterInstance& instance, ErrorList& errors) {
  check_utf8(instance.name, "/name", errors);
  const std::vector<Recomputation>& choices = instance.model.recomputation;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    check_utf8(choices[k].name, "/model/recomputation/" + std::to_string(k) + "/name", errors);
  }
  const std::vector<DeviceKind>& kinds = instance.cluster.kinds;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    check_utf8(kinds[k].name, "/cluster/kinds/" + std::to_string(k) + "/name", errors);
  }
}

}  // namespace

std::vector<InputError> hidden_scatter_errors(const ScatterInstance& instance) {
  ErrorList errors;
  check_names(instance, errors);
  const ScatterCost& cost = instance.cost;
  if (!cost.table.empty()) check_beside_table(cost, errors);
  for (const auto& [degree, grid] : cost.table) check_grid(degree, grid, errors);
  if (cost.table.empty() && cost.exchange && cost.all_to_all != AllToAll{}) {
    errors.add(code::kExchange, "/cost/all_to_all", "must not stand beside exchange, is there");
  }
  if (cost.table.empty() && cost.exchange) check_exchange_kinds(*cost.exchange, errors);
  if (cost.table.empty() && cost.exchange && !cost.exchange->all_to_all_by_devices.empty() &&
      cost.exchange->all_to_all_mib_per_token != 0) {
    errors.add(code::kExchange, "/cost/exchange/all_to_all_mib_per_token",
               "must be 0 beside volumes by devices, is " +
                   shortest(cost.exchange->all_to_all_mib_per_token));
  }
  const Tokens window = cost.window.tokens;
  if (cost.table.empty() && cost.window.share == 0 && (window < 0 || window > kMaxExact)) {
    errors.add(code::kIntegerRange, "/cost/window/tokens",
               "must be an integer from 0 to " + std::to_string(kMaxExact) +
                   " where the share is 0, is " + std::to_string(window));
  }
  return std::move(errors).take();
}

bool is_well_formed(const ScatterInstance& instance) {
  const ScatterInstance without_lengths{.name = instance.name,
                                        .cluster = instance.cluster,
                                        .model = instance.model,
                                        .cost = instance.cost,
                                        .rules = instance.rules,
                                        .pipeline_stages = instance.pipeline_stages,
                                        .pad_multiple = instance.pad_multiple,
                                        .padding = instance.padding,
                                        .mixed = instance.mixed};
  return read_scatter_instance(write_scatter_instance(without_lengths)) &&
         lengths_are_sound(instance.lengths, largest_multiple(instance), instance.loss_tokens,
                           instance.cluster.degrees.size());
}

}  // namespace stowage
