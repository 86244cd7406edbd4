// Lower bounds on the peak of graphs whose sizes grow with a length, at one length or between two.
//
// The bound of one operator at all lengths is a minimum of affine functions, hence concave: what
// lies on the straight line between its values at two lengths is a bound in between [OS2]. The
// largest bound of several operators is not concave; so a row of a plan names one operator.
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
#include "instances/order/least_live.h"
#include "instances/order/table.h"

namespace stowage {

class LengthBounds {
 public:
  // Of a valid instance with a range of lengths, which must outlive this.
  explicit LengthBounds(const OrderInstance& instance) : instance_(instance) {}

  // No plan has a smaller peak at this length of the range. `op` is an operator: of its minimum
  // cut, by a flow that the checker has confirmed [OB2], or where operators may run again what must
  // be kept at its first run [OB4]; or it is OrderRow::kInputs or kLeft.
  Bytes of(std::int64_t op, Tokens length);

  // The graph at this length.
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
