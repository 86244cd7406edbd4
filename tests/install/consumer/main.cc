// A program outside this project: plans two sequences with the installed library.
#include <stowage/stowage.h>

#include <iostream>

int main() {
  const stowage::ScatterInstance step{
      .name = "two",
      .cluster = {.devices = 2, .memory_mib = 100, .degrees = {1, 2}},
      .model = {.states_mib = 20, .activation_mib_per_token = 1},
      .cost = {.linear_ms = 0.5, .fixed_ms = 3},
      .lengths = {64, 80}};
  stowage::Budget budget({.time_limit_s = 5});
  const stowage::Outcome outcome = stowage::solve(step, {}, budget);
  if (!outcome.plan || !outcome.objective) return 1;
  std::cout << *outcome.objective << " ms\n";
  return verify(step, std::get<stowage::ScatterPlan>(*outcome.plan)).empty() ? 0 : 1;
}
