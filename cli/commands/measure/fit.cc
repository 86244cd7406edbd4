// stowage fit: fits a cost to measured rows and estimates its errors.
#include "instances/pictures/scatter/fit.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/measure/fit_strategy.h"
#include "cli/families/load.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/table.h"
#include "instances/check.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/fit/fit.h"
#include "instances/scatter/fit/json/json.h"
#include "instances/scatter/fit/time_table.h"
#include "instances/scatter/json/embedded_documents.h"
#include "solvers/scatter/explain/method_spread.h"

namespace stowage {
namespace {

std::string interval_text(const Coefficient& own) {
  if (!own.determined) return "the samples do not show it";
  if (!(own.high < kInfinity)) return "at least " + significant(own.low);
  return significant(own.low) + " to " + significant(own.high);
}

std::string off_text(const ErrorSummary& error) {
  return percent_text(error.mean) + " on average, 95 % within " + percent_text(error.p95);
}

class FitCommand : public Command {
 public:
  CommandText text() const override {
    return {
        .name = "fit",
        .arguments = "SAMPLES -o COST",
        .summary = "Fit the cost model to measured rows of your cluster",
        .examples = {"stowage fit samples.csv -o cost.json",
                     "stowage fit samples.csv --instance instance.json --picture fit.svg",
                     "stowage fit --strategy runs.csv --instance strategy.json -o fitted.json"}};
  }

  void declare(Flags& flags) override {
    flags.positional(
        "SAMPLES", path_,
        "A table with the columns degree, lengths_tokens and time_ms, and peak_mib and "
        "exchange if there are such; - for stdin. With --strategy a table of runs, or a log");
    flags.toggle("--strategy", strategy_,
                 "Fit the rates of the strategy instance --instance to logged steps of training: a "
                 "table with a line for each run, a log of Megatron-LM or torchtitan, or a CSV "
                 "export of Weights & Biases");
    flags.text("--configuration", stated_, "LIST",
               "With --strategy: what runs do not state themselves, as pp=4,tp=8,tokens=8192");
    flags.text("-o,--output", output_, "COST",
               "Write the cost there; an instance names it with {\"file\": ...} as cost. With "
               "--strategy the instance with the fitted rates");
    flags.text("--instance", instance_path_, "INSTANCE",
               "What the samples do not say: nodes, padding, tiles, window and volumes of "
               "exchanges; and a step, to see whether the cost is good enough to tell plans apart");
    flags.number("--mib-per-token", mib_per_token_, "MIB", 1e-9, 1e9,
                 "What a token sends in an all-to-all, without --instance. Only its ratio to the "
                 "bandwidth counts; default 1");
    flags.toggle("--table", table_,
                 "Write times by tokens and squares (cost.table) in the place of coefficients, for "
                 "rows that no formula fits. Without --instance no group may hold more tokens than "
                 "were measured");
    flags.text("--picture", picture_, "FILE.svg",
               "Draw predicted against measured, and the errors by degree");
    output_flags_.declare(flags, true);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    if (auto error = check_flags()) return console.refuse(*error);
    if (strategy_) {
      return fit_strategy_runs(console, {path_, instance_path_, stated_, output_});
    }
    std::optional<ScatterInstance> step;
    std::vector<std::string> inputs = {path_};
    if (!instance_path_.empty()) {
      Loaded<Instance> loaded = load_instance(instance_path_);
      if (!loaded.value) return console.refuse(loaded.errors);
      if (auto error = not_of(*loaded.value, "scatter")) {
        return console.refuse(errors_in(instance_path_, {*error}));
      }
      step = std::get<ScatterInstance>(*std::move(loaded.value));
      inputs.insert(inputs.end(), loaded.files.begin(), loaded.files.end());
    }
    for (const auto& [flag, path] : {std::pair("--output", output_), {"--picture", picture_}}) {
      if (auto error = check_output(flag, path, inputs)) return console.refuse(*error);
    }
    const Result<std::string> bytes = read_file(path_);
    if (!bytes) return console.refuse(bytes.errors().front());
    const std::string file = path_ == "-" ? "stdin" : path_;
    const Result<std::vector<TimedRow>> rows = read_samples_csv(*bytes, file);
    if (!rows) return console.refuse(errors_in("", rows.errors()));
    StatusLine status(console);
    status.tell("fitting   " + counted(std::ssize(*rows), "sample"));
    const SamplePlaces places = [&file](std::size_t row, std::string_view member) {
      return file + ':' + std::to_string(row + 2) + ':' + std::string(member);
    };
    const ScatterInstance like = step ? *step : structure_of(*rows, mib_per_token_.value_or(1));
    const Result<CostFit> fit = fit_cost(*rows, like, {.places = places});
    if (!fit) return refuse(console, file, fit.errors());
    if (!table_) return tell_and_write(console, *rows, *fit, nullptr, std::move(step));
    const Result<TableFit> table = fit_table(*rows, like, places);
    if (!table) return refuse(console, file, table.errors());
    return tell_and_write(console, *rows, *fit, &*table, std::move(step));
  }

 private:
  static ExitCode refuse(Console& console, const std::string& file,
                         std::vector<InputError> errors) {
    for (InputError& error : errors) {
      if (error.pointer == "/samples") error.pointer = file;
    }
    return console.refuse(errors_in("", errors));
  }

  std::optional<InputError> check_flags() const {
    if (strategy_) {
      const std::pair<const char*, bool> others[] = {
          {"--mib-per-token", mib_per_token_.has_value()},
          {"--table", table_},
          {"--picture", !picture_.empty()}};
      for (const auto& [flag, given] : others) {
        if (given) return InputError{kUsage, flag, "has no effect with --strategy"};
      }
      if (instance_path_.empty()) {
        return InputError{kUsage, "--instance",
                          "is required with --strategy: the model, the cluster and the rates to "
                          "begin with, as stowage generate strategy makes them"};
      }
    } else if (!stated_.empty()) {
      return InputError{kUsage, "--configuration", "has an effect only with --strategy"};
    }
    if (mib_per_token_ && !instance_path_.empty()) {
      return InputError{kUsage, "--mib-per-token", "has no effect with --instance, which has it"};
    }
    if (!picture_.empty() && !picture_.ends_with(".svg")) {
      return InputError{kUsage, "--picture", "must end in .svg, is '" + picture_ + '\''};
    }
    if (path_ == "-" && instance_path_ == "-") {
      return InputError{kUsage, "--instance", "stdin has the samples already"};
    }
    return std::nullopt;
  }

  // `table` is null unless a table was requested.
  ExitCode tell_and_write(Console& console, const std::vector<TimedRow>& rows, const CostFit& fit,
                          const TableFit* table, std::optional<ScatterInstance> step) const {
    tell(console, rows, fit);
    if (table != nullptr) tell(console, fit, *table);
    const ScatterCost cost = table == nullptr ? fit.cost : ScatterCost{.table = table->table};
    if (step && table != nullptr) {
      step->cost = cost;
      const std::vector<InputError> errors = check(*step);
      if (!errors.empty()) return console.refuse(errors_in(instance_path_, errors));
    }
    std::optional<MethodSpread> separation;
    if (step && !step->lengths.empty() && fit.missing.empty()) {
      step->cost = cost;
      const InterruptScope interrupt;
      Budget budget({.interrupt = &interrupt.flag()});
      separation = separation_of(*step, budget);
      const ErrorSummary& error = table == nullptr ? fit.without_outliers : table->held_out;
      tell(console, error, *separation);
    }
    if (!output_.empty()) {
      JsonWriter json;
      write_json(json, cost);
      if (auto error = write_file(output_, json.take())) return console.refuse(*error);
    }
    if (!picture_.empty()) {
      const std::string svg = svg_document(fit_pictures(fit, rows), "fit of " + path_);
      if (auto error = write_file(picture_, svg)) return console.refuse(*error);
    }
    return console.answer(answer(rows, fit, table, separation), ExitCode::ok);
  }

  static void tell(Console& console, const std::vector<TimedRow>& rows, const CostFit& fit) {
    Table table({{"coefficient", Align::left}, {"value", Align::right}, {"95 %", Align::left}});
    for (const Coefficient& own : fit.coefficients) {
      table.add({own.name, significant(own.value), interval_text(own)});
    }
    if (fit.memory) {
      for (const Coefficient& own : fit.memory->coefficients) {
        table.add({own.name, significant(own.value), interval_text(own)});
      }
    }
    if (console.settings.level >= LogLevel::info) console.table(table);
    console.info("held out  " + counted(std::ssize(rows), "row") + ": " + off_text(fit.held_out) +
                 (fit.outliers.empty()
                      ? ""
                      : "; without " + counted(std::ssize(fit.outliers), "outlier") + ' ' +
                            off_text(fit.without_outliers)));
    Table errors({{"rows of", Align::left},
                  {"rows", Align::right},
                  {"mean", Align::right},
                  {"95 %", Align::right}});
    const auto add = [&errors](const std::string& name, const ErrorSummary& error) {
      errors.add({name, grouped(error.rows), percent_text(error.mean), percent_text(error.p95)});
    };
    for (const ErrorOfDegree& own : fit.by_degree) add("degree " + grouped(own.degree), own.error);
    for (const ErrorOfLength& own : fit.by_length) {
      add(grouped(own.shortest) + " to " + grouped(own.longest) + " tokens", own.error);
    }
    if (console.settings.level >= LogLevel::info) console.table(errors);
    if (fit.memory) console.info("memory    held out " + off_text(fit.memory->held_out));
    if (fit.next) {
      const NextRow& next = *fit.next;
      console.info(
          "next      measure " + counted(next.sequences, "sequence") + " of " +
          grouped(next.tokens) + " tokens on degree " + grouped(next.degree) +
          (next.exchange == ExchangeKind::none
               ? ""
               : " with " +
                     std::string(exchange_names()[static_cast<std::size_t>(next.exchange)])) +
          ": it takes " + percent_text(next.by) + " off the interval of " + next.narrows);
    }
    std::string missing;
    for (const int degree : fit.missing) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(degree);
    }
    if (!missing.empty()) {
      console.warn("no sample of degree " + missing +
                   ": the instance allows it, and cannot be planned with this cost");
    }
  }

  static void tell(Console& console, const CostFit& fit, const TableFit& table) {
    console.info("table     held out " + off_text(table.held_out));
    for (const auto& [degree, reach] : table.reach) {
      const TimeGrid& grid = table.table.at(degree);
      if (grid.tokens.back() <= reach.tokens && grid.squares.back() <= reach.squares) continue;
      console.info("guessed   degree " + grouped(degree) + ": rows reach " +
                   significant(reach.tokens) + " tokens and " + significant(reach.squares) +
                   " squares, groups " + significant(grid.tokens.back()) + " and " +
                   significant(grid.squares.back()) +
                   "; measure larger rows, or set rules.max_tokens_per_rank");
    }
    if (table.held_out.mean < fit.held_out.mean) return;
    console.warn(
        "the table predicts rows that were left out no better than the formula: leave "
        "--table out, or measure more rows");
  }

  // Errors of single rows partly cancel over the groups of a step, but errors common to all rows of
  // a degree do not.
  static void tell(Console& console, const ErrorSummary& error, const MethodSpread& separation) {
    if (separation.plans.size() < 2) return;
    console.info("plans     the best, " + separation.plans.front().method + ", is " +
                 percent_text(separation.best_to_next) + " faster than the next and " +
                 percent_text(separation.best_to_last) + " faster than the last of " +
                 grouped(std::ssize(separation.plans)));
    if (error.mean <= separation.best_to_next) return;
    console.warn("rows are " + percent_text(error.mean) + " off, more than the " +
                 percent_text(separation.best_to_next) +
                 " that separate the two best plans: which of them is faster this cost does not "
                 "say");
  }

  static std::string answer(const std::vector<TimedRow>& rows, const CostFit& fit,
                            const TableFit* table, const std::optional<MethodSpread>& separation) {
    JsonWriter json;
    json.begin_object();
    json.text("format", "stowage/fit");
    json.integer("version", 1);
    json.text("problem", "scatter");
    json.integer("exit_code", to_int(ExitCode::ok));
    write_json_members(json, fit, rows);
    if (table != nullptr) write_json_member(json, *table);
    json.key("plans");
    if (separation) {
      json.begin_object();
      json.number("best_to_next", separation->best_to_next);
      json.number("best_to_last", separation->best_to_last);
      json.key("methods");
      json.begin_array();
      for (const MethodTime& plan : separation->plans) {
        json.begin_object(JsonWriter::Layout::line);
        json.text("method", plan.method);
        json.number("objective_ms", plan.ms);
        json.end_object();
      }
      json.end_array();
      json.end_object();
    } else {
      json.null();
    }
    json.end_object();
    return json.take();
  }

  std::string path_;
  std::string output_;
  std::string instance_path_;
  std::string picture_;
  std::optional<double> mib_per_token_;
  bool table_ = false;
  bool strategy_ = false;
  std::string stated_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_fit_command() { return std::make_unique<FitCommand>(); }

}  // namespace stowage
