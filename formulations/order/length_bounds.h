// Lower bounds on the peak of graphs whose sizes grow with a length, at one length or between two
// lengths.
//
// The bound of one operator as a function of the length is a minimum of affine functions, hence
// concave. So linear interpolation between two lengths gives a bound in between [OS2]. The largest
// bound of several operators is not concave. Therefore a row of a plan names one operator.
//
//   LengthBounds bounds(instance);
//   bounds.of(op, 4096);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "instances/order/instance.h"
#include "instances/order/memory/least_live_cut.h"
#include "instances/order/planning_table.h"

namespace stowage {

class LengthBounds {
 public:
  // Requires a valid instance with a range of lengths, which must outlive this.
  explicit LengthBounds(const OrderInstance& instance) : instance_(instance) {}

  // Returns a bound in bytes on the peak at this length of the range. For an operator `op`, the
  // bound is that of its minimum cut, by a flow that the checker has confirmed [OB2]. If operators
  // may run again, it is the need at the first run of `op` [OB4]. `op` may also be
  // OrderRow::kInputs or kLeft.
  Bytes of(std::int64_t op, Tokens length);

  // Returns the table of the graph at this length.
  const OrderTable& table(Tokens length);

 private:
  struct At {
    OrderTable table;
    LeastLive least;  // of `table`

    At(const OrderInstance& instance, Tokens length) : table(instance, length), least(table) {}
  };
  At& at_length_of(Tokens length);
  Bytes compute(std::int64_t op, Tokens length);

  const OrderInstance& instance_;
  std::map<Tokens, std::unique_ptr<At>> tables_;
  std::map<std::pair<std::int64_t, Tokens>, Bytes> known_;
};

}  // namespace stowage
