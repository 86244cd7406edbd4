#include "kernels/memory/order_execution.h"

#include <string>
#include <utility>
#include <vector>

#include "instances/numbers.h"
#include "instances/order/lifetimes.h"
#include "instances/order/table.h"
#include "kernels/memory/arena.h"

namespace stowage::kernels {
namespace {

// Where a tensor of this role is counted; null for what says nothing.
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

// False if `stopped` said so before an operator.
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

// Tensors by the step at which they begin, and by the one at which they end.
struct Events {
  std::vector<std::vector<int>> begins, ends;

  Events(const OrderInstance& graph, const OrderPlan& plan)
      : begins(plan.order.size()), ends(plan.order.size()) {
    for (const TensorLife& life : lifetimes(OrderTable(graph), plan.order)) {
      begins[at(life.first)].push_back(life.tensor);
      ends[at(life.last)].push_back(life.tensor);
    }
  }
};

}  // namespace

OrderExecution execute_order(const OrderInstance& graph, const TrainingProgram& program,
                             const OrderPlan& plan, std::span<const Bytes> offsets,
                             std::uint64_t seed, Budget* budget) {
  OrderExecution done;
  done.steps = std::ssize(plan.order);
  std::vector<Arena::Slot> slots = arena_slots(program.tensors(), offsets, done.problems);
  for (const Arena::Slot& slot : slots) done.separate_bytes += slot.size;
  if (done.separate_bytes > kMostArenaBytes) {
    done.problems.add("the tensors have " + std::to_string(done.separate_bytes) +
                      " bytes together, the most is " + std::to_string(kMostArenaBytes));
  }
  if (!done.problems.list().empty()) return done;
  const auto stopped = [&] {
    if (budget != nullptr) done.stopped_by = budget->stop_reason();
    return done.stopped_by != StopReason::none;
  };
  if (stopped()) return done;  // before memory for all tensors is asked for
  SeparateTensors separate(program.tensors());
  if (!run_in_program_order(program, seed, separate, stopped)) return done;

  Arena arena(std::move(slots));
  ArenaTensors planned(arena);
  const Events events(graph, plan);
  for (std::size_t step = 0; step < plan.order.size(); ++step) {
    if (stopped()) return done;
    for (const int t : events.begins[step]) {
      planned.begin(t);
      if (program.is_input(t)) program.fill_input(t, seed, planned.at(t));
    }
    program.run(static_cast<int>(plan.order[step]), planned);
    for (const int t : events.ends[step]) {
      if (BitwiseCheck* check = check_of(done, program.role(t))) {
        check->compare(separate.at(t), planned.at(t));
      }
      if (program.role(t) == TensorRole::loss) done.loss = planned.at(t)[0];
      planned.end(t);
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
