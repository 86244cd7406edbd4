#!/usr/bin/env bash
# The worth of each stage of the solves: the tables bench/results/0.1.0/ablation.txt, made by
# `stowage compare --ablate`.
#
#   bench/ablate.sh build/release/bench/stowage_bench build/release/cli/stowage > ablation.txt
#
# A row leaves out one stage of `auto`. All solves have limits of nodes, so that all columns but the
# last two are the same on every machine.
set -euo pipefail
[[ $# -eq 2 ]] || { sed -n '2,8p' "${BASH_SOURCE[0]}" >&2; exit 2; }
bench=$(realpath "$1") stowage=$(realpath "$2")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

suite() {  # NAME PART: the paths of its instances
  "$bench" bench/suite.json "$1" --part "$2" --write "$work/$1" >&2
  ls "$work/$1"/*.json
}

gap= # a line between two tables, none before the first
table() {  # TITLE NODES INSTANCE...
  local title=$1 nodes=$2
  shift 2
  echo "ablate: $title, $# instances" >&2
  printf '%s**%s**: %s instances, %s nodes each.\n\n' "$gap" "$title" "$#" "$nodes"
  gap=$'\n'
  # Exit code 3: an instance has no plan within the nodes.
  "$stowage" compare "$@" --ablate --format markdown --node-limit "$nodes" --log-level warn ||
    (($? == 3))
}

mapfile -t scatter < <(suite few tune && suite drawn tune)
table "scatter: suites \`few\` and \`drawn\`, tune parts" 20 "${scatter[@]}"
mapfile -t assign < <(suite assign-drawn tune)
table "assign: suite \`assign-drawn\`, tune part" 30 "${assign[@]}"
mapfile -t layout < <(suite guillotine tune && suite packing tune | head -n 40)
table "layout: suite \`guillotine\`, tune part, and 40 of \`packing\`" 5000 "${layout[@]}"
mapfile -t order < <(suite orders tune | grep -e -100-)
table "order: graphs of 100 operators of suite \`orders\`, tune part" 2000 "${order[@]}"
strategies=(instances/data/strategy/real/*.json)
for model in llama-7b gpt-7b qwen3-0.6b llama3.2-1b qwen3-1.7b; do
  for nodes in 1 2 4; do
    "$stowage" generate strategy --preset "$model" --nodes "$nodes" --sequences $((32 * nodes)) \
      --tokens 4k -o "$work/$model-$nodes.json" --log-level error
    strategies+=("$work/$model-$nodes.json")
  done
done
table "strategy: \`llama-13b\` on 64 GPUs, and five models on 1, 2 and 4 nodes" 100000 "${strategies[@]}"
