#include "instances/strategy/fit/stacks.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

struct EmbeddedTable {
  std::string_view name;
  std::string_view text;
};
constexpr EmbeddedTable kTables[] = {
#include "published_tables.inc"  // made by schema/embed.cmake out of data/published
};

using CsvRow = std::vector<std::string_view>;

std::vector<std::string_view> cells_by(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Returns the lines of a table after its header.
std::vector<CsvRow> csv_rows(std::string_view name) {
  std::vector<CsvRow> rows;
  const auto* table = std::ranges::find(kTables, name, &EmbeddedTable::name);
  if (table == std::end(kTables)) return rows;
  for (const std::string_view line : cells_by(table->text, '\n')) {
    if (!line.empty()) rows.push_back(cells_by(line, ','));
  }
  rows.erase(rows.begin());
  return rows;
}

double csv_number(std::string_view cell) { return std::stod(std::string(cell)); }

// Returns nullopt if the cells are empty.
std::optional<RateError> csv_error(const CsvRow& row, std::size_t first) {
  if (row[first].empty()) return std::nullopt;
  return RateError{.steps = std::stoll(std::string(row[first])),
                   .median = csv_number(row[first + 1]),
                   .p90 = csv_number(row[first + 2]),
                   .worst = csv_number(row[first + 3])};
}

// Reads the columns: stack, machine, sources, steps, one for each rate, steps held out, median,
// p90, worst.
std::vector<RateStack> read_stacks() {
  std::vector<RateStack> stacks;
  for (const CsvRow& row : csv_rows("stacks.csv")) {
    RateStack stack{.name = std::string(row[0]),
                    .machine = std::string(row[1]),
                    .steps_of = std::string(row[2]),
                    .steps = std::stoll(std::string(row[3])),
                    .error = csv_error(row, 4 + rate_names().size())};
    for (std::size_t k = 0; k < rate_names().size(); ++k) {
      const std::string_view cell = row[4 + k];
      const double factor = cell.empty() ? 1 : csv_number(cell);
      stack.rates.push_back({rate_names()[k], factor, factor, factor, !cell.empty()});
    }
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

struct ErrorClass {
  std::int64_t formulas = 0;
  Tokens least = 0;  // least length of a sequence
  Tokens most = 0;
  std::optional<RateError> error;
};

// Reads the columns: formulas, least and most tokens of a sequence, steps, median, p90, worst.
std::vector<ErrorClass> read_errors() {
  std::vector<ErrorClass> classes;
  for (const CsvRow& row : csv_rows("errors.csv")) {
    classes.push_back({.formulas = std::stoll(std::string(row[0])),
                       .least = std::stoll(std::string(row[1])),
                       .most = std::stoll(std::string(row[2])),
                       .error = csv_error(row, 3)});
  }
  return classes;
}

Tokens mean_length(const StrategyInstance& instance) {
  if (instance.lengths.empty()) return 0;
  const auto sum = std::accumulate(instance.lengths.begin(), instance.lengths.end(), 0.0);
  return static_cast<Tokens>(sum / static_cast<double>(instance.lengths.size()));
}

std::vector<std::string> kept_of(std::span<const FittedRate> rates) {
  std::vector<std::string> kept;
  for (const FittedRate& rate : rates) {
    if (!rate.determined) kept.emplace_back(rate.name);
  }
  return kept;
}

}  // namespace

std::span<const RateStack> rate_stacks() {
  static const std::vector<RateStack> stacks = read_stacks();
  return stacks;
}

std::vector<std::string_view> stack_names() {
  std::vector<std::string_view> names;
  for (const RateStack& stack : rate_stacks()) {
    if (names.empty() || names.back() != stack.name) names.push_back(stack.name);
  }
  return names;
}

const RateStack* rate_stack(std::string_view name, std::string_view machine) {
  const auto found = std::ranges::find_if(rate_stacks(), [&](const RateStack& stack) {
    return stack.name == name && stack.machine == machine;
  });
  return found == rate_stacks().end() ? nullptr : &*found;
}

InputError unknown_stack(std::string_view name, std::string_view machine) {
  const std::vector<std::string_view> known = stack_names();
  if (std::ranges::find(known, name) == known.end()) {
    std::string list;
    for (const std::string_view each : known) {
      list += (list.empty() ? "" : ", ") + std::string(each);
    }
    return {code::kPreset, "/stack",
            "must be one of " + list + ", is " + in_quotes(name) + did_you_mean(name, known)};
  }
  std::string machines;
  for (const RateStack& stack : rate_stacks()) {
    if (stack.name == name) machines += (machines.empty() ? "" : ", ") + stack.machine;
  }
  return {code::kPreset, "/stack",
          "must have published steps on the machine: " + std::string(name) + " has some on " +
              machines + ", the machine is " + in_quotes(machine)};
}

StrategyInstance with_stack(StrategyInstance instance, const RateStack& stack) {
  instance = with_rates(instance, stack.rates);
  instance.cost.rates = StrategyRates{.source = StrategyRateSource::stack,
                                      .stack = stack.name,
                                      .steps = stack.steps,
                                      .kept = kept_of(stack.rates),
                                      .error = stack.error};
  return instance;
}

RateReport rate_report(const StrategyInstance& instance) {
  RateReport report{.rates = instance.cost.rates.value_or(StrategyRates{})};
  if (report.rates.source == StrategyRateSource::stack) {
    report.steps_of = "published steps of " + report.rates.stack;
  } else if (report.rates.source == StrategyRateSource::fitted) {
    report.steps_of = "logged steps";
  }
  report.error = report.rates.error;
  if (report.rates.source != StrategyRateSource::assumed || report.error) return report;
  static const std::vector<ErrorClass> classes = read_errors();
  const std::int64_t formulas = instance.cost.detail ? 2 : 1;
  const Tokens length = mean_length(instance);
  // The last class of each version has all lengths.
  for (const ErrorClass& each : classes) {
    if (each.formulas != formulas || length < each.least || length > each.most) continue;
    report.error = each.error;
    report.steps_of = "published steps";
    if (each.most < kMaxExact) {
      report.steps_of += " of " + std::to_string(each.least) + " to " + std::to_string(each.most) +
                         " tokens a sequence";
    }
    break;
  }
  return report;
}

std::string rate_source_text(StrategyRateSource source) {
  const auto index = static_cast<std::size_t>(source);
  return index < kStrategyRateSources.size() ? std::string(kStrategyRateSources[index])
                                             : "unknown (" + std::to_string(index) + ')';
}

std::string rate_text(const RateReport& report) {
  const StrategyRates& rates = report.rates;
  std::string text = rate_source_text(rates.source);
  if (rates.source == StrategyRateSource::stack) text = "of the stack " + rates.stack;
  if (rates.source == StrategyRateSource::fitted) {
    text += " to " + counted(rates.steps, "logged step");
    if (!rates.kept.empty()) {
      text += ", but " + counted(std::ssize(rates.kept), "rate") + " of " +
              (rates.stack.empty() ? "the defaults" : rates.stack);
    }
  }
  if (!report.error) return text;
  return text + "; " + report.steps_of + " are predicted " + percent_text(report.error->median) +
         " off in the median, a tenth of them more than " + percent_text(report.error->p90);
}

}  // namespace stowage
