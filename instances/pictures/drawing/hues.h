// Assigns hues to ordered kinds: a hue of its own to each if there are enough hues, otherwise
// neighbours share a hue.
//
//   const Hues hues({"degree 1", "degree 2", "degree 8"});
//   hues.of(2);  // the hue of "degree 8"
//   hues.legend();        // an entry for each hue
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "instances/pictures/drawing/panel.h"

namespace stowage {

class Hues {
 public:
  // Hues before `first` are reserved for other shapes. Requires first < kHues.
  explicit Hues(std::vector<std::string> kinds, std::size_t first = 0);

  std::size_t kinds() const { return kinds_.size(); }
  std::size_t of(std::size_t kind) const;  // requires kind < kinds()

  // Returns a box for every hue in use; "degree 1 to degree 2" for a shared hue.
  std::vector<LegendEntry> legend() const;

 private:
  std::vector<std::string> kinds_;
  std::size_t first_;
};

}  // namespace stowage
