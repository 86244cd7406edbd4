// Documents that tests of the readers break in one place each.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace stowage {

inline const std::filesystem::path kInstancesDir =
    std::filesystem::path(STOWAGE_SOURCE_DIR) / "instances";
inline const std::filesystem::path kDocsDir = std::filesystem::path(STOWAGE_SOURCE_DIR) / "docs";

inline constexpr std::string_view kValidInstance = R"({
  "format": "stowage/instance", "version": 1, "problem": "scatter", "name": "four",
  "cluster": {"devices": 4, "devices_per_node": 2, "memory_mib": 100, "degrees": [1, 2, 4],
              "aligned": true},
  "model": {"states_mib": 20, "activation_mib_per_token": 1},
  "cost": {"quadratic_ms": 0.001, "linear_ms": 0.5, "fixed_ms": 3,
           "all_to_all": {"mib_per_token": 1, "mib_per_ms": {"2": 8, "4": 4},
                          "latency_ms": {"4": 0.5}}},
  "pad_multiple": 16, "lengths": [100, 80, 60, 20]
})";

inline constexpr std::string_view kValidPlan = R"({
  "format": "stowage/plan", "version": 1, "problem": "scatter", "name": "four",
  "instance_hash": "fnv1a64:0123456789abcdef",
  "objective_ms": 40.5, "bound_ms": 39, "bound_by": "area",
  "micro_batches": [{"makespan_ms": 40.5, "groups": [
    {"degree": 4, "first_rank": 0, "sequences": [0, 2], "tokens": 176, "time_ms": 40.5,
     "cu_seqlens": [0, 112, 176]}]}]
})";

// Two occurrences of a block of two buffers each, a pin, a gap, an alignment.
inline constexpr std::string_view kValidLayout = R"({
  "format": "stowage/instance", "version": 1, "problem": "layout", "name": "five",
  "capacity_bytes": 4096, "alignment": 8,
  "buffers": [
    {"id": "a", "lower": 0, "upper": 4, "size_bytes": 100},
    {"id": "b", "lower": 1, "upper": 3, "size_bytes": 64, "alignment": 32},
    {"id": "c", "lower": 10, "upper": 14, "size_bytes": 100},
    {"id": "d", "lower": 11, "upper": 13, "size_bytes": 64, "alignment": 32},
    {"lower": 2, "upper": 20, "size_bytes": 7, "offset_bytes": 512, "gaps": [[5, 9], [12, 13]]}],
  "layers": [{"name": "forward", "occurrences": [[0, 1], [2, 3]]}]
})";

inline constexpr std::string_view kValidLayoutPlan = R"({
  "format": "stowage/plan", "version": 1, "problem": "layout", "name": "five",
  "instance_hash": "fnv1a64:0123456789abcdef",
  "peak_bytes": 519, "bound_bytes": 519, "bound_by": "pins", "offsets": [0, 128, 0, 128, 512]
})";

// A name that is an index, an update in place, a workspace, an `after`.
inline constexpr std::string_view kValidOrder = R"({
  "format": "stowage/instance", "version": 1, "problem": "order", "name": "three",
  "capacity_bytes": 4096, "alignment": 64,
  "tensors": [
    {"id": "x", "size_bytes": 100, "input": true},
    {"id": "w", "size_bytes": 64, "input": true, "output": true},
    {"size_bytes": 200},
    {"id": "y", "size_bytes": 8, "output": true, "x-mine": [1]}],
  "operators": [
    {"id": "f", "reads": ["x", "w"], "writes": ["2"], "workspace_bytes": 10},
    {"reads": ["2"], "writes": ["y"], "after": ["f"]},
    {"id": "step", "reads": ["2"], "updates": ["w"]}]
})";

inline constexpr std::string_view kValidOrderPlan = R"({
  "format": "stowage/plan", "version": 1, "problem": "order", "name": "three",
  "instance_hash": "fnv1a64:0123456789abcdef",
  "peak_bytes": 512, "bound_bytes": 448, "bound_by": "operator", "order": [0, 1, 2]
})";

// A model by its numbers with every key that has a default, and two blocks.
inline constexpr std::string_view kValidStrategy = R"({
  "format": "stowage/instance", "version": 1, "problem": "strategy", "name": "small",
  "model": {"hidden": 512, "heads": 8, "kv_width": 128, "vocabulary": 1000, "tied": true,
    "causal": false, "flash_attention": false, "sequence_parallel": false, "x-mine": [1],
    "blocks": [{"name": "first", "count": 2, "ffn": 2048, "gated": false}, {"count": 4, "ffn": 1024,
      "experts": {"count": 4, "top_k": 2, "ffn": 256}}]},
  "cluster": {"nodes": 2, "devices_per_node": 4, "memory_mib": 1000.5,
    "mib_per_ms": {"inside": 224, "across": 24}},
  "cost": {"linear_tflops": 193, "attention_tflops": 140, "half_width": 64, "overlap": 0.5,
    "measured": [{"block": 0, "tp": 2, "cp": 1, "recompute": "full", "tokens": [100, 1000],
      "ms": [0.5, 4]}]},
  "options": {"pp": [1, 2], "v": [1, 3], "tp": [2, 1], "cp": [1], "cp_exchange": ["ring", "all_to_all"], "ep": [2, 1], "zero": [0, 3], "shard": [0, 2],
    "recompute": ["none", "full"], "logit_chunks": [4], "stream_chunks": [2, 1],
    "micro_batches": [1, 2]},
  "lengths": [1000, 500, 250, 250]
})";

inline constexpr std::string_view kValidStrategyPlan = R"({
  "format": "stowage/plan", "version": 1, "problem": "strategy", "name": "small",
  "instance_hash": "fnv1a64:0123456789abcdef",
  "objective_ms": 12.5, "bound_ms": 12, "bound_by": "prices",
  "pp": 2, "v": 1, "micro_batches": 2, "tp": 2, "cp": 1, "cp_exchange": "ring", "dp": 2, "ep": 2, "shard": 2, "logit_chunks": 4,
  "stages": [
    {"layers": 4, "zero": 0, "recompute": "none", "time_ms": 3, "longest_ms": 5.5,
     "exchange_ms": 0.5, "memory_mib": 100},
    {"layers": 2, "zero": 3, "recompute": "full", "stream_chunks": 2, "time_ms": 2,
     "longest_ms": 4, "exchange_ms": 0, "memory_mib": 90.25}]
})";

// Two schemes, a strategy of both and one of the smaller alone.
inline constexpr std::string_view kValidAssign = R"({
  "format": "stowage/instance", "version": 1, "problem": "assign", "name": "five",
  "devices": 8,
  "schemes": {
    "2x2": {"tp": 2, "pp": 2, "quadratic_ms": 0.001, "linear_ms": 0.5, "fixed_ms": 3,
            "max_tokens": 128},
    "1x1": {"tp": 1, "pp": 1, "quadratic_ms": 0.004, "linear_ms": 2, "fixed_ms": 1,
            "max_tokens": 64}},
  "strategies": {"both": {"2x2": 1, "1x1": 4}, "small": {"1x1": 8}},
  "constraints": {"rows_multiple_of": 2, "equal_rows": true, "allow_empty": false},
  "pad_multiple": 16, "lengths": [100, 50, 30, 20, 10]
})";

inline constexpr std::string_view kValidAssignPlan = R"({
  "format": "stowage/plan", "version": 1, "problem": "assign", "name": "five",
  "instance_hash": "fnv1a64:0123456789abcdef", "strategy": "both",
  "loss_tokens": 210, "objective_ms": 40.5, "simulated_1f1b_ms": 41.5, "bound_ms": 39, "bound_by": "work",
  "replicas": [{"scheme": "2x2", "time_ms": 40.5, "rows": [
    {"sequences": [0, 4], "tokens": 128, "loss_tokens": 110, "time_ms": 20.25, "cu_seqlens": [0, 112, 128]}]},
    {"scheme": "1x1", "time_ms": 0, "rows": []}]
})";

// `text` with its first `from` replaced by `to`; a test that replaces nothing fails.
inline std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const std::size_t at = changed.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "nothing to replace: " << from;
    return changed;
  }
  return changed.replace(at, from.size(), to);
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace stowage
