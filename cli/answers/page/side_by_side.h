// The facts and pictures of two plans of one instance, for a page that shows both.
//
//   const std::vector<ComparedFact> rows = compare_facts(facts_of_one, facts_of_other);
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "instances/pictures/drawing/panel.h"

namespace stowage {

struct Fact {
  std::string label;  // "objective"
  std::string text;   // "9 806 ms"
  // the exact amount that `text` begins with, in its unit; without it the amount is read from
  // `text`
  std::optional<double> amount = std::nullopt;
};

struct ComparedFact {
  std::string label;
  std::array<std::string, 2> texts;  // empty for a plan without this fact
  std::string difference;            // the second minus the first; empty unless both are amounts
};

// A picture of the same part of both plans; nullopt for a plan without this part.
using PicturePair = std::array<std::optional<Picture>, 2>;

struct SideBySide {
  std::array<std::string, 2> names;  // of the files
  std::vector<ComparedFact> facts;
  std::vector<PicturePair> pictures;
};

// Returns a row for each label: the labels of `one` in their order, then the other labels of
// `other`. A difference is stated where both texts begin with a number and have the same unit.
std::vector<ComparedFact> compare_facts(const std::vector<Fact>& one,
                                        const std::vector<Fact>& other);

}  // namespace stowage
