// Makes a trainer's step of the rows of a verified plan: what the families share.
// Not installed: trainer.cc of each family uses it.
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
  // Lengths without padding and targets, by id; no targets where all tokens are. They must outlive
  // this.
  TrainerComposer(const std::vector<Tokens>& lengths, const std::vector<Tokens>& loss_tokens)
      : lengths_(lengths), loss_tokens_(loss_tokens) {}

  // A row: `batch` says when and where, the rest what it holds.
  void add(TrainerBatch batch, const std::vector<std::int64_t>& sequences,
           const std::vector<std::int64_t>& cu_padded);

  // The step, its batches in order. `head` says what is not of a row: problem, name, hash, ranks.
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
