#include "instances/audit/work.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/limits.h"
#include "instances/json/reader.h"
#include "instances/lengths/json.h"

namespace stowage {
namespace {

// Calls read(element, path) for each element of an array; reports a value that is none.
template <class Read>
void each_element(const JsonValue& value, const JsonPath& path, ErrorList& errors, Read read) {
  if (value.array() == nullptr) return add_wrong_type(value, path, "an array", errors);
  std::int64_t index = 0;
  for (const JsonValue& element : *value.array()) read(element, path.index(index++));
}

using IdLists = std::vector<std::vector<std::int64_t>>;

IdLists read_lists(const JsonValue& value, const JsonPath& path, ErrorList& errors) {
  IdLists lists;
  each_element(value, path, errors, [&](const JsonValue& list, const JsonPath& place) {
    lists.push_back(read_integers(list, place, {0, kMaxSequences - 1}, errors));
  });
  return lists;
}

TrainerWork read_work(const JsonValue& document, ErrorList& errors) {
  const JsonPath root;
  const ObjectReader reader(document, root, errors,
                            {"lengths", kWorkKeys[0], kWorkKeys[1], kWorkKeys[2], kWorkKeys[3]});
  TrainerWork work;
  if (const JsonValue* lengths = reader.require("lengths")) {
    work.lengths = read_lengths(*lengths, reader.at("lengths"), 1, errors);
  }
  std::size_t found = 0;
  for (std::size_t k = 0; k < kWorkKeys.size(); ++k) {
    const JsonValue* value = reader.find(kWorkKeys[k]);
    if (value == nullptr) continue;
    ++found;
    work.kind = static_cast<WorkKind>(k);
    const JsonPath path = reader.at(kWorkKeys[k]);
    if (work.kind == WorkKind::partition) {
      for (auto& list : read_lists(*value, path, errors)) work.ids.push_back({std::move(list)});
      continue;
    }
    each_element(*value, path, errors, [&](const JsonValue& lists, const JsonPath& place) {
      work.ids.push_back(read_lists(lists, place, errors));
    });
  }
  if (found != 1) {
    errors.add(code::kAuditedWork, "",
               "must have one of rows, partition, batch_rebalance, sample_id_groups, has " +
                   std::to_string(found));
  }
  return work;
}

std::string pointer_to(const TrainerWork& work, std::size_t outer, std::size_t inner) {
  const auto key = kWorkKeys[static_cast<std::size_t>(work.kind)];
  const std::string place = "/" + std::string(key) + "/" + std::to_string(outer);
  return work.kind == WorkKind::partition ? place : place + "/" + std::to_string(inner);
}

}  // namespace

Result<TrainerWork> read_trainer_work(std::string_view text) {
  return read_document(text, read_work);
}

std::vector<InputError> check(const TrainerWork& work) {
  ErrorList errors;
  const auto n = static_cast<std::int64_t>(work.lengths.size());
  if (work.ids.empty() || work.ids.front().empty()) {
    errors.add(code::kAuditedWork,
               "/" + std::string(kWorkKeys[static_cast<std::size_t>(work.kind)]),
               "must have a rank, has none");
  }
  for (std::size_t i = 0; i < work.lengths.size(); ++i) {
    if (work.lengths[i] >= 1 && work.lengths[i] <= kMaxExact) continue;
    errors.add(code::kIntegerRange, "/lengths/" + std::to_string(i),
               "must be from 1 to 9007199254740992, is " + std::to_string(work.lengths[i]));
  }
  const bool groups = work.kind == WorkKind::sample_id_groups;
  std::vector<std::int64_t> seen(work.lengths.size(), 0);
  for (std::size_t outer = 0; outer < work.ids.size(); ++outer) {
    if (groups && work.ids[outer].size() != work.ids.front().size()) {
      errors.add(code::kAuditedWork, "/sample_id_groups/" + std::to_string(outer),
                 "must have as many ranks as the first micro-batch, " +
                     std::to_string(work.ids.front().size()) + ", has " +
                     std::to_string(work.ids[outer].size()));
    }
    for (std::size_t inner = 0; inner < work.ids[outer].size(); ++inner) {
      const auto& ids = work.ids[outer][inner];
      if (groups && inner > 0 && ids == work.ids[outer][inner - 1]) continue;  // of the same group
      for (const std::int64_t id : ids) {
        if (id < 0 || id >= n) {
          errors.add(
              code::kIntegerRange, pointer_to(work, outer, inner),
              "must have ids from 0 to " + std::to_string(n - 1) + ", has " + std::to_string(id));
        } else {
          ++seen[static_cast<std::size_t>(id)];
        }
      }
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == 1) continue;
    errors.add(code::kAuditedWork, "/lengths/" + std::to_string(i),
               "must stand in one row or group of neighbouring ranks, stands in " +
                   std::to_string(seen[i]));
  }
  if (errors.empty()) return {};
  return std::move(errors).take();
}

std::vector<std::vector<WorkGroup>> groups_of(const TrainerWork& work) {
  std::vector<std::vector<WorkGroup>> micro_batches;
  for (const auto& ranks : work.ids) {
    std::vector<WorkGroup>& groups = micro_batches.emplace_back();
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (ranks[r].empty()) continue;
      if (r > 0 && ranks[r] == ranks[r - 1]) {
        ++groups.back().degree;
      } else {
        groups.push_back(
            {.first_rank = static_cast<std::int64_t>(r), .degree = 1, .sequences = ranks[r]});
      }
    }
  }
  return micro_batches;
}

}  // namespace stowage
