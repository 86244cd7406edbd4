#include "cli/flags/param_flags.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/flags/suggest.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "instances/json/document.h"
#include "instances/json/reader.h"

namespace stowage {
namespace {

using Values = std::vector<ParameterValue>;

// Parses "lns.moves=4000"; returns an error for another form.
Result<ParameterValue> parse_setting(const std::string& setting) {
  const std::size_t sign = setting.find('=');
  const std::string name = setting.substr(0, sign);
  double value = 0;
  if (sign != setting.npos && !name.empty()) {
    const char* const last = setting.data() + setting.size();
    const auto [end, failure] = std::from_chars(setting.data() + sign + 1, last, value);
    if (failure == std::errc() && end == last) return ParameterValue{name, value};
  }
  return InputError{kUsage, "--set", "must be NAME=NUMBER, is '" + setting + "'"};
}

// Parses a JSON object that maps names to numbers.
Result<Values> parse_file(const std::string& text) {
  return read_document(text, [](const JsonValue& document, ErrorList& errors) {
    Values values;
    if (document.object() == nullptr) {
      add_wrong_type(document, JsonPath(), "an object of numbers by name", errors);
      return values;
    }
    const JsonPath root;
    for (const JsonMember& member : *document.object()) {
      const JsonPath path = root.key(member.key);
      const double value = read_number(member.value, path, {}, errors).value_or(0);
      values.push_back({std::string(member.key), value});
    }
    return values;
  });
}

// Checks stages and parameters with the same function as solve(). This function adds the flag and
// the nearest name to the message.
void check_settings(const Instance& instance, const std::string& flag, const Values& values,
                    std::vector<CliError>& errors) {
  std::vector<std::string> names;
  for (const ParameterInfo& known : parameters(instance)) names.push_back(known.name);
  for (const InputError& error : check_parameters(instance, values)) {
    const std::string name = error.pointer.substr(error.pointer.find('/') + 1);
    const bool known = std::ranges::find(names, name) != names.end();
    errors.push_back(
        {"", {kUsage, flag, name + ' ' + error.message + (known ? "" : suggestion(name, names))}});
  }
}

}  // namespace

void ParamFlags::declare(Flags& flags) {
  flags.list(
      "--set", settings_, "NAME=VALUE,...",
      "Parameters of the search that differ from their defaults; `stowage params` lists them");
  flags.text("--params", file_, "FILE",
             "The same in a file: a JSON object of numbers by name; --set goes before it");
  flags.list("--without", without_, "STAGE,...",
             "Stages of the search that are left out; `stowage params` lists them");
}

std::vector<CliError> ParamFlags::apply(const Instance& instance, SolveOptions& options) const {
  std::vector<CliError> errors;
  Values set;
  for (const std::string& setting : settings_) {
    Result<ParameterValue> value = parse_setting(setting);
    if (value) {
      set.push_back(*std::move(value));
    } else {
      errors.push_back({"", value.errors().front()});
    }
  }
  check_settings(instance, "--set", set, errors);
  if (!file_.empty()) {
    const Result<std::string> text = read_file(file_);
    Result<Values> values = text ? parse_file(*text) : Result<Values>(text.errors());
    if (values) {
      check_settings(instance, "--params", *values, errors);
      for (const ParameterValue& value : *values) {
        if (std::ranges::find(set, value.name, &ParameterValue::name) == set.end()) {
          set.push_back(value);
        }
      }
    } else {
      for (const InputError& error : values.errors()) errors.push_back({file_, error});
    }
  }
  std::vector<std::string> stage_names;
  for (const StageInfo& stage : stages(instance)) stage_names.push_back(stage.name);
  for (const std::string& name : without_) {
    if (std::ranges::find(stage_names, name) != stage_names.end()) continue;
    const std::string family(family_name(instance));
    errors.push_back(
        {"",
         {kUsage, "--without",
          stage_names.empty()
              ? "must not be given: a solve of " + family + " has no stages that can be left out"
              : "unknown value '" + name + "' (choose " + comma_list(stage_names) + ')' +
                    suggestion(name, stage_names)}});
  }
  for (const ParameterInfo& known : parameters(instance)) {
    for (const ParameterValue& value : set) {
      if (value.name == known.name && value.value != known.value) options.params.push_back(value);
    }
  }
  options.without = without_;
  return errors;
}

}  // namespace stowage
