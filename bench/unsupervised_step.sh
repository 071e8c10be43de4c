#!/bin/sh
# Runs our half and PyTorch's half of the bench in turn, REPEATS times with one
# thread and with two, takes the fastest step of each and prints their ratio.
# Exits with 1 where ours is slower.
#
#   bench/unsupervised_step.sh [the built program]
#
# PYTHON needs `import torch` (Debian: python3-torch).
set -eu
here=$(dirname "$0")
ours=${1:-$here/../build/release/bench/bench_unsupervised_step}
python=${PYTHON:-/usr/bin/python3}
repeats=${REPEATS:-3}
all=$(mktemp)
trap 'rm -f "$all"' EXIT
# Passive waiting: libgomp's threads otherwise spin on OpenBLAS's cores.
export OMP_WAIT_POLICY=passive
for threads in 1 2; do
  export OMP_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads
  for _ in $(seq "$repeats"); do
    "$ours" "$threads" | sed "s/^/$threads ours /" >> "$all"
    "$python" "$here/unsupervised_step.py" "$threads" | sed "s/^/$threads torch /" >> "$all"
  done
done
# A half that failed would leave a line out.
[ "$(wc -l < "$all")" -eq $((8 * repeats)) ] || { echo "a half of the bench failed" >&2; exit 1; }
sort -k1,1n -k3,3r -k2,2 -k4,4n "$all" | awk '
  !(($1, $2, $3) in best) { best[$1, $2, $3] = $4; if ($2 == "ours") order[++n] = $1 SUBSEP $3 }
  END {
    printf "threads  step     ours      PyTorch   ours/PyTorch\n"
    for (i = 1; i <= n; ++i) {
      split(order[i], key, SUBSEP)
      ours = best[key[1], "ours", key[2]]; torch = best[key[1], "torch", key[2]]
      printf "%-7d  %-6s %7.1f ms %7.1f ms   %.2f\n", key[1], key[2], 1e3 * ours, 1e3 * torch,
        ours / torch
      if (ours > torch) slower = 1
    }
    print slower ? "slower than PyTorch" : "no slower than PyTorch"
    exit slower
  }'
