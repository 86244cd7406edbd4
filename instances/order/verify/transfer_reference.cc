#include "instances/order/verify/transfer_reference.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stowage {
namespace {

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

std::string place_of(std::size_t transfer) { return "/transfers/" + text(transfer); }

bool holds(const std::vector<std::int64_t>& list, std::int64_t item) {
  return std::ranges::find(list, item) != list.end();
}

}  // namespace

// An event of a tensor, ordered by time: within a step the transfers come first.
struct TransferReference::Event {
  enum Kind { out, freed, in, touch };

  std::size_t step = 0;
  Kind kind = touch;
  std::size_t transfer = 0;  // unless it is a touch

  bool operator<(const Event& other) const {
    return step != other.step ? step < other.step : kind < other.kind;
  }
};

bool TransferReference::check_numbers(ViolationList& found, std::size_t rule) const {
  const auto tensors = static_cast<std::int64_t>(instance_.tensors.size());
  const auto steps = static_cast<std::int64_t>(order_.size());
  if (!instance_.host && !transfers_.empty()) {
    found.add(rule, [&] {
      return Description{"/transfers", text(transfers_.size()) + " transfers",
                         "none where the instance has no `host`"};
    });
    return false;
  }
  bool good = true;
  for (std::size_t k = 0; k < transfers_.size(); ++k) {
    const OrderTransfer& its = transfers_[k];
    const auto wrong = [&](const char* key, std::int64_t have, std::string need) {
      good = false;
      found.add(rule, [&] {
        return Description{place_of(k) + '/' + key, text(have), std::move(need)};
      });
    };
    if (its.tensor < 0 || its.tensor >= tensors) {
      wrong("tensor", its.tensor, "the index of a tensor, below " + text(tensors));
    } else if (its.out && (*its.out < 0 || *its.out > its.freed)) {
      wrong("out", *its.out, "a step from 0 to `freed`, " + text(its.freed));
    } else if (its.freed < 1 || its.freed >= its.in) {
      wrong("freed", its.freed, "a step from 1, before `in`, " + text(its.in));
    } else if (its.in >= steps) {
      wrong("in", its.in, "a step below " + text(steps));
    }
  }
  return good;
}

std::vector<TransferReference::Event> TransferReference::events_of(
    std::span<const std::size_t> its, std::span<const std::size_t> steps) const {
  std::vector<Event> events;
  for (const std::size_t step : steps) events.push_back({step, Event::touch, 0});
  for (const std::size_t k : its) {
    const OrderTransfer& transfer = transfers_[k];
    if (transfer.out) events.push_back({place(*transfer.out), Event::out, k});
    events.push_back({place(transfer.freed), Event::freed, k});
    events.push_back({place(transfer.in), Event::in, k});
  }
  std::stable_sort(events.begin(), events.end());
  return events;
}

// Adds the tensor to the bytes of the host from step `first` to step `last`, both included.
void TransferReference::hold(std::int64_t tensor, std::size_t first, std::size_t last) {
  held_[first] += truth_.size(tensor);
  held_[last + 1] -= truth_.size(tensor);
}

// Follows the place of the tensor from one event to the next. Returns false at a violation.
bool TransferReference::follow(std::int64_t tensor, std::span<const Event> events,
                               ViolationList& found, std::size_t rule) {
  enum { nowhere, device, host } where = instance_.tensors[place(tensor)].input ? device : nowhere;
  bool copied = false;   // the host has its current contents
  bool waiting = false;  // it came back, and no operator has touched it yet
  std::size_t copied_at = 0;
  std::size_t held_to = 0;
  const auto drop_copy = [&] {
    if (copied) hold(tensor, copied_at, std::max(copied_at, held_to));
    copied = false;
  };
  const auto wrong = [&](const Event& event, const char* key, const char* have, const char* need) {
    found.add(rule, [&] {
      return Description{event.kind == Event::touch ? "/order/" + text(event.step)
                                                    : place_of(event.transfer) + '/' + key,
                         "tensor " + text(tensor) + ' ' + have, need};
    });
    return false;
  };
  for (const Event& event : events) {
    switch (event.kind) {
      case Event::out:
        if (where != device || waiting)
          return wrong(event, "out", "is not on the device", "one that is");
        if (copied) return wrong(event, "out", "is on the host as well", "one that is not");
        copied = true;
        copied_at = held_to = event.step;
        break;
      case Event::freed:
        if (where != device || waiting)
          return wrong(event, "freed", "is not on the device", "one that is");
        if (!copied) return wrong(event, "freed", "is not on the host", "one that is, unchanged");
        where = host;
        held_to = event.step;
        break;
      case Event::in:
        if (where != host)
          return wrong(event, "in", "is on the device", "one that is on the host alone");
        where = device;
        waiting = true;
        break;
      case Event::touch: {
        const OrderOperator& op = instance_.operators[place(order_[event.step])];
        if (where == host)
          return wrong(event, "", "is on the host alone", "it back before the run");
        if (holds(op.writes, tensor)) {
          if (waiting) return wrong(event, "", "came back for nobody", "a run that touches it");
          drop_copy();
          where = device;
        }
        if (!holds(op.reads, tensor) && !holds(op.updates, tensor)) break;
        if (waiting) held_to = event.step;
        waiting = false;
        if (holds(op.updates, tensor)) drop_copy();
        break;
      }
    }
  }
  if (waiting && !truth_.stays(tensor)) {
    return wrong(events.back(), "in", "came back for nobody", "a run that touches it");
  }
  if (waiting) held_to = order_.size() - 1;
  drop_copy();
  return true;
}

void TransferReference::check_host(ViolationList& found, std::size_t rule) const {
  if (!instance_.host || !instance_.host->capacity) return;
  Bytes now = 0;
  for (std::size_t step = 0; step < order_.size(); ++step) {
    now += held_[step];
    if (now <= *instance_.host->capacity) continue;
    found.add(rule, [&] {
      return Description{"/order/" + text(step), text(now) + " bytes on the host",
                         "at most its capacity, " + text(*instance_.host->capacity)};
    });
  }
}

void TransferReference::list_steps() {
  freed_.resize(order_.size());
  back_.resize(order_.size());
  for (const OrderTransfer& its : transfers_) {
    freed_[place(its.freed - 1)].push_back(its.tensor);
    back_[place(its.in)].push_back(its.tensor);
  }
}

// Both channels serve transfers in the order of the plan. A run waits for the memory that must be
// free by then, and for the tensors that it touches.
void TransferReference::run() {
  std::vector<std::vector<std::size_t>> outs(order_.size());
  std::vector<std::vector<std::size_t>> ins(order_.size());
  std::vector<std::vector<std::size_t>> frees(order_.size());
  for (std::size_t k = 0; k < transfers_.size(); ++k) {
    if (transfers_[k].out) outs[place(*transfers_[k].out)].push_back(k);
    frees[place(transfers_[k].freed)].push_back(k);
    ins[place(transfers_[k].in)].push_back(k);
  }
  std::vector<Ms> gone(instance_.tensors.size(), 0);  // time at which the copy is on the host
  std::vector<Ms> back(instance_.tensors.size(), 0);  // time at which the tensor is on the device
  Ms out_free = 0;
  Ms in_free = 0;
  Ms now = 0;
  const auto size = [&](std::size_t k) {
    return static_cast<double>(truth_.size(transfers_[k].tensor));
  };
  for (std::size_t step = 0; step < order_.size(); ++step) {
    const Ms before = now;
    for (const std::size_t k : outs[step]) {
      out_free = std::max(out_free, now) + size(k) / instance_.host->out_bytes_per_ms;
      gone[place(transfers_[k].tensor)] = out_free;
    }
    for (const std::size_t k : frees[step]) {
      now = std::max(now, gone[place(transfers_[k].tensor)]);
    }
    for (const std::size_t k : ins[step]) {
      in_free = std::max(in_free, now) + size(k) / instance_.host->in_bytes_per_ms;
      back[place(transfers_[k].tensor)] = in_free;
    }
    const OrderOperator& op = instance_.operators[place(order_[step])];
    for (const std::int64_t t : OrderReferenceModel::touched(op))
      now = std::max(now, back[place(t)]);
    stall_ms_ += now - before;
    now += op.ms;
  }
  time_ms_ = std::max(now, in_free);
  stall_ms_ += time_ms_ - now;
}

bool TransferReference::check(ViolationList& found, const TransferRules& rules) {
  if (!check_numbers(found, rules.transfers)) return false;
  list_steps();
  held_.assign(order_.size() + 1, 0);
  std::map<std::int64_t, std::vector<std::size_t>> of_tensor;
  for (std::size_t k = 0; k < transfers_.size(); ++k) {
    of_tensor[transfers_[k].tensor].push_back(k);
  }
  std::map<std::int64_t, std::vector<std::size_t>> steps;
  for (std::size_t step = 0; step < order_.size() && !of_tensor.empty(); ++step) {
    const OrderOperator& op = instance_.operators[place(order_[step])];
    std::vector<std::int64_t> all = OrderReferenceModel::touched(op);
    for (const std::int64_t t : OrderReferenceModel::written(op)) all.push_back(t);
    for (const std::int64_t t : all) {
      if (of_tensor.contains(t)) steps[t].push_back(step);
    }
  }
  bool good = true;
  for (const auto& [tensor, its] : of_tensor) {
    good = follow(tensor, events_of(its, steps[tensor]), found, rules.transfers) && good;
  }
  if (!good) return false;
  check_host(found, rules.host);
  run();
  return true;
}

}  // namespace stowage
