// The conversions of instances with their plans, and of trainer files.
#include <optional>
#include <string>
#include <tuple>

#include "cli/commands/convert/content.h"
#include "cli/commands/convert/convert_command.h"
#include "cli/families/families.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/document/header.h"
#include "instances/families.h"
#include "instances/layout/json/csv.h"
#include "instances/layout/json/json.h"
#include "instances/order/plan.h"
#include "instances/trainer/step.h"
#include "instances/verify.h"
#include "solvers/memory/order_layout.h"

namespace stowage {

ExitCode ConvertCommand::to_table(Console& console) const {
  if (!plan_.empty()) {
    const Loaded<InstanceAndPlan> both = load_both(in_, plan_);
    if (!both.value) return console.refuse(both.errors);
    if (auto error = not_of(both.value->instance, "layout")) {
      return console.refuse(errors_in(in_, {*error}));
    }
    if (const auto refused = refuse_invalid(console, *both.value)) return *refused;
    const auto& layout = std::get<LayoutInstance>(both.value->instance);
    return write_table(console, layout,
                       write_layout_csv(layout, std::get<LayoutPlan>(both.value->plan)));
  }
  const Loaded<Instance> instance = load_instance(in_);
  if (!instance.value) return console.refuse(instance.errors);
  if (auto error = not_of(*instance.value, "layout")) {
    return console.refuse(errors_in(in_, {*error}));
  }
  const auto& layout = std::get<LayoutInstance>(*instance.value);
  return write_table(console, layout, write_layout_csv(layout));
}

// Refuses to convert an invalid plan; returns nullopt for a valid plan.
std::optional<ExitCode> ConvertCommand::refuse_invalid(Console& console,
                                                       const InstanceAndPlan& both) {
  const auto violations = verify(both.instance, both.plan);
  if (violations.empty()) return std::nullopt;
  for (const Violation& violation : violations) console.finding(to_string(violation));
  return console.refuse({kUsage, "--plan", "must be valid for the instance, is not"},
                        ExitCode::refused);
}

ExitCode ConvertCommand::to_trainer(Console& console) const {
  const Loaded<InstanceAndPlan> both = load_both(in_, plan_);
  if (!both.value) return console.refuse(both.errors);
  if (auto error = check_output("OUT", out_, both.files)) return console.refuse(*error);
  if (const auto* graph = std::get_if<OrderInstance>(&both.value->instance)) {
    if (is_binary(out_)) {
      return console.refuse({kUsage, "OUT", "must be a layout instance (JSON) for an order"});
    }
    if (const auto refused = refuse_invalid(console, *both.value)) return *refused;
    return order_to_layout(console, *graph, std::get<OrderPlan>(both.value->plan));
  }
  if (!tokens_.empty()) {
    return console.refuse({kUsage, "--tokens", "has an effect only on orders"});
  }
  if (!has_trainer_steps(both.value->instance)) {
    return console.refuse({kUsage, "OUT", "must be a table (.csv) for a layout"});
  }
  if (const auto refused = refuse_invalid(console, *both.value)) return *refused;
  const Result<TrainerStep> step = trainer_step(both.value->instance, both.value->plan);
  if (!step) return console.refuse(errors_in(plan_, step.errors()));
  return write_step(console, *step);
}

ExitCode ConvertCommand::order_to_layout(Console& console, const OrderInstance& graph,
                                         const OrderPlan& plan) const {
  if (tokens_.empty()) return to_layout(console, order_layout(graph, plan));
  if (!graph.tokens) {
    return console.refuse(
        {kUsage, "--tokens", "has an effect only where sizes grow with a length"});
  }
  const Result<Tokens> length = read_token_flag(console, "--tokens", tokens_);
  if (!length) return console.refuse(length.errors().front());
  const OrderRow* row = row_at(plan, *length);
  if (row == nullptr) {
    return console.refuse({kUsage, "--tokens",
                           "must be from " + std::to_string(graph.tokens->from) + " to " +
                               std::to_string(graph.tokens->to) + ", is " +
                               std::to_string(*length)});
  }
  return to_layout(console, order_layout(graph, *row));
}

ExitCode ConvertCommand::to_layout(Console& console, const LayoutInstance& layout) const {
  const std::string json = write_layout_instance(layout);
  if (const auto again = read_layout_instance(json); !again) {
    return console.refuse(errors_in(out_, again.errors()));
  }
  return write(console, layout, json);
}

ExitCode ConvertCommand::between_trainers(Console& console, const std::string& bytes) const {
  if (const Result<Head> head = read_head(bytes); head && head->format == "stowage/instance") {
    return console.refuse(plan_needed());
  }
  const Result<TrainerStep> step = read_trainer_file(bytes);
  if (!step) return console.refuse(errors_in(in_, step.errors()));
  return write_step(console, *step);
}

}  // namespace stowage
