#include "formulations/order/length_bounds.h"

#include "formulations/order/bounds.h"
#include "instances/order/certificate.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/plan.h"

namespace stowage {

LengthBounds::At& LengthBounds::at_length_of(Tokens length) {
  std::unique_ptr<At>& its = tables_[length];
  if (!its) its = std::make_unique<At>(instance_, length);
  return *its;
}

const OrderTable& LengthBounds::table(Tokens length) { return at_length_of(length).table; }

Bytes LengthBounds::of(std::int64_t op, Tokens length) {
  const auto [known, added] = known_.try_emplace({op, length}, 0);
  if (added) known->second = compute(op, length);
  return known->second;
}

Bytes LengthBounds::compute(std::int64_t op, Tokens length) {
  At& its = at_length_of(length);
  if (op == OrderRow::kInputs) return its.table.at_start();
  if (op == OrderRow::kLeft) return its.table.at_end();
  if (its.table.recomputes()) return kept_bound(its.table, static_cast<int>(op));
  const OrderCertificate cut = cut_bound(its.table, its.least, static_cast<int>(op));
  return check_certificate(at_length(instance_, length), cut).bound_bytes;
}

}  // namespace stowage
