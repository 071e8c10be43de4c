#!/bin/sh
# Runs our flat index, Debian's faiss and the newest faiss in turn on the same
# codes, REPEATS times with one thread and with two, and prints medians: our
# time, and how many times as long the others take, by the clock and by seconds
# of processors.  On a busy machine the second is the one to believe.
#
#   bench/index_flat.sh [the folder of the built programs]
#
# PYTHON needs `import faiss`: python3 -m venv venv && venv/bin/pip install faiss-cpu
# BITS and THREADS narrow it down.
set -eu
here=$(dirname "$0")
built=${1:-$here/../build/release/bench}
python=${PYTHON:-venv/bin/python}
repeats=${REPEATS:-3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Threads that wait do not count as work.
export OMP_WAIT_POLICY=passive
for threads in ${THREADS:-1 2}; do
  for bits in ${BITS:-16 32 64 128 256}; do
    for _ in $(seq "$repeats"); do
      # After the bits: clock, processor, share of a batch, the same of a query, "right".
      ours=$("$built/bench_index_flat" "$threads" "$bits" "$folder" |
        awk -v bits="$bits" '$1 == bits { print $2, $3, $4, $5, $6, $7, $8 }')
      # Clock, processor of a batch, the same of a query, "equal".
      debian=$("$built/bench_index_flat_faiss" "$threads" "$bits" "$folder" || true)
      newest=$("$python" "$here/index_flat.py" "$threads" "$bits" "$folder" || true)
      echo "$threads $bits $ours $debian $newest" >> "$folder/all"
    done
  done
done
awk '
  function add(kind, name, value) {
    values[$1, $2, kind, name] = values[$1, $2, kind, name] " " value
  }
  function median(threads, bits, kind, name,   i, j, n, v, t) {
    n = split(values[threads, bits, kind, name], v, " ")
    for (i = 2; i <= n; ++i)
      for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; --j) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return v[int((n + 1) / 2)]
  }
  # ours, debian, newest: the fields where clock and processor of the kind stand.
  function take(kind, ours, debian, newest) {
    add(kind, "ours", $(ours + 1)); add(kind, "share", $(ours + 2) + 0)
    add(kind, "debian clock", $debian / $ours); add(kind, "newest clock", $newest / $ours)
    add(kind, "debian", $(debian + 1) / $(ours + 1))
    add(kind, "newest", $(newest + 1) / $(ours + 1))
  }
  function row(threads, bits, kind) {
    printf "%7d %4d %-6s %9.3f ms %7.1f %7.1f %7.1f %7.1f %6.0f%%\n", threads, bits, kind,
      1000 * median(threads, bits, kind, "ours"), median(threads, bits, kind, "debian clock"),
      median(threads, bits, kind, "debian"), median(threads, bits, kind, "newest clock"),
      median(threads, bits, kind, "newest"), median(threads, bits, kind, "share")
  }
  NF != 19 { print "a program failed:", $0; failed = 1; next }
  {
    if (!seen[$1, $2]++) order[++n] = $1 SUBSEP $2
    take("batch", 3, 10, 15); take("single", 6, 12, 17)
    if ($9 != "right" || $14 != "equal" || $19 != "equal") { failed = 1; print "different:", $0 }
  }
  END {
    print "                             ours  Debian\047s faiss    newest faiss    share of"
    print "threads bits             processor   clock   proc.   clock   proc.    bare"
    for (i = 1; i <= n; ++i) {
      split(order[i], key, SUBSEP)
      row(key[1], key[2], "batch"); row(key[1], key[2], "single")
    }
    print failed ? "not all answers equal" : "answers equal"
    exit failed
  }' "$folder/all"
