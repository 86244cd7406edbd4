// Reads and writes order instances. Names are read first and looked up afterwards, because
// operators may name each other in any order.
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/json/text.h"
#include "instances/model/recorded_block_json.h"
#include "instances/numeric/numbers.h"
#include "instances/order/json/embedded_documents.h"
#include "instances/order/json/json.h"
#include "instances/order/validate.h"

namespace stowage {
namespace {

constexpr IntegerRange kBytes = {0, kMaxExact};
constexpr IntegerRange kAlignment = {1, kMaxExact};
constexpr IntegerRange kLength = {1, kMaxLengthTokens};
constexpr std::array<std::string_view, 2> kObjectives = {"peak", "time"};

using Names = std::vector<std::string>;

Names read_names(const ObjectReader& reader, std::string_view key) {
  Names names;
  const JsonValue* value = reader.find(key);
  if (value == nullptr) return names;
  const JsonPath path = reader.at(key);
  const JsonValue::Array* elements = value->array();
  if (elements == nullptr) {
    add_wrong_type(*value, path, "an array of ids", reader.errors());
    return names;
  }
  for (const JsonValue& element : *elements) {
    const std::string* name = element.string();
    if (name == nullptr) {
      add_wrong_type(element, path.index(std::ssize(names)), "an id, a string", reader.errors());
    }
    names.push_back(name == nullptr ? "" : *name);
  }
  return names;
}

void write_names(JsonWriter& json, std::string_view key, const Names& names) {
  if (names.empty()) return;
  json.key(key);
  json.begin_array();
  for (const std::string& name : names) json.text(name);
  json.end_array();
}

// An operator as its document states it.
struct NamedOperator {
  std::string id;
  Names reads;
  Names writes;
  Names updates;
  Bytes workspace = 0;
  Names after;
  Ms ms = 0;
  bool recompute = false;
  Bytes workspace_per_token = 0;
  Names in_place;
};

// The names of one list, and their indices.
class Register {
 public:
  void add(std::string name, std::int64_t index) { index_of_.emplace(std::move(name), index); }

  // Returns the indices of `names`; adds E372 for an unknown name. `what` is "tensor" or
  // "operator".
  std::vector<std::int64_t> indices(const Names& names, const JsonPath& path, const char* what,
                                    ErrorList& errors) const {
    std::vector<std::int64_t> found;
    found.reserve(names.size());
    for (const std::string& name : names) {
      const auto known = index_of_.find(name);
      if (known != index_of_.end()) {
        found.push_back(known->second);
        continue;
      }
      errors.add(code::kOrderName, path.index(&name - names.data()).pointer(),
                 std::string("must be the id of ") + (*what == 'o' ? "an " : "a ") + what +
                     ", is " + in_quotes(name));
    }
    return found;
  }

 private:
  std::unordered_map<std::string, std::int64_t> index_of_;
};

template <class Element>
bool too_many(const std::vector<Element>& elements, std::int64_t most, const JsonPath& path,
              const char* what, ErrorList& errors) {
  if (std::ssize(elements) <= most) return false;
  errors.add(code::kTooManyValues, path.pointer(),
             "must be at most " + std::to_string(most) + ' ' + what + ", is " +
                 std::to_string(elements.size()));
  return true;
}

}  // namespace

// Written on one line, without fields of default value: a graph may have a million tensors.
template <class Visitor, Of<OrderTensor> Tensor>
void fields(Visitor& v, Tensor& tensor) {
  v.one_line();
  v.omit_if(tensor.id.empty(), "id", tensor.id);
  v.required("size_bytes", tensor.size, kBytes);
  v.omit_if(!tensor.input, "input", tensor.input);
  v.omit_if(!tensor.output, "output", tensor.output);
  v.omit_if(tensor.size_per_token == 0, "bytes_per_token", tensor.size_per_token, kBytes);
}

template <class Visitor, Of<NamedOperator> Operator>
void fields(Visitor& v, Operator& op) {
  v.one_line();
  v.omit_if(op.id.empty(), "id", op.id);
  v.special("reads", op.reads, read_names, write_names);
  v.special("writes", op.writes, read_names, write_names);
  v.special("updates", op.updates, read_names, write_names);
  v.omit_if(op.workspace == 0, "workspace_bytes", op.workspace, kBytes);
  v.special("after", op.after, read_names, write_names);
  v.omit_if(op.ms == 0, "ms", op.ms, kQuantity);
  v.omit_if(!op.recompute, "recompute", op.recompute);
  v.omit_if(op.workspace_per_token == 0, "workspace_bytes_per_token", op.workspace_per_token,
            kBytes);
  v.special("in_place", op.in_place, read_names, write_names);
}

template <class Visitor, Of<RecordedStep> Step>
void fields(Visitor& v, Step& step) {
  fields(v, step.block);
  v.omit_if(step.chunk_tokens == 0, "chunk_tokens", step.chunk_tokens, {0, std::int64_t{1} << 31});
}

template <class Visitor, Of<LengthRange> Range>
void fields(Visitor& v, Range& range) {
  v.one_line();
  v.required("from", range.from, kLength);
  v.required("to", range.to, kLength);
}

template <class Visitor, Of<HostLink> Host>
void fields(Visitor& v, Host& host) {
  v.one_line();
  v.required("out_bytes_per_ms", host.out_bytes_per_ms, kDivisor);
  v.required("in_bytes_per_ms", host.in_bytes_per_ms, kDivisor);
  v.optional("capacity_bytes", host.capacity, kBytes);
}

// Turns names into indices. Requires at most the allowed numbers of operators and tensors.
static void look_up(std::vector<NamedOperator>&& named, const JsonPath& path,
                    OrderInstance& instance, ErrorList& errors) {
  Register tensors;
  for (std::int64_t t = 0; t < std::ssize(instance.tensors); ++t) {
    tensors.add(tensor_name(instance, t), t);
  }
  Register operators;
  for (std::int64_t op = 0; op < std::ssize(named); ++op) {
    const std::string& id = named[at(op)].id;
    operators.add(id.empty() ? std::to_string(op) : id, op);
  }
  instance.operators.reserve(named.size());
  for (NamedOperator& from : named) {
    const JsonPath its = path.index(std::ssize(instance.operators));
    OrderOperator& op = instance.operators.emplace_back();
    op.id = std::move(from.id);
    op.reads = tensors.indices(from.reads, its.key("reads"), "tensor", errors);
    op.writes = tensors.indices(from.writes, its.key("writes"), "tensor", errors);
    op.updates = tensors.indices(from.updates, its.key("updates"), "tensor", errors);
    op.workspace = from.workspace;
    op.after = operators.indices(from.after, its.key("after"), "operator", errors);
    op.ms = from.ms;
    op.recompute = from.recompute;
    op.workspace_per_token = from.workspace_per_token;
    op.in_place = tensors.indices(from.in_place, its.key("in_place"), "tensor", errors);
  }
}

static OrderInstance order_instance_from(const JsonValue& document, ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(
      document, root, errors,
      {"format", "version", "problem", "name", "objective", "capacity_bytes", "alignment", "tokens",
       "host", "tensors", "operators", "recorded_from"});
  OrderInstance instance;
  if (document.object() == nullptr || !check_head(reader, "stowage/instance", "order")) {
    return instance;
  }
  const std::int64_t before = errors.found();
  FieldReader members(reader);
  std::vector<NamedOperator> operators;
  members.optional("name", instance.name);
  members.choice("objective", instance.objective, kObjectives, true);
  members.optional("capacity_bytes", instance.capacity, kBytes);
  members.optional("alignment", instance.alignment, kAlignment);
  members.optional("tokens", instance.tokens);
  members.optional("host", instance.host);
  members.required("tensors", instance.tensors);
  members.required("operators", operators);
  members.optional("recorded_from", instance.recorded_from);
  if (too_many(instance.tensors, kMaxTensors, reader.at("tensors"), "tensors", errors) ||
      too_many(operators, kMaxOperators, reader.at("operators"), "operators", errors) ||
      errors.found() != before) {
    return instance;
  }
  look_up(std::move(operators), reader.at("operators"), instance, errors);
  errors.found() == before ? check_order(instance, errors) : check_order_ids(instance, errors);
  return instance;
}

Result<OrderInstance> read_order_instance(std::string_view text) {
  return read_document(text, order_instance_from);
}

std::string write_order_instance(const OrderInstance& instance) {
  // An index of no tensor or operator is written as a number: check() refuses it before the
  // document is read.
  const auto named = [](std::int64_t index, std::int64_t count, const auto& name_of) {
    return index >= 0 && index < count ? name_of(index) : std::to_string(index);
  };
  const auto tensors = [&](const std::vector<std::int64_t>& indices) {
    Names names;
    for (const std::int64_t t : indices) {
      names.push_back(named(t, std::ssize(instance.tensors),
                            [&](std::int64_t known) { return tensor_name(instance, known); }));
    }
    return names;
  };
  JsonWriter json;
  json.begin_object();
  FieldWriter members(json);
  members.head("stowage/instance", "order", instance.name);
  members.choice("objective", instance.objective, kObjectives,
                 instance.objective == OrderObjective::peak);
  members.required("capacity_bytes", instance.capacity);
  members.required("alignment", instance.alignment);
  members.optional("tokens", instance.tokens);
  members.optional("host", instance.host);
  members.required("tensors", instance.tensors);
  json.key("operators");
  json.begin_array();
  for (const OrderOperator& op : instance.operators) {
    NamedOperator its{.id = op.id,
                      .reads = tensors(op.reads),
                      .writes = tensors(op.writes),
                      .updates = tensors(op.updates),
                      .workspace = op.workspace,
                      .ms = op.ms,
                      .recompute = op.recompute,
                      .workspace_per_token = op.workspace_per_token,
                      .in_place = tensors(op.in_place)};
    for (const std::int64_t first : op.after) {
      its.after.push_back(named(first, std::ssize(instance.operators), [&](std::int64_t known) {
        return operator_name(instance, known);
      }));
    }
    write_fields(json, its);
  }
  json.end_array();
  if (instance.recorded_from) members.required("recorded_from", instance.recorded_from);
  json.end_object();
  return json.take();
}

}  // namespace stowage
