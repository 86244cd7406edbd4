#include "cli/commands/memory/row_caps.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/table.h"
#include "instances/assign/memory.h"
#include "instances/assign/presets.h"
#include "instances/json/writer.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// A scheme's cap and the limit by memory. `derived` is empty if the scheme's tp was not published.
struct SchemeMemory {
  const Scheme& scheme;
  std::optional<Mib> states;
  std::optional<Tokens> derived;
  Tokens row = 0;      // row_cap
  Tokens longest = 0;  // longest_sequence

  std::optional<bool> fits() const {
    if (!derived) return std::nullopt;
    return scheme.max_tokens <= *derived;
  }
};

SchemeMemory memory_of(const AssignInstance& instance, const Scheme& scheme,
                       const ReplicaMemory& memory) {
  SchemeMemory found{.scheme = scheme,
                     .states = std::nullopt,
                     .derived = std::nullopt,
                     .row = row_cap(instance, scheme),
                     .longest = longest_sequence(instance, scheme)};
  if (std::ranges::find(memory.activation, scheme.tp, &TokenActivation::tp) !=
      memory.activation.end()) {
    found.states = states_mib(memory, scheme.tp, scheme.pp);
    found.derived = max_row_tokens(memory, scheme.tp, scheme.pp);
  }
  return found;
}

const char* text_of(std::optional<bool> fits) { return !fits ? "unknown" : *fits ? "yes" : "NO"; }

void write_fit(JsonWriter& json, std::optional<bool> fits) {
  if (fits) {
    json.boolean("fits", *fits);
  } else {
    json.key("fits");
    json.null();
  }
}

}  // namespace

ExitCode memory_of_schemes(Console& console, const AssignInstance& instance,
                           const std::string& model) {
  const std::vector<std::string_view> models = assign_preset_models();
  const auto named = std::ranges::find_if(models, [&](std::string_view each) {
    return model.empty() ? instance.name.starts_with(each) : model == each;
  });
  if (named == models.end()) {
    std::string known;
    for (const std::string_view each : models) {
      known += (known.empty() ? "" : ", ") + std::string(each);
    }
    return console.refuse({kUsage, "--model",
                           model.empty() ? "is needed: the instance's name, '" + instance.name +
                                               "', begins with none of " + known
                                         : "must be one of " + known +
                                               " for an assign instance, is '" + model + '\''});
  }
  const ReplicaMemory& memory = assign_preset_memory(*named);
  Table table({{"scheme", Align::left},
               {"tp", Align::right},
               {"pp", Align::right},
               {"states MiB", Align::right},
               {"tokens that fit", Align::right},
               {"max_tokens", Align::right},
               {"row cap", Align::right},
               {"longest sequence", Align::right},
               {"fits", Align::left}});
  std::optional<bool> all = true;
  std::vector<SchemeMemory> schemes;
  for (const Scheme& scheme : instance.schemes) {
    const SchemeMemory& found = schemes.emplace_back(memory_of(instance, scheme, memory));
    const std::optional<bool> fits = found.fits();
    if (fits == false || (all == true && !fits)) all = fits;
    table.add({scheme.name, grouped(scheme.tp), grouped(scheme.pp),
               found.states ? ms_text(*found.states) : "unknown",
               found.derived ? grouped(*found.derived) : "unknown", grouped(scheme.max_tokens),
               grouped(found.row), grouped(found.longest), text_of(fits)});
  }
  const ExitCode code = !all ? ExitCode::unknown : *all ? ExitCode::ok : ExitCode::refused;
  console.table(table);
  console.verdict(!all   ? "unknown"
                  : *all ? "fits"
                         : "does not fit",
                  "  model " + std::string(*named) + "  " +
                      grouped(static_cast<std::int64_t>(instance.schemes.size())) + " schemes");
  JsonWriter json;
  json.begin_object();
  write_head(json, "stowage/memory", "assign", instance.name);
  json.integer("exit_code", to_int(code));
  json.text("model", std::string(*named));
  write_fit(json, all);
  json.key("schemes");
  json.begin_array();
  for (const SchemeMemory& found : schemes) {
    json.begin_object(JsonWriter::Layout::line);
    json.text("scheme", found.scheme.name);
    json.integer("tp", found.scheme.tp);
    json.integer("pp", found.scheme.pp);
    if (found.derived) {
      json.number("states_mib", *found.states);
      json.integer("derived_tokens", *found.derived);
    }
    json.integer("max_tokens", found.scheme.max_tokens);
    json.integer("row_cap_tokens", found.row);
    json.integer("longest_sequence_tokens", found.longest);
    write_fit(json, found.fits());
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return console.answer(json.take(), code);
}

}  // namespace stowage
