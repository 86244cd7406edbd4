#include "kernels/run/offload/stack_memory.h"

#include <algorithm>
#include <utility>

namespace stowage::kernels {

StackMemory::StackMemory(const BlockProgram& program)
    : program_(program), arrays_(program.tensors().size()), uses_(arrays_.size()) {}

StackMemory::StackMemory(const BlockProgram& program, std::vector<TensorUse> uses,
                         const OffloadRates& rates, HostLink& link)
    : program_(program),
      arrays_(program.tensors().size()),
      uses_(std::move(uses)),
      rates_(rates),
      link_(&link),
      done_(static_cast<std::size_t>(program.forward_steps().end)) {
  for (int tensor = 0; tensor < std::ssize(uses_); ++tensor) {
    if (is_saved(tensor)) {
      done_[static_cast<std::size_t>(uses_[tensor].last_forward)].push_back(tensor);
    }
  }
  to_move_ = rates_.share * static_cast<double>(saved_bytes());
}

StackMemory::~StackMemory() {
  if (link_ != nullptr) link_->drain();  // after an exception, copies may still use the arrays
}

std::span<float> StackMemory::at(int tensor) {
  Array& array = arrays_[tensor];
  if (link_ == nullptr) {
    TensorUse& use = uses_[tensor];
    if (step_ < program_.forward_steps().end) {
      use.last_forward = step_;
    } else if (use.first_backward < 0) {
      use.first_backward = step_;
    }
  } else if (array.sent) {
    if (!array.fetched) fetch(tensor);
    backward_wait_ += link_->wait(array.ticket);
    array.sent = false;
    coming_bytes_ -= bytes_of(tensor);
    fetch_ahead();
  }
  return array.device;
}

void StackMemory::begin(int tensor) {
  hold(bytes_of(tensor));
  arrays_[tensor].device.assign(static_cast<std::size_t>(program_.tensors()[tensor].floats), 0);
}

void StackMemory::end(int tensor) {
  if (arrays_[tensor].sent) (void)at(tensor);  // it was never used in the backward pass
  arrays_[tensor] = {};
  held_ -= bytes_of(tensor);
  if (link_ != nullptr && step_ >= program_.forward_steps().end) fetch_ahead();
}

void StackMemory::stepped(int step) {
  step_ = step + 1;
  if (link_ == nullptr || step >= program_.forward_steps().end) return;
  for (const int tensor : done_[static_cast<std::size_t>(step)]) {
    if (static_cast<double>(moved_) < to_move_) send(tensor);
  }
  settle(rates_.in_flight, 1);
}

void StackMemory::end_forward() {
  if (link_ == nullptr) return;
  settle(0, 0);
  room_ = most_;
  std::ranges::sort(order_, {}, [&](int tensor) { return uses_[tensor].first_backward; });
  fetch_ahead();
}

std::int64_t StackMemory::saved_bytes() const {
  std::int64_t bytes = 0;
  for (int tensor = 0; tensor < std::ssize(uses_); ++tensor) {
    if (is_saved(tensor)) bytes += bytes_of(tensor);
  }
  return bytes;
}

std::int64_t StackMemory::bytes_of(int tensor) const {
  return program_.tensors()[tensor].floats * std::int64_t{sizeof(float)};
}

bool StackMemory::is_saved(int tensor) const {
  return uses_[tensor].last_forward >= 0 && uses_[tensor].first_backward >= 0 &&
         program_.tensors()[tensor].floats > 0;
}

// The link's thread only lowers the number, so that the highest one is seen here.
void StackMemory::hold(std::int64_t bytes) { most_ = std::max(most_, held_ += bytes); }

void StackMemory::send(int tensor) {
  const std::int64_t bytes = bytes_of(tensor);
  Array& array = arrays_[tensor];
  array.sent = true;
  moved_ += bytes;
  leaving_.push_back(tensor);
  leaving_bytes_ += bytes;
  order_.push_back(tensor);
  array.ticket = link_->start(rates_.out_s_per_byte * static_cast<double>(bytes), [&, bytes] {
    array.host = array.device;
    array.device = {};
    held_ -= bytes;
  });
}

// Waits for the oldest copies out until the others are few enough.
void StackMemory::settle(std::int64_t bytes, std::size_t copies) {
  while (leaving_bytes_ > bytes && leaving_.size() > copies) {
    const int tensor = leaving_.front();
    leaving_.pop_front();
    leaving_bytes_ -= bytes_of(tensor);
    forward_wait_ += link_->wait(arrays_[tensor].ticket);
  }
}

void StackMemory::fetch_ahead() {
  while (next_ < order_.size()) {
    const int tensor = order_[next_];
    const bool room = held_ + bytes_of(tensor) <= room_ || coming_bytes_ < rates_.in_flight;
    if (!room && coming_bytes_ > 0) return;
    ++next_;
    if (arrays_[tensor].sent && !arrays_[tensor].fetched) fetch(tensor);
  }
}

void StackMemory::fetch(int tensor) {
  const std::int64_t bytes = bytes_of(tensor);
  Array& array = arrays_[tensor];
  array.fetched = true;
  coming_bytes_ += bytes;
  hold(bytes);
  array.ticket = link_->start(rates_.in_s_per_byte * static_cast<double>(bytes), [&array] {
    array.device = array.host;
    array.host = {};
  });
}

}  // namespace stowage::kernels
