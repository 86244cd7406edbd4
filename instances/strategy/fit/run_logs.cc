// Longer than 300 lines: each of the three kinds of logs has its own keywords.
#include "instances/strategy/fit/run_logs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/text.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr std::string_view kMegatronTime = "elapsed time per iteration (ms):";
constexpr std::string_view kListedMesh = "-D device mesh with ";
constexpr std::string_view kPairedMesh = "device mesh with parallelism: ";
constexpr double kMibOfGib = 1024;

using LogValues = std::map<std::string, std::string, std::less<>>;

// Returns the number that the text begins with; commas may separate its digits.
std::optional<double> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::string digits;
  for (const char c : text) {
    if (c == ',' && !digits.empty()) continue;
    const bool part =
        (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '-' || c == '+';
    if (!part) break;
    digits += c;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end == digits.data() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> number_after(std::string_view line, std::string_view words) {
  const std::size_t place = line.find(words);
  if (place == std::string_view::npos) return std::nullopt;
  return leading_number(line.substr(place + words.size()));
}

std::string_view bare_text(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

// Returns the lines without the colour codes of a terminal.
std::vector<std::string> log_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1B') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if (text[i] == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += text[i];
    }
  }
  return lines;
}

std::optional<double> steady_median(std::vector<double> values) {
  const auto warm_up = static_cast<std::ptrdiff_t>(
      values.size() > 1 ? std::max<std::size_t>(1, values.size() / 5) : 0);
  values.erase(values.begin(), values.begin() + warm_up);
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string integer_text(double value) { return std::to_string(std::llround(value)); }

bool is_set(const LogValues& arguments, std::string_view name) {
  const auto found = arguments.find(name);
  return found != arguments.end() && (found->second == "True" || found->second == "true");
}

// Returns the argument; empty if it is missing or None.
std::string argument_of(const LogValues& arguments, std::string_view name) {
  const auto found = arguments.find(name);
  if (found == arguments.end() || found->second == "None" || found->second == "null") return "";
  return found->second;
}

std::int64_t whole_number(const std::string& text) {
  const std::optional<double> value = leading_number(text);
  return value && *value >= 0 && *value < 1e15 ? std::llround(*value) : 0;
}

// Translates Megatron-LM's arguments. They are those of its command line with _ for -.
void read_megatron_arguments(const LogValues& arguments, LogValues& run) {
  constexpr std::array<std::pair<std::string_view, const char*>, 17> kSame = {
      {{"world_size", "devices"},
       {"tensor_model_parallel_size", "tp"},
       {"pipeline_model_parallel_size", "pp"},
       {"virtual_pipeline_model_parallel_size", "v"},
       {"context_parallel_size", "cp"},
       {"expert_model_parallel_size", "ep"},
       {"micro_batch_size", "micro_batch_size"},
       {"global_batch_size", "sequences"},
       {"seq_length", "tokens"},
       {"num_layers", "layers"},
       {"hidden_size", "hidden"},
       {"ffn_hidden_size", "ffn"},
       {"num_attention_heads", "heads"},
       {"padded_vocab_size", "vocabulary"},
       {"num_experts", "experts"},
       {"moe_router_topk", "top_k"},
       {"moe_ffn_hidden_size", "expert_ffn"}}};
  for (const auto& [theirs, ours] : kSame) {
    if (const std::string value = argument_of(arguments, theirs); !value.empty()) run[ours] = value;
  }
  if (const std::string full = argument_of(arguments, "recompute_granularity"); !full.empty()) {
    run["recompute"] = full;
  } else if (arguments.contains("recompute_granularity")) {
    run["recompute"] = "none";
  }
  if (arguments.contains("use_distributed_optimizer")) {
    run["zero"] = is_set(arguments, "use_distributed_optimizer") ? "1" : "0";
  }
  const std::int64_t copies =
      whole_number(argument_of(arguments, "num_distributed_optimizer_instances"));
  const auto degree = [&](const char* key) {
    return run.contains(key) ? std::max<std::int64_t>(1, whole_number(run[key])) : 1;
  };
  const std::int64_t model = degree("tp") * degree("pp") * copies;
  if (copies > 1 && degree("devices") % model == 0) {
    run["shard"] = std::to_string(degree("devices") / model);
  }
  // Megatron-LM's default is the ring, which it calls p2p.
  const std::string exchange = argument_of(arguments, "cp_comm_type");
  if (degree("cp") > 1 && !exchange.empty()) {
    run["cp_exchange"] = exchange.find("a2a") == std::string::npos ? "ring" : "all_to_all";
  }
  const bool fsdp = is_set(arguments, "use_megatron_fsdp") || is_set(arguments, "use_custom_fsdp");
  const std::string sharding = argument_of(arguments, "data_parallel_sharding_strategy");
  if (fsdp && sharding == "optim_grads") run["zero"] = "2";
  if ((fsdp && sharding == "optim_grads_params") || is_set(arguments, "use_torch_fsdp2")) {
    run["zero"] = "3";
  }
  if (arguments.contains("sequence_parallel")) {
    run["sequence_parallel"] = is_set(arguments, "sequence_parallel") ? "1" : "0";
  }
  if (arguments.contains("swiglu")) run["gated"] = is_set(arguments, "swiglu") ? "1" : "0";
  if (arguments.contains("untie_embeddings_and_output_weights")) {
    run["tied"] = is_set(arguments, "untie_embeddings_and_output_weights") ? "0" : "1";
  }
  const std::int64_t heads = whole_number(argument_of(arguments, "num_attention_heads"));
  std::int64_t channels = whole_number(argument_of(arguments, "kv_channels"));
  if (channels == 0 && heads > 0) {
    channels = whole_number(argument_of(arguments, "hidden_size")) / heads;
  }
  if (heads > 0 && channels > 0) {
    run["query_width"] = std::to_string(heads * channels);
    const std::int64_t groups = is_set(arguments, "group_query_attention")
                                    ? whole_number(argument_of(arguments, "num_query_groups"))
                                    : heads;
    if (groups > 0) run["kv_width"] = std::to_string(groups * channels);
  }
  // A layer with experts has no other feed-forward part.
  if (run.contains("experts")) {
    if (!run.contains("expert_ffn") && run.contains("ffn")) run["expert_ffn"] = run["ffn"];
    run["ffn"] = "0";
  }
}

// Reads "  num_layers ...................................... 32".
void read_argument_line(std::string_view line, LogValues& arguments) {
  const std::size_t dots = line.find(" ..");
  if (dots == std::string_view::npos) return;
  const std::string_view before = bare_text(line.substr(0, dots));
  const std::string_view name = before.substr(before.find_last_of(" :]") + 1);
  const std::size_t end = line.find_first_not_of('.', dots + 1);
  if (name.empty() || end == std::string_view::npos) return;
  arguments.emplace(name, bare_text(line.substr(end)));
}

struct Series {
  std::vector<double> step_ms;
  std::vector<double> peak_mib;
};

std::optional<InputError> put_steps(const Series& series, const std::string& place,
                                    LogValues& run) {
  const std::optional<double> step = steady_median(series.step_ms);
  if (!step || !(*step > 0)) {
    return InputError{
        code::kLoggedRun, place,
        "must have the times of two steps or more, has " + std::to_string(series.step_ms.size())};
  }
  run["step_ms"] = shortest(*step);
  if (!series.peak_mib.empty()) {
    run["peak_mib"] = shortest(std::ranges::max(series.peak_mib));
  }
  return std::nullopt;
}

Result<std::vector<StatedRun>> read_megatron(std::string_view text, const std::string& file) {
  LogValues arguments;
  Series series;
  StatedRun run{.place = file};
  for (const std::string& line : log_lines(text)) {
    if (const std::optional<double> ms = number_after(line, kMegatronTime)) {
      series.step_ms.push_back(*ms);
      if (const auto batch = number_after(line, "global batch size:")) {
        run.values["sequences"] = integer_text(*batch);
      }
    } else if (const auto mib = number_after(line, "max reserved:")) {
      series.peak_mib.push_back(*mib);
    } else {
      read_argument_line(line, arguments);
    }
  }
  read_megatron_arguments(arguments, run.values);
  if (auto error = put_steps(series, file, run.values)) return *error;
  return std::vector{std::move(run)};
}

// Returns words of letters, digits and _.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (part) word += c;
    if (!part && !word.empty()) words.push_back(std::exchange(word, {}));
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// Reads "['dp_shard', 'tp'], [4, 2]": all names, then all degrees.
void read_listed_mesh(std::string_view text, LogValues& mesh) {
  const std::vector<std::string> words = words_of(text);
  for (std::size_t k = 0; k < words.size() / 2; ++k) mesh[words[k]] = words[words.size() / 2 + k];
}

// Reads "pp=1, dp_replicate=1, dp_shard=4": each name with its degree.
void read_paired_mesh(std::string_view text, LogValues& mesh) {
  const std::vector<std::string> words = words_of(text);
  for (std::size_t k = 0; k + 1 < words.size(); k += 2) mesh[words[k]] = words[k + 1];
}

Result<std::vector<StatedRun>> read_torchtitan(std::string_view text, const std::string& file) {
  LogValues mesh;
  Series series;
  StatedRun run{.place = file};
  std::vector<double> tokens_per_second;
  double local_batch = 0;
  double length = 0;
  double accumulation = 1;
  for (const std::string& line : log_lines(text)) {
    const std::string_view view = line;
    if (line.find("step:") != std::string::npos && line.find("validate") == std::string::npos) {
      const auto tps = number_after(line, "tps:");
      if (!tps || !(*tps > 0)) continue;
      tokens_per_second.push_back(*tps);
      if (const auto gib = number_after(line, "memory:")) {
        series.peak_mib.push_back(*gib * kMibOfGib);
      }
    } else if (const std::size_t at = view.find(kListedMesh); at != std::string_view::npos) {
      read_listed_mesh(view.substr(at + kListedMesh.size()), mesh);
    } else if (const std::size_t by = view.find(kPairedMesh); by != std::string_view::npos) {
      read_paired_mesh(view.substr(by + kPairedMesh.size()), mesh);
    } else if (const auto batch = number_after(line, "with local batch size ")) {
      local_batch = *batch;
      length = number_after(line, "sequence length ").value_or(0);
      accumulation = number_after(line, "gradient_accumulation_steps: ")
                         .value_or(number_after(line, "gradient accumulation steps ").value_or(1));
      if (const auto all = number_after(line, "global batch size ")) {
        run.values["sequences"] = integer_text(*all);
      }
    } else if (view.find(" activation checkpointing to the model") != std::string_view::npos) {
      const bool full = view.find("Applied full") != std::string_view::npos;
      run.values["recompute"] = full ? "full" : "selective";
    }
  }
  const auto degree = [&](std::string_view name) {
    return std::max<std::int64_t>(1, whole_number(argument_of(mesh, name)));
  };
  const std::int64_t shards = degree("dp_shard") * degree("dp_replicate");
  const std::int64_t others = degree("tp") * degree("cp") * degree("pp");
  if (!mesh.empty()) {
    for (const char* key : {"tp", "cp", "pp", "ep"}) run.values[key] = std::to_string(degree(key));
    run.values["devices"] = std::to_string(shards * others);
    // FSDP shards parameters, gradients and states; with a pipeline it keeps parameters gathered.
    if (degree("dp_shard") > 1) {
      run.values["zero"] = degree("pp") > 1 ? "2" : "3";
      if (degree("dp_replicate") > 1) {
        run.values["shard"] = std::to_string(degree("dp_shard") * degree("cp"));
      }
    }
  }
  if (local_batch > 0 && length > 0) {
    run.values["tokens"] = integer_text(length);
    if (degree("pp") == 1) run.values["micro_batch_size"] = integer_text(local_batch);
    const double tokens = local_batch * std::max(1.0, accumulation) * length;
    for (const double tps : tokens_per_second) {
      series.step_ms.push_back(1000 * tokens / (tps * static_cast<double>(others)));
    }
  } else if (!tokens_per_second.empty()) {
    return InputError{code::kLoggedRun, file,
                      "must have the line \"with local batch size ..., sequence length ...\", "
                      "which makes times of tokens a second, is without it"};
  }
  if (auto error = put_steps(series, file, run.values)) return *error;
  return std::vector{std::move(run)};
}

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

// Reads torchtitan's keys of a configuration, as columns of the table of runs.
void read_torchtitan_columns(const LogValues& columns, LogValues& run) {
  constexpr std::array<std::pair<std::string_view, const char*>, 8> kSame = {
      {{"parallelism.tensor_parallel_degree", "tp"},
       {"parallelism.pipeline_parallel_degree", "pp"},
       {"parallelism.context_parallel_degree", "cp"},
       {"parallelism.expert_parallel_degree", "ep"},
       {"training.local_batch_size", "micro_batch_size"},
       {"training.batch_size", "micro_batch_size"},
       {"training.seq_len", "tokens"},
       {"activation_checkpoint.mode", "recompute"}}};
  for (const auto& [theirs, ours] : kSame) {
    if (const std::string value = argument_of(columns, theirs); !value.empty()) run[ours] = value;
  }
  const std::string shards = argument_of(columns, "parallelism.data_parallel_shard_degree");
  if (shards.empty()) return;
  run["zero"] = "3";
  if (whole_number(argument_of(columns, "parallelism.data_parallel_replicate_degree")) > 1 &&
      whole_number(shards) > 0) {
    run["shard"] =
        std::to_string(whole_number(shards) * std::max<std::int64_t>(1, whole_number(run["cp"])));
  }
}

Result<std::vector<StatedRun>> read_wandb(std::string_view text, const std::string& file) {
  const std::vector<std::string> lines = log_lines(text);
  const std::vector<std::string> header = export_cells(lines.front());
  std::vector<StatedRun> runs;
  std::map<std::string, Series> charts;  // by run
  std::vector<InputError> errors;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (bare_text(lines[i]).empty()) continue;
    const std::vector<std::string> cells = export_cells(lines[i]);
    LogValues row;
    Series series;
    bool table = false;
    for (std::size_t k = 0; k < std::min(cells.size(), header.size()); ++k) {
      const std::optional<double> number = leading_number(cells[k]);
      std::string run;
      if (const LogMetric* its = metric_of_chart(header[k], run); its != nullptr && number) {
        Series& chart = charts[run];
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

}  // namespace

RunLogKind kind_of_run_log(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  for (const LogMetric& metric : kLogMetrics) {
    if (metric.is_time && first.find(metric.name) != std::string_view::npos) {
      return RunLogKind::wandb;
    }
  }
  if (text.find(kMegatronTime) != std::string_view::npos) return RunLogKind::megatron;
  if (text.find("tps: ") != std::string_view::npos) return RunLogKind::torchtitan;
  return RunLogKind::none;
}

Result<std::vector<StatedRun>> read_run_log(std::string_view text, const std::string& file) {
  switch (kind_of_run_log(text)) {
    case RunLogKind::megatron:
      return read_megatron(text, file);
    case RunLogKind::torchtitan:
      return read_torchtitan(text, file);
    case RunLogKind::wandb:
      return read_wandb(text, file);
    case RunLogKind::none:
      break;
  }
  return InputError{code::kLoggedRun, file,
                    "must be a log of Megatron-LM or torchtitan, or a CSV export of Weights & "
                    "Biases with their times, is none"};
}

}  // namespace stowage
