// False changes of the rows of a plan, and of its transfers.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "instances/order/planning_table.h"
#include "instances/order/verify/exhaustive_check.h"
#include "tests/cli/families/lies/told.h"
#include "tests/instances/draw.h"
#include "tests/tiny_strategy.h"

namespace stowage::families_lies_test {

inline std::vector<Lie> row_lies() {
  return {
      // The plan's rows, if it has rows.
      of_row("rows_gone", [](Told& t, json&, std::size_t) { return t.plan().erase("rows") > 0; }),
      of_row("row_gone",
             [](Told&, json& rows, std::size_t k) {
               rows.erase(k);
               return true;
             }),
      of_row("row_twice",
             [](Told&, json& rows, std::size_t k) {
               rows.insert(rows.begin() + std::ptrdiff_t(k), json(rows[k]));
               return true;
             }),
      of_row("rows_the_other_way_around",
             [](Told&, json& rows, std::size_t) {
               std::reverse(rows.begin(), rows.end());
               return rows.size() > 1;
             }),
      of_row("row_that_leaves_a_length_out",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["from"] = whole(rows[k]["from"]) + 1;
               return true;
             }),
      of_row("row_that_ends_too_early",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["to"] = whole(rows[k]["to"]) - 1;
               return true;
             }),
      of_row("row_with_a_length_of_the_next",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["to"] = whole(rows[k]["to"]) + 1;
               return true;
             }),
      of_row("row_with_a_length_of_the_one_before",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["from"] = whole(rows[k]["from"]) - 1;
               return true;
             }),
      of_row("rows_made_one",
             [](Told&, json& rows, std::size_t) {
               if (rows.size() < 2) return false;
               rows[0]["to"] = rows[1]["to"];
               const bool other = rows[0]["peak_bytes_at_to"] != rows[1]["peak_bytes_at_to"];
               rows.erase(1);
               return other;
             }),
      of_row("row_of_a_fraction",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["from"] = whole(rows[k]["from"]) + 0.5;
               return true;
             }),
      of_row("row_with_an_unknown_key",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["proof"] = true;
               return true;
             }),
      of_row_end("row_peak_less", [](json&, json& peak, json&) { return scale(peak, 0.99); }),
      of_row_end("row_peak_more", [](json&, json& peak, json&) { return scale(peak, 1.01); }),
      of_row_end(
          "row_peak_and_bound_less",
          [](json&, json& peak, json& bound) { return scale(peak, 0.99) && scale(bound, 0.99); }),
      of_row_end("row_bound_above_the_peak",
                 [](json&, json& peak, json& bound) {
                   bound = whole(peak) + 1;
                   return true;
                 }),
      of_row_end("row_bound_of_the_peak",
                 [](json&, json& peak, json& bound) {
                   if (whole(peak) <= whole(bound)) return false;
                   bound = peak;
                   return true;
                 }),
      of_row_end("row_bound_a_byte_higher",
                 [](json&, json& peak, json& bound) {
                   return whole(peak) > whole(bound) && scale(bound, 2);
                 }),
      of_row_end("row_bound_negative",
                 [](json&, json&, json& bound) {
                   bound = -1;
                   return true;
                 }),
      of_row_end("row_without_a_bound_operator",
                 [](json& row, json&, json&) { return row.erase("bound_operator") > 0; }),
      of_row("row_peaks_exchanged",
             [](Told&, json& rows, std::size_t k) {
               return exchange(rows[k]["peak_bytes_at_from"], rows[k]["peak_bytes_at_to"]);
             }),
      of_row("row_bounds_exchanged",
             [](Told&, json& rows, std::size_t k) {
               return exchange(rows[k]["bound_bytes_at_from"], rows[k]["bound_bytes_at_to"]);
             }),
      of_row("row_bound_of_the_inputs",
             [](Told& t, json& rows, std::size_t k) {
               json& row = rows[k];
               row["bound_operator"] = OrderRow::kInputs;
               return inputs_at(t.instance, row["to"]) < whole(row["bound_bytes_at_to"]);
             }),
      of_row("row_bound_of_nobody",
             [](Told& t, json& rows, std::size_t k) {
               const auto& graph = std::get<OrderInstance>(t.instance);
               rows[k]["bound_operator"] = graph.operators.size();
               return true;
             }),
      of_row("row_orders_exchanged",
             [](Told&, json& rows, std::size_t) {
               if (rows.size() < 2) return false;
               return exchange(rows.front()["order"], rows.back()["order"]);
             }),
      of_row("row_order_backwards",
             [](Told&, json& rows, std::size_t) {
               json& order = rows.front()["order"];
               std::reverse(order.begin(), order.end());
               return order.size() > 1;
             }),
      of_row("row_without_an_operator",
             [](Told&, json& rows, std::size_t k) {
               rows[k]["order"].erase(0);
               return true;
             }),
      of_row("order_of_no_row",
             [](Told& t, json& rows, std::size_t) {
               if (rows.size() < 2 || rows.front()["order"] == rows.back()["order"]) return false;
               t.plan()["order"] = rows.front()["order"];
               return true;
             }),
      with_plan("rows_of_a_graph_of_one_length",
                [](Told& t, Draw&) {
                  if (!t.plan().contains("order") || t.plan().contains("rows")) return false;
                  const json peak = t.plan()["peak_bytes"];
                  t.plan()["rows"] = json::array({{{"from", 1},
                                                   {"to", 1},
                                                   {"peak_bytes_at_from", peak},
                                                   {"peak_bytes_at_to", peak},
                                                   {"bound_bytes_at_from", 0},
                                                   {"bound_bytes_at_to", 0},
                                                   {"bound_operator", -1},
                                                   {"order", t.plan()["order"]}}});
                  return true;
                }),
      of_transfer("transfers_gone",
                  [](Told& t, json&, json&) { return t.plan().erase("transfers") > 0; }),
      of_transfer("transfer_twice",
                  [](Told&, json& transfers, json& its) {
                    transfers.push_back(json(its));
                    return true;
                  }),
      of_transfer("transfer_of_nothing",
                  [](Told& t, json&, json& its) {
                    its["tensor"] = std::get<OrderInstance>(t.instance).tensors.size();
                    return true;
                  }),
      of_transfer("transfer_without_its_way_out",
                  [](Told&, json&, json& its) { return its.erase("out") > 0; }),
      of_transfer("transfer_back_too_late",
                  [](Told& t, json&, json& its) {
                    its["in"] = t.plan()["order"].size();
                    return true;
                  }),
      of_transfer("transfer_back_before_it_left",
                  [](Told&, json&, json& its) {
                    its["in"] = its["freed"];
                    return true;
                  }),
      with_plan("transfer_where_there_is_no_host",
                [](Told& t, Draw&) {
                  if (!t.plan().contains("order") || t.plan().contains("transfers")) return false;
                  if (std::get<OrderInstance>(t.instance).host) return false;
                  t.plan()["transfers"] =
                      json::array({{{"tensor", 0}, {"out", 0}, {"freed", 1}, {"in", 2}}});
                  return true;
                }),
      with_plan("cut_without_its_certificate",
                [](Told& t, Draw&) {
                  if (t.outcome["bound_by"] != "cut") return false;
                  // For few operators, verify enumerates and finds that the bound is true.
                  const auto& graph = std::get<OrderInstance>(t.instance);
                  if (graph.operators.size() <= kMaxOperatorsTriedAgain) return false;
                  // bounds that are proven without it
                  for (const json& bound : t.outcome["bounds"]) {
                    if (bound["name"] == "operator" && bound["value_bytes"] == t.at("bound")) {
                      return false;
                    }
                  }
                  return t.outcome.erase("certificate") > 0;
                }),
  };
}

}  // namespace stowage::families_lies_test
