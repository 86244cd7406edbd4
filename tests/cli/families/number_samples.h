// Documents whose numbers are replaced.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stowage::families_numbers_test {

// One instance of each kind with different keys.
inline const std::vector<std::string> kSamples = {
    R"({"problem": "scatter", "cluster": {"devices": 4, "memory_mib": 100, "degrees": [1, 2, 4]},
        "model": {"states_mib": 10, "activation_mib_per_token": 1},
        "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 2, "window": {"tokens": 8,
          "share": 0.5}, "all_to_all": {"mib_per_token": 1, "mib_per_ms": {"2": 8, "4": 4},
          "latency_ms": {"2": 0.5}}},
        "rules": {"micro_batches_multiple_of": 1},
        "lengths": [120, 50, 30, 12, 5], "loss_tokens": [20, 10, 30, 12, 5]})",
    R"({"problem": "scatter", "cluster": {"devices": 4, "devices_per_node": 2, "memory_mib": 100,
          "kinds": [{"nodes": 1, "speed": 1, "memory_mib": 100}, {"nodes": 1, "speed": 0.5,
          "memory_mib": 80}]},
        "model": {"states_mib": 10, "activation_mib_per_token": 1, "logits_mib_per_token": 0.1,
          "recomputation": [{"name": "none"}, {"name": "full", "activation_mib_per_token": 0.5,
          "quadratic_factor": 1.3, "linear_factor": 1.3, "exchange_factor": 1.3}]},
        "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 2, "exchange": {"kinds":
          ["all_to_all", "ring"], "all_to_all_mib_per_token": 1, "keys_values_mib_per_token": 0.5,
          "inside_mib_per_ms": 8, "across_mib_per_ms": 2, "inside_latency_ms": 0.1,
          "across_latency_ms": 0.2, "overlap": 0.5}},
        "lengths": [120, 50, 30, 12, 5]})",
    R"({"problem": "scatter", "cluster": {"devices": 4, "memory_mib": 200, "degrees": [1, 2, 4]},
        "model": {"states_mib": 10, "activation_mib_per_token": 1, "offload": {"mib_per_token": 0.5,
          "out_mib_per_ms": 2, "in_mib_per_ms": 1, "host_mib": 10, "forward_share": 0.25}},
        "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 2, "exchange": {"kinds":
          ["all_to_all", "ring"], "all_to_all_mib_per_token": {"2": 1, "4": 1.5},
          "keys_values_mib_per_token": 0.5, "inside_mib_per_ms": 8}},
        "padding": {"sequence_multiple": 2, "row_multiple": 4, "device_multiple": 2},
        "lengths": [120, 50, 30, 12, 5]})",
    R"({"problem": "scatter", "cluster": {"devices": 2, "memory_mib": 100, "degrees": [1, 2]},
        "model": {"states_mib": 10, "activation_mib_per_token": 1},
        "cost": {"quadratic_ms": 0.01, "linear_ms": 0.5, "fixed_ms": 2, "all_to_all":
          {"mib_per_token": 1, "mib_per_ms": {"2": 2}}},
        "mixed": {"hidden_share": 0.75}, "lengths": [100, 50, 30, 12, 5]})",
    R"({"problem": "scatter", "cluster": {"devices": 2, "memory_mib": 100, "degrees": [1, 2]},
        "model": {"states_mib": 0, "activation_mib_per_token": 1},
        "cost": {"table": {"1": {"tokens": [0, 50, 100], "squares": [0, 5000, 10000],
          "ms": [[4, 6, 8], [30, 37, 40], [50, 61, 70]]},
          "2": {"tokens": [0, 100, 200], "squares": [0, 40000], "ms": [[6, 8], [28, 36],
          [48, 60]]}}},
        "lengths": [90, 50, 30, 12, 5]})",
    R"({"problem": "assign", "devices": 8, "schemes": {"2x2": {"tp": 2, "pp": 2,
          "quadratic_ms": 0.01, "linear_ms": 1, "fixed_ms": 1, "max_tokens": 60},
          "1x1": {"tp": 1, "pp": 1, "quadratic_ms": 0.02, "linear_ms": 2, "fixed_ms": 1,
          "max_tokens": 30}},
        "strategies": {"S": {"2x2": 1, "1x1": 2}, "T": {"1x1": 4}}, "constraints":
          {"rows_multiple_of": 1}, "pad_multiple": 2, "lengths": [25, 20, 9, 4],
        "loss_tokens": [5, 2, 9, 4]})",
    R"({"problem": "assign", "devices": 4, "schemes": {"1x4": {"tp": 1, "pp": 4,
          "quadratic_ms": 0.01, "linear_ms": 1, "fixed_ms": 1, "max_tokens": 60}},
        "strategies": {"S": {"1x4": 1}}, "constraints": {"chunks": {"size_tokens": 20,
          "retained": 2, "activation_bytes": 34, "key_value_bytes": 4}},
        "lengths": [70, 20, 9, 4]})",
    R"({"problem": "layout", "capacity_bytes": 100, "alignment": 2, "buffers": [
          {"lower": 0, "upper": 4, "size_bytes": 10, "gaps": [[1, 2]]},
          {"lower": 1, "upper": 6, "size_bytes": 20, "alignment": 4},
          {"lower": 2, "upper": 8, "size_bytes": 6, "offset_bytes": 0}]})",
    R"({"problem": "layout", "buffers": [{"lower": 0, "upper": 4, "size_bytes": 10},
          {"lower": 1, "upper": 6, "size_bytes": 20}, {"lower": 10, "upper": 14, "size_bytes": 10},
          {"lower": 11, "upper": 16, "size_bytes": 20}],
        "layers": [{"name": "l", "occurrences": [[0, 1], [2, 3]]}]})",
    R"({"problem": "order", "objective": "time", "capacity_bytes": 40, "host":
          {"out_bytes_per_ms": 10, "in_bytes_per_ms": 10, "capacity_bytes": 20}, "tensors": [
          {"id": "x", "size_bytes": 5, "input": true}, {"id": "a", "size_bytes": 20},
          {"id": "b", "size_bytes": 2}, {"id": "c", "size_bytes": 30}, {"id": "d",
          "size_bytes": 1}, {"id": "y", "size_bytes": 1, "output": true}], "operators": [
          {"id": "f", "reads": ["x"], "writes": ["a"], "ms": 2}, {"id": "g", "reads": ["a"],
          "writes": ["b"], "ms": 2}, {"id": "m", "reads": ["b"], "writes": ["c"], "ms": 1},
          {"id": "n", "reads": ["c"], "writes": ["d"], "ms": 1}, {"id": "h", "reads": ["a", "d",
          "x"], "writes": ["y"], "ms": 1, "workspace_bytes": 1}]})",
    R"({"problem": "order", "objective": "time", "capacity_bytes": 40, "tensors": [
          {"id": "x", "size_bytes": 5, "input": true}, {"id": "a", "size_bytes": 20}, {"id": "b",
          "size_bytes": 2}, {"id": "c", "size_bytes": 30}, {"id": "y", "size_bytes": 1,
          "output": true}], "operators": [
          {"id": "f", "reads": ["x"], "writes": ["a"], "ms": 2, "recompute": true}, {"id": "g",
          "reads": ["a"], "writes": ["b"], "ms": 1}, {"id": "m", "reads": ["b"], "writes": ["c"],
          "ms": 1}, {"id": "h", "reads": ["a", "c"], "writes": ["y"], "ms": 1}]})",
    R"({"problem": "order", "alignment": 1, "tokens": {"from": 1, "to": 8}, "tensors": [
          {"id": "x", "size_bytes": 1, "input": true}, {"id": "a", "size_bytes": 16}, {"id": "b",
          "size_bytes": 0, "bytes_per_token": 4}, {"id": "c", "size_bytes": 8}, {"id": "s",
          "size_bytes": 1, "output": true}], "operators": [
          {"id": "f", "reads": ["x"], "writes": ["a"], "workspace_bytes_per_token": 1}, {"id": "g",
          "reads": ["x"], "writes": ["b"]}, {"id": "h", "reads": ["a"], "writes": ["c"]},
          {"id": "i", "reads": ["b", "c"], "writes": ["s"]}]})",
    R"({"problem": "order", "capacity_bytes": 64, "alignment": 1, "tensors": [
          {"id": "x", "size_bytes": 8, "input": true}, {"id": "a",
          "size_bytes": 8}, {"id": "y", "size_bytes": 8, "output": true}], "operators": [
          {"id": "f", "reads": ["x"], "writes": ["a"], "in_place": ["x"]},
          {"id": "g", "reads": ["a"], "writes": ["y"], "in_place": ["a"]}]})",
    R"({"problem": "strategy", "model": {"hidden": 64, "heads": 4, "kv_width": 16,
          "vocabulary": 100, "blocks": [{"count": 2, "ffn": 128}, {"count": 2, "ffn": 64,
          "experts": {"count": 4, "top_k": 2, "ffn": 32}}]},
        "cluster": {"nodes": 2, "devices_per_node": 2, "memory_mib": 1000, "mib_per_ms":
          {"inside": 224, "across": 24},
          "offload": {"out_mib_per_ms": 24, "in_mib_per_ms": 12, "host_mib": 4096}},
        "cost": {"linear_tflops": 193, "attention_tflops": 140, "half_width": 128, "overlap": 0.8,
          "measured": [{"block": 0, "tp": 1, "cp": 1, "recompute": "none", "tokens": [64, 128],
          "ms": [1, 2]}]},
        "options": {"pp": [1, 2], "v": [1, 2], "tp": [1, 2], "cp": [1, 2], "ep": [1, 2], "zero":
          [1, 3], "recompute": ["none", "full"], "logit_chunks": [1, 4], "stream_chunks": [1, 2],
          "micro_batches": [1, 2]},
        "lengths": [128, 64, 32, 16]})"};

}  // namespace stowage::families_numbers_test
