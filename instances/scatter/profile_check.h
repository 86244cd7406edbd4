// The part of check_certificate that is about profiles of makespans. Not installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/scatter/certificate.h"
#include "instances/violation_list.h"

namespace stowage {

// A distinct padded length and how often it occurs.
struct CertificateSort {
  Tokens tokens = 0;
  std::int64_t count = 0;
  std::vector<long double> ms;  // what it adds to a group, per level; negative: too long for it
};

// What a proof about an instance needs to know of it, the longest length first.
struct CertificateFacts {
  long double devices = 0;            // as the weights of their kinds count them
  std::vector<long double> degrees;   // of the levels of the certificate: likewise
  std::vector<Tokens> capacity;       // tokens per group, per level
  std::vector<Tokens> beside;         // that each of its sequences counts for beside its own
  std::vector<long double> overhead;  // ms per group, per level
  std::vector<CertificateSort> sorts;
  std::int64_t fewest = 0;    // micro-batches of any plan
  std::int64_t multiple = 1;  // their number is a multiple of it
  int again = 0;              // times that the longest makespan counts beside the sum
  long double alone = 0;      // which lasts so long at least, where it counts
};

struct ProfileRules {
  std::size_t number = 0;
  std::size_t shape = 0;
  std::size_t pattern = 0;
  std::size_t bound = 0;
};

// Adds what is wrong to `found`.
void check_profiles(const CertificateFacts& facts, const ScatterCertificate& certificate,
                    const ProfileRules& rules, ViolationList& found);

}  // namespace stowage
