// Builds the MILP of a scatter instance: the rows of each micro-batch, of its groups, and of the
// step, as docs/theory/scatter.md numbers them.
#pragma once

#include <span>
#include <string>

#include "formulations/scatter/milp.h"

namespace stowage {

class ScatterMilpBuilder {
 public:
  ScatterMilpBuilder(const ScatterInstance& instance, std::span<const LengthClass> classes,
                     const ScatterMilpOptions& options);
  ScatterMilp build();

 private:
  std::string label(const char* rule, int slot) const {
    return std::string(rule) + "_b" + std::to_string(slot);
  }

  int assigned(std::size_t group, std::size_t q) const {
    return out_.assigned[group * classes_.size() + q];
  }

  void add_slot(int slot);
  int mode(int slot, GroupForm form) const {
    const auto modes = static_cast<std::size_t>(recomputations(instance_));
    return out_.modes[static_cast<std::size_t>(slot) * modes +
                      static_cast<std::size_t>(form.recomputation)];
  }

  void add_modes(int slot);
  void add_equal(int slot);
  void add_equal_rows(const milp::Row& link, int used, const std::string& suffix);
  void add_group(int slot, GroupForm form, int index);
  int add_row_padding(GroupForm form, Tokens capacity, const milp::Row& tokens, milp::Row& time,
                      milp::Row& transfer, const std::string& suffix);
  int add_copies(GroupForm form, const milp::Row& tokens, const std::string& suffix);
  void add_slot_rows(int slot, std::size_t first);
  void add_kinds(int slot, std::size_t first);
  void add_mixed(int slot, std::size_t first);
  Load own_part_of(const Load& load, Tokens length, GroupForm form) const;
  void add_rules_of_slot(milp::Row sum, milp::Row some);
  void add_multiple();
  void add_longest();
  bool needs_work() const {
    return instance_.rules.no_idle_ranks || instance_.rules.micro_batches_multiple_of > 1;
  }

  void add_coverage(std::size_t q);
  void add_slot_order();

  const ScatterInstance& instance_;
  std::span<const LengthClass> classes_;
  ScatterMilpOptions options_;
  int sequences_ = 0;
  int most_sequences_ = 0;  // limit of a group
  Tokens all_tokens_ = kMaxExact;

  // The time that every group pays once, for any degree.
  Ms constant_ = instance_.rules.packed ? instance_.cost.fixed_ms : 0;
  ScatterMilp out_;
};

}  // namespace stowage
