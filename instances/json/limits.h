// Upper limits of a document. instances/limits.md states them, and a test compares the two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "instances/units.h"

namespace stowage {

inline constexpr std::size_t kMaxDocumentBytes = std::size_t{1} << 29;  // of a file or of stdin
inline constexpr std::int64_t kMaxSequences = 10'000'000;               // elements of any array
inline constexpr std::int64_t kMaxValues = 40'000'000;                  // of one document
inline constexpr std::int64_t kMaxContainers = 4'000'000;  // arrays and objects of one document
inline constexpr std::int64_t kMaxTexts = 10'000'000;      // keys and strings of one document
inline constexpr std::int64_t kMaxBuffers = 1'000'000;     // of a layout instance
inline constexpr std::int64_t kMaxTensors = 1'000'000;     // of an order instance
inline constexpr std::int64_t kMaxOperators = 1'000'000;   // of an order instance
inline constexpr std::int64_t kMaxSchemes = 1000;          // of an assign instance
inline constexpr std::int64_t kMaxStrategies = 10'000;     // of an assign instance
inline constexpr std::int64_t kMaxDeviceKinds = 8;         // of nodes of a cluster
inline constexpr std::int64_t kMaxRecomputations = 8;      // choices of a micro-batch
inline constexpr std::int64_t kMaxTableEntries = 64;       // of a side of a table of times
inline constexpr std::int64_t kMaxLayers = 1000;           // of a strategy instance's model
inline constexpr std::int64_t kMaxModelWidth = 1 << 24;    // of its model: hidden, ffn, vocabulary
inline constexpr std::int64_t kMaxOptionValues = 32;       // of each of its options
inline constexpr std::int64_t kMaxZero = 3;                // levels of ZeRO
inline constexpr int kMaxStages = 1024;                    // of a pipeline
inline constexpr int kMaxRetainedChunks = 1'000'000;       // of a sequence
inline constexpr std::int64_t kMaxChunkBytes = 1000;       // of a token, per hidden unit
inline constexpr std::int64_t kMaxParts = 500'000;         // that a step's sequences are cut into
inline constexpr std::size_t kMaxNumberBytes = 4096;       // of a number in a document
inline constexpr std::size_t kMaxTextBytes = 1 << 20;      // of a key or string in a document
inline constexpr int kMaxDepth = 64;                       // the outermost object has depth 1
inline constexpr int kMaxDevices = 1'000'000;
inline constexpr Tokens kMaxPadMultiple = Tokens{1} << 30;

}  // namespace stowage
