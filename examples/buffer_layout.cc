// Places a list of buffers with known lifetimes in as little memory as possible.
#include <stowage/instances/verify.h>
#include <stowage/solvers/solve.h>

#include <iostream>

int main() {
  // Steps of one iteration: a buffer lives from `lower` up to, but not including, `upper`.
  const stowage::LayoutInstance trace{
      .name = "two layers",
      .buffers = {{.id = "input", .lower = 0, .upper = 8, .size = 4096, .alignment = 64},
                  {.id = "hidden 1", .lower = 1, .upper = 6, .size = 16384, .alignment = 64},
                  {.id = "scratch 1", .lower = 1, .upper = 2, .size = 10000},
                  {.id = "hidden 2", .lower = 2, .upper = 5, .size = 16384, .alignment = 64},
                  {.id = "loss", .lower = 3, .upper = 4, .size = 4},
                  {.id = "gradient 2", .lower = 4, .upper = 6, .size = 16384, .alignment = 64},
                  {.id = "gradient 1", .lower = 5, .upper = 8, .size = 16384, .alignment = 64}}};
  stowage::Budget budget({.time_limit_s = 1});
  const stowage::Outcome outcome = stowage::solve(trace, {}, budget);
  if (!outcome.plan) {
    std::cerr << to_string(outcome.status) << ' ' << outcome.detail << '\n';
    return 1;
  }
  const auto& plan = std::get<stowage::LayoutPlan>(*outcome.plan);
  for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
    std::cout << trace.buffers[i].id << " lies at " << plan.offsets[i] << '\n';
  }
  std::cout << "peak " << plan.peak_bytes << " bytes, at least " << plan.bound_bytes << " ("
            << to_string(outcome.status) << ")\n";
  // Whoever writes through these offsets had better not take a planner's word for it.
  return verify(trace, plan).empty() ? 0 : 1;
}
