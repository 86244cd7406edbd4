// The family of orders: operators of a graph, to be run one after another.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "instances/order/json/json.h"
#include "instances/order/verify/verify.h"
#include "instances/unit.h"

namespace stowage {

class JsonWriter;

// Write the plan or certificate inside other documents (instances/json/writer.h).
void write_json(JsonWriter& json, const OrderPlan& plan);
void write_json(JsonWriter& json, const OrderCertificate& certificate);

struct Order {
  using Instance = OrderInstance;
  using Plan = OrderPlan;
  using Certificate = OrderCertificate;

  static constexpr std::string_view name = "order";
  static constexpr Unit unit = kBytes;  // of the objective `peak`
  static constexpr Unit unit_of(const Instance& instance) {
    return instance.objective == OrderObjective::time ? kMs : kBytes;
  }

  // A graph names no other file.
  static Result<Instance> read_instance(std::string_view text, const std::string&) {
    return read_order_instance(text);
  }
  static constexpr auto read_plan = read_order_plan;
  static constexpr auto read_certificate = read_order_certificate;
  static constexpr auto write_instance = write_order_instance;
  static constexpr auto write_plan = write_order_plan;
  static constexpr auto hidden_errors = hidden_order_errors;

  static int devices(const Instance&) { return 0; }  // a graph describes one rank
  static std::size_t size(const Instance& instance) { return instance.operators.size(); }
};

}  // namespace stowage
