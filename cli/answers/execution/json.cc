#include "cli/answers/execution/json.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/answers/execution/text.h"
#include "cli/answers/outcome_json.h"
#include "cli/families/families.h"
#include "cli/terminal/unit.h"
#include "instances/families.h"
#include "instances/json/writer.h"

namespace stowage {
namespace {

void write_execution_head(JsonWriter& json, std::string_view problem, const std::string& name,
                          bool passed, ExitCode code) {
  write_head(json, "stowage/execution", problem, name);
  json.boolean("passed", passed);
  json.integer("exit_code", to_int(code));
}

// A check that compared nothing has neither passed nor failed.
template <class Check>
void write_passed(JsonWriter& json, const Check& check) {
  if (check.compared > 0) {
    json.boolean("passed", check.passed());
  } else {
    json.key("passed");
    json.null();
  }
}

void write_check(JsonWriter& json, std::string_view key, const kernels::TensorCheck& check) {
  json.key(key);
  json.begin_object(kOneLine);
  write_passed(json, check);
  write_number(json, "error", check.compared > 0 ? std::optional(check.error) : std::nullopt);
  json.number("tolerance", check.tolerance);
  json.integer("compared", check.compared);
  if (check.sequence >= 0) json.integer("sequence", check.sequence);
  if (!check.weight.empty()) json.text("weight", check.weight);
  json.end_object();
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.text(text);
  json.end_array();
}

void write_problems(JsonWriter& json, const kernels::Problems& problems) {
  write_texts(json, "problems", problems.list());
  json.integer("more_problems", problems.omitted());
}

// The highest number of bytes depends on when copies end, like the times.
void write_offload(JsonWriter& json, const kernels::OffloadMeasurement& seen, bool timeless) {
  json.key("offload");
  json.begin_object(kOneLine);
  json.number("share", seen.planned.share);
  json.integer("blocks", seen.blocks);
  json.integer("saved_bytes", seen.saved_bytes);
  json.integer("moved_bytes", seen.moved_bytes);
  json.boolean("same_bits", seen.same_bits);
  json.number("planned_stall_ms", seen.planned.stall_ms);
  if (!timeless) {
    json.number("work_ms", (seen.forward_s + seen.backward_s) * 1000);
    json.number("forward_share", seen.forward_s / (seen.forward_s + seen.backward_s));
    json.number("predicted_stall_ms", seen.predicted_stall_s * 1000);
    json.number("executed_stall_ms", seen.executed_stall_s * 1000);
    json.number("slower_ms", seen.slower_s * 1000);
    json.integer("high_water_bytes", seen.device_bytes);
    json.integer("high_water_bytes_without", seen.device_bytes_alone);
  }
  json.end_object();
}

// Writes "groups" with "micro_batch" and "group", or "rows" with "replica" and "row".
void write_batches(JsonWriter& json, const kernels::ExecutionReport& report, bool timeless) {
  std::string part = report.part_word;
  std::replace(part.begin(), part.end(), '-', '_');
  json.key(report.batch_word + 's');
  json.begin_array();
  for (const kernels::BatchMeasurement& batch : report.batches) {
    json.begin_object(kOneLine);
    json.integer(part, batch.part);
    json.integer(report.batch_word, batch.index);
    json.integer("degree", batch.degree);
    json.integer("ranks", batch.ranks);
    json.integer("sequences", batch.sequences);
    json.integer("tokens", batch.tokens);
    json.number("predicted_ms", batch.predicted_ms);
    if (!timeless) {
      if (batch.predicted_here_s) json.number("predicted_here_ms", *batch.predicted_here_s * 1000);
      json.number("measured_ms", batch.seconds * 1000);
    }
    if (batch.offload) write_offload(json, *batch.offload, timeless);
    json.end_object();
  }
  json.end_array();
}

void write_bitwise(JsonWriter& json, std::string_view key, const kernels::BitwiseCheck& check) {
  json.key(key);
  json.begin_object(kOneLine);
  write_passed(json, check);
  json.integer("compared", check.compared);
  json.integer("differing", check.differing);
  json.end_object();
}

// Writes the first members of every execution in an arena, and leaves the object open.
template <class Report>
void write_memory_head(JsonWriter& json, std::string_view problem, const std::string& name,
                       Bytes peak, const Report& report, std::string_view executed, ExitCode code) {
  json.begin_object();
  write_execution_head(json, problem, name, report.passed(), code);
  json.boolean("complete", report.complete);
  json.text("executed", executed);
  json.integer("peak_bytes", peak);
  json.integer("high_water_bytes", report.high_water_bytes);
}

void write_exercise(JsonWriter& json, const kernels::MemoryExercise& report) {
  json.integer("scale", report.scale);
  json.integer("fillings", report.fillings);
  json.integer("arena_bytes", report.arena_bytes);
  json.integer("written_bytes", report.written_bytes);
  write_problems(json, report.problems);
}

// Writes the memory of a strategy's stages and the times of their passes.
void write_stages(JsonWriter& json, const kernels::StrategyReport& report, bool timeless) {
  const auto seen = [&](double value) {
    return report.complete ? std::optional(value) : std::nullopt;
  };
  json.key("stages");
  json.begin_array();
  for (const kernels::StageMeasurement& stage : report.stages) {
    json.begin_object(kOneLine);
    json.integer("layers", stage.layers);
    json.text("recompute", kStrategyRecomputes[static_cast<std::size_t>(stage.recompute)]);
    json.number("in_flight", stage.in_flight);
    json.integer("planned_bytes", stage.planned);
    json.integer("counted_bytes", stage.counted);
    write_number(json, "high_water_bytes", seen(static_cast<double>(stage.high_water)));
    if (!timeless) {
      write_number(json, "forward_ms", seen(stage.forward_s * 1000));
      write_number(json, "backward_ms", seen(stage.backward_s * 1000));
    }
    json.end_object();
  }
  json.end_array();
}

std::optional<double> in_ms(const std::optional<double>& seconds) {
  return seconds ? std::optional(*seconds * 1000) : std::nullopt;
}

}  // namespace

std::string execution_json(const Instance& instance, const kernels::ExecutionReport& report,
                           kernels::ExchangeKind exchange, bool timeless, ExitCode code) {
  JsonWriter json;
  json.begin_object();
  write_execution_head(json, family_name(instance), instance_name(instance), report.passed(), code);
  json.boolean("complete", report.complete);
  json.integer("scale", report.scale);
  json.number("work_flop", report.work_flop);
  json.text("exchange", kernels::kExchangeNames[static_cast<std::size_t>(exchange)]);
  // The losses of an incomplete step have no meaning.
  write_number(json, "loss", report.complete ? std::optional(report.loss) : std::nullopt);
  write_number(json, "reference_loss",
               report.complete ? std::optional(report.reference_loss) : std::nullopt);
  write_check(json, "output", report.output);
  write_check(json, "input_gradient", report.input_gradient);
  write_check(json, "weight_gradient", report.weight_gradient);
  json.number("predicted_ms", report.predicted_critical_path_ms);
  if (report.predicted_simulated_ms) {
    json.number("simulated_1f1b_ms", *report.predicted_simulated_ms);
  }
  if (!timeless) {
    write_number(json, "measured_ms", measured_ms(report));
    if (report.simulated_s) json.number("measured_1f1b_ms", *report.simulated_s * 1000);
    write_number(json, "predicted_here_ms", in_ms(report.predicted_here_s));
    if (report.median_deviation) {
      json.key("prediction");
      json.begin_object(kOneLine);
      json.integer("packs", report.packs);
      json.number("median_error", *report.median_deviation);
      json.number("worst_error", *report.largest_deviation);
      write_number(json, "step_error", report.step_deviation());
      json.end_object();
    }
  }
  write_batches(json, report, timeless);
  write_problems(json, report.problems);
  write_texts(json, "notes", report.notes);
  json.end_object();
  return json.take();
}

std::string layout_execution_json(const LayoutInstance& instance, const LayoutPlan& plan,
                                  const kernels::BlockExecution& report, ExitCode code) {
  JsonWriter json;
  write_memory_head(json, "layout", instance.name, plan.peak_bytes, report, "block", code);
  json.integer("separate_bytes", report.separate_bytes);
  json.integer("steps", report.steps);
  json.integer("canary_bytes_checked", report.canary_bytes_checked);
  write_bitwise(json, "output", report.output);
  write_bitwise(json, "input_gradient", report.input_gradient);
  write_bitwise(json, "weight_gradient", report.weight_gradient);
  write_problems(json, report.problems);
  json.end_object();
  return json.take();
}

std::string layout_execution_json(const LayoutInstance& instance, const LayoutPlan& plan,
                                  const kernels::MemoryExercise& report, ExitCode code) {
  JsonWriter json;
  write_memory_head(json, "layout", instance.name, plan.peak_bytes, report, "exercise", code);
  write_exercise(json, report);
  json.end_object();
  return json.take();
}

std::string order_execution_json(const OrderInstance& instance, const OrderPlan& plan,
                                 Bytes layout_bytes, const kernels::OrderExecution& report,
                                 ExitCode code) {
  JsonWriter json;
  write_memory_head(json, "order", instance.name, plan.peak_bytes, report, "step", code);
  json.integer("layout_bytes", layout_bytes);
  json.integer("separate_bytes", report.separate_bytes);
  json.integer("steps", report.steps);
  json.integer("again", report.again);
  if (instance.host) json.integer("transfers", report.transfers);
  json.integer("canary_bytes_checked", report.canary_bytes_checked);
  write_number(json, "loss", report.complete ? std::optional<double>(report.loss) : std::nullopt);
  write_bitwise(json, "losses", report.losses);
  write_bitwise(json, "output", report.output);
  write_bitwise(json, "input_gradient", report.input_gradient);
  write_bitwise(json, "weight_gradient", report.weight_gradient);
  write_bitwise(json, "weight", report.weight);
  write_bitwise(json, "activation", report.activation);
  write_problems(json, report.problems);
  json.end_object();
  return json.take();
}

std::string order_execution_json(const OrderInstance& instance, const OrderPlan& plan,
                                 Bytes layout_bytes, const kernels::MemoryExercise& report,
                                 ExitCode code) {
  JsonWriter json;
  write_memory_head(json, "order", instance.name, plan.peak_bytes, report, "exercise", code);
  json.integer("layout_bytes", layout_bytes);
  write_exercise(json, report);
  json.end_object();
  return json.take();
}

std::string strategy_execution_json(const StrategyInstance& instance, const StrategyPlan& plan,
                                    const kernels::ScaledStrategy& scaled,
                                    const kernels::StrategyReport& report, bool timeless,
                                    ExitCode code) {
  JsonWriter json;
  json.begin_object();
  write_execution_head(json, "strategy", instance.name, report.passed(), code);
  json.boolean("complete", report.complete);
  json.integer("scale", scaled.scale);
  json.integer("layer_scale", scaled.layer_scale);
  json.number("work_flop", scaled.work_flop);
  json.integer("ranks", scaled.task.ranks());
  json.integer("pp", plan.pp);
  json.integer("v", plan.v);
  json.integer("micro_batches", plan.micro_batches);
  json.integer("tp", plan.tp);
  json.integer("cp", plan.cp);
  json.integer("dp", plan.dp);
  const auto compared = [&](double value) {
    return report.output.compared > 0 ? std::optional(value) : std::nullopt;
  };
  write_number(json, "loss", compared(report.loss));
  write_number(json, "reference_loss", compared(report.reference_loss));
  write_number(json, "loss_error", compared(report.loss_error));
  write_check(json, "output", report.output);
  write_check(json, "input_gradient", report.input_gradient);
  write_check(json, "weight_gradient", report.weight_gradient);
  json.number("predicted_ms", plan.step_ms);
  if (!timeless) {
    write_number(json, "measured_ms", in_ms(report.critical_path_s));
    write_number(json, "formula_ms", in_ms(report.formula_s));
    write_number(json, "exchange_ms",
                 report.complete ? std::optional(report.exchange_s * 1000) : std::nullopt);
  }
  write_stages(json, report, timeless);
  write_problems(json, report.problems);
  write_texts(json, "notes", scaled.notes);
  json.end_object();
  return json.take();
}

std::string refused_execution_json(const Instance& instance,
                                   const std::vector<Violation>& violations, ExitCode code) {
  JsonWriter json;
  json.begin_object();
  write_execution_head(json, family_name(instance), instance_name(instance), false, code);
  json.boolean("complete", false);
  write_violations(json, violations);
  json.end_object();
  return json.take();
}

}  // namespace stowage
