#include "bench/plan_store.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>

#include "instances/families.h"
#include "instances/json/document.h"

namespace stowage::bench {
namespace {

// Names come from files, so every character except letters, digits and a few marks becomes '-'.
std::string file_name(const Record& record) {
  std::string name = record.suite + '.' + record.instance + '.' + method_title(record);
  std::ranges::replace_if(
      name,
      [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_';
      },
      '-');
  return name + ".json";
}

template <class InstanceT>
std::optional<std::string> fault(const InstanceT& instance, const std::string& text,
                                 const Record& record) {
  const auto plan = FamilyOf<InstanceT>::read_plan(text);
  if (!plan) return to_string(plan.errors().front());
  if (const auto found = verify(instance, *plan); !found.empty()) return to_string(found.front());
  if (const auto found = verify_instance_hash(*plan, instance_hash(instance)); !found.empty()) {
    return to_string(found.front());
  }
  // Both values were written as shortest decimals, which parse to the same double.
  if (objective_of(*plan) != *record.objective) {
    return "the plan's objective is " + std::to_string(objective_of(*plan)) + ", the result says " +
           std::to_string(*record.objective);
  }
  return std::nullopt;
}

}  // namespace

std::string store_plan(const std::filesystem::path& directory, const Record& record,
                       const Plan& plan) {
  std::filesystem::create_directories(directory);
  std::string name = file_name(record);
  std::ofstream file(directory / name);
  std::visit([&file](const auto& p) { file << FamilyOf<decltype(p)>::write_plan(p); }, plan);
  file.close();
  if (!file) throw std::runtime_error((directory / name).string() + " cannot be written");
  return name;
}

std::optional<std::string> check_plan(const std::filesystem::path& directory, const Record& record,
                                      const Instance& instance) {
  if (!record.objective) return std::nullopt;
  if (record.plan.empty()) return "the result names no plan";
  const Result<std::string> text = read_text_file(directory / record.plan);
  if (!text) return to_string(text.errors().front());
  return std::visit([&](const auto& i) { return fault(i, *text, record); }, instance);
}

}  // namespace stowage::bench
