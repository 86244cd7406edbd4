#include "instances/pictures/drawing/style.h"

#include <cassert>

namespace stowage {

std::string hue_class(std::size_t hue) {
  assert(hue < kHues);
  return "c" + std::to_string(hue);
}

std::string stroke_class(std::size_t hue) {
  assert(hue < kHues);
  return "l" + std::to_string(hue);
}

std::string faded_class(std::size_t hue, int quarters) {
  assert(quarters >= 1 && quarters <= 4);
  return hue_class(hue) + (quarters == 4 ? "" : " q" + std::to_string(quarters));
}

std::string_view stylesheet() {
  return R"(text{font-family:"DejaVu Sans",Verdana,Helvetica,Arial,sans-serif;font-size:12px}
.p{fill:#ffffff}.i,.h{fill:#1b1b1b}.w{fill:#d7dade}
text.h{font-size:15px;font-weight:bold}
.c0{fill:#56b4e9}.c1{fill:#0072b2}.c2{fill:#009e73}.c3{fill:#f0e442}.c4{fill:#e69f00}.c5{fill:#d55e00}.c6{fill:#cc79a7}
.l0{stroke:#56b4e9}.l1{stroke:#0072b2}.l2{stroke:#009e73}.l3{stroke:#f0e442}.l4{stroke:#e69f00}.l5{stroke:#d55e00}.l6{stroke:#cc79a7}
.l0,.l1,.l2,.l3,.l4,.l5,.l6{fill:none;stroke-width:2}.d{stroke-dasharray:6 3}
.q1{fill-opacity:.25}.q2{fill-opacity:.5}.q3{fill-opacity:.75}
.t{stroke:#ffffff;stroke-width:.6}.n{stroke:#1b1b1b;stroke-width:1.5}
.g,.b,.k,.v,.x{fill:none;stroke:#1b1b1b}.g{stroke-opacity:.3}.o{fill:none;stroke:#ffffff;stroke-width:4;stroke-opacity:.6}
.b{stroke-width:1.5;stroke-dasharray:7 3}.k{stroke-width:1.5;stroke-dasharray:2 3}.v{stroke-width:1.5}.x{stroke-width:3}
@media (prefers-color-scheme:dark){
.p{fill:#15181c}.i,.h{fill:#e8e8e8}.w{fill:#3d434b}
.t,.o{stroke:#15181c}.n,.g,.b,.k,.v,.x{stroke:#e8e8e8}}
)";
}

}  // namespace stowage
