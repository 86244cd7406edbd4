// Published measurements of attention and of collectives, beside what fits and presets of machines
// say of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "instances/model/machine.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/fit/fit.h"
#include "instances/scatter/presets.h"

namespace stowage::scatter_fit_published_test {
namespace {

// The lines behind the head of a table, in fields.
std::vector<std::vector<std::string>> lines_of(const std::string& name) {
  std::ifstream file(STOWAGE_SOURCE_DIR "/instances/data/published/" + name);
  std::vector<std::vector<std::string>> lines;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream text(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
    lines.push_back(fields);
  }
  return lines;
}

// A sequence each, whose attention `degree` devices share after an all-gather that was not
// measured.
std::vector<TimedRow> attention_rows(int tp, Tokens least) {
  std::vector<TimedRow> rows;
  for (const auto& fields : lines_of("attention.csv")) {
    if (std::stoi(fields[2]) != tp || std::stoll(fields[0]) < least) continue;
    TimedRow row{.degree = std::stoi(fields[1]),
                 .lengths = {std::stoll(fields[0])},
                 .ms = std::stod(fields[3])};
    if (row.degree > 1) row.exchange = ExchangeKind::all_gather;
    rows.push_back(row);
  }
  return rows;
}

ScatterInstance node_of_eight() {
  ScatterInstance like{.cluster = {.devices = 8, .memory_mib = 1000, .degrees = {1, 2, 4, 8}},
                       .model = {.activation_mib_per_token = 1}};
  like.cost.exchange = Exchange{.inside_mib_per_ms = 1};
  for (const int degree : {2, 4, 8}) like.cost.exchange->kinds[degree] = {ExchangeKind::all_gather};
  return like;
}

double mean_error(const CostFit& fit, const std::vector<TimedRow>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sum += std::abs(fit.predicted_ms[i] / rows[i].ms - 1);
  }
  return sum / static_cast<double>(rows.size());
}

TEST(PublishedAttention, SplittingExplainsTheTable) {
  double sum = 0;
  double without = 0;
  for (const int tp : {1, 2, 4, 8}) {
    const std::vector<TimedRow> rows = attention_rows(tp, 1024);
    ASSERT_EQ(rows.size(), 28U);
    const Result<CostFit> fit = fit_cost(rows, node_of_eight());
    ASSERT_TRUE(fit) << to_string(fit.errors().front());
    EXPECT_GT(fit->cost.split_ms, 0) << tp;
    const double tokens = fit->cost.split_ms / fit->cost.quadratic_ms;
    EXPECT_GT(tokens, 500) << tp;
    EXPECT_LT(tokens, 900) << tp;
    sum += mean_error(*fit, rows) / 4;
    without += mean_error(*fit_cost(rows, node_of_eight(), {.split = false}), rows) / 4;
  }
  EXPECT_LT(sum, 0.03);
  EXPECT_GT(without, 2 * sum);
}

// What one device takes over eight times what each of eight takes.
TEST(PublishedAttention, EightDevicesGainWhatTheyGained) {
  const std::vector<TimedRow> rows = attention_rows(1, 1024);
  const Result<CostFit> fit = fit_cost(rows, node_of_eight());
  ASSERT_TRUE(fit);
  const auto gain = [&](Tokens tokens, const auto& time_of) {
    double alone = 0;
    double shared = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].lengths.front() != tokens) continue;
      if (rows[i].degree == 1) alone = time_of(i);
      if (rows[i].degree == 8) shared = time_of(i);
    }
    return alone / (8 * shared);
  };
  for (const auto& [tokens, published] : std::map<Tokens, double>{
           {1024, 0.28}, {4096, 0.52}, {8192, 0.68}, {16384, 0.80}, {32768, 0.90}, {65536, 1.00}}) {
    EXPECT_NEAR(gain(tokens, [&](std::size_t i) { return rows[i].ms; }), published, 0.006);
    EXPECT_NEAR(gain(tokens, [&](std::size_t i) { return fit->predicted_ms[i]; }), published, 0.07)
        << tokens;
  }
}

// Latency and size over bandwidth, of presets as they are.
TEST(PublishedCollectives, PresetsOfMachinesMeetThem) {
  std::map<std::string, std::vector<double>> errors;
  for (const auto& fields : lines_of("collectives.csv")) {
    const std::string name = fields[0] == "a100" ? "a100-80" : "h100";
    const Machine& machine = *machine_named(name);
    const double devices = std::stod(fields[2]);
    const double rounds = fields[1] == "all_reduce" ? 2 : 1;
    const double sent = std::stod(fields[3]) * rounds * (devices - 1) / devices;
    const Ms predicted = machine.message_ms + sent / machine.collective_mib_per_ms();
    errors[name].push_back(std::abs(predicted / std::stod(fields[4]) - 1));
  }
  for (auto& [name, all] : errors) {
    EXPECT_EQ(all.size(), name == "h100" ? 99U : 66U);
    std::ranges::sort(all);
    EXPECT_LE(all[all.size() / 2], 0.1) << name;
    EXPECT_LE(all[all.size() * 9 / 10], 0.31) << name;
  }
}

// A preset has the latencies of the messages of all layers, and loses as the table does.
TEST(PublishedCollectives, PresetsOfMachinesHaveThem) {
  const auto made = scatter_preset({.model = "llama-7b", .devices = 8, .machine = "a100-80"});
  ASSERT_TRUE(made);
  const Machine& machine = *machine_named("a100-80");
  const Exchange& exchange = *made->cost.exchange;
  EXPECT_NEAR(exchange.inside_latency_ms, 4 * 32 * machine.message_ms, 1e-9);
  EXPECT_NEAR(exchange.inside_mib_per_ms, machine.collective_mib_per_ms(), 0.05);
  const GroupForm shared{8, ExchangeKind::all_to_all};
  const Ms alone = sequence_ms(*made, 1024, 1);
  EXPECT_GT(8 * sequence_ms(*made, 1024, shared), alone);
}

}  // namespace
}  // namespace stowage::scatter_fit_published_test
