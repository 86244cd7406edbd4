// Reads and writes order plans and certificates. Reading checks types and ranges only, so that
// verify() can judge any plan.
#include "instances/json/answer.h"
#include "instances/json/number_ranges.h"
#include "instances/order/json/embedded_documents.h"
#include "instances/order/json/json.h"

namespace stowage {
namespace {

constexpr IntegerRange kPlanBytes = {0, kMaxExact};
constexpr IntegerRange kEntry = {OrderCertificate::kEnd, kMaxExact};

}  // namespace

template <class Visitor, Of<OrderRow> Row>
void fields(Visitor& v, Row& row) {
  v.required("from", row.from, kPlanBytes);
  v.required("to", row.to, kPlanBytes);
  v.required("peak_bytes_at_from", row.peak_at_from, kPlanBytes);
  v.required("peak_bytes_at_to", row.peak_at_to, kPlanBytes);
  v.required("bound_bytes_at_from", row.bound_at_from, kPlanBytes);
  v.required("bound_bytes_at_to", row.bound_at_to, kPlanBytes);
  v.required("bound_operator", row.bound_operator, {OrderRow::kLeft, kMaxExact});
  v.required("order", row.order, {0, kMaxExact});
}

template <class Visitor, Of<OrderTransfer> Transfer>
void fields(Visitor& v, Transfer& transfer) {
  v.one_line();
  v.required("tensor", transfer.tensor, kPlanBytes);
  v.optional("out", transfer.out, kPlanBytes);
  v.required("freed", transfer.freed, kPlanBytes);
  v.required("in", transfer.in, kPlanBytes);
}

template <class Visitor, Of<OrderReuse> Reuse>
void fields(Visitor& v, Reuse& reuse) {
  v.one_line();
  v.required("tensor", reuse.tensor, kPlanBytes);
  v.required("on", reuse.on, kPlanBytes);
}

template <class Visitor, Of<OrderPlan> Plan>
void fields(Visitor& v, Plan& plan) {
  v.head("stowage/plan", "order", plan.name);
  v.required("instance_hash", plan.instance_hash);
  v.required("peak_bytes", plan.peak_bytes, kPlanBytes);
  v.optional("time_ms", plan.time_ms);
  v.omit_if(plan.time_ms.has_value(), "bound_bytes", plan.bound_bytes, kPlanBytes);
  v.omit_if(!plan.time_ms.has_value(), "bound_ms", plan.bound_ms, kComputed);
  v.optional("bound_by", plan.bound_by);
  v.required("order", plan.order, {0, kMaxExact});
  v.omit_if(plan.rows.empty(), "rows", plan.rows);
  v.omit_if(plan.transfers.empty(), "transfers", plan.transfers);
  v.omit_if(plan.in_place.empty(), "in_place", plan.in_place);
}

template <class Visitor, Of<ForcedPrecedence> Forced>
void fields(Visitor& v, Forced& forced) {
  v.one_line();
  v.required("first", forced.first, kPlanBytes);
  v.required("second", forced.second, kPlanBytes);
  v.required("op", forced.op, kPlanBytes);
}

template <class Visitor, Of<SearchedSets> Searched>
void fields(Visitor& v, Searched& searched) {
  v.required("first", searched.first, kPlanBytes);
  v.required("last", searched.last, kPlanBytes);
  v.omit_if(!searched.from_end, "from_end", searched.from_end);
  v.required("states", searched.states, kPlanBytes);
}

template <class Visitor, Of<OrderCertificate> Certificate>
void fields(Visitor& v, Certificate& certificate) {
  v.required("bound_bytes", certificate.bound_bytes, kPlanBytes);
  v.omit_if(certificate.forced.empty(), "forced", certificate.forced);
  v.optional("searched", certificate.searched);
  const bool flow = !certificate.searched.has_value();
  v.required_if(flow, "op", certificate.op, {0, kMaxExact});
  v.required_if(flow, "tensors", certificate.tensors, kEntry);
  v.required_if(flow, "precedences", certificate.precedences, kEntry);
  v.check(flow, [](bool alone, const ObjectReader& reader) {
    for (const std::string_view key : {"op", "tensors", "precedences"}) {
      if (!alone && reader.find(key) != nullptr) {
        reader.errors().add(code::kUnknownKey, reader.at(key).pointer(),
                            "must be absent beside searched");
      }
    }
  });
}

Result<OrderPlan> read_order_plan(std::string_view text) { return read_plan<OrderPlan>(text); }

void write_json(JsonWriter& json, const OrderPlan& plan) { write_fields(json, plan); }

std::string write_order_plan(const OrderPlan& plan) {
  JsonWriter json;
  write_json(json, plan);
  return json.take();
}

void write_json(JsonWriter& json, const OrderCertificate& certificate) {
  write_fields(json, certificate);
}

Result<std::optional<OrderCertificate>> read_order_certificate(std::string_view text) {
  return read_certificate(text, read_fields<OrderCertificate>);
}

}  // namespace stowage
