// stowage calibrate: measures and fits the cost model of this machine.
#include <algorithm>
#include <charconv>

#include "cli/commands/measure/machine.h"
#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/table.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/fit/terms.h"
#include "instances/scatter/json/embedded_documents.h"

namespace stowage {
namespace {

// Least tokens of a pack. The time of shorter packs is dominated by partly filled tiles and tells
// little about a step.
constexpr std::int64_t kLeastTokens = 128;
constexpr std::int64_t kLargestOverLeast = 8;
// Defaults without --rounds: the largest and the smallest number of rounds, and seconds after which
// no further round begins.
constexpr int kMaxRounds = 24;
constexpr int kFewestRounds = 10;
constexpr double kSecondsOfRounds = 40;

class CalibrateCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "calibrate",
            .arguments = "[-o COST]",
            .summary = "Measure the kernels on this machine and fit the cost model",
            .examples = {"stowage calibrate --packs 9 --max-tokens 256 --rounds 3 -o cost.json",
                         "stowage calibrate --degrees 1,2 --packs 9 --max-tokens 256 --rounds 3",
                         "stowage calibrate --degrees 1 --packs 9 --max-tokens 256 --rounds 1"}};
  }

  void declare(Flags& flags) override {
    flags.text("-o,--output", output_, "COST",
               "Write the cost there; an instance names it with {\"file\": ...} as cost");
    flags.text("--samples", samples_, "FILE",
               "Write what was measured there, for stowage fit; also when stopped");
    flags.list("--degrees", degrees_, "A,B,...", "Rank counts to measure; default 1,2,4,8");
    flags.integer("--packs", packs_, "N", 6, 100'000,
                  "Packs for each degree, a third of them held out; default 21");
    flags.integer("--max-tokens", most_tokens_, "N", 64, 1 << 20,
                  "Tokens of the largest pack; default 2048");
    flags.integer(
        "--rounds", rounds_, "N", 1, 1000,
        "Runs of each pack, of which the median counts. Default 10 to 24, until every median is "
        "known to 1 %; after the first 5 none begins that would end after 40 s");
    flags.integer("--seed", seed_, "N", 0, kMaxExact,
                  "Seed of packs, tokens and weights; default 0");
    output_flags_.declare(flags, true, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    Result<std::vector<int>> degrees = read_degrees();
    if (!degrees) return console.refuse(degrees.errors().front());
    const Result<kernels::BlockShape> block = block_for(*degrees);
    if (!block) return console.refuse(block.errors().front());
    for (const auto& [flag, path] : {std::pair("--output", output_), {"--samples", samples_}}) {
      if (auto error = check_output(flag, path, {})) return console.refuse(*error);
    }
    const InterruptScope interrupt;
    Budget budget({.interrupt = &interrupt.flag()});
    const std::int64_t most = most_tokens_.value_or(2048);
    const Result<kernels::Calibration> calibration =
        calibrate_here(console,
                       {.block = *block,
                        .degrees = *degrees,
                        .packs = static_cast<int>(packs_.value_or(21)),
                        .least_tokens = std::max(kLeastTokens, most / kLargestOverLeast),
                        .most_tokens = most,
                        .repeats = rounds_ ? static_cast<int>(*rounds_) : kMaxRounds,
                        .least_repeats = rounds_ ? static_cast<int>(*rounds_) : kFewestRounds,
                        .seconds = rounds_ ? kInfinity : kSecondsOfRounds,
                        .seed = static_cast<std::uint64_t>(seed_.value_or(0))},
                       budget);
    if (!calibration) return refuse_calibration(console, calibration.errors().front());
    const kernels::Calibration& measured = *calibration;
    if (!samples_.empty()) {
      if (auto error = write_file(samples_, samples_text(measured))) return console.refuse(*error);
    }
    if (!measured.complete) {
      return console.refuse({kUsage, "calibrate", stopped(measured)}, ExitCode::unknown);
    }
    if (!output_.empty()) {
      JsonWriter json;
      write_json(json, measured.cost);
      if (auto error = write_file(output_, json.take())) return console.refuse(*error);
    }
    tell(console, measured);
    warn_of_load(console, measured);
    for (const auto& [degree, rate] : measured.cost.all_to_all.mib_per_ms) {
      if (rate < kFreeMibPerMs) continue;
      console.warn("these packs do not show what degree " + std::to_string(degree) +
                   " takes to exchange a token: its rate means nothing; raise --packs or "
                   "--max-tokens");
    }
    return console.answer(answer(measured, *block), ExitCode::ok);
  }

 private:
  Result<std::vector<int>> read_degrees() const {
    if (degrees_.empty()) return std::vector<int>{1, 2, 4, 8};
    std::vector<int> degrees;
    for (const std::string& text : degrees_) {
      int degree = 0;
      const char* const end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, degree);
      if (read.ec != std::errc() || read.ptr != end || degree < 1 || degree > kMaxRanks) {
        return InputError{kUsage, "--degrees",
                          "must be whole numbers from 1 to " + std::to_string(kMaxRanks) +
                              ", for ranks are threads, has '" + text + "'"};
      }
      degrees.push_back(degree);
    }
    std::sort(degrees.begin(), degrees.end());
    degrees.erase(std::unique(degrees.begin(), degrees.end()), degrees.end());
    return degrees;
  }

  static bool was_measured(const kernels::CalibrationPack& pack) {
    return pack.seconds < kInfinity;
  }

  std::string stopped(const kernels::Calibration& measured) const {
    std::string said = std::ranges::all_of(measured.packs, was_measured)
                           ? "was stopped before the last round of runs"
                           : "was stopped before every pack was measured";
    if (samples_.empty()) return said;
    return said + "; " + samples_ + " has " +
           counted(std::ranges::count_if(measured.packs, was_measured), "pack");
  }

  // Returns the table of packs that were run at least once.
  static std::string samples_text(const kernels::Calibration& measured) {
    std::string text = "degree,lengths_tokens,time_ms\n";
    for (const kernels::CalibrationPack& pack : measured.packs) {
      if (!was_measured(pack)) continue;
      text += std::to_string(pack.degree) + ',';
      for (std::size_t i = 0; i < pack.lengths.size(); ++i) {
        text += (i == 0 ? "" : " ") + std::to_string(pack.lengths[i]);
      }
      text += ',' + shortest(pack.seconds * 1000) + '\n';
    }
    return text;
  }

  // Warns if the times of many packs are not steady; on an idle machine most are.
  static void warn_of_load(Console& console, const kernels::Calibration& measured) {
    const auto restless =
        std::ranges::count(measured.packs, false, &kernels::CalibrationPack::steady);
    const auto packs = std::ssize(measured.packs);
    if (restless * 4 <= packs || measured.packs.front().runs < 3) return;
    console.warn("the times of " + grouped(restless) + " of " + counted(packs, "pack") +
                 " are known to no better than " + percent_text(kernels::kSteady) + " after " +
                 counted(measured.packs.front().runs, "run") +
                 ": raise --rounds, or stop what else uses this machine");
  }

  static void tell(Console& console, const kernels::Calibration& measured) {
    const ScatterCost& cost = measured.cost;
    console.info("cost      quadratic " + significant(cost.quadratic_ms) +
                 " ms per token^2, linear " + significant(cost.linear_ms) +
                 " ms per token, fixed " + significant(cost.fixed_ms) + " ms per group");
    Table table({{"degree", Align::right},
                 {"latency ms", Align::right},
                 {"exchange MiB/ms", Align::right}});
    for (const auto& [degree, rate] : cost.all_to_all.mib_per_ms) {
      const auto latency = cost.all_to_all.latency_ms.find(degree);
      table.add({grouped(degree),
                 significant(latency == cost.all_to_all.latency_ms.end() ? 0 : latency->second),
                 significant(rate)});
    }
    if (!cost.all_to_all.mib_per_ms.empty() && console.settings.level >= LogLevel::info) {
      console.table(table);
    }
    console.info("errors    fitted packs " + percent_text(measured.fitted.mean) +
                 " on average, 95 % within " + percent_text(measured.fitted.p95) + "; held out " +
                 percent_text(measured.held_out.mean) + " and " +
                 percent_text(measured.held_out.p95));
  }

  static void write_error(JsonWriter& json, std::string_view key,
                          const kernels::CalibrationError& error) {
    json.key(key);
    json.begin_object(JsonWriter::Layout::line);
    json.number("mean", error.mean);
    json.number("p95", error.p95);
    json.end_object();
  }

  static std::string answer(const kernels::Calibration& measured,
                            const kernels::BlockShape& block) {
    JsonWriter json;
    json.begin_object();
    json.text("format", "stowage/calibration");
    json.integer("version", 1);
    json.text("problem", "scatter");
    json.integer("exit_code", to_int(ExitCode::ok));
    json.key("block");
    json.begin_object(JsonWriter::Layout::line);
    json.integer("hidden", block.hidden);
    json.integer("heads", block.heads);
    json.integer("kv_heads", block.kv_heads);
    json.integer("head_dim", block.head_dim);
    json.integer("ffn", block.ffn);
    json.end_object();
    json.key("cost");
    write_json(json, measured.cost);
    write_error(json, "fitted", measured.fitted);
    write_error(json, "held_out", measured.held_out);
    json.key("packs");
    json.begin_array();
    for (const kernels::CalibrationPack& pack : measured.packs) {
      json.begin_object(JsonWriter::Layout::line);
      json.integer("degree", pack.degree);
      json.integer("tokens", pack.tokens());
      json.number("squares", pack.squares());
      json.number("measured_ms", pack.seconds * 1000);
      json.number("predicted_ms", kernels::predicted_ms(measured.cost, pack));
      json.integer("runs", pack.runs);
      json.boolean("steady", pack.steady);
      json.boolean("held_out", pack.held_out);
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.take();
  }

  std::string output_;
  std::string samples_;
  std::vector<std::string> degrees_;
  std::optional<std::int64_t> packs_;
  std::optional<std::int64_t> most_tokens_;
  std::optional<std::int64_t> rounds_;
  std::optional<std::int64_t> seed_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_calibrate_command() { return std::make_unique<CalibrateCommand>(); }

}  // namespace stowage
