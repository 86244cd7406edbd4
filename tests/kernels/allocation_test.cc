// The kernels allocate no memory. The test is a program of its own, since it replaces operator new
// globally. simd_symbols.cmake checks that the innermost code cannot call malloc.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "kernels/attention/simd/isa.h"
#include "kernels/block/operation/linear.h"
#include "kernels/exchange/retained_attention.h"
#include "kernels/exchange/ring.h"
#include "kernels/ranks/thread_ranks.h"
#include "tests/kernels/attention_arrays.h"

namespace {
std::atomic<long> allocations = 0;
}

// Never inlined: if the compiler inlines only one function of a pair, it reports a mismatch of
// malloc and delete, or of new and free.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace stowage::kernels::allocation_test {
namespace {

TEST(Allocation, IsCounted) {
  const long before = allocations;
  const std::vector<int> vector(100);
  EXPECT_GT(allocations, before);
}

TEST(Allocation, AttentionAndProductsNeedNone) {
  for (const std::string& level : isa_levels()) {
    ASSERT_TRUE(use_isa(level));
    AttentionArrays run({.heads = 4, .kv_heads = 2, .dim = 64, .lq = {70, 1, 0, 200}, .slack = 2});
    std::vector<float> work(static_cast<std::size_t>(
        std::max(forward_workspace(run.shape), backward_workspace(run.shape))));
    std::vector<float> dx(run.q.size()), dw(256 * 256);
    const auto n = static_cast<std::int64_t>(run.q.size()) / 256;
    const std::vector<float> w(256 * 256, 0.5f);
    const long before = allocations;
    attention_forward(run.shape, run.q, run.k, run.v, run.o, run.lse, work);
    attention_backward(run.shape, run.backward_input(), KvGradients::per_kv_head, run.dq, run.dk,
                       run.dv, work);
    linear_forward(n, 256, 256, run.q, w, dx, Update::assign);
    linear_backward(n, 256, 256, run.q, w, run.o, dx, Update::assign, dw);
    EXPECT_EQ(allocations, before) << level;
  }
}

// The steps of a ring (here with one rank) and the chunks of a sequence allocate nothing either.
TEST(Allocation, RingsAndChunksNeedNone) {
  const std::vector<std::int32_t> cu = {0, 200};
  const AttentionShape shape{.total_q = 200,
                             .total_k = 200,
                             .heads = 4,
                             .kv_heads = 2,
                             .head_dim = 64,
                             .cu_q = cu,
                             .cu_k = cu};
  AttentionShape part = shape;
  part.total_q = 100;
  for (const std::string& level : isa_levels()) {
    ASSERT_TRUE(use_isa(level));
    const auto error = run_ranks(1, [&](Communicator& world) {
      RingAttention ring(world, RingOrder::zigzag, shape, KvGradients::per_kv_head);
      RetainedKeys keys(200, shape, KvGradients::per_kv_head);
      RetainedAttention first(keys, part, 0), second(keys, part, 100);
      for (AttentionStage* stage :
           {static_cast<AttentionStage*>(&ring), static_cast<AttentionStage*>(&first),
            static_cast<AttentionStage*>(&second)}) {
        const auto rows = stage == &ring ? std::size_t{200} : std::size_t{100};
        const AttentionMemory memory = stage->memory();
        std::vector<float> q(rows * 256, 0.1f), k(rows * 128, 0.1f), o(q), dq(q), dk(k), dv(k);
        std::vector<float> sums(static_cast<std::size_t>(memory.sums));
        std::vector<float> scratch(
            static_cast<std::size_t>(std::max(memory.forward_scratch, memory.backward_scratch)));
        const long before = allocations;
        stage->forward(q, k, k, {.o = o, .sums = sums}, scratch);
        stage->backward({.q = q, .k = k, .v = k, .o = o, .lse = sums, .upstream = q}, dq, dk, dv,
                        scratch);
        EXPECT_EQ(allocations, before) << level;
      }
    });
    EXPECT_FALSE(error) << error->message;
  }
}

}  // namespace
}  // namespace stowage::kernels::allocation_test
