// Reads and writes layout instances. Reading checks keys and types first, then the rules that join
// several members.
#include <string>

#include "instances/json/fields.h"
#include "instances/json/limits.h"
#include "instances/layout/json/embedded_documents.h"
#include "instances/layout/json/json.h"
#include "instances/layout/validate.h"
#include "instances/model/recorded_block_json.h"

namespace stowage {
namespace {

constexpr IntegerRange kStep = {0, kMaxExact};
constexpr IntegerRange kBytes = {0, kMaxExact};
constexpr IntegerRange kAlignment = {1, kMaxExact};

// Reads [[3, 5], [8, 9]].
std::vector<Lifetime> read_gaps(const ObjectReader& reader, std::string_view key) {
  std::vector<Lifetime> gaps;
  const JsonValue* value = reader.find(key);
  if (value == nullptr) return gaps;
  const JsonPath path = reader.at(key);
  ErrorList& errors = reader.errors();
  const JsonValue::Array* elements = value->array();
  if (elements == nullptr) {
    add_wrong_type(*value, path, "an array of gaps [from, to]", errors);
    return gaps;
  }
  for (const JsonValue& element : *elements) {
    const JsonPath where = path.index(static_cast<std::int64_t>(gaps.size()));
    const JsonValue::Array* pair = element.array();
    gaps.emplace_back();
    if (pair == nullptr || pair->size() != 2) {
      add_wrong_type(element, where, "an array of two steps, [from, to]", errors);
      continue;
    }
    const std::vector<std::int64_t> steps = read_integers(element, where, kStep, errors);
    gaps.back() = {steps[0], steps[1]};
  }
  return gaps;
}

void write_gaps(JsonWriter& json, std::string_view key, const std::vector<Lifetime>& gaps) {
  if (gaps.empty()) return;
  json.key(key);
  json.begin_array();
  for (const Lifetime& gap : gaps) json.integers({gap.lower, gap.upper});
  json.end_array();
}

std::string shape(const Buffer& b) {
  return std::to_string(b.size) + " bytes aligned to " + std::to_string(b.alignment) + " for " +
         std::to_string(b.upper - b.lower) + " steps with " + std::to_string(b.gaps.size()) +
         " gaps";
}

// Returns whether `b` repeats `a`, `shift` steps later.
bool repeats(const Buffer& a, const Buffer& b, std::int64_t shift) {
  const auto later = [shift](std::int64_t from, std::int64_t to) { return to - from == shift; };
  if (a.size != b.size || a.alignment != b.alignment || a.gaps.size() != b.gaps.size() ||
      !later(a.lower, b.lower) || !later(a.upper, b.upper)) {
    return false;
  }
  for (std::size_t k = 0; k < a.gaps.size(); ++k) {
    if (!later(a.gaps[k].lower, b.gaps[k].lower) || !later(a.gaps[k].upper, b.gaps[k].upper)) {
      return false;
    }
  }
  return true;
}

// Checks the blocks against the buffers. Requires valid buffers.
class BlockChecker {
 public:
  BlockChecker(const std::vector<Buffer>& buffers, ErrorList& errors)
      : buffers_(buffers), taken_(buffers.size(), false), errors_(errors) {}

  void check(const RepeatedBlock& block, const JsonPath& path) {
    const JsonPath where = path.key("occurrences");
    for (std::size_t r = 0; r < block.occurrences.size(); ++r) {
      const JsonPath occurrence = where.index(static_cast<std::int64_t>(r));
      if (known(block.occurrences[r], occurrence) && r > 0 && first_known_) {
        compare(block.occurrences[0], block.occurrences[r], occurrence);
      } else if (r == 0) {
        first_known_ = all_known_;
      }
    }
  }

 private:
  void complain(const JsonPath& path, const std::string& expected, const std::string& is) {
    errors_.add(code::kOccurrences, path.pointer(), "must be " + expected + ", is " + is);
  }

  // Returns whether these are buffers of the instance, not pinned, and in no other occurrence.
  bool known(const std::vector<std::int64_t>& occurrence, const JsonPath& path) {
    all_known_ = true;
    for (std::size_t j = 0; j < occurrence.size(); ++j) {
      const std::int64_t id = occurrence[j];
      const auto index = static_cast<std::size_t>(id);
      const JsonPath where = path.index(static_cast<std::int64_t>(j));
      std::string expected;
      if (index >= buffers_.size()) {
        expected = "the index of a buffer, below " + std::to_string(buffers_.size());
      } else if (taken_[index]) {
        expected = "a buffer that stands in no other occurrence";
      } else if (buffers_[index].offset) {
        expected = "a buffer that is not pinned";
      } else {
        taken_[index] = true;
        continue;
      }
      all_known_ = false;
      complain(where, expected, std::to_string(id));
    }
    return all_known_;
  }

  void compare(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& other,
               const JsonPath& path) {
    if (first.size() != other.size()) {
      complain(path, "as many buffers as occurrence 0 has, " + std::to_string(first.size()),
               std::to_string(other.size()));
      return;
    }
    std::int64_t shift = 0;
    for (std::size_t j = 0; j < first.size(); ++j) {
      const Buffer& a = buffers_[static_cast<std::size_t>(first[j])];
      const Buffer& b = buffers_[static_cast<std::size_t>(other[j])];
      if (j == 0) shift = b.lower - a.lower;
      if (repeats(a, b, shift)) continue;
      complain(path.index(static_cast<std::int64_t>(j)),
               "buffer " + std::to_string(first[j]) + " again " + std::to_string(shift) +
                   " steps later, " + shape(a) + " from step " + std::to_string(a.lower + shift),
               shape(b) + " from step " + std::to_string(b.lower));
      return;
    }
  }

  const std::vector<Buffer>& buffers_;
  std::vector<bool> taken_;
  ErrorList& errors_;
  bool all_known_ = true;
  bool first_known_ = false;
};

}  // namespace

// Written on one line, without fields of default value: a layout may have a million buffers.
template <class Visitor, Of<Buffer> AnyBuffer>
void fields(Visitor& v, AnyBuffer& buffer) {
  v.one_line();
  v.omit_if(buffer.id.empty(), "id", buffer.id);
  v.required("lower", buffer.lower, kStep);
  v.required("upper", buffer.upper, kStep);
  v.required("size_bytes", buffer.size, kBytes);
  v.omit_if(buffer.alignment == 1, "alignment", buffer.alignment, kAlignment);
  v.optional("offset_bytes", buffer.offset, kBytes);
  v.special("gaps", buffer.gaps, read_gaps, write_gaps);
}

template <class Visitor, Of<RepeatedBlock> Block>
void fields(Visitor& v, Block& block) {
  v.optional("name", block.name);
  v.required("occurrences", block.occurrences, {0, kMaxExact});
}

static void read_buffers(const JsonValue::Array& values, const JsonPath& path,
                         LayoutInstance& instance, ErrorList& errors) {
  if (static_cast<std::int64_t>(values.size()) > kMaxBuffers) {
    errors.add(code::kTooManyValues, path.pointer(),
               "must be at most " + std::to_string(kMaxBuffers) + " buffers, is " +
                   std::to_string(values.size()));
    return;
  }
  const LayoutPlaces places = [&](std::int64_t buffer, std::string_view member) {
    return path.index(buffer).pointer() + '/' + std::string(member);
  };
  const std::int64_t before = errors.found();
  instance.buffers.reserve(values.size());
  for (const JsonValue& value : values) {
    const auto index = static_cast<std::int64_t>(instance.buffers.size());
    const std::int64_t so_far = errors.found();
    read_fields(value, path.index(index), errors, instance.buffers.emplace_back());
    if (errors.found() == so_far) check_buffer(instance, index, places, errors);
  }
  if (errors.found() == before) check_together(instance, places, errors);
}

// Reads the members one by one: layers are checked against buffers, and read after recorded_from.
static LayoutInstance layout_instance_from(const JsonValue& document, ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(document, root, errors,
                            {"format", "version", "problem", "name", "capacity_bytes", "alignment",
                             "buffers", "layers", "recorded_from"});
  LayoutInstance instance;
  if (document.object() == nullptr || !check_head(reader, "stowage/instance", "layout")) {
    return instance;
  }
  FieldReader members(reader);
  members.optional("name", instance.name);
  members.optional("capacity_bytes", instance.capacity, kBytes);
  members.optional("alignment", instance.alignment, kAlignment);
  const std::int64_t before = errors.found();
  if (const JsonValue::Array* buffers = reader.array("buffers")) {
    read_buffers(*buffers, reader.at("buffers"), instance, errors);
  }
  const bool buffers_known = errors.found() == before;
  members.optional("recorded_from", instance.recorded_from);
  if (reader.find("layers") == nullptr) return instance;
  BlockChecker checker(instance.buffers, errors);
  reader.each("layers", [&](const JsonValue& layer, const JsonPath& at) {
    const std::int64_t so_far = errors.found();
    read_fields(layer, at, errors, instance.layers.emplace_back());
    if (buffers_known && errors.found() == so_far) checker.check(instance.layers.back(), at);
  });
  return instance;
}

Result<LayoutInstance> read_layout_instance(std::string_view text) {
  return read_document(text, layout_instance_from);
}

void write_json_members(JsonWriter& json, const LayoutInstance& instance) {
  FieldWriter members(json);
  members.head("stowage/instance", "layout", instance.name);
  members.required("capacity_bytes", instance.capacity);
  members.required("alignment", instance.alignment);
  members.required("buffers", instance.buffers);
  members.omit_if(instance.layers.empty(), "layers", instance.layers);
  members.required("recorded_from", instance.recorded_from);
}

std::string write_layout_instance(const LayoutInstance& instance) {
  JsonWriter json;
  json.begin_object();
  write_json_members(json, instance);
  json.end_object();
  return json.take();
}

}  // namespace stowage
