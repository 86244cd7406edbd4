// Plans each batch of a training loop from its lengths, and says what one rank would then compute.
//
// A real loop does the planning in its data loader, one batch ahead, or lets plan_stream() of
// <stowage/solvers/plan_stream.h> plan many steps ahead on several threads.
#include <stowage/instances/scatter/presets.h>
#include <stowage/instances/trainer/step.h>
#include <stowage/solvers/solve.h>

#include <iostream>

namespace {

// Stands for a data loader: documents, a few of them long.
std::vector<stowage::Tokens> next_lengths(int step) {
  std::vector<stowage::Tokens> lengths;
  for (int i = 0; i < 96; ++i) {
    lengths.push_back(300 + (i * 7919 + step * 104729) % 4000 + (i % 24 == 0 ? 40000 : 0));
  }
  return lengths;
}

// What `rank` computes in this step, micro-batch after micro-batch.
void run(const stowage::TrainerStep& step, int rank) {
  const std::vector<std::int32_t> schedule = stowage::trainer_schedule(step);
  for (int m = 0; m < step.micro_batches; ++m) {
    const std::int32_t index = schedule[static_cast<std::size_t>(rank * step.micro_batches + m)];
    if (index < 0) continue;  // idle: adds nothing to the gradients, but takes part in their sum
    const stowage::TrainerBatch& batch = step.batches[static_cast<std::size_t>(index)];
    std::cout << "  micro-batch " << m << ": " << batch.sequences.size() << " sequences, "
              << batch.cu_seqlens_padded.back() << " packed tokens, with " << batch.degree - 1
              << " other ranks\n";
  }
}

}  // namespace

int main() {
  const stowage::Result<stowage::ScatterInstance> cluster =
      stowage::scatter_preset({.model = "gpt-7b", .devices = 16});
  if (!cluster) {
    for (const stowage::InputError& error : cluster.errors()) std::cerr << to_string(error) << '\n';
    return 1;
  }
  for (int number = 0; number < 3; ++number) {
    stowage::ScatterInstance step = *cluster;
    step.lengths = next_lengths(number);
    // `fast` answers in the time that a data loader has; `auto` goes on improving until its limit.
    stowage::Budget budget({.time_limit_s = 1});
    const stowage::Outcome outcome = stowage::solve(step, {.method = "fast"}, budget);
    if (!outcome.plan) {
      std::cerr << "step " << number << ": " << to_string(outcome.status) << ' ' << outcome.detail
                << '\n';
      return 1;
    }
    const auto& plan = std::get<stowage::ScatterPlan>(*outcome.plan);
    const stowage::Result<stowage::TrainerStep> batches = stowage::trainer_step(step, plan);
    if (!batches) return 1;
    std::cout << "step " << number << ": " << plan.objective_ms << " ms, at least " << outcome.bound
              << " ms, " << batches->loss_denominator() << " tokens with a loss\n";
    run(*batches, 0);
  }
}
