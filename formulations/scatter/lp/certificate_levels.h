// The levels that prices of a relaxed table refer to.
//
// Thread safety: the functions only read their arguments, and any number of threads may call them
// at once.
#pragma once

#include <vector>

#include "instances/scatter/certificate.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Returns one entry per level of the table, with the weights of its least costs. Returns an empty
// list if each allowed degree has a single form, without a kind of exchange or a measured time.
std::vector<CertificateLevel> certificate_levels(const ScatterTable& table);

}  // namespace stowage
