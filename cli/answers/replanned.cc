#include "cli/answers/replanned.h"

#include "instances/numeric/numbers.h"
#include "instances/strategy/instance.h"
#include "solvers/configure/configure.h"

namespace stowage {
namespace {

constexpr double kMsOfSecond = 1000;

std::string configuration_line(const StrategyPlan& plan) {
  return configuration_name(plan) + ", cp " + std::to_string(plan.cp) + ", dp " +
         std::to_string(plan.dp) + "   " + ms_text(plan.step_ms) + " ms a mean step";
}

}  // namespace

void write_replanned(JsonWriter& json, const ReplannedAnswer& answer) {
  const StrategyPlan& old = answer.old_plan;
  const Replanned& chosen = answer.chosen;
  json.begin_object();
  json.key("before");
  json.begin_object();
  json.integer("devices", answer.old_devices);
  json.integer("pp", old.pp);
  json.integer("v", old.v);
  json.integer("tp", old.tp);
  json.integer("cp", old.cp);
  json.integer("dp", old.dp);
  json.integer("ep", old.ep);
  if (old.shard > 0) json.integer("shard", old.shard);
  if (old.cp_exchange == StrategyExchange::ring) json.text("cp_exchange", "ring");
  json.integer("zero", old.stages.front().zero);
  json.text("recompute",
            kStrategyRecomputes[at(static_cast<std::int64_t>(old.stages.front().recompute))]);
  if (old.stages.front().stream_chunks > 1) {
    json.integer("stream_chunks", old.stages.front().stream_chunks);
  }
  json.integer("micro_batches", old.micro_batches);
  json.number("mean_step_objective_ms", old.step_ms);
  json.end_object();
  json.key("lost");
  json.begin_array();
  for (const std::int64_t device : answer.lost) json.integer(device);
  json.end_array();
  json.integer("nodes", chosen.instance.cluster.nodes);
  json.integer("devices_per_node", chosen.instance.cluster.devices_per_node);
  json.number("weight", answer.weight);
  json.number("moved_mib", chosen.moves.moved_mib);
  json.number("most_mib", chosen.moves.most_mib);
  json.number("lost_mib", chosen.moves.lost_mib);
  json.number("move_ms", chosen.move_ms);
  json.number("cost_ms", chosen.cost_ms);
  json.key("device_of_rank");
  json.begin_array();
  for (const std::int64_t device : chosen.moves.device_of_rank) json.integer(device);
  json.end_array();
  json.end_object();
}

std::vector<std::string> replanned_lines(const ReplannedAnswer& answer) {
  const Replanned& chosen = answer.chosen;
  const StrategyCluster& cluster = chosen.instance.cluster;
  const std::int64_t left = answer.old_devices - std::ssize(answer.lost);
  const Relocation& moves = chosen.moves;
  std::string move = "move      " + ms_text(moves.moved_mib) + " MiB, " +
                     seconds_text(chosen.move_ms / kMsOfSecond) + " over one link; a device gets " +
                     ms_text(moves.most_mib) + " MiB at most";
  if (moves.lost_mib > 0) {
    move += "; " + ms_text(moves.lost_mib) + " MiB are lost, to be read from a checkpoint";
  }
  return {"before    " + configuration_line(answer.old_plan),
          "after     " + configuration_line(chosen.plan),
          "uses      " + grouped(cluster.devices()) + " of " +
              counted(left, "device that is left", "devices that are left") + ": " +
              counted(cluster.nodes, "node") + " of " + grouped(cluster.devices_per_node),
          std::move(move)};
}

}  // namespace stowage
