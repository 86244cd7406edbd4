// Small random integer models and their answers by enumeration, which shares no code with the
// tested solvers. At most one variable, the line, may be continuous or unbounded: for each choice
// of the other variables its feasible values are an interval. So free variables, rays and mixed
// models have exact answers too.
#pragma once

#include <cstdint>
#include <random>

#include "formulations/milp/model.h"
#include "solvers/milp/solver.h"

namespace stowage {

struct Truth {
  MilpStatus status = MilpStatus::infeasible;  // optimal, infeasible or unbounded
  double objective = milp::kInfinity;
};

struct RandomModel {
  milp::Model model;
  int line = -1;  // index of the line variable or -1
};

// Uniform in [low, high], the same on every platform.
int draw(std::mt19937_64& random, int low, int high);

RandomModel random_model(std::mt19937_64& random);
Truth enumerate(const RandomModel& random);

// Unrelated machines: `jobs` jobs, each on one of `agents`, minimising the makespan. The makespan
// is the last variable, continuous. Hard for branch and bound from 4 x 14 on.
milp::Model makespan_model(int agents, int jobs, std::uint64_t seed, double factor = 1);
double makespan_optimum(int agents, int jobs,
                        std::uint64_t seed);  // by enumeration, times factor 1

// Market split (Cornuejols and Dawande, IPCO 1998): 10 (rows - 1) products with integral demands of
// 0 to 99 in each row, each product to one of two sides; 1 plus the distance of both sides from
// half of all demand is minimised. Branch and bound needs many nodes from 4 rows on, with any cuts.
milp::Model market_split_model(int rows, std::uint64_t seed);

// Generalised assignment: pure integer, every job on one agent within the agents' capacities.
milp::Model assignment_model(int agents, int jobs, std::uint64_t seed);

}  // namespace stowage
