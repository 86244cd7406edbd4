#include "cli/commands/arranged.h"

#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/files.h"
#include "cli/terminal/unit.h"
#include "instances/numeric/numbers.h"

namespace stowage {

std::string arrangement_text(const Arrangement& arrangement) {
  if (!arrangement.needed_bytes) {
    return arrangement.detail.empty() ? "none within the limits" : "none: " + arrangement.detail;
  }
  const auto needed = static_cast<double>(*arrangement.needed_bytes);
  const auto peak = static_cast<double>(arrangement.order.peak_bytes);
  std::string text = with_unit(needed, kBytes);
  text += needed <= peak ? ", as much as the order needs"
                         : ", " + percent_text(needed / peak - 1) + " over the order's peak";
  text += "; " + counted(arrangement.orders, "order") + " laid out";
  if (!arrangement.detail.empty()) return text + "; " + arrangement.detail;
  return arrangement.layout ? text : text + "; above the capacity";
}

std::optional<InputError> check_layout_path(const std::string& path, const Instance& instance,
                                            const std::string& plan_path,
                                            const std::vector<std::string>& inputs) {
  if (!std::holds_alternative<OrderInstance>(instance)) {
    return InputError{kUsage, "--layout",
                      "has an effect on orders alone, is given for an instance of " +
                          std::string(family_name(instance))};
  }
  if (!plan_path.empty() && same_target(path, plan_path)) {
    return InputError{kUsage, "--layout",
                      "must be another file than that of --output, is '" + path + '\''};
  }
  return check_output("--layout", path, inputs);
}

}  // namespace stowage
