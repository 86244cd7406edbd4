#include "cli/answers/execution/text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/terminal/table.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using kernels::BatchMeasurement;
using kernels::ExecutionReport;
using kernels::TensorCheck;

constexpr std::size_t kListedBatches = 40;

Table batch_table(const ExecutionReport& report, bool timeless) {
  std::vector<Table::Column> columns = {
      {report.part_word, Align::right}, {report.batch_word, Align::right}, {"degree", Align::right},
      {"ranks", Align::right},          {"sequences", Align::right},       {"tokens", Align::right},
      {"plan's ms", Align::right}};
  if (!timeless) {
    columns.push_back({"predicted here", Align::right});
    columns.push_back({"measured ms", Align::right});
  }
  Table table(columns);
  for (std::size_t i = 0; i < std::min(report.batches.size(), kListedBatches); ++i) {
    const BatchMeasurement& b = report.batches[i];
    std::vector<std::string> cells = {
        grouped(b.part),      grouped(b.index),  grouped(b.degree),      grouped(b.ranks),
        grouped(b.sequences), grouped(b.tokens), ms_text(b.predicted_ms)};
    if (!timeless) {
      cells.push_back(b.predicted_here_s ? ms_text(*b.predicted_here_s * 1000) : "-");
      cells.push_back(ms_text(b.seconds * 1000));
    }
    table.add(std::move(cells));
  }
  return table;
}

// Returns the table of the groups that offload; empty without any.
std::optional<Table> offload_table(const ExecutionReport& report, bool timeless) {
  std::vector<Table::Column> columns = {{report.part_word, Align::right},
                                        {report.batch_word, Align::right},
                                        {"leaves", Align::right},
                                        {"moved bytes", Align::right},
                                        {"planned stall ms", Align::right}};
  if (!timeless) {
    for (const char* name :
         {"work ms", "predicted stall", "executed stall", "high water", "without"}) {
      columns.push_back({name, Align::right});
    }
  }
  Table table(columns);
  std::size_t listed = 0;
  for (const BatchMeasurement& b : report.batches) {
    if (!b.offload || listed == kListedBatches) continue;
    ++listed;
    const kernels::OffloadMeasurement& seen = *b.offload;
    std::vector<std::string> cells = {grouped(b.part), grouped(b.index),
                                      percent_text(seen.planned.share), grouped(seen.moved_bytes),
                                      ms_text(seen.planned.stall_ms)};
    if (!timeless) {
      cells.push_back(ms_text((seen.forward_s + seen.backward_s) * 1000));
      cells.push_back(ms_text(seen.predicted_stall_s * 1000));
      cells.push_back(ms_text(seen.executed_stall_s * 1000));
      cells.push_back(grouped(seen.device_bytes));
      cells.push_back(grouped(seen.device_bytes_alone));
    }
    table.add(std::move(cells));
  }
  if (listed == 0) return std::nullopt;
  return table;
}

template <class Report>
Table check_table(const Report& report) {
  Table table({{"tensors", Align::left},
               {"compared", Align::right},
               {"worst error", Align::right},
               {"tolerance", Align::right},
               {"", Align::left}});
  const auto add = [&table](const std::string& name, const TensorCheck& check) {
    table.add({name, grouped(check.compared), check.compared > 0 ? scientific(check.error) : "-",
               scientific(check.tolerance),
               check.passed()   ? "pass"
               : check.failed() ? "FAIL"
                                : "-"});
  };
  add("output", report.output);
  add("input gradient", report.input_gradient);
  add("weight gradient", report.weight_gradient);
  return table;
}

Table stage_table(const kernels::StrategyReport& report, bool timeless) {
  std::vector<Table::Column> columns = {
      {"stage", Align::right},     {"layers", Align::right},        {"recompute", Align::left},
      {"in flight", Align::right}, {"planned bytes", Align::right}, {"counted", Align::right},
      {"high water", Align::right}};
  if (!timeless) {
    columns.push_back({"forward ms", Align::right});
    columns.push_back({"backward ms", Align::right});
  }
  const auto seen = [&](const std::string& text) { return report.complete ? text : "-"; };
  Table table(columns);
  for (std::size_t s = 0; s < report.stages.size(); ++s) {
    const kernels::StageMeasurement& stage = report.stages[s];
    std::vector<std::string> cells = {
        std::to_string(s),
        grouped(stage.layers),
        std::string(kStrategyRecomputes[static_cast<std::size_t>(stage.recompute)]),
        significant(stage.in_flight),
        grouped(stage.planned),
        grouped(stage.counted),
        seen(grouped(stage.high_water))};
    if (!timeless) {
      cells.push_back(seen(ms_text(stage.forward_s * 1000)));
      cells.push_back(seen(ms_text(stage.backward_s * 1000)));
    }
    table.add(std::move(cells));
  }
  return table;
}

// Tells how far the predictions on this machine were off, and warns if the batches differ by less.
void tell_predictions(Console& console, const ExecutionReport& report) {
  if (!report.median_deviation) return;
  std::string text = report.batch_word + "s are predicted from " +
                     counted(report.packs, "other pack") + " timed beside them: off by " +
                     percent_text(*report.median_deviation) + " in the median, " +
                     percent_text(*report.largest_deviation) + " at worst";
  if (const auto off = report.step_deviation()) {
    text += "; the step by " + percent_text(*off);
  }
  console.info("model     " + text);
  std::vector<double> apart;
  for (const BatchMeasurement& batch : report.batches) {
    if (batch.predicted_here_s) apart.push_back(*batch.predicted_here_s);
  }
  const auto [least, most] = std::ranges::minmax(apart);
  if (apart.size() > 1 && most <= least * (1 + *report.median_deviation)) {
    console.warn("the " + report.batch_word + "s differ by " + percent_text(most / least - 1) +
                 " at most, less than their predictions are off: which is slower is not decided "
                 "here; raise --work or --repeats");
  }
}

// Returns true if the budget ended the run and no error was found; the stop itself is then the only
// problem. Such a run shows neither an error nor that all results are correct.
bool stopped(const ExecutionReport& report) {
  return !report.complete && report.stopped_by != StopReason::none &&
         report.problems.list().size() == 1 && !report.deviates();
}

}  // namespace

ExitCode exit_code(const ExecutionReport& report) {
  if (report.passed()) return ExitCode::ok;
  return stopped(report) ? ExitCode::unknown : ExitCode::refused;
}

std::optional<double> measured_ms(const ExecutionReport& report) {
  if (!report.critical_path_s) return std::nullopt;
  return *report.critical_path_s * 1000;
}

void tell_execution(Console& console, const ExecutionReport& report) {
  const bool timeless = console.settings.timeless;
  console.info("scale     lengths divided by " + grouped(report.scale) + ", " +
               significant(report.work_flop / 1e9) + " GFLOP");
  if (console.settings.level >= LogLevel::info) {
    console.table(batch_table(report, timeless));
    if (report.batches.size() > kListedBatches) {
      console.info("and " +
                   grouped(static_cast<std::int64_t>(report.batches.size() - kListedBatches)) +
                   " more " + report.batch_word + "s");
    }
    if (const auto offload = offload_table(report, timeless)) console.table(*offload);
    console.table(check_table(report));
  }
  for (const std::string& note : report.notes) console.info("note      " + note);
  for (const std::string& problem : report.problems.list()) console.finding("problem   " + problem);
  if (report.problems.omitted() > 0) {
    console.warn("and " + grouped(report.problems.omitted()) + " more problems");
  }
  if (!timeless) tell_predictions(console, report);
  std::string line =
      "  predicted " + ms_text(report.predicted_critical_path_ms) + " ms at full length";
  if (!timeless) {
    line += ", here at scale ";
    if (report.predicted_here_s)
      line += "predicted " + ms_text(*report.predicted_here_s * 1000) + " ms, ";
    line += "measured " + ms_text(measured_ms(report));
    if (report.critical_path_s) line += " ms";
  }
  if (report.predicted_simulated_ms) {
    line += "  1F1B " + ms_text(*report.predicted_simulated_ms) + " ms";
    if (!timeless && report.simulated_s) {
      line += ", of measured times " + ms_text(*report.simulated_s * 1000) + " ms";
    }
  }
  console.verdict(report.passed() ? "pass" : stopped(report) ? "stopped" : "fail", line);
}

void tell_strategy(Console& console, const StrategyPlan& plan,
                   const kernels::ScaledStrategy& scaled, const kernels::StrategyReport& report,
                   ExitCode code) {
  const bool timeless = console.settings.timeless;
  console.info("scale     lengths divided by " + grouped(scaled.scale) + ", layers by " +
               grouped(scaled.layer_scale) + ", " + significant(scaled.work_flop / 1e9) +
               " GFLOP on " + counted(scaled.task.ranks(), "rank"));
  if (console.settings.level >= LogLevel::info) {
    console.table(stage_table(report, timeless));
    if (report.output.compared > 0) console.table(check_table(report));
  }
  if (report.output.compared > 0) {
    console.info("loss      off by " + scientific(report.loss_error));
  }
  for (const std::string& note : scaled.notes) console.info("note      " + note);
  for (const std::string& problem : report.problems.list()) console.finding("problem   " + problem);
  if (report.problems.omitted() > 0) {
    console.warn("and " + grouped(report.problems.omitted()) + " more problems");
  }
  std::string line = "  predicted " + ms_text(plan.step_ms) + " ms at full size";
  if (!timeless && report.critical_path_s) {
    line += "  measured " + ms_text(*report.critical_path_s * 1000) + " ms at scale, by formula " +
            ms_text(*report.formula_s * 1000);
  }
  console.verdict(code == ExitCode::ok        ? "pass"
                  : code == ExitCode::unknown ? "stopped"
                                              : "fail",
                  line);
}

}  // namespace stowage
