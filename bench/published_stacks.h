// The tables of published steps that the program contains: rates of named software stacks, and
// errors by default rates. instances/data/published/SOURCES.md describes their columns.
//
//   std::ofstream("stacks.csv") << stacks_csv(steps);
//   std::ofstream("errors.csv") << errors_csv(steps);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/published_steps.h"

namespace stowage::bench {

// A software stack on a machine, and the filter for its published steps.
struct PublishedStack {
  std::string name;
  std::string machine;  // one of machine_names(); factors are relative to its data sheet
  std::vector<std::string> sources;
  StepFilter wanted;  // sources of its steps; empty: all sources
};

// Returns the stacks in the order of the table.
std::vector<PublishedStack> published_stacks();

// Returns the timed steps of a stack, with the default rates of its machine.
std::vector<StrategySample> samples_of(const PublishedStack& stack,
                                       std::span<const PublishedStep> steps);

std::string stacks_csv(std::span<const PublishedStep> steps);
std::string errors_csv(std::span<const PublishedStep> steps);

// Returns true for steps on A100 and H100 in 16 bits, except those of up to 0.3 s.
bool is_plain(const PublishedStep& step);

}  // namespace stowage::bench
