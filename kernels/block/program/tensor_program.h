// A fixed list of operations on named tensors, and the memory they run in.
//
// The list contains the tensors that every operation reads and writes. So the lifetime of every
// tensor is known before the program runs: from the step that writes it first to the step that
// accesses it last. A memory planner needs these lifetimes, and the arena (memory/arena.h) follows
// them. The lists match the code, since an operation that accesses an undeclared tensor throws.
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
  int first = 0;  // first step that writes it
  int last = 0;   // last step that accesses it
};

// The memory of tensors. begin() is called before the step that writes the tensor first, end()
// after the step that accesses it last, and stepped() after every step and its calls of end().
class TensorMemory {
 public:
  TensorMemory() = default;
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;
  virtual ~TensorMemory() = default;

  // Returns all floats of a tensor that has begun and not ended.
  virtual std::span<float> at(int tensor) = 0;
  virtual void begin(int /*tensor*/) {}
  virtual void end(int /*tensor*/) {}
  virtual void stepped(int /*step*/) {}
};

// Keeps every tensor in an allocation of its own, made in the constructor.
class SeparateTensors final : public TensorMemory {
 public:
  explicit SeparateTensors(std::span<const Tensor> tensors) {
    for (const Tensor& tensor : tensors) memory_.emplace_back(tensor.floats);
  }
  std::span<float> at(int tensor) override { return memory_[tensor]; }

 private:
  std::vector<std::vector<float>> memory_;
};

// The declared operands of one operation.
struct StepOperands {
  std::vector<int> reads;
  std::vector<int> writes;   // tensors that the operation overwrites completely
  std::vector<int> updates;  // tensors that it reads and writes
};

// Gives access to the tensors of the running operation. Throws std::logic_error for a tensor that
// the operation did not declare.
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
