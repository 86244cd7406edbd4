#include "instances/strategy/fit/run_keys.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stowage {
namespace {

constexpr std::array<std::string_view, 12> kConfiguration = {"pp",
                                                             "v",
                                                             "tp",
                                                             "cp",
                                                             "dp",
                                                             "ep",
                                                             "shard",
                                                             "cp_exchange",
                                                             "zero",
                                                             "recompute",
                                                             "stream_chunks",
                                                             "micro_batches"};
constexpr std::array<std::string_view, 21> kOthers = {"micro_batch_size",
                                                      "tokens",
                                                      "sequences",
                                                      "devices",
                                                      "step_ms",
                                                      "peak_mib",
                                                      "model",
                                                      "hidden",
                                                      "heads",
                                                      "kv_width",
                                                      "query_width",
                                                      "vocabulary",
                                                      "layers",
                                                      "ffn",
                                                      "gated",
                                                      "tied",
                                                      "sequence_parallel",
                                                      "flash_attention",
                                                      "experts",
                                                      "top_k",
                                                      "expert_ffn"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kAliases = {
    {{"seq", "tokens"},
     {"global_batch", "sequences"},
     {"gpus", "devices"},
     {"micro_batch", "micro_batch_size"},
     {"flash", "flash_attention"}}};

std::string_view stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::string_view run_key(std::string_view word) {
  const auto* found = std::ranges::find(kAliases, word, &decltype(kAliases)::value_type::first);
  return found == kAliases.end() ? word : found->second;
}

std::vector<std::string_view> fields_by(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(by);
    parts.push_back(stripped(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_configuration_key(std::string_view key) {
  return std::ranges::find(kConfiguration, key) != kConfiguration.end();
}

std::vector<std::string_view> run_keys() {
  std::vector<std::string_view> keys(kConfiguration.begin(), kConfiguration.end());
  keys.insert(keys.end(), kOthers.begin(), kOthers.end());
  return keys;
}

}  // namespace stowage
