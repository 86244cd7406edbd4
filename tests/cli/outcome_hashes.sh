#!/usr/bin/env bash
# outcome_hashes.sh STOWAGE [FAMILY...]: prints a line for each instance and method, with the SHA-256
# of the outcome that the command STOWAGE prints. The instances are the bundled ones and 200 that this
# script generates; without a FAMILY those of all five. Nothing is limited by time, so two builds that
# plan alike print the same lines: keep the lines of the old build, change the code, and compare.
#
# JOBS is the number of solves at a time, default 1. The lists `stages` and `parameters` of an outcome
# tell how the plan was made, not the plan: FULL=1 hashes them too. LONG=1 adds the searches that take
# minutes.
set -euo pipefail
stowage=$(realpath "$1")
shift
families=("${@:-scatter}")
[[ $# -gt 0 ]] || families=(scatter assign layout order strategy)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$(dirname "${BASH_SOURCE[0]}")/../../instances/data"

hash_one() {  # INSTANCE METHOD NODES [OPTION...]
  local instance=$1 method=$2 nodes=$3
  shift 3
  local outcome
  outcome=$("$STOWAGE" solve "$instance" --method "$method" --node-limit "$nodes" --timeless \
    --log-level error "$@" 2>&1) || true
  if [[ -z ${FULL-} ]]; then
    outcome=$(sed -e '/^  "stages": \[$/,/^  \],\?$/d' -e '/^  "parameters": {$/,/^  },\?$/d' \
      <<<"$outcome")
  fi
  printf '%s  %s %s %s\n' "$(sha256sum <<<"$outcome" | cut -c1-16)" \
    "${instance#"$WORK"/}" "$method" "$nodes${*:+ $*}"
}
export -f hash_one
export STOWAGE=$stowage WORK=$work

generate() {  # FAMILY NUMBER OPTION...
  local family=$1 number=$2
  shift 2
  mkdir -p "$work/generated/$family"
  "$stowage" generate "$family" "$@" -o "$work/generated/$family/$number.json" --log-level error
}

generate_all() {  # FAMILY
  local n
  case $1 in
    scatter)
      local degrees=(powers local-or-sharded any) devices=(8 16 16 32) limits=(64k 192k 384k)
      for n in {1..60}; do
        generate scatter "$n" --devices "${devices[n % 4]}" --count $((4 + 5 * (n % 11))) \
          --degrees "${degrees[n % 3]}" --limit "${limits[n % 3]}" --sigma "1.$((n % 6))" \
          --mu "$((6 + n % 3))" --seed "$n"
      done ;;
    assign)
      local presets=(llama-7b llama-13b llama-32b) chunks=()
      for n in {1..50}; do
        chunks=()
        [[ $((n % 7)) -ne 0 ]] || chunks=(--chunk-tokens 4k --retained 2)
        generate assign "$n" --preset "${presets[n % 3]}" --tokens $((20 + 15 * (n % 8)))K \
          --mu "$((6 + n % 3))" --seed "$n" "${chunks[@]}"
      done ;;
    layout)
      local kinds=(random short-lived rolling guillotine)
      for n in {1..40}; do
        generate layout "$n" --kind "${kinds[n % 4]}" --buffers $((8 + 13 * (n % 9))) \
          --steps $((10 + 5 * (n % 7))) --unit 4 --alignment $((1 << (n % 3))) --seed "$n"
      done ;;
    order)
      local kinds=(transformer recompute randwire layered layered-local experts vgg unet chunked accumulate)
      local more=()
      for n in {1..30}; do
        more=()
        case ${kinds[n % 10]} in
          vgg | unet)
            more=(--capacity-share "0.$((6 + n % 3))")
            [[ $n -lt 20 ]] || more+=(--host-rate 100000) ;;
          randwire | layered*) more=(--seed "$n") ;;
        esac
        generate order "$n" --kind "${kinds[n % 10]}" --operators $((12 + 4 * (n % 7))) "${more[@]}"
      done ;;
    strategy)
      local presets=(llama-7b gpt-7b qwen3-0.6b llama3.2-1b qwen3-1.7b)
      for n in {1..20}; do
        generate strategy "$n" --preset "${presets[n % 5]}" --nodes $((1 + n % 3)) \
          --devices-per-node $((2 << (n % 3))) --sequences $((16 << (n % 3))) --tokens $((2 << (n % 3)))K
      done ;;
  esac
}

jobs_of() {  # FAMILY INSTANCE
  local family=$1 instance=$2 method methods
  case $family in
    scatter) methods='fast joint skrull bytescale megatron-hybrid megatron-dynamic dp-balanced verl' ;;
    assign) methods='fast joint hydraulis-lpt karmarkar-karp chunk-flow' ;;
    layout) methods='fast mip best-fit usmp-hill-climb reinsert' ;;
    order) methods='fast commit lns evict walk offload' ;;
    strategy) methods='rule homogeneous galvatron alpa fast' ;;
  esac
  # The MILPs of these baselines have a limit of seconds each.
  if [[ -n ${LONG-} ]]; then
    case $family in
      scatter) methods+=' flexsp flexsp-chunks' ;;
      assign) methods+=' hydraulis' ;;
      layout) methods+=' memo' ;;
      order) methods+=' checkmate memo' ;;
      strategy) methods+=' uniap' ;;
    esac
  fi
  echo "$instance auto 20"
  [[ -z ${LONG-} && $instance == */real/* ]] || echo "$instance exact 60"
  for method in $methods; do
    [[ -z ${LONG-} && $method == joint && $instance == */real/* ]] || echo "$instance $method 20"
  done
  case $instance in
    */tiny/*)
      echo "$instance auto 2000"
      echo "$instance auto 2000 --solver glpk" ;;
    */real/*)
      # Minutes with every degree.
      [[ -z ${LONG-} || $instance == *-any.json ]] || echo "$instance auto 150" ;;
    *) echo "$instance auto 150" ;;
  esac
}

for family in "${families[@]}"; do
  generate_all "$family"
  for instance in "$family"/tiny/*.json "$family"/real/*.json "$work/generated/$family"/*.json; do
    # A million bytes of buffers take minutes for each method.
    [[ -n ${LONG-} || $(stat -c %s "$instance") -lt 1000000 ]] || continue
    jobs_of "$family" "$instance"
  done
done | xargs -P "${JOBS:-1}" -L 1 bash -c 'hash_one "$@"' _ | sort -k 2
