// The common style of all pictures: one stylesheet, one width, ten colours.
//
// The seven hues of Okabe and Ito (Color Universal Design, 2008) are distinct for people with any
// common kind of colour blindness. There are three neutrals: paper, ink, and grey for wasted time
// or memory. The stylesheet follows the reader's preference for light or dark. Shapes name their
// colour by a class:
//
//   hue_class(0) == "c0"      fills with the first hue; stroke_class(0) == "l0" draws in it
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stowage {

inline constexpr double kPictureWidth = 800;  // px
inline constexpr double kPictureMargin = 16;  // px, at the left and at the right
inline constexpr double kTextSize = 12;       // px, class "i"
inline constexpr double kHeadingSize = 15;    // px, class "h"
inline constexpr std::size_t kHues = 7;

// Classes beside the hues.
inline constexpr std::string_view kPaper = "p";      // the background
inline constexpr std::string_view kInk = "i";        // text
inline constexpr std::string_view kHeading = "h";    // larger text
inline constexpr std::string_view kWaste = "w";      // idle or free: fill
inline constexpr std::string_view kGrid = "g";       // thin lines
inline constexpr std::string_view kHalo = "o";       // of paper, under a line that crosses fills
inline constexpr std::string_view kBoundLine = "b";  // long dashes
inline constexpr std::string_view kClaimLine = "k";  // dots
inline constexpr std::string_view kValueLine = "v";  // solid
inline constexpr std::string_view kLimitLine = "x";  // solid, thick
inline constexpr std::string_view kOutlined = " t";  // appended to a fill: an edge of paper
inline constexpr std::string_view kDashed = " d";    // appended to a stroke
inline constexpr std::string_view kPinned = " n";    // appended to a fill: an edge of ink
std::string hue_class(std::size_t hue);              // requires hue < kHues
std::string stroke_class(std::size_t hue);           // requires hue < kHues
std::string faded_class(std::size_t hue, int quarters);  // hue with 1 to 4 quarters of opacity

// Returns the rules of all classes, for a <style> element. `root` is the selector of the element
// whose background they paint.
std::string_view stylesheet();

}  // namespace stowage
