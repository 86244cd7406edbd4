// The tables that the program has of published steps: rates of named stacks of software, and errors
// by default rates. instances/data/published/SOURCES.md describes their columns.
//
//   std::ofstream("stacks.csv") << stacks_csv(steps);
//   std::ofstream("errors.csv") << errors_csv(steps);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/published_steps.h"

namespace stowage::bench {

// A stack of software on a machine, and which published steps are of it.
struct PublishedStack {
  std::string name;
  std::string machine;  // one of machine_names(); its data sheet is what factors are of
  std::vector<std::string> sources;
  StepFilter wanted;  // of the steps of these sources; empty: all
};

// In the order of the table.
std::vector<PublishedStack> published_stacks();

// The timed steps of a stack, with the default rates of its machine.
std::vector<StrategySample> samples_of(const PublishedStack& stack,
                                       std::span<const PublishedStep> steps);

std::string stacks_csv(std::span<const PublishedStep> steps);
std::string errors_csv(std::span<const PublishedStep> steps);

// Steps on A100 and H100 in 16 bits, without those of up to 0.3 s.
bool is_plain(const PublishedStep& step);

}  // namespace stowage::bench
