// A walk over the numbers that a schema allows, and documents that hold each of them.
#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "instances/schema/schema.h"

namespace stowage::families_numbers_test {

using nlohmann::json;

inline const char kMark[] = "@number@";

// The location of a number in the document of a sample.
using Pointer = json::json_pointer;

// Walks over the schema of an instance and follows its references.
class SchemaWalk {
 public:
  // Called with the name of a number's location, its schema, the document with kMark at that
  // location, and the pointer to it.
  using Visit = std::function<void(const std::string&, const json&, const json&, const Pointer&)>;

  SchemaWalk(json schema, json sample, Visit visit)
      : root_(std::move(schema)), document_(std::move(sample)), visit_(std::move(visit)) {}

  void run() { walk(root_, document_, "", Pointer()); }

  // Collects the locations of all numbers in a schema, independent of a sample.
  static void places(const json& root, const json& any, const std::string& place,
                     std::set<std::string>& found) {
    const json& schema = followed(root, any);
    if (is_number(schema)) found.insert(place);
    if (schema.contains("oneOf")) {
      for (const json& branch : schema["oneOf"]) places(root, branch, place, found);
    }
    if (names_file(schema)) return;
    each_member(schema, [&](const std::string& key, const json& member) {
      places(root, member, place + '/' + key, found);
    });
    if (schema.contains("items")) places(root, schema["items"], place + "/[]", found);
  }

 private:
  static const json& followed(const json& root, const json& schema) {
    if (!schema.contains("$ref")) return schema;
    return root.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
  }
  const json& followed(const json& schema) const { return followed(root_, schema); }

  static bool is_number(const json& schema) {
    const json type = schema.value("type", json());
    return type == "integer" || type == "number";
  }
  // Returns true for a list or a cost in a separate file.
  static bool names_file(const json& schema) {
    return schema.contains("properties") && schema["properties"].contains("file");
  }

  // Calls `read` for each member by key; the key * stands for members whose keys the user chooses.
  template <class Read>
  static void each_member(const json& schema, Read read) {
    if (schema.contains("properties")) {
      for (const auto& [key, member] : schema["properties"].items()) read(key, member);
    }
    if (schema.contains("patternProperties")) {
      for (const auto& [pattern, member] : schema["patternProperties"].items()) {
        if (pattern != "^x-") read("*", member);
      }
    }
    if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object()) {
      read("*", schema["additionalProperties"]);
    }
  }

  // Returns the smallest valid value of a schema, for members that a sample does not have.
  json stub(const json& any) const {
    const json& schema = followed(any);
    if (schema.contains("oneOf")) return stub(schema["oneOf"][0]);
    if (schema.contains("enum")) return schema["enum"][0];
    const std::string type = schema.value("type", "");
    if (is_number(schema)) return 1;
    if (type == "string") return "";
    if (type == "boolean") return false;
    if (type == "array") {
      json list = json::array();
      if (schema.contains("items")) list.push_back(stub(schema["items"]));
      return list;
    }
    json object = json::object();
    for (const json& key : schema.value("required", json::array())) {
      object[key.get<std::string>()] = stub(schema["properties"][key.get<std::string>()]);
    }
    return object;
  }

  void walk(const json& any, json& value, const std::string& place, const Pointer& at) {
    const json& schema = followed(any);
    if (schema.contains("oneOf")) {
      for (const json& branch : schema["oneOf"]) {
        if (fits(branch, value)) walk(branch, value, place, at);
      }
      return;
    }
    if (is_number(schema)) {
      const json kept = std::exchange(value, kMark);
      visit_(place, schema, document_, at);
      value = kept;
    } else if (value.is_array() && schema.contains("items")) {
      // Elements are alike, so only the first and the last are visited.
      for (std::size_t i = 0; i < value.size(); i += std::max<std::size_t>(1, value.size() - 1)) {
        walk(schema["items"], value[i], place + "/[]", at / i);
      }
    } else if (value.is_object()) {
      each_member(schema, [&](const std::string& key, const json& member) {
        if (key == "*") return walk_users(member, schema, value, place, at);
        const bool there = value.contains(key);
        if (!there) value[key] = stub(member);
        walk(member, value[key], place + '/' + key, at / key);
        if (!there) value.erase(key);
      });
    }
  }

  void walk_users(const json& member, const json& schema, json& value, const std::string& place,
                  const Pointer& at) {
    std::vector<std::string> keys;
    for (const auto& [key, own] : value.items()) {
      if (!schema.contains("properties") || !schema["properties"].contains(key)) {
        keys.push_back(key);
      }
    }
    for (const std::string& key : keys) walk(member, value[key], place + "/*", at / key);
  }

  // Returns whether the value matches the branch: its type and its required members.
  bool fits(const json& any, const json& value) const {
    const json& schema = followed(any);
    const std::string type = schema.value("type", "");
    if (type == "array") return value.is_array();
    if (is_number(schema)) return value.is_number();
    if (type != "object" || !value.is_object()) return false;
    for (const json& key : schema.value("required", json::array())) {
      if (!value.contains(key.get<std::string>())) return false;
    }
    return true;
  }

  json root_;
  json document_;
  Visit visit_;
};

}  // namespace stowage::families_numbers_test
