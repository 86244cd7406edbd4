#include "bench/published_stacks.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <set>
#include <sstream>
#include <stdexcept>

#include "instances/model/machine.h"
#include "instances/units.h"

namespace stowage::bench {
namespace {

// Among the steps of NVIDIA's benchmarks, only MaxText's steps shard parameters.
bool shards_parameters(const PublishedStep& step) {
  return step.sample.configuration.choice.zero == 3;
}
bool keeps_parameters(const PublishedStep& step) { return !shards_parameters(step); }
bool is_compiled(const PublishedStep& step) { return step.tag.find("eager") == std::string::npos; }

// Classes by tokens of a sequence; the last class contains all lengths.
constexpr std::array<std::pair<Tokens, Tokens>, 5> kClasses = {
    {{1, 2047}, {2048, 8191}, {8192, 32767}, {32768, 131071}, {1, kMaxExact}}};

void write_error(std::ostream& text, const RateError& error) {
  text << error.steps << ',' << error.median << ',' << error.p90 << ',' << error.worst;
}

}  // namespace

std::vector<PublishedStack> published_stacks() {
  return {{"megatron-2025", "h100", {"dgxc-h100"}, keeps_parameters},
          {"megatron-2025-fp8", "h100", {"dgxc-h100-fp8", "nemo-h100-fp8"}, keeps_parameters},
          {"megatron-bridge-2026-fp8", "h100", {"bridge-h100-fp8"}, {}},
          {"megatron-deepspeed-2022", "a100-80", {"bigscience"}, {}},
          {"megatron-deepspeed-2023", "a100-80", {"vtrain-multi"}, {}},
          {"fsdp-2023", "a100-40", {"foundry-a100-40"}, {}},
          {"fsdp-2023", "a100-80", {"foundry-a100-80"}, {}},
          {"fsdp-2023", "h100", {"foundry-h100"}, {}},
          {"fsdp-2023-fp8", "h100", {"foundry-h100-fp8"}, {}},
          {"internevo-2024", "a100-80", {"internevo"}, {}},
          {"maxtext-2025", "h100", {"dgxc-h100"}, shards_parameters},
          {"maxtext-2025-fp8", "h100", {"dgxc-h100-fp8"}, shards_parameters},
          {"torchtitan-2024", "h100", {"torchtitan-h100"}, is_compiled},
          {"torchtitan-2024-fp8", "h100", {"torchtitan-h100-fp8"}, {}},
          {"torchtitan-2024-fp8", "h200", {"torchtitan-h200-fp8"}, {}}};
}

bool is_plain(const PublishedStep& step) {
  const std::set<std::string> machines = {"a100-40", "a100-80", "h100"};
  return machines.contains(step.machine) &&
         (step.precision == "bf16" || step.precision == "fp16") && step.source != "vtrain-single";
}

std::vector<StrategySample> samples_of(const PublishedStack& stack,
                                       std::span<const PublishedStep> steps) {
  const Machine* machine = machine_named(stack.machine);
  if (machine == nullptr) throw std::runtime_error("no machine " + stack.machine);
  std::vector<StrategySample> samples;
  for (const PublishedStep& step : steps) {
    if (std::ranges::find(stack.sources, step.source) == stack.sources.end()) continue;
    if (!(step.sample.step_ms > 0) || (stack.wanted && !stack.wanted(step))) continue;
    StrategySample sample = step.sample;
    set_rates(*machine, sample.instance);
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::string stacks_csv(std::span<const PublishedStep> steps) {
  std::ostringstream text;
  text << std::setprecision(4) << "stack,machine,sources,steps";
  for (const std::string_view name : rate_names()) text << ',' << name;
  text << ",held_out,median,p90,worst\n";
  for (const PublishedStack& stack : published_stacks()) {
    const std::vector<StrategySample> samples = samples_of(stack, steps);
    const DeterminedRates fitted = fit_determined_rates(samples);
    text << stack.name << ',' << stack.machine << ',';
    for (const std::string& source : stack.sources) {
      text << (&source == &stack.sources.front() ? "" : "+") << source;
    }
    text << ',' << samples.size();
    for (const FittedRate& rate : fitted.rates) {
      text << ',';
      if (rate.determined || fitted.common) text << rate.factor;
    }
    text << ',';
    if (fitted.held_out) {
      write_error(text, *fitted.held_out);
    } else {
      text << ",,,";
    }
    text << '\n';
  }
  return text.str();
}

std::string errors_csv(std::span<const PublishedStep> steps) {
  std::ostringstream text;
  text << std::setprecision(4) << "formulas,least_tokens,most_tokens,steps,median,p90,worst\n";
  for (const int version : {1, 2}) {
    const std::vector<Ms> predicted = by_defaults(steps, version);
    for (const auto& range : kClasses) {
      const auto least = range.first, most = range.second;
      const Spread spread = spread_of(steps, predicted, [&](const PublishedStep& step) {
        return is_plain(step) && step.tokens >= least && step.tokens <= most;
      });
      text << version << ',' << least << ',' << most << ',';
      write_error(
          text, {static_cast<std::int64_t>(spread.steps), spread.median, spread.p90, spread.worst});
      text << '\n';
    }
  }
  return text.str();
}

}  // namespace stowage::bench
