#!/bin/sh
# Makes 10 million learnt codes of 64 bits and times multi-index hashing on them
# against the flat scan; exits with 1 where an answer is wrong or a goal missed.
#
#   bench/index_mih.sh [the built program] [a folder for the codes, kept]
#
# A model is trained on the emoji collection (demo.sh's FedCAFE run is taken
# where it is there); the collection are the image codes of 10 million mixtures
# of its samples (index_mih.py), the queries its captions' codes.  CROSSILO is the
# program, PYTHON needs numpy (Debian: python3-numpy); 2 GB of disk and memory.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
bench=${1:-$root/build/release/bench/bench_index_mih}
work=${2:-$root/build/index_mih}
crossilo=${CROSSILO:-$root/build/release/crossilo/cli/crossilo}
python=${PYTHON:-/usr/bin/python3}
pieces=${PIECES:-20}  # of 500,000
mkdir -p "$work"
if [ ! -f "$work/codes.npy" ]; then
  run=$root/runs/demo/fedcafe
  if [ ! -f "$run/bundle.safetensors" ]; then
    run=$work/run
    (cd "$root" && "$crossilo" simulate experiments/fedcafe.emoji.toml --out "$run")
  fi
  parts=
  for piece in $(seq "$pieces"); do
    codes=$work/piece-$piece
    "$python" "$here/index_mih.py" "$root/data/emoji" "$work/mixtures" 500000 "$piece"
    "$crossilo" encode --bundle "$run/bundle.safetensors" --data "$work/mixtures" --out "$codes"
    rm -r "$work/mixtures"
    parts="$parts $codes/image.npy"
  done
  "$crossilo" encode --bundle "$run/bundle.safetensors" --data "$root/data/emoji" \
    --out "$work/captions"
  # shellcheck disable=SC2086  # one word a piece
  "$python" "$here/index_mih.py" join "$work/codes.part.npy" $parts
  mv "$work/codes.part.npy" "$work/codes.npy"
  rm -r "$work"/piece-*
fi
"$bench" "$work/codes.npy" "$work/captions/text.npy"
