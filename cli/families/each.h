// The families' overloads of the functions of families.h. A new family adds its line.
#pragma once

#include "cli/families/assign.h"
#include "cli/families/layout.h"
#include "cli/families/order.h"
#include "cli/families/scatter.h"
#include "cli/families/strategy.h"
