// A fixed list of operations on named tensors, and the memory they run in.
//
// The list says of every operation what it reads and what it writes, so that the lifetime of every
// tensor, from the step that writes it first to the step that touches it last, is known before
// anything runs: this is what a memory planner needs to know, and what the arena (memory/arena.h)
// obeys. The lists cannot drift from the code: an operation that touches a tensor it did not
// declare throws.
//
//   BlockProgram program(shape, tokens, layers, memory);      // block_program.h
//   SeparateTensors tensors(program.tensors());
//   program.run(program.all_steps(), tensors, call);
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace stowage::kernels {

struct Tensor {
  std::string name;
  std::int64_t floats = 0;
  int first = 0;  // the step that writes it first
  int last = 0;   // the step that touches it last
};

// Where tensors live. begin() comes before the step that writes the tensor first, end() after the
// one that touches it last, stepped() after every step and its ends.
class TensorMemory {
 public:
  TensorMemory() = default;
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;
  virtual ~TensorMemory() = default;

  // All floats of a tensor that has begun and not ended.
  virtual std::span<float> at(int tensor) = 0;
  virtual void begin(int /*tensor*/) {}
  virtual void end(int /*tensor*/) {}
  virtual void stepped(int /*step*/) {}
};

// Every tensor in an allocation of its own, made in the constructor and kept.
class SeparateTensors final : public TensorMemory {
 public:
  explicit SeparateTensors(std::span<const Tensor> tensors) {
    for (const Tensor& tensor : tensors) memory_.emplace_back(tensor.floats);
  }
  std::span<float> at(int tensor) override { return memory_[tensor]; }

 private:
  std::vector<std::vector<float>> memory_;
};

// What one operation declared.
struct StepOperands {
  std::vector<int> reads;
  std::vector<int> writes;   // all of the tensor, whatever it held
  std::vector<int> updates;  // reads and writes
};

// The tensors of the operation that runs. Throws std::logic_error for one that it did not declare.
class Operands {
 public:
  Operands(TensorMemory& memory, const StepOperands& declared)
      : memory_(memory), declared_(declared) {}

  std::span<const float> in(int tensor) const {
    require(tensor, declared_.reads);
    return memory_.at(tensor);
  }
  std::span<float> out(int tensor) const {
    require(tensor, declared_.writes);
    return memory_.at(tensor);
  }

 private:
  static bool holds(const std::vector<int>& list, int tensor) {
    for (const int each : list) {
      if (each == tensor) return true;
    }
    return false;
  }
  void require(int tensor, const std::vector<int>& list) const {
    if (holds(list, tensor) || holds(declared_.updates, tensor)) return;
    throw std::logic_error("an operation touches tensor " + std::to_string(tensor) +
                           ", which it did not declare");
  }

  TensorMemory& memory_;
  const StepOperands& declared_;
};

}  // namespace stowage::kernels
