#include "bench/published_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "instances/model/machine.h"

namespace stowage::bench {
namespace {

// Machines of the published steps that `--machine` does not have: data sheets of GB200 and GB300
// NVL72, and the H100 of torchtitan's steps.
constexpr std::array<Machine, 3> kOthers = {{{"gb200", 186, 2450, 900, 50, 8000},
                                             {"gb300", 288, 2450, 900, 100, 8000},
                                             {"h100-96", 96, 989, 450, 50, 2400}}};
constexpr double kUnfused = 1.5;  // activation factor of software without FlashAttention
// activation factor of software with FlashAttention and without dropout, whose masks M3 counts
constexpr double kFused = 0.85;
constexpr Mib kFusedFixed = 1024;  // MiB of a device besides tensors
// bytes per parameter, because gradients are kept in 16 and in 32 bits
constexpr std::int64_t kTwoGradients = 8;
// Numbers of generated instances: of a message between nodes, and the overlap of the exchange of
// once a step.
constexpr Ms kMessage = 0.05;
constexpr double kStepOverlap = 0.2;
constexpr std::size_t kFewest = 4;  // least number of steps of a ranked job

const Machine& machine_of(const std::string& name) {
  if (const Machine* known = machine_named(name)) return *known;
  const auto found = std::ranges::find(kOthers, name, &Machine::name);
  if (found == kOthers.end()) throw std::runtime_error("no data sheet of machine " + name);
  return *found;
}

using Row = std::map<std::string, std::string>;

double number(const Row& row, const std::string& key) {
  const std::string& text = row.at(key);
  if (text.empty()) return 0;
  std::size_t end = 0;
  const double value = std::stod(text, &end);
  if (end != text.size()) throw std::runtime_error(row.at("id") + ": " + key + " is no number");
  return value;
}

std::int64_t integer(const Row& row, const std::string& key) {
  const double value = number(row, key);
  if (value != std::floor(value)) throw std::runtime_error(row.at("id") + ": " + key);
  return static_cast<std::int64_t>(value);
}

StrategyModel model_of(const Row& row) {
  StrategyModel model{.hidden = integer(row, "hidden"),
                      .heads = integer(row, "heads"),
                      .kv_width = integer(row, "kv_width"),
                      .vocabulary = integer(row, "vocabulary"),
                      .tied = number(row, "tied") > 0,
                      .causal = number(row, "causal_half") > 0,
                      .flash_attention = number(row, "flash") > 0,
                      .sequence_parallel = number(row, "sequence_parallel") > 0,
                      .blocks = {{.count = integer(row, "layers"),
                                  .ffn = integer(row, "ffn"),
                                  .gated = number(row, "gated") > 0}}};
  if (number(row, "experts") > 1) {
    model.blocks.front().experts = {integer(row, "experts"), integer(row, "top_k"),
                                    integer(row, "expert_ffn")};
  }
  return model;
}

// Sets the memory numbers of the software; with FlashAttention those of generated instances.
// Evidence: the readings of BLOOM before and since 28 February 2022, those of torchtitan, and
// llm-foundry's micro-batches, whose sizes are the largest that fit.
void set_memory(const Row& row, StrategyDetail& detail) {
  const std::string& source = row.at("source");
  if (number(row, "flash") == 0) {
    detail.activation_factor = kUnfused;
  } else {
    detail.activation_factor = kFused;
    detail.fixed_mib = kFusedFixed;
  }
  if (source == "bigscience" && row.at("tag") == "02-28") detail.gradient_bytes = kTwoGradients;
}

// Returns the ranks that share the optimizer's states: of tag "z8" eight, of all others all ranks.
std::int64_t shard_of(const Row& row) {
  const std::string& tag = row.at("tag");
  const std::int64_t ranks = integer(row, "dp") * integer(row, "cp");
  if (row.at("source") != "internevo" || !tag.starts_with('z')) return 0;
  const std::int64_t shard = std::stoll(tag.substr(1));
  return shard > 0 && shard < ranks ? shard : 0;
}

StrategySample sample_of(const Row& row) {
  const Machine& machine = machine_of(row.at("machine"));
  const StrategyDetail detail{.message_ms = kMessage, .step_overlap = kStepOverlap};
  const std::int64_t gpus = integer(row, "gpus");
  const std::int64_t node = std::min(gpus, integer(row, "devices_per_node"));
  StrategySample sample{.instance = {.name = row.at("id"),
                                     .model = model_of(row),
                                     .cluster = {.nodes = (gpus + node - 1) / node,
                                                 .devices_per_node = node,
                                                 .memory_mib = machine.device_mib()},
                                     .cost = {.half_width = 0, .detail = detail},
                                     .options = {.micro_batches = {integer(row, "micro_batches")}}},
                        .configuration = {.its = {.pp = integer(row, "pp"),
                                                  .v = integer(row, "v"),
                                                  .micro_batches = integer(row, "micro_batches")},
                                          .layout = {.tp = integer(row, "tp"),
                                                     .cp = integer(row, "cp"),
                                                     .dp = integer(row, "dp"),
                                                     .ep = integer(row, "ep"),
                                                     .shard = shard_of(row)},
                                          .choice = {.zero = integer(row, "zero")}},
                        .step_ms = number(row, "step_ms")};
  set_rates(machine, sample.instance);
  const auto recompute = std::ranges::find(kStrategyRecomputes, row.at("recompute"));
  if (recompute == kStrategyRecomputes.end()) throw std::runtime_error(row.at("id"));
  sample.configuration.choice.recompute =
      static_cast<StrategyRecompute>(recompute - kStrategyRecomputes.begin());
  const double sequences =
      number(row, "micro_batch") * number(row, "micro_batches") * number(row, "dp");
  sample.instance.lengths.assign(static_cast<std::size_t>(std::llround(sequences)),
                                 integer(row, "seq"));
  set_memory(row, *sample.instance.cost.detail);
  return sample;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line + ',');
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

Ms predicted_of(const StrategySample& sample) {
  return price_configuration(sample.instance, sample.configuration).step_ms;
}

StrategySample first_version(StrategySample sample, const std::string& machine) {
  const Machine& its = machine_of(machine);
  sample.instance.cost = {.linear_tflops = its.product_tflops(),
                          .attention_tflops = its.attention_tflops()};
  return sample;
}

double part_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (place - static_cast<double>(low)) * (values[high] - values[low]);
}

std::map<std::string, std::vector<std::size_t>> by_source(std::span<const PublishedStep> steps) {
  std::map<std::string, std::vector<std::size_t>> all;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].sample.step_ms > 0) all[steps[i].source].push_back(i);
  }
  return all;
}

// Computes the predictions of `asked` with rates fitted to `known`.
void predict_by_fit(std::span<const PublishedStep> steps, std::span<const std::size_t> known,
                    std::span<const std::size_t> asked, std::vector<Ms>& predicted) {
  std::vector<StrategySample> samples;
  for (const std::size_t i : known) samples.push_back(steps[i].sample);
  const std::vector<FittedRate> rates = fit_rates(samples);
  for (const std::size_t i : asked) {
    predicted[i] = predicted_of({.instance = with_rates(steps[i].sample.instance, rates),
                                 .configuration = steps[i].sample.configuration});
  }
}

Mib fullest_mib(const PublishedStep& step) {
  const StrategyPlan plan = price_configuration(step.sample.instance, step.sample.configuration);
  Mib most = 0;
  for (const StrategyStage& stage : plan.stages) most = std::max(most, stage.memory_mib);
  return most;
}

}  // namespace

void set_rates(const Machine& machine, StrategyInstance& instance) {
  instance.cluster.mib_per_ms = {.inside = machine.inside_mib_per_ms(),
                                 .across = machine.across_mib_per_ms()};
  instance.cost.linear_tflops = machine.bare_product_tflops();
  instance.cost.attention_tflops = machine.bare_attention_tflops();
  instance.cost.detail->memory_mib_per_ms = machine.memory_mib_per_ms();
}

std::vector<PublishedStep> read_published(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error("cannot read " + path);
  const std::vector<std::string> keys = cells_of(line);
  std::vector<PublishedStep> steps;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != keys.size()) throw std::runtime_error(path + ": " + line);
    Row row;
    for (std::size_t k = 0; k < keys.size(); ++k) row[keys[k]] = cells[k];
    PublishedStep step{.source = row["source"],
                       .machine = row["machine"],
                       .precision = row["precision"],
                       .model = row["model"],
                       .tag = row["tag"],
                       .tokens = integer(row, "seq"),
                       .sample = sample_of(row),
                       .memory_gib = number(row, "memory_gb"),
                       .out_of_memory = number(row, "out_of_memory") > 0};
    const double tokens = number(row, "global_batch") * number(row, "seq");
    step.job = step.source + ' ' + step.model + ' ' + row["heads"] + ' ' + row["gpus"] + ' ' +
               std::to_string(std::llround(tokens)) + ' ' + step.precision;
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<Ms> by_defaults(std::span<const PublishedStep> steps, int version) {
  std::vector<Ms> predicted;
  predicted.reserve(steps.size());
  for (const PublishedStep& step : steps) {
    predicted.push_back(
        predicted_of(version == 1 ? first_version(step.sample, step.machine) : step.sample));
  }
  return predicted;
}

std::vector<Ms> by_halves(std::span<const PublishedStep> steps) {
  std::vector<Ms> predicted(steps.size());
  for (const auto& [source, its] : by_source(steps)) {
    std::array<std::vector<std::size_t>, 2> halves;
    for (std::size_t k = 0; k < its.size(); ++k) halves[k % 2].push_back(its[k]);
    predict_by_fit(steps, halves[0], halves[1], predicted);
    predict_by_fit(steps, halves[1], halves[0], predicted);
  }
  return predicted;
}

std::vector<Ms> without_its_model(std::span<const PublishedStep> steps) {
  std::vector<Ms> predicted(steps.size());
  for (const auto& [source, its] : by_source(steps)) {
    std::set<std::string> models;
    for (const std::size_t i : its) models.insert(steps[i].model);
    if (models.size() < 2) continue;
    for (const std::string& model : models) {
      std::vector<std::size_t> known;
      std::vector<std::size_t> asked;
      for (const std::size_t i : its) (steps[i].model == model ? asked : known).push_back(i);
      predict_by_fit(steps, known, asked, predicted);
    }
  }
  return predicted;
}

Spread spread_of(std::span<const PublishedStep> steps, std::span<const Ms> predicted,
                 const StepFilter& wanted) {
  std::vector<double> errors;
  std::vector<double> biases;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!(steps[i].sample.step_ms > 0) || !(predicted[i] > 0) || !wanted(steps[i])) continue;
    biases.push_back(predicted[i] / steps[i].sample.step_ms - 1);
    errors.push_back(std::abs(biases.back()));
  }
  return {.steps = errors.size(),
          .median = part_of(errors, 0.5),
          .p90 = part_of(errors, 0.9),
          .worst = part_of(errors, 1),
          .bias = part_of(biases, 0.5)};
}

Ranking ranking_of(std::span<const PublishedStep> steps, std::span<const Ms> predicted,
                   const StepFilter& wanted) {
  std::map<std::string, std::vector<std::size_t>> jobs;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].sample.step_ms > 0 && wanted(steps[i])) jobs[steps[i].job].push_back(i);
  }
  Ranking ranking;
  std::vector<double> regrets;
  for (const auto& [job, its] : jobs) {
    if (its.size() < kFewest) continue;
    double agreed = 0;
    for (std::size_t a = 0; a < its.size(); ++a) {
      for (std::size_t b = a + 1; b < its.size(); ++b) {
        const double said = predicted[its[a]] - predicted[its[b]];
        const double is = steps[its[a]].sample.step_ms - steps[its[b]].sample.step_ms;
        if (said != 0 && is != 0) agreed += (said > 0) == (is > 0) ? 1 : -1;
      }
    }
    const auto count = static_cast<double>(its.size());
    ranking.tau += agreed / (count * (count - 1) / 2);
    ++ranking.jobs;
    const auto said = std::ranges::min(its, {}, [&](std::size_t i) { return predicted[i]; });
    const auto best =
        std::ranges::min(its, {}, [&](std::size_t i) { return steps[i].sample.step_ms; });
    regrets.push_back(steps[said].sample.step_ms / steps[best].sample.step_ms - 1);
  }
  if (ranking.jobs > 0) ranking.tau /= static_cast<double>(ranking.jobs);
  ranking.median_regret = part_of(regrets, 0.5);
  ranking.worst_regret = part_of(regrets, 1);
  return ranking;
}

MemorySpread memory_of(std::span<const PublishedStep> steps, const StepFilter& wanted) {
  MemorySpread memory;
  std::vector<double> shares;
  for (const PublishedStep& step : steps) {
    if (!wanted(step)) continue;
    const Mib needed = fullest_mib(step);
    const bool fits = needed <= step.sample.instance.cluster.memory_mib;
    if (step.memory_gib > 0) shares.push_back(needed / 1024 / step.memory_gib);
    if (step.out_of_memory) {
      ++memory.exhausted;
      memory.admitted += fits ? 1 : 0;
    } else {
      ++memory.ran;
      memory.refused += fits ? 0 : 1;
    }
  }
  memory.readings = shares.size();
  memory.median = part_of(shares, 0.5);
  return memory;
}

}  // namespace stowage::bench
