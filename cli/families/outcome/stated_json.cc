// Reads an outcome as strictly as an instance: an unknown key is an error.
#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cli/families/families.h"
#include "cli/families/outcome/stated_outcome.h"
#include "instances/json/reader.h"
#include "instances/strategy/fit/stacks.h"

namespace stowage {
namespace {

constexpr NumberRange kNotNegative = {.least = 0};
constexpr std::array<std::string_view, 5> kStatusNames = {"optimal", "feasible", "infeasible",
                                                          "unknown", "error"};
constexpr std::array<std::string_view, 7> kStoppedBy = {
    "proof", "gap", "time_limit", "node_limit", "interrupted", "heuristic_end", "error"};
constexpr std::array<std::int64_t, 6> kExitCodes = {0, 1, 2, 3, 70, 130};
constexpr std::array<std::string_view, 6> kSources = {"H", "L", "B", "M", "S", "C"};
constexpr std::array<std::string_view, 4> kSolvers = {"", "cbc", "glpk", "highs"};

// Paths of members that describe the course of the solve. They prove nothing.
constexpr std::array<std::string_view, 15> kUnchecked = {
    "method",        "solver",        "seed",
    "detail",        "remedy",        "errors",
    "violations",    "layout/orders", "layout/stopped_by",
    "layout/detail", "stages",        "parameters",
    "without",       "rates/kept",    "rates/error"};

bool has_content(const JsonValue* value) {
  if (value == nullptr || value->is_null()) return false;
  if (value->string() != nullptr) return !value->string()->empty();
  return value->array() == nullptr || !value->array()->empty();
}

// Returns the members of kUnchecked in the document, and members that begin with x-.
std::vector<std::string> unchecked_members(const JsonValue& document) {
  std::vector<std::string> found;
  for (const std::string_view path : kUnchecked) {
    const std::size_t slash = path.find('/');
    const JsonValue* value = document.find(path.substr(0, slash));
    if (slash != path.npos && value != nullptr) value = value->find(path.substr(slash + 1));
    if (has_content(value)) found.emplace_back(path);
  }
  // The name is compared with the plan's name, so it is unchecked only without a plan.
  if (!has_content(document.find("plan")) && has_content(document.find("name"))) {
    found.emplace_back("name");
  }
  for (const JsonMember& member : *document.object()) {
    if (member.key.starts_with("x-")) found.push_back(member.key);
  }
  return found;
}

// Returns a member, or null if it is missing or null.
const JsonValue* given(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::optional<double> number(const ObjectReader& reader, std::string_view key,
                             NumberRange range = {}) {
  const JsonValue* value = given(reader, key);
  if (value == nullptr) return std::nullopt;
  return read_number(*value, reader.at(key), range, reader.errors());
}

std::optional<std::int64_t> integer(const ObjectReader& reader, std::string_view key,
                                    IntegerRange range = {}) {
  const JsonValue* value = given(reader, key);
  if (value == nullptr) return std::nullopt;
  return read_integer(*value, reader.at(key), range, reader.errors());
}

std::optional<std::string> text(const ObjectReader& reader, std::string_view key) {
  if (reader.find(key) == nullptr) return std::nullopt;
  return reader.text(key);
}

// Reads a text that must be one of the names; returns nullopt after an error.
template <std::size_t N>
std::optional<std::string> one_of(const ObjectReader& reader, std::string_view key,
                                  const std::array<std::string_view, N>& names) {
  std::optional<std::string> found = text(reader, key);
  if (!found || std::ranges::find(names, *found) != names.end()) return found;
  std::string list;
  for (const std::string_view name : names) {
    list += (list.empty() ? "\"" : ", \"") + std::string(name) + '"';
  }
  add_wrong_type(*reader.find(key), reader.at(key), "one of " + list, reader.errors());
  return std::nullopt;
}

std::vector<std::int64_t> ids(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.find(key);
  if (value == nullptr) return {};
  return read_integers(*value, reader.at(key), {}, reader.errors());
}

template <class Read>
void each(const ObjectReader& reader, std::string_view key,
          std::initializer_list<std::string_view> keys, Read read) {
  if (reader.find(key) == nullptr) return;
  reader.each(key, [&](const JsonValue& value, const JsonPath& path) {
    read(ObjectReader(value, path, reader.errors(), keys));
  });
}

InfeasibilityProof read_proof(const ObjectReader& outcome) {
  const JsonPath path = outcome.at("infeasibility");
  const ObjectReader proof(*outcome.find("infeasibility"), path, outcome.errors(),
                           {"by", "witnesses", "step"});
  return {
      .by = proof.text("by"), .witnesses = ids(proof, "witnesses"), .step = integer(proof, "step")};
}

void read_lists(const ObjectReader& outcome, const std::string& in_unit, StatedOutcome& claims) {
  if (outcome.find("bounds") != nullptr) claims.bounds.emplace();
  each(outcome, "bounds", {"name", "value" + in_unit}, [&](const ObjectReader& bound) {
    claims.bounds->push_back({bound.text("name"), number(bound, "value" + in_unit, kNotNegative)});
  });
  if (outcome.find("improvements") != nullptr) claims.improvements.emplace();
  each(outcome, "improvements",
       {"seconds", "bound" + in_unit, "objective" + in_unit, "nodes", "source", "by"},
       [&](const ObjectReader& step) {
         claims.improvements->push_back(
             {.seconds = number(step, "seconds", kNotNegative),
              .bound = number(step, "bound" + in_unit, kNotNegative),
              .objective = number(step, "objective" + in_unit, kNotNegative),
              .nodes = integer(step, "nodes").value_or(0),
              .source = one_of(step, "source", kSources).value_or(""),
              .by = step.text("by")});
       });
  each(outcome, "violations", {"rule", "where", "have", "need"}, [&](const ObjectReader& broken) {
    claims.violated.push_back(broken.text("rule"));
    for (const char* key : {"where", "have", "need"}) broken.text(key);
  });
  each(outcome, "errors", {"code", "file", "pointer", "message"}, [&](const ObjectReader& error) {
    claims.errors = true;
    for (const char* key : {"code", "pointer", "message"}) error.text(key);
  });
}

// Reads the course of the solve: stages, parameters and excluded stages. Only types are checked.
void read_course(const ObjectReader& outcome, const std::string& in_unit) {
  each(outcome, "stages",
       {"name", "runs", "seconds", "nodes", "plan_gained" + in_unit, "first_plan",
        "bound_gained" + in_unit},
       [&](const ObjectReader& stage) {
         stage.text("name");
         for (const char* key : {"runs", "nodes"}) integer(stage, key);
         number(stage, "seconds", kNotNegative);
         for (const char* key : {"plan_gained", "bound_gained"}) number(stage, key + in_unit);
         stage.boolean("first_plan", false);
       });
  if (outcome.find("without") != nullptr) {
    outcome.each("without", [&](const JsonValue& stage, const JsonPath& path) {
      if (stage.string() == nullptr) add_wrong_type(stage, path, "a text", outcome.errors());
    });
  }
  if (const JsonValue* parameters = outcome.find("parameters")) {
    const JsonPath path = outcome.at("parameters");
    if (parameters->object() == nullptr) {
      add_wrong_type(*parameters, path, "an object", outcome.errors());
      return;
    }
    for (const JsonMember& member : *parameters->object()) {
      read_number(member.value, path.key(member.key), {}, outcome.errors());
    }
  }
}

StatedLayout read_layout(const ObjectReader& outcome) {
  const JsonPath path = outcome.at("layout");
  const ObjectReader layout(*outcome.find("layout"), path, outcome.errors(),
                            {"needed_bytes", "orders", "stopped_by", "detail", "plan"});
  integer(layout, "orders");
  one_of(layout, "stopped_by", kStoppedBy);
  text(layout, "detail");
  StatedLayout claimed{.needed_bytes = integer(layout, "needed_bytes")};
  if (const JsonValue* plan = given(layout, "plan")) {
    JsonWriter json;
    json.value(*plan);
    claimed.plan = json.take();
  }
  return claimed;
}

StatedRates read_rates(const ObjectReader& outcome, const StrategyInstance& instance) {
  const JsonPath path = outcome.at("rates");
  const ObjectReader rates(*outcome.find("rates"), path, outcome.errors(),
                           {"source", "stack", "steps", "kept", "error"});
  const StrategyRates known = instance.cost.rates.value_or(StrategyRates{});
  integer(rates, "steps");
  if (given(rates, "error") != nullptr) {
    const JsonPath where = rates.at("error");
    const ObjectReader error(*rates.find("error"), where, outcome.errors(),
                             {"of", "steps", "median", "p90", "worst"});
    text(error, "of");
    integer(error, "steps");
    for (const char* key : {"median", "p90", "worst"}) number(error, key, kNotNegative);
  }
  const std::string known_source = rate_source_text(known.source);
  return {.source = one_of(rates, "source", kStrategyRateSources).value_or(known_source),
          .stack = text(rates, "stack").value_or(""),
          .known_source = known_source,
          .known_stack = known.stack};
}

// In a family without certificates, the key of a certificate is unknown.
bool leaves_certificates(const Instance& instance) {
  return std::visit(
      []<class InstanceT>(const InstanceT&) {
        using Family = FamilyOf<InstanceT>;
        return !std::is_same_v<typename Family::Certificate, NoCertificate<Family>>;
      },
      instance);
}

}  // namespace

Result<std::optional<StatedOutcome>> read_outcome_claims(std::string_view text_of,
                                                         const Instance& instance) {
  return read_document(text_of, [&](const JsonValue& document, ErrorList& errors) {
    std::optional<StatedOutcome> none;
    const JsonValue* format = document.find("format");
    if (format == nullptr || format->string() == nullptr ||
        *format->string() != "stowage/outcome") {
      return none;
    }
    const std::string in_unit = '_' + std::string(objective_unit(instance).name);
    const std::string objective = "objective" + in_unit;
    const std::string bound = "bound" + in_unit;
    const std::string method_bound = "method_bound" + in_unit;
    const JsonPath root;
    std::vector<std::string_view> keys = {
        "format",     "version",      "problem", "name",        "status",  "stopped_by",
        "exit_code",  objective,      bound,     "bound_by",    "gap",     "method",
        method_bound, "found_by",     "solver",  "seed",        "seconds", "nodes",
        "detail",     "errors",       "bounds",  "unplaceable", "plan",    "infeasibility",
        "violations", "improvements", "remedy",  "stages",      "without", "parameters"};
    if (leaves_certificates(instance)) keys.push_back("certificate");
    if (std::holds_alternative<OrderInstance>(instance)) keys.push_back("layout");
    const auto* const strategy = std::get_if<StrategyInstance>(&instance);
    if (strategy != nullptr) keys.push_back("rates");
    const std::optional<double> simulated_bound = simulated_end_bound(instance);
    if (simulated_bound) {
      keys.insert(keys.end(), {"simulated_1f1b_ms", "simulated_bound_ms", "simulated_gap"});
    }
    const ObjectReader outcome(document, root, errors, keys);
    StatedOutcome claims{.status = one_of(outcome, "status", kStatusNames).value_or(""),
                         .objective = number(outcome, objective),
                         .bound = number(outcome, bound),
                         .gap = number(outcome, "gap"),
                         .name = text(outcome, "name"),
                         .stopped_by = one_of(outcome, "stopped_by", kStoppedBy),
                         .bound_by = text(outcome, "bound_by"),
                         .found_by = text(outcome, "found_by"),
                         .method_bound = number(outcome, method_bound, kNotNegative),
                         .seconds = number(outcome, "seconds", kNotNegative),
                         .nodes = integer(outcome, "nodes"),
                         .exit_code = integer(outcome, "exit_code"),
                         .detail = text(outcome, "detail"),
                         .remedy = text(outcome, "remedy"),
                         .unplaceable = ids(outcome, "unplaceable")};
    if (claims.exit_code && std::ranges::find(kExitCodes, *claims.exit_code) == kExitCodes.end()) {
      errors.add(code::kIntegerRange, "/exit_code",
                 "must be one of 0, 1, 2, 3, 70, 130, is " + std::to_string(*claims.exit_code));
    }
    text(outcome, "method");
    one_of(outcome, "solver", kSolvers);
    integer(outcome, "seed");
    if (simulated_bound) {
      claims.simulated = number(outcome, "simulated_1f1b_ms", kNotNegative);
      claims.simulated_bound = number(outcome, "simulated_bound_ms", kNotNegative);
      claims.simulated_gap = number(outcome, "simulated_gap");
      claims.known_simulated_bound = simulated_bound;
    }
    read_lists(outcome, in_unit, claims);
    read_course(outcome, in_unit);
    if (given(outcome, "layout") != nullptr) claims.layout = read_layout(outcome);
    if (given(outcome, "infeasibility") != nullptr) claims.infeasibility = read_proof(outcome);
    if (strategy != nullptr && given(outcome, "rates") != nullptr) {
      claims.rates = read_rates(outcome, *strategy);
    }
    claims.unchecked = unchecked_members(document);
    return std::optional(std::move(claims));
  });
}

}  // namespace stowage
