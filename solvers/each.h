// Registers the solves and explanations of each family. A new family adds two lines.
#pragma once

#include "solvers/assign/explain/explain.h"
#include "solvers/assign/solve.h"
#include "solvers/layout/explain/explain.h"
#include "solvers/layout/solve.h"
#include "solvers/order/explain/explain.h"
#include "solvers/order/solve.h"
#include "solvers/scatter/explain/explain.h"
#include "solvers/scatter/solve.h"
#include "solvers/strategy/explain/explain.h"
#include "solvers/strategy/solve.h"
