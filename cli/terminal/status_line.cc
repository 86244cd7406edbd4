#include "cli/terminal/status_line.h"

namespace stowage {

void StatusLine::tell(std::string_view line) {
  if (!console_.shows_progress()) return;
  if (console_.terminal()) return console_.rewrite_line(line);
  const Clock::time_point now = Clock::now();
  if (console_.settings.timeless || now - told_ < std::chrono::seconds(1)) return;
  told_ = now;
  console_.table_line(line);
}

}  // namespace stowage
