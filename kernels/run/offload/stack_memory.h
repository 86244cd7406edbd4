// The memory of a stack of blocks, of which a share leaves the device for the host between the
// passes. Both are memory of this process; tensors are allocated when they begin and freed when
// they end or have left.
//
//   StackMemory plain(program);                       // learns which tensors are saved
//   program.run(program.forward_steps(), plain, call);
//   program.run(program.backward_steps(), plain, call);
//   StackMemory away(program, plain.uses(), {.share = 0.5, .out_s_per_byte = 1e-9, ...}, link);
//   program.run(program.forward_steps(), away, call);
//   away.end_forward();                               // every copy out has ended
//   program.run(program.backward_steps(), away, call);
//
// A saved tensor leaves behind its last use in the forward pass as long as less than the share of
// all saved bytes has left: those that are needed last leave first. Tensors come back in the order
// of their use in the backward pass, ahead of it while there is room: as much as the forward pass
// held at most, or `in_flight` bytes of copies. Copies out that wait have at most `in_flight`
// bytes, or are one tensor. The thread that runs the program waits for copies where it must.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "kernels/block/program/block_program.h"
#include "kernels/run/offload/host_link.h"

namespace stowage::kernels {

// The steps that use a tensor. -1: none.
struct TensorUse {
  int last_forward = -1;
  int first_backward = -1;
};

struct OffloadRates {
  double share = 0;  // of the saved bytes
  double out_s_per_byte = 0;
  double in_s_per_byte = 0;
  std::int64_t in_flight = 0;  // bytes
};

class StackMemory final : public TensorMemory {
 public:
  // Nothing leaves. `program` must outlive this object.
  explicit StackMemory(const BlockProgram& program);
  // `uses` are those of an earlier run of the program; `link` must outlive this object.
  StackMemory(const BlockProgram& program, std::vector<TensorUse> uses, const OffloadRates& rates,
              HostLink& link);
  ~StackMemory() override;

  std::span<float> at(int tensor) override;
  void begin(int tensor) override;
  void end(int tensor) override;
  void stepped(int step) override;

  // Waits until all tensors that leave have left.
  void end_forward();

  const std::vector<TensorUse>& uses() const { return uses_; }
  std::int64_t saved_bytes() const;
  std::int64_t moved_bytes() const { return moved_; }
  std::int64_t most_device_bytes() const { return most_; }
  double forward_wait_s() const { return forward_wait_; }
  double backward_wait_s() const { return backward_wait_; }

 private:
  struct Array {
    std::vector<float> device, host;
    HostLink::Ticket ticket = -1;  // of the copy out, then of the copy back
    bool sent = false;
    bool fetched = false;
  };

  std::int64_t bytes_of(int tensor) const;
  bool is_saved(int tensor) const;
  void hold(std::int64_t bytes);
  void send(int tensor);
  void settle(std::int64_t bytes, std::size_t copies);
  void fetch_ahead();
  void fetch(int tensor);

  const BlockProgram& program_;
  std::vector<Array> arrays_;
  std::vector<TensorUse> uses_;
  OffloadRates rates_;
  HostLink* link_ = nullptr;
  int step_ = 0;                        // the running step
  std::vector<std::vector<int>> done_;  // saved tensors, by the step of their last use in forward
  std::vector<int> order_;              // sent tensors in the order of their use in backward
  std::size_t next_ = 0;                // of order_: to be fetched
  std::deque<int> leaving_;
  std::int64_t leaving_bytes_ = 0, coming_bytes_ = 0;
  std::int64_t moved_ = 0;
  double to_move_ = 0;                  // bytes
  std::int64_t room_ = 0;               // the most device bytes of the forward pass
  std::atomic<std::int64_t> held_ = 0;  // device bytes
  std::int64_t most_ = 0;
  double forward_wait_ = 0, backward_wait_ = 0;
};

}  // namespace stowage::kernels
