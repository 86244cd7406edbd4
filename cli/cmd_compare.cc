// stowage compare: every method on one instance, side by side.
#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "cli/command.h"
#include "cli/common_flags.h"
#include "cli/error_codes.h"
#include "cli/family.h"
#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "cli/outcome_json.h"
#include "cli/table.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

struct Row {
  Method method;
  Outcome outcome;
  bool best = false;
};

std::string_view kind_name(MethodKind kind) {
  return kind == MethodKind::baseline ? "baseline" : "ours";
}

std::optional<double> gap_to(const NamedBound& bound, const Outcome& outcome) {
  if (!outcome.objective) return std::nullopt;
  return relative_gap(*outcome.objective, bound.value);
}

std::optional<std::int64_t> micro_batches(const Row& row) {
  if (!row.outcome.plan) return std::nullopt;
  return micro_batch_count(*row.outcome.plan);
}

// The best bound any method proved: it holds for all of them.
NamedBound best_bound(const std::vector<Row>& rows) {
  NamedBound best;
  for (const Row& row : rows) {
    if (best.name.empty() || row.outcome.bound > best.value) {
      best = {row.outcome.bound_by, row.outcome.bound};
    }
  }
  return best;
}

Table table_of(const std::vector<Row>& rows, bool timeless) {
  const NamedBound bound = best_bound(rows);
  std::vector<Table::Column> columns = {
      {"method", Align::left},    {"kind", Align::left},           {"best ms", Align::right},
      {"bound ms", Align::right}, {"gap", Align::right},           {"time", Align::right},
      {"status", Align::left},    {"micro-batches", Align::right}, {"", Align::left}};
  constexpr std::ptrdiff_t kTimeColumn = 5;
  if (timeless) columns.erase(columns.begin() + kTimeColumn);
  Table table(columns);
  for (const Row& row : rows) {
    const Outcome& outcome = row.outcome;
    const std::optional<std::int64_t> count = micro_batches(row);
    std::vector<std::string> cells = {std::string(row.method.name),
                                      std::string(kind_name(row.method.kind)),
                                      ms_text(outcome.objective),
                                      ms_text(bound.value),
                                      percent_text(gap_to(bound, outcome)),
                                      seconds_text(outcome.seconds),
                                      std::string(to_string(outcome.status)),
                                      count ? grouped(*count) : "-",
                                      row.best ? "<- best" : ""};
    if (timeless) cells.erase(cells.begin() + kTimeColumn);
    table.add(std::move(cells));
  }
  return table;
}

void write_row(JsonWriter& json, const Row& row, bool timeless) {
  const Outcome& outcome = row.outcome;
  const auto number_or_null = [&json](std::string_view key, const std::optional<double>& value) {
    json.key(key);
    value ? json.number(*value) : json.null();
  };
  json.begin_object();
  json.text("method", row.method.name);
  json.text("kind", kind_name(row.method.kind));
  json.text("source", row.method.source);
  json.text("status", to_string(outcome.status));
  json.text("stopped_by", to_string(outcome.stopped_by));
  number_or_null("objective_ms", outcome.objective);
  json.number("bound_ms", outcome.bound);
  json.text("bound_by", outcome.bound_by);
  number_or_null("gap", outcome.gap());
  json.text("found_by", outcome.found_by);
  json.key("micro_batches");
  const std::optional<std::int64_t> count = micro_batches(row);
  count ? json.integer(*count) : json.null();
  if (!timeless) json.number("seconds", outcome.seconds);
  json.integer("nodes", outcome.nodes);
  json.boolean("best", row.best);
  json.text("detail", outcome.detail);
  json.end_object();
}

class CompareCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "compare",
            .arguments = "INSTANCE",
            .summary = "Run every method, the published baselines included, side by side",
            .examples = {
                "stowage compare instance.json -t 1 --milp-limit 1",
                "stowage compare instance.json --methods batch-ada,fast --format table -t 1",
                "stowage compare instance.json --methods batch-ada,fast --format markdown -t 1"}};
  }

  void declare(Flags& flags) override {
    flags.positional("INSTANCE", instance_path_, "The instance, - for stdin");
    flags.list("--methods", methods_, "A,B,...", "Some of " + method_list() + "; default all");
    flags.choice("--format", format_, {"json", "markdown", "table"},
                 "What stdout gets; the table goes to stderr with json. Default json");
    flags.number("--milp-limit", milp_limit_s_, "SEC", 0, 1e9,
                 "Of each MILP, for baselines that solve many; default as --time-limit");
    solve_.declare(flags);
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    Loaded<Instance> instance = load_instance(instance_path_);
    if (!instance.value) return console.refuse(instance.errors);
    Result<SolveOptions> options = solve_.options();
    if (!options) return console.refuse(options.errors().front());
    for (const std::string& method : methods_) {
      if (auto error = check_method(*instance.value, method, "--methods")) {
        return console.refuse(*error);
      }
    }
    SolveOptions asked = *std::move(options);

    console.info("instance  " + std::string(problem_name(*instance.value)) + "  " +
                 printable(instance_name(*instance.value)) + "   " +
                 instance_size(*instance.value));
    const InterruptScope interrupt;
    Budget::Limits limits = solve_.limits(interrupt.flag());
    // Without any limit `exact` would not end.
    const bool unlimited = limits.time_limit_s == kNoLimit &&
                           limits.node_limit == std::numeric_limits<std::int64_t>::max();
    if (unlimited) limits.time_limit_s = kDefaultSeconds;
    asked.milp_seconds = milp_limit_s_.value_or(std::min(limits.time_limit_s, kDefaultSeconds));
    const std::vector<Row> rows = run_all(console, *instance.value, asked, limits);
    return answer(console, *instance.value, rows, exit_code_of(rows), interrupt.flag());
  }

 private:
  static constexpr double kDefaultSeconds = 10;
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  std::vector<Row> run_all(Console& console, const Instance& instance, SolveOptions options,
                           const Budget::Limits& limits) const {
    std::vector<Method> chosen;
    for (const Method& method : methods(instance)) {
      const bool wanted = methods_.empty() || std::find(methods_.begin(), methods_.end(),
                                                        method.name) != methods_.end();
      if (wanted) chosen.push_back(method);
    }
    std::stable_sort(chosen.begin(), chosen.end(), [](const Method& a, const Method& b) {
      return a.kind == MethodKind::baseline && b.kind != MethodKind::baseline;
    });
    std::vector<Row> rows;
    for (const Method& method : chosen) {
      if (*limits.interrupt) break;
      console.debug("running   " + method.name);
      if (console.terminal()) console.rewrite_line("running   " + std::string(method.name));
      options.method = method.name;
      Budget::Limits own = limits;
      // A published planner that solves many MILPs gets all of them: cut short it would look worse
      // than it is.
      if (method.kind == MethodKind::baseline) {
        own.time_limit_s = kNoLimit;
      }
      Budget budget(own);
      rows.push_back({method, solve(instance, options, budget)});
    }
    mark_best(rows);
    return rows;
  }

  static void mark_best(std::vector<Row>& rows) {
    double best = std::numeric_limits<double>::infinity();
    for (const Row& row : rows) best = std::min(best, row.outcome.objective.value_or(best));
    for (Row& row : rows) {
      row.best = row.outcome.objective && relative_gap(*row.outcome.objective, best) < 1e-9;
    }
  }

  // What the best outcome would give: one method that fails does not spoil a comparison.
  static ExitCode exit_code_of(const std::vector<Row>& rows) {
    ExitCode code = rows.empty() ? ExitCode::unknown : ExitCode::internal;
    for (const ExitCode candidate : {ExitCode::unknown, ExitCode::refused, ExitCode::ok}) {
      for (const Row& row : rows) {
        if (exit_code(row.outcome) == candidate) code = candidate;
      }
    }
    return code;
  }

  ExitCode answer(Console& console, const Instance& instance, const std::vector<Row>& rows,
                  ExitCode code, bool interrupted) const {
    const Table table = table_of(rows, console.settings.timeless);
    for (const Row& row : rows) {
      if (row.outcome.status == Status::error) {
        console.warn(std::string(row.method.name) + ": " + row.outcome.detail);
      }
    }
    if (interrupted) console.warn("interrupted: methods that had not begun are not listed");
    if (format_ == "table") return console.answer(table.text(), code);
    if (format_ == "markdown") return console.answer(table.markdown(), code);
    if (console.settings.level >= LogLevel::info) console.block(table.text());

    JsonWriter json;
    json.begin_object();
    json.text("format", "stowage/comparison");
    json.integer("version", 1);
    json.text("problem", problem_name(instance));
    json.text("name", instance_name(instance));
    json.integer("exit_code", to_int(code));
    json.integer("seed", static_cast<std::int64_t>(solve_.seed()));
    const NamedBound bound = best_bound(rows);
    json.number("bound_ms", bound.value);
    json.text("bound_by", bound.name);
    json.key("methods");
    json.begin_array();
    for (const Row& row : rows) write_row(json, row, console.settings.timeless);
    json.end_array();
    json.end_object();
    return console.answer(json.take(), code);
  }

  std::string instance_path_;
  std::vector<std::string> methods_;
  std::string format_ = "json";
  std::optional<double> milp_limit_s_;
  SolveFlags solve_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace stowage
