// The levels that prices found on a relaxed table are for.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <vector>

#include "instances/scatter/certificate.h"
#include "instances/scatter/table.h"

namespace stowage {

// One per level of the table, with the weights of its least costs; none where each allowed degree
// has one form, without a kind of exchange or a measured time.
std::vector<CertificateLevel> certificate_levels(const ScatterTable& table);

}  // namespace stowage
