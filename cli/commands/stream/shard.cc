#include "cli/commands/stream/shard.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "cli/terminal/error/error_codes.h"

namespace stowage {
namespace {

constexpr std::int64_t kMaxShards = 1'000'000'000;

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 0 || value > kMaxShards) return std::nullopt;
  return value;
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

InputError senseless(const std::string& name, const std::string& expected) {
  const std::optional<std::string> value = variable(name.c_str());
  return {kUsage, name,
          "must be " + expected + ", is " + (value ? '\'' + *value + '\'' : "missing") +
              " (or say --shard I/N)"};
}

// Returns the share given by a rank variable and a size variable, or nullopt if the rank variable
// is not set.
Result<std::optional<Shard>> ranked(const char* rank_name, const char* size_name) {
  const std::optional<std::string> rank_text = variable(rank_name);
  if (!rank_text) return std::optional<Shard>();
  const std::optional<std::int64_t> size = parse_count(variable(size_name).value_or(""));
  if (!size || *size == 0) return senseless(size_name, "a number of ranks");
  const std::optional<std::int64_t> rank = parse_count(*rank_text);
  if (!rank || *rank >= *size) return senseless(rank_name, "below " + std::to_string(*size));
  return std::optional<Shard>({*rank, *size, rank_name});
}

Result<std::optional<Shard>> array_task() {
  const std::optional<std::string> id_text = variable("SLURM_ARRAY_TASK_ID");
  if (!id_text) return std::optional<Shard>();
  const std::optional<std::int64_t> count =
      parse_count(variable("SLURM_ARRAY_TASK_COUNT").value_or(""));
  if (!count || *count == 0) return senseless("SLURM_ARRAY_TASK_COUNT", "a number of tasks");
  const std::optional<std::int64_t> least =
      parse_count(variable("SLURM_ARRAY_TASK_MIN").value_or(""));
  if (!least) return senseless("SLURM_ARRAY_TASK_MIN", "a number");
  const std::optional<std::int64_t> step =
      parse_count(variable("SLURM_ARRAY_TASK_STEP").value_or("1"));
  if (!step || *step == 0) return senseless("SLURM_ARRAY_TASK_STEP", "a positive number");
  const std::optional<std::int64_t> id = parse_count(*id_text);
  const bool listed = id && *id >= *least && (*id - *least) % *step == 0;
  // An array such as 1,5,6 has gaps, which the variables do not describe.
  if (!listed || (*id - *least) / *step >= *count) {
    return senseless("SLURM_ARRAY_TASK_ID", "one of " + std::to_string(*count) +
                                                " evenly spaced numbers from " +
                                                std::to_string(*least));
  }
  return std::optional<Shard>({(*id - *least) / *step, *count, "SLURM_ARRAY_TASK_ID"});
}

}  // namespace

std::optional<Shard> parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::optional<std::int64_t> index = parse_count(std::string_view(text).substr(0, slash));
  const std::optional<std::int64_t> count = parse_count(std::string_view(text).substr(slash + 1));
  if (!index || !count || *index >= *count) return std::nullopt;
  return Shard{.index = *index, .count = *count};
}

Result<Shard> shard_of_environment() {
  Shard share;
  const auto nest = [&share](const std::optional<Shard>& inner) {
    if (!inner) return;
    share.index = share.index * inner->count + inner->index;
    share.count *= inner->count;
    share.from += (share.from.empty() ? "" : " and ") + inner->from;
  };
  const Result<std::optional<Shard>> array = array_task();
  if (!array) return array.errors();
  nest(*array);
  Result<std::optional<Shard>> rank = ranked("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (rank && !*rank) rank = ranked("PMI_RANK", "PMI_SIZE");
  if (!rank) return rank.errors();
  nest(*rank);
  return share;
}

}  // namespace stowage
