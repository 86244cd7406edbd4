#include "cli/families/outcome/layout_claim.h"

#include <string>
#include <variant>

#include "instances/documents.h"
#include "instances/layout/plan.h"
#include "instances/verify.h"
#include "solvers/memory/order_layout.h"

namespace stowage {
namespace {

std::string bytes_text(const std::optional<Bytes>& bytes) {
  return bytes ? std::to_string(*bytes) : "null";
}

}  // namespace

void check_layout_claim(const StatedLayout& claimed, const OrderInstance& graph,
                        const OrderPlan& plan, std::vector<Violation>& violations) {
  const auto broken = [&](const std::string& where, std::string have, std::string need) {
    violations.push_back(
        {std::string(kLayoutRule), "/layout" + where, std::move(have), std::move(need)});
  };
  if (claimed.plan.empty()) {
    if (!claimed.needed_bytes) return;
    if (graph.capacity && *claimed.needed_bytes > *graph.capacity) return;
    broken(
        "/plan", "null",
        "a plan of " + bytes_text(claimed.needed_bytes) + " bytes, which are within the capacity");
    return;
  }
  const LayoutInstance buffers = order_layout(graph, plan);
  const Result<Plan> layout = read_plan(claimed.plan, buffers);
  if (!layout) {
    const InputError& error = layout.errors().front();
    broken("/plan" + error.pointer, error.code, error.message);
    return;
  }
  for (const Violation& violation : verify(buffers, *layout)) {
    broken("/plan", violation.rule + ' ' + violation.where + " has " + violation.have,
           violation.need);
  }
  const Bytes peak = std::get<LayoutPlan>(*layout).peak_bytes;
  if (claimed.needed_bytes && *claimed.needed_bytes != peak) {
    broken("/needed_bytes", bytes_text(claimed.needed_bytes),
           bytes_text(peak) + " like the plan's");
  }
}

}  // namespace stowage
