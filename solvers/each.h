// Each family's solves and explanations: a new family adds its two lines.
#pragma once

#include "solvers/assign/explain.h"
#include "solvers/assign/solve.h"
#include "solvers/layout/explain.h"
#include "solvers/layout/solve.h"
#include "solvers/order/explain.h"
#include "solvers/order/solve.h"
#include "solvers/scatter/explain.h"
#include "solvers/scatter/solve.h"
#include "solvers/strategy/explain.h"
#include "solvers/strategy/solve.h"
