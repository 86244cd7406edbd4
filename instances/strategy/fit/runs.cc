#include "instances/strategy/fit/runs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/json/text.h"
#include "instances/model/transformer.h"
#include "instances/strategy/configuration.h"
#include "instances/strategy/fit/run_keys.h"
#include "instances/strategy/fit/run_logs.h"
#include "instances/strategy/generate/from_shape.h"
#include "instances/strategy/json/json.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxRuns = 10000;

// Collects all errors of a run. A run without errors gives a sample.
class RunReader {
 public:
  RunReader(const StatedRun& run, const StrategyInstance& like) : run_(run), like_(like) {}

  std::vector<InputError> errors;

  LoggedRun read() {
    LoggedRun logged{.place = run_.place};
    StrategyInstance& instance = logged.sample.instance;
    instance = like_;
    instance.name.clear();
    logged.sample.step_ms = number("step_ms", 1e-9, 1e15).value_or(0);
    if (!has("step_ms")) wrong("must have step_ms, or a log with it, has neither");
    logged.peak_mib = number("peak_mib", 1e-9, 1e12);
    read_model(instance.model);
    read_cluster(instance.cluster);
    read_lengths(instance.lengths);
    if (!errors.empty()) return logged;
    std::string words;
    for (const auto& [key, value] : run_.values) {
      const bool of_plan = is_configuration_key(key) || key == "micro_batch_size";
      if (of_plan) words += (words.empty() ? "" : ",") + key + '=' + value;
    }
    if (!has("micro_batches") && !has("micro_batch_size")) {
      wrong("must have micro_batches or micro_batch_size, has neither");
      return logged;
    }
    const Result<StrategyPlan> plan = read_configuration(words, instance);
    if (!plan) {
      for (const InputError& error : plan.errors()) wrong(error.pointer + ' ' + error.message);
      return logged;
    }
    logged.sample.configuration = {
        .its = {plan->pp, plan->v, plan->micro_batches},
        .layout = layout_of(*plan),
        .choice = {plan->stages.front().zero, plan->stages.front().recompute,
                   plan->stages.front().stream_chunks}};
    return logged;
  }

 private:
  void wrong(std::string message) {
    errors.push_back({code::kLoggedRun, run_.place, std::move(message)});
  }

  bool has(std::string_view key) const { return run_.values.contains(key); }

  // Returns nullopt if the run does not state the number.
  std::optional<double> number(std::string_view key, double least, double most) {
    const auto found = run_.values.find(key);
    if (found == run_.values.end()) return std::nullopt;
    const std::string& text = found->second;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size();
    if (read && value >= least && value <= most) return value;
    wrong(std::string(key) + " must be a number from " + plain(least) + " to " + plain(most) +
          ", is " + in_quotes(text));
    return std::nullopt;
  }

  static std::string plain(double value) {
    std::array<char, 40> buffer{};
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return {buffer.data(), written.ptr};
  }

  void integer(std::string_view key, double least, double most, std::int64_t& target) {
    const std::optional<double> value = number(key, least, most);
    if (!value) return;
    if (*value != std::floor(*value)) {
      return wrong(std::string(key) + " must be an integer, is " +
                   in_quotes(run_.values.find(key)->second));
    }
    target = static_cast<std::int64_t>(*value);
  }

  void flag(std::string_view key, bool& target) {
    std::int64_t value = target ? 1 : 0;
    integer(key, 0, 1, value);
    target = value == 1;
  }

  void read_model(StrategyModel& model) {
    if (const auto named = run_.values.find("model"); named != run_.values.end()) {
      const TransformerShape* shape = transformer_shape(named->second);
      if (shape == nullptr) return wrong(unknown_model(named->second, transformer_names()).message);
      model = model_of(*shape);
    }
    constexpr double kWidth = kMaxModelWidth;
    integer("hidden", 1, kWidth, model.hidden);
    integer("heads", 1, kWidth, model.heads);
    integer("vocabulary", 0, kWidth, model.vocabulary);
    for (const auto& [key, width] :
         {std::pair("kv_width", &model.kv_width), {"query_width", &model.query_width}}) {
      std::int64_t value = width->value_or(model.hidden);
      integer(key, 1, kWidth, value);
      if (has(key)) *width = value;
    }
    flag("tied", model.tied);
    flag("sequence_parallel", model.sequence_parallel);
    flag("flash_attention", model.flash_attention);
    constexpr std::array<std::string_view, 6> kOfLayers = {"layers",  "ffn",   "gated",
                                                           "experts", "top_k", "expert_ffn"};
    if (std::ranges::none_of(kOfLayers, [&](std::string_view key) { return has(key); })) return;
    StrategyBlock block = model.blocks.front();
    block.count = 0;
    for (const StrategyBlock& each : model.blocks) block.count += each.count;
    integer("layers", 1, kMaxLayers, block.count);
    integer("ffn", 0, kWidth, block.ffn);
    flag("gated", block.gated);
    StrategyExperts experts = block.experts.value_or(StrategyExperts{});
    integer("experts", 0, kWidth, experts.count);
    integer("top_k", 0, kWidth, experts.top_k);
    integer("expert_ffn", 0, kWidth, experts.ffn);
    if (has("experts")) block.experts = experts;
    if (block.experts && (block.experts->count == 0 || block.experts->ffn == 0)) {
      block.experts.reset();
    }
    if (block.experts) block.experts->top_k = std::max<std::int64_t>(1, block.experts->top_k);
    model.blocks = {block};
  }

  void read_cluster(StrategyCluster& cluster) {
    std::int64_t devices = 0;
    integer("devices", 1, kMaxDevices, devices);
    if (devices == 0) {
      // If the configuration states dp, the devices are the product of its degrees; otherwise all
      // devices of the cluster.
      devices = cluster.devices();
      std::int64_t dp = 0;
      integer("dp", 1, kMaxDevices, dp);
      if (dp > 0) {
        devices = dp;
        for (const char* key : {"pp", "tp", "cp"}) {
          std::int64_t degree = 1;
          integer(key, 1, kMaxDevices, degree);
          devices = std::min<std::int64_t>(devices * degree, kMaxDevices);
        }
      }
    }
    cluster.devices_per_node = std::min(cluster.devices_per_node, devices);
    if (devices % cluster.devices_per_node != 0) {
      return wrong("devices must be whole nodes of " + std::to_string(cluster.devices_per_node) +
                   ", is " + std::to_string(devices));
    }
    cluster.nodes = devices / cluster.devices_per_node;
  }

  void read_lengths(std::vector<Tokens>& lengths) {
    std::int64_t tokens = 0;
    std::int64_t sequences = 0;
    integer("tokens", 1, 1e12, tokens);
    integer("sequences", 1, kMaxSequences, sequences);
    if (tokens == 0 && sequences == 0) return;
    if (sequences == 0) sequences = std::ssize(lengths);
    if (tokens == 0) {
      if (std::ranges::adjacent_find(lengths, std::not_equal_to()) != lengths.end()) {
        return wrong("must have tokens beside sequences, since lengths of the instance differ");
      }
      tokens = lengths.front();
    }
    lengths.assign(static_cast<std::size_t>(sequences), tokens);
  }

  const StatedRun& run_;
  const StrategyInstance& like_;
};

class TableReader {
 public:
  explicit TableReader(const RunFiles& files) : files_(files) {}

  Result<std::vector<StatedRun>> read() {
    std::vector<std::string_view> lines = fields_by(files_.text, '\n');
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    if (lines.empty()) {
      return InputError{code::kCsvHeader, files_.name + ":1", "must name columns, is empty"};
    }
    read_header(lines.front());
    if (!errors_.empty()) return errors_;
    if (std::ssize(lines) - 1 > kMaxRuns) {
      return InputError{code::kTooManyValues, files_.name,
                        "must be at most " + std::to_string(kMaxRuns) + " runs, is " +
                            std::to_string(lines.size() - 1)};
    }
    for (std::size_t i = 1; i < lines.size(); ++i) {
      read_line(lines[i], files_.name + ':' + std::to_string(i + 1));
    }
    if (!errors_.empty()) return errors_;
    return std::move(runs_);
  }

 private:
  void read_header(std::string_view line) {
    std::vector<std::string_view> known = run_keys();
    known.insert(known.end(), {"log", "run"});
    for (const std::string_view word : fields_by(line, ',')) {
      const std::string_view key = run_key(word);
      const bool ignored = word.starts_with("x-");
      const std::string place = files_.name + ":1";
      if (!ignored && std::ranges::find(known, key) == known.end()) {
        errors_.push_back(
            {code::kCsvHeader, place,
             "must name known columns, is " + in_quotes(word) + did_you_mean(word, known)});
      } else if (!ignored && std::ranges::find(columns_, key) != columns_.end()) {
        errors_.push_back({code::kCsvHeader, place,
                           "must name each column once, is " + in_quotes(word) + " again"});
      }
      columns_.push_back(ignored ? std::string_view() : key);
    }
  }

  void read_line(std::string_view line, const std::string& place) {
    const std::vector<std::string_view> cells = fields_by(line, ',');
    if (cells.size() != columns_.size()) {
      errors_.push_back({code::kCsvRow, place,
                         "must have a field for each of " + std::to_string(columns_.size()) +
                             " columns, has " + std::to_string(cells.size())});
      return;
    }
    std::map<std::string, std::string, std::less<>> values;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (!columns_[k].empty() && !cells[k].empty()) values.emplace(columns_[k], cells[k]);
    }
    StatedRun run{.place = place};
    const auto log = values.find("log");
    if (log != values.end() && !add_log(log->second, values, run)) return;
    for (const auto& [key, value] : values) {
      if (key != "log" && key != "run") run.values[key] = value;
    }
    runs_.push_back(std::move(run));
  }

  bool add_log(const std::string& name,
               const std::map<std::string, std::string, std::less<>>& values, StatedRun& run) {
    const Result<std::string> text = files_.read(name);
    if (!text) {
      errors_.insert(errors_.end(), text.errors().begin(), text.errors().end());
      return false;
    }
    const Result<std::vector<StatedRun>> logged = read_run_log(*text, name);
    if (!logged) {
      errors_.insert(errors_.end(), logged.errors().begin(), logged.errors().end());
      return false;
    }
    const auto wanted = values.find("run");
    const auto found = wanted == values.end()
                           ? logged->begin()
                           : std::ranges::find(*logged, wanted->second, &StatedRun::name);
    if (found == logged->end() || (wanted == values.end() && logged->size() > 1)) {
      std::string names;
      for (const StatedRun& each : *logged) names += (names.empty() ? "" : ", ") + each.name;
      errors_.push_back({code::kLoggedRun, run.place,
                         "must name a run of " + name + " in the column run: it has " + names});
      return false;
    }
    run.values = found->values;
    return true;
  }

  const RunFiles& files_;
  std::vector<std::string_view> columns_;
  std::vector<StatedRun> runs_;
  std::vector<InputError> errors_;
};

// Reads "pp=4,tokens=8192".
Result<std::map<std::string, std::string, std::less<>>> values_in(std::string_view stated) {
  std::map<std::string, std::string, std::less<>> values;
  std::vector<InputError> errors;
  if (stated.empty()) return values;
  const std::vector<std::string_view> known = run_keys();
  for (const std::string_view word : fields_by(stated, ',')) {
    const std::size_t equals = word.find('=');
    const std::string_view key = run_key(word.substr(0, equals));
    if (equals == std::string_view::npos || std::ranges::find(known, key) == known.end()) {
      errors.push_back({code::kLoggedRun, "--configuration",
                        "must be known keys and values like tp=8, has " + in_quotes(word) +
                            did_you_mean(key, known)});
      continue;
    }
    values[std::string(key)] = word.substr(equals + 1);
  }
  if (!errors.empty()) return errors;
  return values;
}

}  // namespace

Result<std::vector<LoggedRun>> read_runs(const RunFiles& files, std::string_view stated,
                                         const StrategyInstance& like) {
  const auto common = values_in(stated);
  const bool log = kind_of_run_log(files.text) != RunLogKind::none;
  const Result<std::vector<StatedRun>> read =
      log ? read_run_log(files.text, files.name) : TableReader(files).read();
  if (!common || !read) {
    std::vector<InputError> errors;
    if (!common) errors = common.errors();
    if (!read) errors.insert(errors.end(), read.errors().begin(), read.errors().end());
    return errors;
  }
  std::vector<LoggedRun> runs;
  std::vector<InputError> errors;
  for (StatedRun run : *read) {
    for (const auto& [key, value] : *common) {
      if (log) {
        run.values[key] = value;
      } else {
        run.values.try_emplace(key, value);
      }
    }
    RunReader reader(run, like);
    runs.push_back(reader.read());
    errors.insert(errors.end(), reader.errors.begin(), reader.errors.end());
  }
  if (runs.empty()) errors.push_back({code::kLoggedRun, files.name, "must have a run, has none"});
  if (!errors.empty()) return errors;
  return runs;
}

}  // namespace stowage
