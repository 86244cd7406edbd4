// The kernels allocate nothing. A program of its own, since it replaces operator new for all of it;
// that the innermost code cannot call malloc either is seen in its symbols (simd_symbols.cmake).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "attention_arrays.h"
#include "kernels/isa.h"
#include "kernels/linear.h"

namespace {
std::atomic<long> allocations = 0;
}

// Never inlined: where the compiler inlines only one of a pair, it takes malloc and delete, or new
// and free, for a mismatch and warns.
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

namespace stowage::kernels {
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

}  // namespace
}  // namespace stowage::kernels
