#include "bench/profile.h"

#include <algorithm>

#include "bench/markdown.h"
#include "bench/summary.h"
#include "instances/pictures/performance_profile.h"
#include "solvers/outcome.h"

namespace stowage::bench {
namespace {

// The place of a name among the names; a new one is added.
std::size_t style_of(const std::string& name, std::vector<std::string>& names) {
  const auto at = std::ranges::find(names, name);
  const auto style = static_cast<std::size_t>(at - names.begin());
  if (at == names.end()) names.push_back(name);
  return style;
}

// `names` are the methods in the order of their styles, over all suites.
std::vector<ProfiledMethod> methods_of(const std::vector<Record>& records,
                                       const std::map<std::string, BestKnown>& best,
                                       std::vector<std::string>& names) {
  std::vector<ProfiledMethod> methods;
  for (const Record& record : records) {
    const std::string title = method_title(record);
    auto method = std::ranges::find(methods, title, &ProfiledMethod::name);
    if (method == methods.end()) {
      std::size_t style = style_of(record.method, names);
      if (std::ranges::count(methods, style, &ProfiledMethod::style) > 0) {
        style = style_of(title, names);  // the same method with another limit
      }
      method = methods.insert(methods.end(), {.name = title, .style = style});
    }
    if (!record.objective) continue;
    method->gaps.push_back(relative_gap(*record.objective, best.at(record.instance).bound));
  }
  return methods;
}

}  // namespace

std::string profile_svg(const Results& results) {
  std::vector<Picture> pictures;
  std::vector<std::string> names;
  for (const std::string& suite : suites_of(results.records)) {
    const std::vector<Record> records = of_suite(results.records, suite);
    const std::map<std::string, BestKnown> best = best_known(records);
    pictures.push_back(
        performance_profile(suite + ", " + std::to_string(best.size()) + " instances", best.size(),
                            methods_of(records, best, names)));
  }
  return svg_document(pictures, "performance profiles");
}

}  // namespace stowage::bench
