// CSV exports of Weights & Biases: a chart with a column for each run, or the table of runs.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/text.h"
#include "instances/strategy/fit/log_text.h"

namespace stowage {
namespace {

std::vector<std::string> export_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

struct LogMetric {
  std::string_view name;
  bool is_time = false;
  double factor = 1;  // to ms or MiB
};
constexpr std::array<LogMetric, 3> kLogMetrics = {
    {{"iteration-time", true, 1000},              // Megatron-LM, s
     {"time_metrics/end_to_end(s)", true, 1000},  // torchtitan
     {"memory/max_reserved(GiB)", false, kMibOfGib}}};

const LogMetric* metric_named(std::string_view name) {
  const auto* found = std::ranges::find(kLogMetrics, name, &LogMetric::name);
  return found == kLogMetrics.end() ? nullptr : found;
}

// Returns the metric of a column "RUN - METRIC"; null for other columns, such as those of extremes.
const LogMetric* metric_of_chart(const std::string& column, std::string& run) {
  const std::size_t dash = column.rfind(" - ");
  if (dash == std::string::npos) return nullptr;
  run = column.substr(0, dash);
  return metric_named(column.substr(dash + 3));
}

}  // namespace

bool is_wandb_export(std::string_view first_line) {
  return std::ranges::any_of(kLogMetrics, [&](const LogMetric& metric) {
    return metric.is_time && first_line.find(metric.name) != std::string_view::npos;
  });
}

Result<std::vector<StatedRun>> read_wandb_export(std::string_view text, const std::string& file) {
  const std::vector<std::string> lines = log_lines(text);
  const std::vector<std::string> header = export_cells(lines.front());
  std::vector<StatedRun> runs;
  std::map<std::string, LoggedSeries> charts;  // by run
  std::vector<InputError> errors;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (bare_text(lines[i]).empty()) continue;
    const std::vector<std::string> cells = export_cells(lines[i]);
    LogValues row;
    LoggedSeries series;
    bool table = false;
    for (std::size_t k = 0; k < std::min(cells.size(), header.size()); ++k) {
      const std::optional<double> number = leading_number(cells[k]);
      std::string run;
      if (const LogMetric* its = metric_of_chart(header[k], run); its != nullptr && number) {
        LoggedSeries& chart = charts[run];
        (its->is_time ? chart.step_ms : chart.peak_mib).push_back(*number * its->factor);
      } else if (const LogMetric* own = metric_named(header[k]); own != nullptr && number) {
        (own->is_time ? series.step_ms : series.peak_mib).push_back(*number * own->factor);
        table = table || own->is_time;
      } else if (!cells[k].empty()) {
        row[header[k]] = cells[k];
      }
    }
    if (!table) continue;
    StatedRun stated{.place = file + ':' + std::to_string(i + 1), .name = argument_of(row, "Name")};
    read_megatron_arguments(row, stated.values);
    read_torchtitan_columns(row, stated.values);
    if (auto error = put_steps(series, stated.place, stated.values)) errors.push_back(*error);
    runs.push_back(std::move(stated));
  }
  for (const auto& [name, series] : charts) {
    StatedRun stated{.place = file + ": run " + in_quotes(name), .name = name};
    if (auto error = put_steps(series, stated.place, stated.values)) errors.push_back(*error);
    runs.push_back(std::move(stated));
  }
  if (runs.empty()) {
    errors.push_back(
        {code::kLoggedRun, file, "must have the time of a step of one run or more, has none"});
  }
  if (!errors.empty()) return errors;
  return runs;
}

}  // namespace stowage
