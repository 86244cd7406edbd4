#include "bench/record.h"

#include <fstream>
#include <istream>
#include <limits>
#include <sstream>

#include "instances/json/errors.h"
#include "instances/json/reader.h"
#include "instances/json/writer.h"

namespace stowage::bench {
namespace {

constexpr auto kOneLine = JsonWriter::Layout::line;

void write_optional(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  json.key(key);
  value ? json.number(*value) : json.null();
}

std::optional<double> read_optional(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.require(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return reader.number(key, {});
}

Setup setup_from(const ObjectReader& reader) {
  return {.date = reader.text("date"),
          .commit = reader.text("commit"),
          .cpu = reader.text("cpu"),
          .cores = reader.integer("cores", {}),
          .memory_gib = reader.number("memory_gib", {}),
          .system = reader.text("system"),
          .compiler = reader.text("compiler"),
          .backends = reader.text("backends"),
          .protocol = static_cast<int>(reader.integer("protocol", {}, 1))};
}

Record record_from(const ObjectReader& reader) {
  return {.suite = reader.text("suite"),
          .instance = reader.text("instance"),
          .problem = reader.text("problem"),
          .size = reader.integer("size", {}),
          .devices = reader.integer("devices", {}),
          .method = reader.text("method"),
          .kind = reader.text("kind"),
          .seed = static_cast<std::uint64_t>(reader.integer("seed", {})),
          .time_limit_s = read_optional(reader, "time_limit_s"),
          .status = reader.text("status"),
          .stopped_by = reader.text("stopped_by"),
          .objective = read_optional(reader, "objective"),
          .bound = reader.number("bound", {}),
          .bound_by = reader.text("bound_by"),
          .method_bound = reader.find("method_bound") == nullptr
                              ? std::nullopt
                              : read_optional(reader, "method_bound"),
          .found_by = reader.text("found_by"),
          .cpu_s = reader.number("cpu_s", {}),
          .wall_s = reader.number("wall_s", {}),
          .first_s = read_optional(reader, "first_s"),
          .best_s = read_optional(reader, "best_s"),
          .nodes = reader.integer("nodes", {0, std::numeric_limits<std::int64_t>::max()}),
          .memory_mib = reader.number("memory_mib", {}),
          .plan = reader.text("plan", "")};
}

}  // namespace

std::string method_title(const Record& record) {
  if (!record.time_limit_s) return record.method;
  std::ostringstream text;
  text << record.method << ' ' << *record.time_limit_s << " s";
  return text.str();
}

std::string to_line(const Setup& setup) {
  JsonWriter json;
  json.begin_object(kOneLine);
  json.text("record", "setup");
  json.text("date", setup.date);
  json.text("commit", setup.commit);
  json.text("cpu", setup.cpu);
  json.integer("cores", setup.cores);
  json.number("memory_gib", setup.memory_gib);
  json.text("system", setup.system);
  json.text("compiler", setup.compiler);
  json.text("backends", setup.backends);
  json.integer("protocol", setup.protocol);
  json.end_object();
  return json.take();
}

std::string to_line(const Record& record) {
  JsonWriter json;
  json.begin_object(kOneLine);
  json.text("record", "result");
  json.text("suite", record.suite);
  json.text("instance", record.instance);
  json.text("problem", record.problem);
  json.integer("size", record.size);
  json.integer("devices", record.devices);
  json.text("method", record.method);
  json.text("kind", record.kind);
  json.integer("seed", static_cast<std::int64_t>(record.seed));
  write_optional(json, "time_limit_s", record.time_limit_s);
  json.text("status", record.status);
  json.text("stopped_by", record.stopped_by);
  write_optional(json, "objective", record.objective);
  json.number("bound", record.bound);
  json.text("bound_by", record.bound_by);
  if (record.method_bound) json.number("method_bound", *record.method_bound);
  json.text("found_by", record.found_by);
  json.number("cpu_s", record.cpu_s);
  json.number("wall_s", record.wall_s);
  write_optional(json, "first_s", record.first_s);
  write_optional(json, "best_s", record.best_s);
  json.integer("nodes", record.nodes);
  json.number("memory_mib", record.memory_mib);
  if (!record.plan.empty()) json.text("plan", record.plan);
  json.end_object();
  return json.take();
}

Result<Results> read_results(std::istream& stream, const std::string& name) {
  Results results;
  ErrorList errors;
  std::int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    ErrorList found;
    if (const std::optional<JsonValue> value = parse_json(line, found)) {
      const JsonPath root;
      const JsonValue* record = value->find("record");
      const bool setup =
          record != nullptr && record->string() != nullptr && *record->string() == "setup";
      if (setup) {
        const ObjectReader reader(*value, root, found,
                                  {"record", "date", "commit", "cpu", "cores", "memory_gib",
                                   "system", "compiler", "backends", "protocol"});
        results.setups.push_back(setup_from(reader));
      } else {
        const ObjectReader reader(
            *value, root, found,
            {"record", "suite",      "instance", "problem",      "size",       "devices",
             "method", "kind",       "seed",     "status",       "stopped_by", "objective",
             "bound",  "bound_by",   "found_by", "cpu_s",        "wall_s",     "first_s",
             "best_s", "memory_mib", "nodes",    "time_limit_s", "plan",       "method_bound"});
        results.records.push_back(record_from(reader));
      }
    }
    if (found.empty()) continue;
    for (const InputError& error : std::move(found).take()) {
      errors.add(error.code, name + ':' + std::to_string(number) + ' ' + error.pointer,
                 error.message);
    }
  }
  if (!errors.empty()) return std::move(errors).take();
  return results;
}

Result<Results> load_results(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) {
    return InputError{code::kUnreadable, path.string(), "must be a file that can be read"};
  }
  return read_results(stream, path.string());
}

}  // namespace stowage::bench
