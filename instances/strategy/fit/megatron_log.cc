// Logs of Megatron-LM: the list of arguments, and a line for each step.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "instances/strategy/fit/log_text.h"

namespace stowage {
namespace {

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

}  // namespace

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

Result<std::vector<StatedRun>> read_megatron_log(std::string_view text, const std::string& file) {
  LogValues arguments;
  LoggedSeries series;
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

}  // namespace stowage
