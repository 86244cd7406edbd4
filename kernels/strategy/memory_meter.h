// Counts the floats of activations that a rank holds, and their maximum, by arrays that register
// themselves.
//
//   MemoryMeter meter;
//   MeteredTensors tensors(program.tensors(), meter);
//   program.run(program.forward_steps(), tensors, call);
//   meter.live();   // floats kept for the backward pass
//
// Tensors are allocated when they begin and freed when they end. Thread safety: one thread each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/block/program/tensor_program.h"

namespace stowage::kernels {

class MemoryMeter {
 public:
  void add(std::int64_t floats) { most_ = std::max(most_, live_ += floats); }
  void remove(std::int64_t floats) { live_ -= floats; }
  std::int64_t live() const { return live_; }
  std::int64_t most() const { return most_; }

 private:
  std::int64_t live_ = 0;
  std::int64_t most_ = 0;
};

// An array of zeros.
class MeteredFloats {
 public:
  MeteredFloats(MemoryMeter& meter, std::int64_t floats)
      : meter_(&meter), floats_(static_cast<std::size_t>(floats)) {
    meter_->add(floats);
  }
  MeteredFloats(const MeteredFloats&) = delete;
  MeteredFloats& operator=(const MeteredFloats&) = delete;
  ~MeteredFloats() { meter_->remove(static_cast<std::int64_t>(floats_.size())); }

  std::span<float> all() { return floats_; }

 private:
  MemoryMeter* meter_;
  std::vector<float> floats_;
};

class MeteredTensors final : public TensorMemory {
 public:
  // `tensors` must outlive this object.
  MeteredTensors(std::span<const Tensor> tensors, MemoryMeter& meter)
      : tensors_(tensors), meter_(meter), arrays_(tensors.size()) {}

  std::span<float> at(int tensor) override { return arrays_[tensor]->all(); }
  void begin(int tensor) override { arrays_[tensor].emplace(meter_, tensors_[tensor].floats); }
  void end(int tensor) override { arrays_[tensor].reset(); }
  void clear() {
    for (std::optional<MeteredFloats>& array : arrays_) array.reset();
  }

 private:
  std::span<const Tensor> tensors_;
  MemoryMeter& meter_;
  std::vector<std::optional<MeteredFloats>> arrays_;
};

}  // namespace stowage::kernels
