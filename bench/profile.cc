#include "bench/profile.h"

#include <algorithm>

#include "bench/markdown.h"
#include "bench/summary.h"
#include "instances/pictures/performance_profile.h"
#include "solvers/outcome.h"

namespace stowage::bench {
namespace {

std::vector<ProfiledMethod> methods_of(const std::vector<Record>& records,
                                       const std::map<std::string, BestKnown>& best) {
  std::vector<ProfiledMethod> methods;
  for (const Record& record : records) {
    const std::string title = method_title(record);
    auto method = std::ranges::find(methods, title, &ProfiledMethod::name);
    if (method == methods.end()) method = methods.insert(methods.end(), {.name = title});
    if (!record.objective) continue;
    method->gaps.push_back(relative_gap(*record.objective, best.at(record.instance).bound));
  }
  return methods;
}

}  // namespace

std::string profile_svg(const Results& results) {
  std::vector<Picture> pictures;
  for (const std::string& suite : suites_of(results.records)) {
    const std::vector<Record> records = of_suite(results.records, suite);
    const std::map<std::string, BestKnown> best = best_known(records);
    pictures.push_back(
        performance_profile(suite + ", " + std::to_string(best.size()) + " instances", best.size(),
                            methods_of(records, best)));
  }
  return svg_document(pictures, "performance profiles");
}

}  // namespace stowage::bench
