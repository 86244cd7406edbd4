#!/usr/bin/env bash
# Opens pictures and pages in a headless Chromium, light and dark, and measures them there: no text
# may touch another or leave its picture, the colours must follow the preference, the console must
# stay silent. Pages are used as well, by pointer, keys and fields, also as narrow as a phone. Skipped (77) where there is no Chromium.
#
#   browser_test.sh SOURCE_DIR [STOWAGE]
#
# With the command STOWAGE, the ranking on a page of configure is used as well.
set -euo pipefail
source_dir=$1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || exit 77

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What a page finds out about itself becomes its title.
cat >"$work/measure.html" <<'HTML'
<script>
const faults = [];
let texts = 0;
for (const svg of document.querySelectorAll("svg")) {
  const canvas = svg.getBoundingClientRect();
  const boxes = [];
  for (const text of svg.querySelectorAll("text")) {
    const box = text.getBoundingClientRect();
    const words = text.firstChild.data;
    ++texts;
    if (box.left < canvas.left || box.right > canvas.right ||
        box.top < canvas.top || box.bottom > canvas.bottom) faults.push("outside: " + words);
    for (const other of boxes) {
      if (box.left < other.box.right && other.box.left < box.right &&
          box.top < other.box.bottom && other.box.top < box.bottom) {
        faults.push("touch: " + other.words + " | " + words);
      }
    }
    boxes.push({box, words});
  }
}
const ink = getComputedStyle(document.querySelector("text.i")).fill;
document.title = "texts " + texts + "; ink " + ink + "; faults " + faults.join(", ");
</script>
HTML

# run MODE FILE: the page after its script has run; complaints of the browser go to $work/log
run() {
  local flags=()
  if [[ $1 == dark ]]; then flags=(--force-dark-mode --blink-settings=preferredColorScheme=0); fi
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
    --enable-logging=stderr --v=0 --window-size="${width:-1300},900" "${flags[@]}" --dump-dom "file://$2" 2>"$work/log"
}

# use PAGE TEST: opens the page with the script of the test, in two widths
use() {
  for width in 1300 500; do  # no window is narrower
    { sed '/<\/body>/,$d' "$1"; cat "$source_dir/tests/pictures/$2"; echo '</body></html>'; } >"$work/page.html"
    title=$(run light "$work/page.html" | grep -o '<title>used[^<]*' | head -n 1) || true
    if [[ $title != '<title>used ' ]]; then
      echo "$1, $width px: ${title:-the script of the page did not run}"
      failed=1
    fi
  done
  unset width
}

failed=0
for file in "$source_dir"/tests/cli/golden/render/*.{svg,html} "$source_dir"/{instances/pictures,bench}/*.svg; do
  page=$work/page.html
  if [[ $file == *.svg ]]; then
    { echo '<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>'
      sed 1d "$file"
      cat "$work/measure.html"
      echo '</body></html>'; } >"$page"
  else
    { sed '/<\/body>/,$d' "$file"; cat "$work/measure.html"; echo '</body></html>'; } >"$page"
  fi
  for mode in light dark; do
    title=$(run "$mode" "$page" | grep -o '<title>texts [^<]*' | head -n 1) || true
    ink='ink rgb(27, 27, 27)'
    if [[ $mode == dark ]]; then ink='ink rgb(232, 232, 232)'; fi
    if [[ $title != *"$ink; faults " ]]; then
      echo "$file, $mode: ${title:-nothing measured}"
      failed=1
    fi
  done
  if [[ $file == *.html ]]; then use "$file" page_test.html; fi
  # The file itself, not the page around it.
  run light "$file" >"$work/dom" || { echo "$file: not opened" && failed=1; }
  if grep CONSOLE "$work/log"; then
    echo "$file: the console is not silent"
    failed=1
  fi
done
if [[ -n ${2:-} ]]; then
  "$2" configure --preset llama-7b --nodes 1 --sequences 16 --tokens 2k --timeless -o "$work/run" >/dev/null 2>&1
  use "$work/run/page.html" ranking_test.html
  if grep CONSOLE "$work/log"; then
    echo "page of configure: the console is not silent"
    failed=1
  fi
fi
exit "$failed"
