// References to callable objects.
#include "solvers/function_ref.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

namespace stowage::function_ref_test {
namespace {

int called_with(FunctionRef<int(int)> called, int number) { return called ? called(number) : -1; }

TEST(FunctionRef, CallsWhatItWasMadeOf) {
  int calls = 0;
  EXPECT_EQ(called_with([&](int number) { return ++calls, number + 1; }, 4), 5);
  EXPECT_EQ(calls, 1);
  const std::function<int(int)> doubled = [](int number) { return 2 * number; };
  EXPECT_EQ(called_with(doubled, 4), 8);
}

TEST(FunctionRef, CallsTheSameObjectAndNoCopy) {
  auto counter = [calls = 0](int) mutable { return ++calls; };
  const FunctionRef<int(int)> ref = counter;
  const FunctionRef<int(int)> again = ref;
  EXPECT_EQ(ref(0), 1);
  EXPECT_EQ(again(0), 2);
  EXPECT_EQ(counter(0), 3);
}

TEST(FunctionRef, HandsOnWhatCanOnlyBeMoved) {
  const auto take = [](std::unique_ptr<int>&& number) { return *std::move(number); };
  const FunctionRef<int(std::unique_ptr<int> &&)> ref = take;
  EXPECT_EQ(ref(std::make_unique<int>(7)), 7);
}

TEST(FunctionRef, MayBeOfNothing) {
  EXPECT_FALSE(FunctionRef<void()>());
  EXPECT_EQ(called_with({}, 4), -1);
}

}  // namespace
}  // namespace stowage::function_ref_test
