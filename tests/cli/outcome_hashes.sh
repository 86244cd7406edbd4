#!/usr/bin/env bash
# outcome_hashes.sh STOWAGE [DIRECTORY]: a line for each bundled instance and method, with the SHA-256
# of the outcome that the command STOWAGE prints. Nothing is limited by time, so two builds that plan
# alike print the same lines: keep what the old one printed, change the code, and compare.
set -euo pipefail
stowage=$1
data=${2:-$(dirname "${BASH_SOURCE[0]}")/../../instances/data}
cd "$data"

hash_of() {  # INSTANCE METHOD NODES [OPTION...]
  local instance=$1 method=$2 nodes=$3
  shift 3
  printf '%s  %s %s %s\n' \
    "$("$stowage" solve "$instance" --method "$method" --node-limit "$nodes" --timeless \
      --log-level error "$@" 2>&1 | sha256sum | cut -c1-16)" "$instance" "$method" "$nodes"
}

for instance in */tiny/*.json */real/*.json; do
  family=${instance%%/*}
  hash_of "$instance" auto 20
  hash_of "$instance" fast 20
  hash_of "$instance" exact 60
  case $family in
    scatter) methods='joint flexsp flexsp-chunks skrull bytescale megatron-hybrid megatron-dynamic dp-balanced verl' ;;
    assign) methods='joint hydraulis hydraulis-lpt karmarkar-karp chunk-flow' ;;
    layout) methods='memo mip best-fit usmp-hill-climb anneal' ;;
  esac
  for method in $methods; do hash_of "$instance" "$method" 20; done
  if [[ $instance == */tiny/* ]]; then
    hash_of "$instance" auto 2000
    hash_of "$instance" auto 2000 --solver glpk
  else
    [[ $instance == *-any.json ]] || hash_of "$instance" auto 150  # minutes with every degree
  fi
done
