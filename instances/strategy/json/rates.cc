#include "instances/strategy/json/rates.h"

#include <cstddef>
#include <string>

namespace stowage {
namespace {

double rate_of_instance(StrategyInstance instance, std::string_view rate) {
  const double* value = rate_named(instance, rate);
  return value == nullptr ? 0 : *value;
}

}  // namespace

void write_rates(JsonWriter& json, const RateReport& report) {
  const StrategyRates& rates = report.rates;
  json.key("rates");
  json.begin_object(JsonWriter::Layout::line);
  json.text("source", rate_source_text(rates.source));
  if (!rates.stack.empty()) json.text("stack", rates.stack);
  if (rates.steps > 0) json.integer("steps", rates.steps);
  if (!rates.kept.empty()) {
    json.key("kept");
    json.begin_array(JsonWriter::Layout::line);
    for (const std::string& name : rates.kept) json.text(name);
    json.end_array();
  }
  json.key("error");
  if (report.error) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("of", report.steps_of);
    json.integer("steps", report.error->steps);
    json.number("median", report.error->median);
    json.number("p90", report.error->p90);
    json.number("worst", report.error->worst);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
}

std::string rate_source(const StrategyInstance& like, const FittedRate& rate) {
  if (rate.determined) return "fitted";
  const std::string stack = like.cost.rates ? like.cost.rates->stack : "";
  return stack.empty() ? "assumed" : stack;
}

void write_fit_members(JsonWriter& json, const std::vector<LoggedRun>& runs,
                       const StrategyInstance& like, const StrategyFit& fit) {
  write_rates(json, rate_report(fit.instance));
  json.key("coefficients");
  json.begin_array();
  for (const FittedRate& rate : fit.rates.rates) {
    const double began = rate_of_instance(like, rate.name);
    json.begin_object(JsonWriter::Layout::line);
    json.text("name", rate.name);
    json.number("value", began * rate.factor);
    json.boolean("determined", rate.determined);
    json.key("low");
    rate.determined ? json.number(began * rate.low) : json.null();
    json.key("high");
    rate.determined ? json.number(began * rate.high) : json.null();
    json.text("source", rate_source(like, rate));
    json.end_object();
  }
  json.end_array();
  json.key("common");
  if (fit.rates.common) {
    json.begin_object(JsonWriter::Layout::line);
    json.number("factor", fit.rates.common->factor);
    json.number("low", fit.rates.common->low);
    json.number("high", fit.rates.common->high);
    json.end_object();
  } else {
    json.null();
  }
  json.key("activation_factor");
  fit.activation_factor ? json.number(*fit.activation_factor) : json.null();
  json.key("runs");
  json.begin_array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("run", runs[i].place);
    json.number("measured_ms", runs[i].sample.step_ms);
    json.number("predicted_ms", fit.predicted_ms[i]);
    json.end_object();
  }
  json.end_array();
}

}  // namespace stowage
