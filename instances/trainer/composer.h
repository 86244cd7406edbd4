// Makes a trainer's step from the rows of a verified plan. trainer.cc of each family uses it. Not
// installed.
//
//   TrainerComposer composer(instance.lengths, instance.loss_tokens);
//   composer.add({.micro_batch = 0, .degree = 2}, group.sequences, group.cu_seqlens);
//   return std::move(composer).finish({.problem = "scatter", .ranks = 8});
#pragma once

#include <cstdint>
#include <vector>

#include "instances/result.h"
#include "instances/trainer/step.h"
#include "instances/units.h"

namespace stowage {

class TrainerComposer {
 public:
  // Lengths without padding and targets, by id; no targets if all tokens are targets. Both must
  // outlive this object.
  TrainerComposer(const std::vector<Tokens>& lengths, const std::vector<Tokens>& loss_tokens)
      : lengths_(lengths), loss_tokens_(loss_tokens) {}

  // Adds a row: `batch` has its micro-batch and ranks, the other arguments its sequences.
  void add(TrainerBatch batch, const std::vector<std::int64_t>& sequences,
           const std::vector<std::int64_t>& cu_padded);

  // Returns the step, its batches in order. `head` has the fields of the whole step: problem, name,
  // hash, ranks.
  Result<TrainerStep> finish(TrainerStep head) &&;

 private:
  const std::vector<Tokens>& lengths_;
  const std::vector<Tokens>& loss_tokens_;
  std::vector<TrainerBatch> batches_;
  int micro_batches_ = 0;
  std::int64_t slots_ = 0;
  std::vector<InputError> errors_;
};

}  // namespace stowage
