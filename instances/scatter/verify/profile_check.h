// The part of check_certificate() that checks profiles of makespans. Not installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instances/proof/violation_list.h"
#include "instances/scatter/certificate.h"

namespace stowage {

// A distinct padded length and its number of sequences.
struct CertificateSort {
  Tokens tokens = 0;
  std::int64_t count = 0;
  std::vector<long double> ms;  // time it adds to a group, per level; negative: too long for it
  std::vector<Tokens> padded;   // tokens that it has on a group, per level
};

// The facts of an instance that a proof uses, the longest length first.
struct CertificateFacts {
  long double devices = 0;            // sum of the weights of their kinds
  std::vector<long double> degrees;   // of the levels of the certificate, in the same weights
  std::vector<Tokens> capacity;       // tokens per group, per level
  std::vector<Tokens> beside;         // tokens that each sequence takes beside its own
  std::vector<long double> overhead;  // ms per group, per level
  std::vector<CertificateSort> sorts;
  std::int64_t fewest = 0;    // micro-batches of any plan
  std::int64_t multiple = 1;  // divisor of the number of micro-batches
  int again = 0;              // times that the longest makespan counts beside the sum
  long double alone = 0;      // least value of the longest makespan, if that counts
};

struct ProfileRules {
  std::size_t number = 0;
  std::size_t shape = 0;
  std::size_t pattern = 0;
  std::size_t bound = 0;
};

// Adds each violation to `found`.
void check_profiles(const CertificateFacts& facts, const ScatterCertificate& certificate,
                    const ProfileRules& rules, ViolationList& found);

}  // namespace stowage
