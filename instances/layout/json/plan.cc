// Reads and writes layout plans. Reading checks types and ranges only, so that verify() can judge
// any plan.
#include "instances/json/answer.h"
#include "instances/layout/json/embedded_documents.h"
#include "instances/layout/json/json.h"

namespace stowage {

template <class Visitor, Of<LayoutPlan> Plan>
void fields(Visitor& v, Plan& plan) {
  constexpr IntegerRange kBytes = {0, kMaxExact};
  v.head("stowage/plan", "layout", plan.name);
  v.required("instance_hash", plan.instance_hash);
  v.required("peak_bytes", plan.peak_bytes, kBytes);
  v.optional("bound_bytes", plan.bound_bytes, kBytes);
  v.optional("bound_by", plan.bound_by);
  v.required("offsets", plan.offsets, kBytes);
}

Result<LayoutPlan> read_layout_plan(std::string_view text) { return read_plan<LayoutPlan>(text); }

void write_json(JsonWriter& json, const LayoutPlan& plan) { write_fields(json, plan); }

std::string write_layout_plan(const LayoutPlan& plan) {
  JsonWriter json;
  write_json(json, plan);
  return json.take();
}

}  // namespace stowage
