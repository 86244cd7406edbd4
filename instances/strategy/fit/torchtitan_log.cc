// Logs of torchtitan: its mesh, its batch, and tokens a second of each step.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "instances/json/errors.h"
#include "instances/strategy/fit/log_text.h"

namespace stowage {
namespace {

constexpr std::string_view kListedMesh = "-D device mesh with ";
constexpr std::string_view kPairedMesh = "device mesh with parallelism: ";

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

}  // namespace

Result<std::vector<StatedRun>> read_torchtitan_log(std::string_view text, const std::string& file) {
  LogValues mesh;
  LoggedSeries series;
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

}  // namespace stowage
