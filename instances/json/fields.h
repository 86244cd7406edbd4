// Types as JSON objects. A type lists its members once, in fields(). The list gives its reader, its
// writer, and the keys that its reader accepts.
//
//   template <class Visitor, Of<AssignRow> Row>
//   void fields(Visitor& v, Row& row) {
//     v.required("tokens", row.tokens, {0, kMaxExact});
//     v.optional("bound_by", row.bound_by);                // a member not given keeps its default
//     v.omit_if(row.price == 0, "price", row.price, kPrice);  // optional; then not even written
//   }
//
//   read_fields(value, path, errors, row);
//   write_fields(json, row);
//
// Members are integers, doubles, texts, types that have fields(), and vectors and std::optional of
// these; and bools, which are never required. Keys are read and written in the order of the list. A
// type with another order, or with checks that need more than the object itself, has a reader of
// its own.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "instances/json/field_types.h"
#include "instances/json/reader.h"
#include "instances/json/writer.h"

namespace stowage {

template <class T>
void read_fields(const JsonValue& value, const JsonPath& path, ErrorList& errors, T& out);
template <class T>
void write_fields(JsonWriter& json, const T& value);

// The functions that the visitors share. The functions that a list calls:
//
//   required(key, value, range)   an error if the member is missing
//   optional(key, value, range)   a member that is not given keeps the value it has
//   omit_if(omitted, key, value, range)   optional, and written only if not `omitted`
//   required_if(there, key, value, range)   neither read nor written if not `there`
//   choice(key, value, names)     an enum by its name, required; false if the name is unknown. An
//                                  enumerator without a name is written as its number
//   choice(key, value, names, omitted)   the same, but as omit_if()
//   special(key, value, read, write)     value = read(reader, key), and write(json, key, value)
//   head(format, problem, name)   the members that open a document. If they name another kind of
//                                  document, the other members are not read
//    kind(value, f)                value = f(JSON value), before anything is read: later members
//    may
//                                  depend on it
//   check(value, f)               f(value, reader), once all members before it are read
//   one_line()                    the whole object is written on one line
template <class Self>
class FieldVisitor {
 public:
  template <class T>
  void required(std::string_view key, T& value, RangeOf<T> range = {}) {
    self().member(key, value, range, {.required = true});
  }
  template <class T>
  void optional(std::string_view key, T& value, RangeOf<T> range = {}) {
    self().member(key, value, range, {});
  }
  template <class T>
  void omit_if(bool omitted, std::string_view key, T& value, RangeOf<T> range = {}) {
    self().member(key, value, range, {.written = !omitted});
  }
  template <class T>
  void required_if(bool there, std::string_view key, T& value, RangeOf<T> range = {}) {
    self().member(key, value, range, {.required = there, .read = there, .written = there});
  }
  // Defaults of functions that only one visitor overrides.
  template <class T, class Find>
  void kind(const T&, Find) {}
  template <class T, class Check>
  void check(const T&, Check) {}
  void one_line() {}

  struct Presence {
    bool required = false;
    bool read = true;
    bool written = true;
  };

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

// The keys of a list.
class FieldKeys : public FieldVisitor<FieldKeys> {
 public:
  explicit FieldKeys(const JsonValue& value) : value_(value) {}

  std::span<const std::string_view> keys() const { return {keys_.data(), count_}; }

  void head(std::string_view, std::string_view, const std::string&) {
    for (const std::string_view key : {"format", "version", "problem", "name"}) add(key);
  }
  template <class T, class Read, class Write>
  void special(std::string_view key, const T&, Read, Write) {
    add(key);
  }
  template <class Enum>
  bool choice(std::string_view key, const Enum&, std::span<const std::string_view>,
              std::optional<bool> = {}) {
    add(key);
    return true;
  }
  template <class T, class Find>
  void kind(T& value, Find find) {
    value = find(value_);
  }

  template <class T>
  void member(std::string_view key, const T&, RangeOf<T>, Presence) {
    add(key);
  }

 private:
  void add(std::string_view key) {
    assert(count_ < keys_.size());
    keys_[count_++] = key;
  }

  const JsonValue& value_;
  std::array<std::string_view, 24> keys_;
  std::size_t count_ = 0;
};

class FieldReader : public FieldVisitor<FieldReader> {
 public:
  explicit FieldReader(const ObjectReader& reader) : reader_(reader) {}

  void head(std::string_view format, std::string_view problem, std::string& name) {
    ours_ = check_head(reader_, format, problem);
    optional("name", name);
  }
  template <class T, class Read, class Write>
  void special(std::string_view key, T& value, Read from_json, Write) {
    if (ours_) value = from_json(reader_, key);
  }
  template <class Enum>
  bool choice(std::string_view key, Enum& value, std::span<const std::string_view> names,
              std::optional<bool> omitted = {}) {
    if (!ours_) return false;
    std::optional<std::string> fallback;
    const auto known = static_cast<std::size_t>(value);
    if (omitted && known < names.size()) fallback = names[known];
    const std::optional<std::size_t> found = reader_.one_of(key, names, fallback);
    if (found) value = static_cast<Enum>(*found);
    return found.has_value();
  }
  template <class T, class Check>
  void check(const T& value, Check complain) {
    if (ours_) complain(value, reader_);
  }
  template <class T>
  void member(std::string_view key, T& value, RangeOf<T> range, Presence presence) {
    if (ours_ && presence.read) read(key, value, range, presence.required);
  }

 private:
  template <class T>
  void read(std::string_view key, T& value, RangeOf<T> range, bool required) {
    ErrorList& errors = reader_.errors();
    if constexpr (std::same_as<T, bool>) {
      assert(!required);
      value = reader_.boolean(key, value);
    } else if constexpr (Whole<T>) {
      const auto now = static_cast<std::int64_t>(value);
      value = static_cast<T>(reader_.integer(key, range, otherwise(required, now)));
    } else if constexpr (std::same_as<T, double>) {
      value = reader_.number(key, range, otherwise(required, value));
    } else if constexpr (std::same_as<T, std::string>) {
      value = reader_.text(key, otherwise(required, value));
    } else if constexpr (kIsOptional<T>) {
      if (reader_.find(key) != nullptr) read(key, value.emplace(), range, true);
    } else if constexpr (std::same_as<T, Integers>) {
      if (const JsonValue* found = given(key, required)) {
        value = read_integers(*found, reader_.at(key), range, errors);
      }
    } else if constexpr (kIsVector<T>) {
      if (!required && reader_.find(key) == nullptr) return;
      reader_.each(key, [&](const JsonValue& element, const JsonPath& where) {
        if constexpr (std::same_as<T, std::vector<double>>) {
          value.push_back(read_number(element, where, range, errors).value_or(0));
        } else if constexpr (std::same_as<T, std::vector<Integers>>) {
          value.push_back(read_integers(element, where, range, errors));
        } else {
          read_fields(element, where, errors, value.emplace_back());
        }
      });
    } else if (const JsonValue* found = given(key, required)) {
      read_fields(*found, reader_.at(key), errors, value);
    }
  }

  template <class T>
  static std::optional<T> otherwise(bool required, const T& value) {
    return required ? std::nullopt : std::optional<T>(value);
  }
  const JsonValue* given(std::string_view key, bool required) const {
    return required ? reader_.require(key) : reader_.find(key);
  }

  const ObjectReader& reader_;
  bool ours_ = true;
};

// Writes an enumerator by its name. One without a name is written as its number, which every reader
// refuses.
template <class Enum>
void write_choice(JsonWriter& json, Enum value, std::span<const std::string_view> names) {
  const auto index = static_cast<std::size_t>(value);
  if (index < names.size()) return json.text(names[index]);
  json.integer(static_cast<std::int64_t>(value));
}

class FieldWriter : public FieldVisitor<FieldWriter> {
 public:
  explicit FieldWriter(JsonWriter& json) : json_(json) {}

  void head(std::string_view format, std::string_view problem, const std::string& name) {
    write_head(json_, format, problem, name);
  }
  template <class T, class Read, class Write>
  void special(std::string_view key, const T& value, Read, Write to_json) {
    to_json(json_, key, value);
  }
  template <class Enum>
  bool choice(std::string_view key, const Enum& value, std::span<const std::string_view> names,
              std::optional<bool> omitted = {}) {
    if (omitted.value_or(false)) return true;
    json_.key(key);
    write_choice(json_, value, names);
    return true;
  }
  void one_line() { json_.one_line(); }

  template <class T>
  void member(std::string_view key, const T& value, RangeOf<T>, Presence presence) {
    if (!presence.written) return;
    if constexpr (kIsOptional<T>) {
      if (!value) return;
      json_.key(key);
      put(*value);
    } else {
      json_.key(key);
      put(value);
    }
  }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      json_.boolean(value);
    } else if constexpr (Whole<T>) {
      json_.integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::same_as<T, double>) {
      json_.number(value);
    } else if constexpr (std::same_as<T, std::string>) {
      json_.text(value);
    } else if constexpr (std::same_as<T, Integers>) {
      json_.integers(value);
    } else if constexpr (kIsVector<T>) {
      constexpr bool kNumbers = std::same_as<T, std::vector<double>>;
      json_.begin_array(kNumbers ? JsonWriter::Layout::line : JsonWriter::Layout::lines);
      for (const auto& element : value) {
        if constexpr (kNumbers || std::same_as<T, std::vector<Integers>>) {
          put(element);
        } else {
          write_fields(json_, element);
        }
      }
      json_.end_array();
    } else {
      write_fields(json_, value);
    }
  }

  JsonWriter& json_;
};

// Reads an object of type T. On errors `out` is incomplete.
template <class T>
void read_fields(const JsonValue& value, const JsonPath& path, ErrorList& errors, T& out) {
  FieldKeys keys(value);
  fields(keys, out);
  const ObjectReader object(value, path, errors, keys.keys());
  FieldReader reader(object);
  fields(reader, out);
}

template <class T>
void write_fields(JsonWriter& json, const T& value) {
  json.begin_object();
  FieldWriter writer(json);
  fields(writer, value);
  json.end_object();
}

}  // namespace stowage
