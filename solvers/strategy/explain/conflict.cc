// Finds the reason why a strategy instance has no plan: the memory of a device is below the need of
// the configuration that needs least, or the options do not combine.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "formulations/strategy/bounds.h"
#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"
#include "instances/numeric/tolerances.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/planning_table.h"
#include "solvers/strategy/explain/explain.h"

namespace stowage {
namespace {

// Adds a value to a list of options and removes duplicates. If the list has its maximum length, the
// value farthest from the new one is removed.
void allow_value(std::vector<std::int64_t>& list, std::int64_t value) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  if (std::ranges::find(list, value) != list.end()) return;
  if (std::ssize(list) >= kMaxOptionValues) {
    list.erase(value - list.front() > list.back() - value ? list.begin() : list.end() - 1);
  }
  list.push_back(value);
}

// Returns the change that allows degree 1 in every list of degrees, and one micro-batch. Degree 1
// always divides.
Change with_ones(const StrategyInstance& instance) {
  StrategyInstance changed = instance;
  StrategyOptions& options = changed.options;
  const bool with_ep = !rule_of_ep(instance).empty();
  for (auto* list : {&options.pp, &options.v, &options.tp, &options.cp}) {
    allow_value(*list, 1);
  }
  if (with_ep) allow_value(options.ep, 1);
  options.micro_batches = {1};
  return {"/options",
          std::string("allow degree 1 in options.pp, v, tp") +
              (with_ep ? ", cp and ep" : " and cp") + ", and 1 micro-batch",
          std::move(changed), std::nullopt};
}

}  // namespace

std::optional<UnplacedLayers> why_unplaced(const StrategyInstance& instance) {
  StrategyInstance changed = instance;
  const auto combines = [&] { return !StrategyTable(changed).classes().empty(); };
  const StrategyTable table(instance);
  const std::string layers = plain_count(table.layers(), "layer");
  changed.options.v = {1};
  if (combines()) {
    const char* rule = "v divides the layers of each stage";
    if (!table.equal_layers()) {
      rule = "pp v divides the layers, which differ";
    } else if (table.has_vocabulary()) {
      rule =
          "v divides the layers of each stage, where the embedding may count as a layer of the "
          "first stage and the head as one of the last";
    }
    return UnplacedLayers{"no values of options.pp and options.v deal the " + layers +
                              " in chunks: " + rule +
                              ", and with v above 1 pp is above 1 and divides the micro-batches",
                          "add 1 to options.v, or a v that divides the layers in this way"};
  }
  if (table.layers() >= *std::ranges::min_element(instance.options.pp)) return std::nullopt;
  changed.options.pp = {1};
  if (!combines()) return std::nullopt;
  return UnplacedLayers{"no value of options.pp deals the " + layers +
                            ": each stage has a layer or more, and pp divides the devices",
                        "add 1 to options.pp, or a divisor of the devices of at most " +
                            std::to_string(table.layers())};
}

std::string rule_of_ep(const StrategyInstance& instance) {
  if (std::ranges::find(instance.options.ep, 1) != instance.options.ep.end()) return "";
  return std::string("; ep must divide cp dp and the experts of each layer") +
         (instance.model.sequence_parallel ? "" : ", and tp be 1 without sequence_parallel");
}

Conflict conflict_in(const StrategyInstance& instance, const Trial&) {
  Conflict conflict;
  const StrategyTable table(instance);
  const LeastMemory least = least_memory(table);
  if (least.mib == kInfinity) {
    const std::optional<UnplacedLayers> undealt = why_unplaced(instance);
    if (undealt) conflict.causes.push_back({"/options", undealt->rule});
    if (!undealt)
      conflict.causes.push_back(
          {"/options", "no pp, tp and cp together divide the " +
                           plain_count(instance.cluster.devices(), "device") + " and the heads" +
                           (instance.cost.detail
                                ? " (with tp dividing the heads of keys and values or a multiple)"
                                : "") +
                           ", with micro-batches that divide the " +
                           plain_count(std::ssize(instance.lengths), "sequence") +
                           rule_of_ep(instance)});
    conflict.irreducible = false;  // one of several lists may be the cause
    conflict.changes.push_back(with_ones(instance));
    return conflict;
  }
  conflict.causes.push_back(
      {"/options",
       "every configuration has a stage that needs " + plain_number(least.mib) +
           " MiB or more; least in stage " + std::to_string(least.stage) + " of " +
           std::to_string(least.of_class.pp) + " with " + plain_count(least.layers, "layer") +
           ", tp " + std::to_string(least.layout.tp) + ", cp " + std::to_string(least.layout.cp) +
           (least.layout.cp_exchange == StrategyExchange::ring ? ", ring" : "") +
           (least.layout.ep > 1 ? ", ep " + std::to_string(least.layout.ep) : "") +
           (least.layout.shard > 0 ? ", shard " + std::to_string(least.layout.shard) : "")});
  conflict.causes.push_back({"/cluster/memory_mib",
                             "a device has " + plain_number(instance.cluster.memory_mib) + " MiB"});
  StrategyInstance larger = instance;
  larger.cluster.memory_mib = least.mib;
  conflict.changes.push_back({"/cluster/memory_mib",
                              "raise cluster.memory_mib from " +
                                  plain_number(instance.cluster.memory_mib) + " to " +
                                  plain_number(least.mib),
                              std::move(larger), std::nullopt});
  // Changes without more memory: those that need less of it, listed if one alone suffices.
  if (const auto& offload = instance.cluster.offload; offload && offload->host_mib) {
    conflict.causes.push_back(
        {"/cluster/offload/host_mib",
         "a device has " + plain_number(*offload->host_mib) + " MiB of its host for activations"});
    StrategyInstance roomier = instance;
    const Mib missing = least.mib - instance.cluster.memory_mib;
    const Mib needed = (*offload->host_mib + missing) * (1 + kVerifierDiffers);
    roomier.cluster.offload->host_mib = needed;
    if (least_memory(StrategyTable(roomier)).mib <= instance.cluster.memory_mib) {
      conflict.changes.push_back({"/cluster/offload/host_mib",
                                  "raise cluster.offload.host_mib from " +
                                      plain_number(*offload->host_mib) + " to " +
                                      plain_number(needed),
                                  std::move(roomier), std::nullopt});
    }
  }
  const auto allow = [&](const char* where, const std::string& text, auto change) {
    StrategyInstance changed = instance;
    change(changed.options);
    if (instance_hash(changed) == instance_hash(instance)) return;
    if (least_memory(StrategyTable(changed)).mib > instance.cluster.memory_mib) return;
    conflict.changes.push_back({where, text, std::move(changed), std::nullopt});
  };
  allow("/options/recompute", "allow full recomputation",
        [](StrategyOptions& options) { options.recompute.push_back(StrategyRecompute::full); });
  const std::int64_t chunks = std::min<std::int64_t>(
      kMaxDevices, 8 * *std::ranges::max_element(instance.options.stream_chunks));
  allow("/options/stream_chunks", "allow " + std::to_string(chunks) + " stream chunks",
        [&](StrategyOptions& options) { allow_value(options.stream_chunks, chunks); });
  allow("/options/zero", "allow ZeRO level 3",
        [](StrategyOptions& options) { allow_value(options.zero, 3); });
  const std::int64_t widest = *std::ranges::max_element(instance.options.tp);
  allow("/options/tp", "allow tp " + std::to_string(2 * widest),
        [&](StrategyOptions& options) { allow_value(options.tp, 2 * widest); });
  const std::int64_t longest = *std::ranges::max_element(instance.options.cp);
  allow("/options/cp", "allow cp " + std::to_string(2 * longest),
        [&](StrategyOptions& options) { allow_value(options.cp, 2 * longest); });
  if (std::ranges::none_of(instance.model.blocks, &StrategyBlock::routed)) return conflict;
  const std::int64_t apart = *std::ranges::max_element(instance.options.ep);
  allow("/options/ep", "allow ep " + std::to_string(2 * apart),
        [&](StrategyOptions& options) { allow_value(options.ep, 2 * apart); });
  return conflict;
}

}  // namespace stowage
