#include "cli/flags/common_flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <thread>
#include <utility>

#include "cli/families/method_names.h"
#include "cli/flags/suggest.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/numeric/numbers.h"

namespace stowage {
void OutputFlags::declare(Flags& flags, bool with_progress, bool with_timeless) {
  flags.choice("--log-level", level_, {"error", "warn", "info", "debug"},
               "How much stderr says; default info");
  if (with_progress) {
    flags.choice("--progress", progress_, {"auto", "always", "never"},
                 "Progress on stderr; auto: unless --log-level is below info");
  }
  if (!with_timeless) return;
  flags.toggle("--timeless", timeless_,
               "No wall-clock figure on stdout or stderr: equal runs give equal bytes");
}

void OutputFlags::apply(Console& console) const {
  console.settings.level = level_ == "error"  ? LogLevel::error
                           : level_ == "warn" ? LogLevel::warn
                           : level_ == "info" ? LogLevel::info
                                              : LogLevel::debug;
  console.settings.progress = progress_ == "always"  ? ProgressMode::always
                              : progress_ == "never" ? ProgressMode::never
                                                     : ProgressMode::automatic;
  console.settings.timeless = timeless_;
}

void SolveFlags::declare(Flags& flags, const std::string& time_limit) {
  flags.choice("--solver", solver_, {"auto", "cbc", "glpk", "highs"},
               "MILP backend; auto takes the first that is built in");
  flags.number("-t,--time-limit", time_limit_s_, "SEC", 0, 1e9, time_limit);
  flags.number("--gap", gap_, "FRAC", 0, 1, "Relative gap that is good enough; default 0");
  flags.integer("--node-limit", node_limit_, "N", 0, std::numeric_limits<std::int64_t>::max(),
                "Search nodes; reproducible where a time limit is not");
  flags.integer("--seed", seed_, "N", 0, kMaxExact, "Seed of every random choice; default 0");
}

Result<SolveOptions> SolveFlags::options() const {
  SolveOptions options;
  options.gap = gap_.value_or(0);
  options.seed = seed();
  if (solver_ == "auto") return options;
  std::vector<std::string> built;
  for (const MilpBackend backend : built_backends()) {
    built.emplace_back(name(backend));
    if (name(backend) == solver_) options.backend = backend;
  }
  if (!options.backend) {
    return InputError{kUsage, "--solver",
                      "this build has no '" + solver_ +
                          "' (built in: " + (built.empty() ? "none" : comma_list(built)) + ')'};
  }
  return options;
}

Budget::Limits SolveFlags::limits(const std::atomic<bool>& interrupt) const {
  Budget::Limits limits;
  if (time_limit_s_) limits.time_limit_s = *time_limit_s_;
  if (node_limit_) limits.node_limit = *node_limit_;
  limits.interrupt = &interrupt;
  return limits;
}

std::string SolveFlags::describe() const {
  std::string text;
  if (gap_) text += "gap " + percent_text(gap_) + "  ";
  if (time_limit_s_) text += "time limit " + shortest(*time_limit_s_) + " s  ";
  if (node_limit_) text += "node limit " + grouped(*node_limit_) + "  ";
  return text + "seed " + std::to_string(seed());
}

std::optional<InputError> check_method(const Instance& instance, const std::string& method,
                                       const std::string& flag) {
  const std::vector<std::string> names = method_names(instance);
  if (std::find(names.begin(), names.end(), method) != names.end()) return std::nullopt;
  return InputError{kUsage, flag,
                    "unknown value '" + method + "' (choose " + comma_list(names) + ')' +
                        suggestion(method, names)};
}

Result<Tokens> read_token_flag(const std::string& flag, const std::string& text) {
  constexpr Tokens kMost = kMaxExact / 1000;
  constexpr std::array<std::pair<char, Tokens>, 4> kFactors = {
      {{'k', 1000}, {'K', 1024}, {'m', 1'000'000}, {'M', 1024 * 1024}}};
  Tokens tokens = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(text.data(), last, tokens);
  if (failure == std::errc() && tokens >= 1 && tokens <= kMost) {
    if (end == last) return tokens;
    for (const auto& [letter, factor] : kFactors) {
      if (end + 1 == last && *end == letter && tokens <= kMost / factor) return tokens * factor;
    }
  }
  return InputError{
      kUsage, flag,
      "must be 1 to " + std::to_string(kMost) +
          " tokens, as 200000, 200k (thousands), 128K (131072) or 1M (1048576), is '" + text + "'"};
}

Result<Tokens> read_token_flag(Console& console, const std::string& flag, const std::string& text) {
  Result<Tokens> tokens = read_token_flag(flag, text);
  const char letter = text.empty() ? '\0' : text.back();
  if (tokens && (letter == 'K' || letter == 'M')) {
    console.warn(flag + ' ' + text + " is " + grouped(*tokens) + " tokens; write " +
                 text.substr(0, text.size() - 1) +
                 (letter == 'K' ? "k for thousands" : "m for millions"));
  }
  return tokens;
}

std::int64_t usable_cores() {
  return std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
}

std::string solver_name(const SolveOptions& options) {
  if (options.backend) return std::string(name(*options.backend));
  const std::vector<MilpBackend> built = built_backends();
  return built.empty() ? std::string() : std::string(name(built.front()));
}

}  // namespace stowage
