// The unit that compiles the precompiled header of the tests.
#include "tests/precompiled.h"
