// Reads and writes trainer files as JSON: docs/reference/trainer.md, "The JSON form".
#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/json/reader.h"
#include "instances/json/writer.h"
#include "instances/trainer/stated.h"
#include "instances/trainer/step.h"

namespace stowage {
namespace {

constexpr IntegerRange kInt32 = {0, std::numeric_limits<std::int32_t>::max()};
constexpr IntegerRange kSlot = {-1, kMaxTrainerSlots};
constexpr int kOffloadVersion = 4;  // the newest

void write_integers(JsonWriter& json, std::string_view key, const std::vector<std::int32_t>& all) {
  json.key(key);
  json.integers({all.begin(), all.end()});
}

void write_batch(JsonWriter& json, const TrainerBatch& batch, int version) {
  std::vector<std::int32_t> ranks;
  for (int i = 0; i < batch.ranks(); ++i) ranks.push_back(batch.first_rank + i);
  json.begin_object();
  json.integer("micro_batch", batch.micro_batch);
  json.integer("group", batch.group);
  json.integer("degree", batch.degree);
  json.integer("stages", batch.stages);
  if (!batch.recomputation.empty()) json.text("recomputation", batch.recomputation);
  if (version == kOffloadVersion) json.number("offload", batch.offload);
  write_integers(json, "ranks", ranks);
  write_integers(json, "sequences", batch.sequences);
  write_integers(json, "cu_seqlens", batch.cu_seqlens);
  write_integers(json, "cu_seqlens_padded", batch.cu_seqlens_padded);
  if (!batch.loss_tokens.empty()) write_integers(json, "loss_tokens", batch.loss_tokens);
  write_integers(json, "position_resets", batch.position_resets());
  json.integer("max_seqlen", batch.max_seqlen());
  json.integer("loss_denominator", batch.loss_denominator());
  json.end_object();
}

std::vector<std::int32_t> read_int32s(const ObjectReader& reader, std::string_view key) {
  const JsonValue* value = reader.require(key);
  if (value == nullptr) return {};
  const auto wide = read_integers(*value, reader.at(key), kInt32, reader.errors());
  return {wide.begin(), wide.end()};
}

int read_int(const ObjectReader& reader, std::string_view key, IntegerRange range) {
  return static_cast<int>(reader.integer(key, range));
}

// The file lists all ranks for readers that make process groups of them; they are consecutive.
void take_ranks(TrainerBatch& batch, const ObjectReader& reader) {
  const std::vector<std::int32_t> ranks = read_int32s(reader, "ranks");
  batch.first_rank = ranks.empty() ? 0 : ranks.front();
  const std::int64_t count = std::int64_t{batch.degree} * batch.stages;
  bool consecutive = static_cast<std::int64_t>(ranks.size()) == count;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    consecutive = consecutive && ranks[i] - ranks.front() == static_cast<std::int64_t>(i);
  }
  if (!consecutive) {
    reader.errors().add(code::kTrainerEntry, reader.at("ranks").pointer(),
                        "must be degree times stages ranks, each one more than that before it");
  }
}

constexpr std::array<std::string_view, 14> kBatchKeys = {
    "micro_batch",     "group",      "degree",           "stages",
    "ranks",           "sequences",  "cu_seqlens",       "cu_seqlens_padded",
    "position_resets", "max_seqlen", "loss_denominator", "loss_tokens",
    "recomputation",   "offload"};

// Reads a batch. Version 1 lacks the last three keys, version 2 the last two and version 3 the
// last. Version 3 may lack loss_tokens, version 4 recomputation as well.
TrainerBatch read_batch(const JsonValue& value, const JsonPath& path, int version,
                        TrainerStated& stated, ErrorList& errors) {
  const ObjectReader reader(
      value, path, errors,
      std::span(kBatchKeys)
          .first(kBatchKeys.size() - static_cast<std::size_t>(kOffloadVersion - version)));
  TrainerBatch batch{.micro_batch = read_int(reader, "micro_batch", {0, kMaxTrainerSlots}),
                     .group = read_int(reader, "group", {0, kMaxDevices}),
                     .degree = read_int(reader, "degree", {1, kMaxDevices}),
                     .stages = read_int(reader, "stages", {1, kMaxStages}),
                     .sequences = read_int32s(reader, "sequences"),
                     .cu_seqlens = read_int32s(reader, "cu_seqlens"),
                     .cu_seqlens_padded = read_int32s(reader, "cu_seqlens_padded")};
  if (version == 2 || reader.find("loss_tokens") != nullptr) {
    batch.loss_tokens = read_int32s(reader, "loss_tokens");
  }
  if (version == 3 || reader.find("recomputation") != nullptr) {
    batch.recomputation = reader.text("recomputation");
  }
  if (version == kOffloadVersion) batch.offload = reader.number("offload", kShareOfOne);
  take_ranks(batch, reader);
  const std::vector<std::int32_t> resets = read_int32s(reader, "position_resets");
  if (resets.size() != batch.sequences.size()) {
    errors.add(code::kTrainerEntry, reader.at("position_resets").pointer(),
               "must have an entry per sequence");
  }
  stated.position_resets.insert(stated.position_resets.end(), resets.begin(), resets.end());
  stated.max_seqlens.push_back(read_int(reader, "max_seqlen", kInt32));
  stated.loss_denominators.push_back(reader.integer("loss_denominator", {0, kMaxExact}));
  return batch;
}

void read_schedule(const ObjectReader& reader, std::size_t columns, TrainerStated& stated) {
  const JsonValue::Array* rows = reader.array("schedule");
  if (rows == nullptr) return;
  const JsonPath where = reader.at("schedule");
  for (std::size_t r = 0; r < rows->size(); ++r) {
    const JsonPath place = where.index(static_cast<std::int64_t>(r));
    const auto row = read_integers((*rows)[r], place, kSlot, reader.errors());
    if (row.size() != columns) {
      reader.errors().add(code::kTrainerEntry, place.pointer(),
                          "must have an entry per micro-batch, has " + std::to_string(row.size()));
    }
    stated.schedule.insert(stated.schedule.end(), row.begin(), row.end());
  }
}

TrainerStep step_from(const JsonValue& document, TrainerStated& stated, ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(document, root, errors,
                            {"format", "version", "problem", "name", "instance_hash", "ranks",
                             "micro_batches", "loss_denominator", "batches", "schedule"});
  const JsonValue* problem = document.find("problem");
  const bool assign =
      problem != nullptr && problem->string() != nullptr && *problem->string() == "assign";
  TrainerStep step{.problem = assign ? "assign" : "scatter"};
  if (document.object() == nullptr ||
      !check_head(reader, "stowage/trainer", step.problem, kOffloadVersion)) {
    return step;
  }
  const int version = read_int(reader, "version", {1, kOffloadVersion});
  step.name = reader.text("name", "");
  step.instance_hash = reader.text("instance_hash");
  step.ranks = read_int(reader, "ranks", {1, kMaxDevices});
  step.micro_batches = read_int(reader, "micro_batches", {0, kMaxTrainerSlots});
  stated.loss_denominator = reader.integer("loss_denominator", {0, kMaxExact});
  if (const JsonValue::Array* batches = reader.array("batches")) {
    const JsonPath where = reader.at("batches");
    for (std::size_t b = 0; b < batches->size(); ++b) {
      step.batches.push_back(read_batch((*batches)[b], where.index(static_cast<std::int64_t>(b)),
                                        version, stated, errors));
    }
  }
  read_schedule(reader, static_cast<std::size_t>(step.micro_batches), stated);
  return step;
}

}  // namespace

std::string write_trainer_json(const TrainerStep& step) {
  JsonWriter json;
  write_trainer(json, step);
  return json.take();
}

void write_trainer(JsonWriter& json, const TrainerStep& step) {
  json.begin_object();
  write_head(json, "stowage/trainer", step.problem, step.name, step.version());
  json.text("instance_hash", step.instance_hash);
  json.integer("ranks", step.ranks);
  json.integer("micro_batches", step.micro_batches);
  json.integer("loss_denominator", step.loss_denominator());
  json.key("batches");
  json.begin_array();
  const int version = step.version();
  for (const TrainerBatch& batch : step.batches) write_batch(json, batch, version);
  json.end_array();
  json.key("schedule");
  json.begin_array();
  const std::vector<std::int32_t> schedule = trainer_schedule(step);
  for (auto row = schedule.begin(); row != schedule.end(); row += step.micro_batches) {
    json.integers({row, row + step.micro_batches});
  }
  if (step.micro_batches == 0) {
    for (int rank = 0; rank < step.ranks; ++rank) json.integers({});
  }
  json.end_array();
  json.end_object();
}

Result<TrainerStep> read_trainer_json(std::string_view text) {
  ErrorList errors;
  TrainerStep step;
  TrainerStated stated;
  if (const std::optional<JsonValue> document = parse_json(text, errors)) {
    step = step_from(*document, stated, errors);
  }
  if (errors.empty()) errors.append(trainer_faults(step));
  if (errors.empty()) errors.append(contradictions(step, stated));
  if (!errors.empty()) return std::move(errors).take();
  return step;
}

}  // namespace stowage
