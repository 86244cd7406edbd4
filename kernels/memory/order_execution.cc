#include "kernels/memory/order_execution.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/lifetimes.h"
#include "instances/order/planning_table.h"
#include "kernels/memory/arena.h"

namespace stowage::kernels {
namespace {

// Returns the counter for tensors of this role, or null for scratch tensors, whose values are
// unspecified.
BitwiseCheck* check_of(OrderExecution& done, TensorRole role) {
  switch (role) {
    case TensorRole::scratch:
      return nullptr;
    case TensorRole::output:
      return &done.output;
    case TensorRole::loss:
      return &done.losses;
    case TensorRole::input_gradient:
      return &done.input_gradient;
    case TensorRole::weight_gradient:
      return &done.weight_gradient;
    case TensorRole::weight:
      return &done.weight;
    case TensorRole::activation:
    case TensorRole::input:
      break;
  }
  return &done.activation;
}

// Returns false if `stopped` returned true before an operator.
template <class Stopped>
bool run_in_program_order(const TrainingProgram& program, std::uint64_t seed, TensorMemory& memory,
                          const Stopped& stopped) {
  for (int t = 0; t < std::ssize(program.tensors()); ++t) {
    if (program.is_input(t)) program.fill_input(t, seed, memory.at(t));
  }
  for (int step = 0; step < program.steps(); ++step) {
    if (stopped()) return false;
    program.run(step, memory);
  }
  return true;
}

// The lifetimes of tensors: a life lasts from one run of the tensor's writer to the next, and each
// life has its own slot in the arena.
class Lives {
 public:
  Lives(const OrderInstance& graph, const TrainingProgram& program, const OrderPlan& plan)
      : lives_(lifetimes(OrderTable(graph), plan.order, plan.transfers)),
        begins_(plan.order.size()),
        ends_(plan.order.size()),
        changed_(graph.tensors.size(), false) {
    for (std::size_t k = 0; k < lives_.size(); ++k) {
      begins_[at(lives_[k].first)].push_back(k);
      ends_[at(lives_[k].last)].push_back(k);
    }
    for (int step = 0; step < program.steps(); ++step) {
      for (const int t : program.operands(step).updates) changed_[at(t)] = true;
    }
  }

  std::size_t size() const { return lives_.size(); }
  int tensor(std::size_t life) const { return lives_[life].tensor; }
  const std::vector<std::size_t>& begins(std::size_t step) const { return begins_[step]; }
  const std::vector<std::size_t>& ends(std::size_t step) const { return ends_[step]; }

  // Returns whether a tensor holds its final value at the end of this life. A recomputed tensor
  // that an operator updates later does not.
  bool final(std::size_t life) const {
    const int its = tensor(life);
    return !changed_[at(its)] || life + 1 == lives_.size() || tensor(life + 1) != its;
  }

  std::vector<Tensor> slots(const TrainingProgram& program) const {
    std::vector<Tensor> all;
    for (const TensorLife& life : lives_) all.push_back(program.tensors()[at(life.tensor)]);
    return all;
  }

 private:
  std::vector<TensorLife> lives_;
  std::vector<std::vector<std::size_t>> begins_, ends_;  // by step
  std::vector<bool> changed_;  // by tensor: true if an operator updates it
};

// Copies of offloaded tensors in host memory.
class HostCopies {
 public:
  HostCopies(const OrderPlan& plan, std::size_t tensors) : plan_(plan), copies_(tensors) {}

  // Copies the tensors to the host whose transfer out begins before this step.
  void take(std::size_t step, TensorMemory& memory) {
    for (const OrderTransfer& its : plan_.transfers) {
      if (!its.out || at(*its.out) != step) continue;
      const std::span<const float> from = memory.at(static_cast<int>(its.tensor));
      copies_[at(its.tensor)].assign(from.begin(), from.end());
    }
  }
  // If the tensor is transferred back at this step, copies it back and returns true.
  bool give(std::size_t step, int tensor, TensorMemory& memory) const {
    const bool back = std::ranges::any_of(plan_.transfers, [&](const OrderTransfer& its) {
      return its.tensor == tensor && at(its.in) == step;
    });
    if (back) std::ranges::copy(copies_[at(tensor)], memory.at(tensor).begin());
    return back;
  }

 private:
  const OrderPlan& plan_;
  std::vector<std::vector<float>> copies_;
};

// The tensors of a program in an arena that has one slot per life.
class LivingTensors final : public TensorMemory {
 public:
  LivingTensors(Arena& arena, const Lives& lives, std::size_t tensors)
      : memory_(arena), lives_(lives), now_(tensors, kNoLife) {}

  std::span<float> at(int tensor) override { return memory_.at(now_[stowage::at(tensor)]); }
  // Returns whether a life of this tensor has begun, so that at() can return its slot.
  bool has_begun(int tensor) const { return now_[stowage::at(tensor)] != kNoLife; }
  void begin_life(std::size_t life) {
    now_[stowage::at(lives_.tensor(life))] = static_cast<int>(life);
    memory_.begin(static_cast<int>(life));
  }
  void end_life(std::size_t life) { memory_.end(static_cast<int>(life)); }
  void stepped(int step) override { memory_.stepped(step); }

 private:
  static constexpr int kNoLife = -1;

  ArenaTensors memory_;
  const Lives& lives_;
  std::vector<int> now_;  // by tensor: the life that began last, or kNoLife
};

// Returns whether every operand of the operator has begun; adds a problem for each operand that has
// not.
bool operands_have_begun(const TrainingProgram& program, int op, const LivingTensors& tensors,
                         Problems& problems) {
  const StepOperands& its = program.operands(op);
  bool all = true;
  for (const auto* list : {&its.reads, &its.writes, &its.updates}) {
    for (const int t : *list) {
      if (tensors.has_begun(t)) continue;
      all = false;
      problems.add("operator '" + program.name(op) + "' uses tensor '" +
                   program.tensors()[at(t)].name + "' before the order writes the tensor");
    }
  }
  return all;
}

}  // namespace

OrderExecution execute_order(const OrderInstance& graph, const TrainingProgram& program,
                             const OrderPlan& plan, std::span<const Bytes> offsets,
                             std::uint64_t seed, Budget* budget) {
  OrderExecution done;
  done.steps = std::ssize(plan.order);
  done.again = done.steps - program.steps();
  const Lives lives(graph, program, plan);
  std::vector<Arena::Slot> slots = arena_slots(lives.slots(program), offsets, done.problems);
  for (const Tensor& tensor : program.tensors()) {
    done.separate_bytes += tensor.floats * static_cast<Bytes>(sizeof(float));
  }
  if (done.separate_bytes > kMaxArenaBytes) {
    done.problems.add("the tensors have " + std::to_string(done.separate_bytes) +
                      " bytes together, the most is " + std::to_string(kMaxArenaBytes));
  }
  if (!done.problems.list().empty()) return done;
  const auto stopped = [&] {
    if (budget != nullptr) done.stopped_by = budget->stop_reason();
    return done.stopped_by != StopReason::none;
  };
  if (stopped()) return done;  // checked before memory for all tensors is allocated
  SeparateTensors separate(program.tensors());
  if (!run_in_program_order(program, seed, separate, stopped)) return done;

  Arena arena(std::move(slots));
  LivingTensors planned(arena, lives, program.tensors().size());
  HostCopies host(plan, program.tensors().size());
  for (std::size_t step = 0; step < plan.order.size(); ++step) {
    if (stopped()) return done;
    for (const std::size_t life : lives.begins(step)) {
      planned.begin_life(life);
      const int t = lives.tensor(life);
      if (host.give(step, t, planned)) {
        ++done.transfers;
        continue;
      }
      if (program.is_input(t)) program.fill_input(t, seed, planned.at(t));
    }
    if (step == 0) host.take(0, planned);
    const int op = static_cast<int>(plan.order[step]);
    if (!operands_have_begun(program, op, planned, done.problems)) return done;
    program.run(op, planned);
    // must run before the places of offloaded tensors are overwritten
    host.take(step + 1, planned);
    for (const std::size_t life : lives.ends(step)) {
      const int t = lives.tensor(life);
      BitwiseCheck* check = check_of(done, program.role(t));
      if (check != nullptr && lives.final(life)) check->compare(separate.at(t), planned.at(t));
      if (program.role(t) == TensorRole::loss) done.loss = planned.at(t)[0];
      planned.end_life(life);
    }
    planned.stepped(static_cast<int>(step));
  }
  done.high_water_bytes = arena.high_water();
  done.canary_bytes_checked = arena.canaries_checked();
  done.problems = arena.problems();
  done.complete = true;
  return done;
}

}  // namespace stowage::kernels
