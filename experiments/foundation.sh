#!/usr/bin/env bash
# The first table of docs/RESULTS.md: DCMH, 32 bits, ten silos, three seeds.
#   experiments/foundation.sh wikipedia|fashion [CROSSILO]
# Wants data/wikipedia or data/fashion, imported as docs/DATASETS.md says.
set -euo pipefail
cd "$(dirname "$0")/.."
set=$1
crossilo=${2:-build/release/crossilo/cli/crossilo}
runs=()
for method in local fedavg centralized; do
  for seed in 1 2 3; do
    run=runs/foundation/$set/$method-$seed
    runs+=("$run")
    [ -f "$run/summary.json" ] || "$crossilo" simulate "experiments/$method.$set.toml" \
      --set seed=$seed --resume --out "$run"
  done
done
"$crossilo" compare "${runs[@]}"
