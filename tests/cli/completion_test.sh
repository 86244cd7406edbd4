#!/usr/bin/env bash
# What `stowage completion` and `stowage man` print, read by those it is made for: bash, zsh, mandoc
# and groff. Checks whose program is missing are left out, and say so.
#
# usage: completion_test.sh STOWAGE
set -u
stowage=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
failed=0

# expect WHAT WANTED GOT
expect() {
  [[ $2 == "$3" ]] && return
  printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
  failed=1
}

"$stowage" completion bash >"$work/stowage.bash" || failed=1
"$stowage" completion zsh >"$work/_stowage" || failed=1
"$stowage" man >"$work/stowage.1" || failed=1

# --- bash ----------------------------------------------------------------------------------------

bash -n "$work/stowage.bash" || failed=1
# shellcheck disable=SC1091  # made above
source "$work/stowage.bash"
expect 'the function is registered' 'complete -o default -F _stowage stowage' \
  "$(complete -p stowage)"

# completed WORD...: the replies for the last word
completed() {
  COMP_WORDS=(stowage "$@")
  COMP_CWORD=$#
  _stowage
  echo "${COMPREPLY[*]:-}"
}

expect 'commands' 'solve schema' "$(completed s)"
expect 'families' 'scatter assign layout order strategy' "$(completed generate '')"
expect 'flags of one command' '--time-limit --timeless' "$(completed solve x.json --time)"
expect 'flags of a family' '--kind' "$(completed generate layout --ki)"
expect 'values behind a flag' 'auto cbc glpk highs' "$(completed solve --solver '')"
expect 'values that begin with' 'cbc' "$(completed solve x.json --solver c)"
expect 'values behind =' 'auto cbc glpk highs' "$(completed solve --solver =)"
expect 'values that begin with, behind =' 'glpk' "$(completed solve --solver = g)"
expect 'values of a positional' 'scatter-instance scatter-plan' "$(completed schema scat)"
expect 'files are left to the shell' '' "$(completed verify inst)"
expect 'no command, no reply' '' "$(completed nonsense --ti)"

# Every command and every flag of its help is completed.
overview=$("$stowage" --help)
overview=${overview#*Commands:}
while read -r line; do
  [[ -n $line ]] || break
  read -ra words <<<"${line%%  *}"
  replies=" $(completed "${words[@]}" --) "
  for flag in $("$stowage" "${words[@]}" --help | grep -oE '^  (-[a-zA-Z],)?--[a-z-]+' |
    grep -oE -- '--[a-z-]+'); do
    [[ $replies == *" $flag "* ]] || expect "${words[*]} completes $flag" "$flag" "$replies"
    grep -qF -- "${flag//-/\\-}" "$work/stowage.1" ||
      expect "the manual has $flag of ${words[*]}" "$flag" ''
  done
done <<<"${overview#$'\n'}"

# --- zsh -----------------------------------------------------------------------------------------

if command -v zsh >/dev/null; then
  zsh -n "$work/_stowage" || failed=1
  # The helpers of zsh's completion system stand in for themselves: what they are told is checked.
  cat >"$work/try.zsh" <<'ZSH'
compdef() { print -r -- "compdef $*" }
_describe() { print -rl -- "${(@P)2}" }
_arguments() { print -rl -- "$@" }
source $1
try() { words=("$@"); CURRENT=$#words; _stowage }
try stowage ''
print -- --
try stowage generate ''
print -- --
try stowage solve ''
print -- --
try stowage generate layout ''
ZSH
  said=$(zsh -f "$work/try.zsh" "$work/_stowage" 2>&1)
  for wanted in 'compdef _stowage stowage' 'solve:Plan an instance; print the outcome as JSON' \
    'generate:scatter, assign, layout' 'layout:Make the memory trace' \
    '--solver=[MILP backend; auto takes the first that is built in]:auto|cbc|glpk|highs:(auto cbc glpk highs)' \
    '(-t --time-limit)-t[Wall clock of the search; default none: until it ends, or Ctrl-C ends it with the best plan]:SEC:_files' \
    '(-t --time-limit)--time-limit=[Wall clock' ':INSTANCE:_files' '--kind='; do
    [[ $said == *"$wanted"* ]] || expect 'zsh is told' "$wanted" "$said"
  done
  # _arguments itself reads every specification; compinit finds the function by its first line.
  complaints=$(zsh -f -c 'fpath=('"$work"' $fpath); autoload -Uz compinit && compinit -u -D &&
    [[ $_comps[stowage] == _stowage ]] || print "not found by compinit"' 2>&1)
  expect 'compinit finds the function' '' "$complaints"
else
  echo 'left out: there is no zsh'
fi

# --- manual page ---------------------------------------------------------------------------------

if command -v mandoc >/dev/null; then
  # The page is of a version, not of a day, so that equal sources give equal bytes.
  expect 'mandoc has nothing to say' '' \
    "$(mandoc -T lint -W warning "$work/stowage.1" 2>&1 | grep -v 'WARNING: missing date')"
else
  echo 'left out: there is no mandoc'
fi
if command -v groff >/dev/null; then
  expect 'groff has nothing to say' '' "$(groff -man -ww -z "$work/stowage.1" 2>&1)"
else
  echo 'left out: there is no groff'
fi

exit "$failed"
