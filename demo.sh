#!/usr/bin/env bash
# From a fresh Debian 12 to a search page: installs what is missing, builds, makes
# the emoji dataset, trains four ways over nine silos, makes a collection, asks it
# a few questions and serves it (on a terminal; a script gets the command).
set -euo pipefail
cd "$(dirname "$0")"
# Where one silo uses several threads, libtorch's must not spin on the cores that
# OpenBLAS's wait for.
export OMP_WAIT_POLICY=passive
step() { printf '\n\033[1m%s\033[0m\n' "$*" | { [ -t 1 ] && cat || sed 's/\x1b\[[0-9;]*m//g'; }; }

extra=()
command -v npm >/dev/null || extra=(npm)
scripts/install.sh "${extra[@]}"

step "Building"
[ -f build/release/build.ninja ] || cmake --preset release >build-release.log 2>&1 ||
  { tail -n 20 build-release.log >&2; exit 1; }
rm -f build-release.log
ninja -C build/release crossilo
crossilo=build/release/crossilo/cli/crossilo

data=data/emoji
# Made anew where it is from before other languages could be asked in.
if ! grep -aqs dictionary_terms $data/embedding/text.safetensors; then
  step "Emoji by three design houses"
  if scripts/fetch_emoji.sh .cache/emoji; then
    rm -rf $data
    $crossilo data emoji --packages .cache/emoji --out $data
  elif [ ! -f $data/dataset.toml ]; then
    echo "No network: going on with generated pairs instead of emoji."
    data=data/generated
    rm -rf $data
    $crossilo data generate --out $data
  fi
fi
$crossilo data describe $data

rm -rf runs/demo
for method in local fedavg fedcafe centralized; do
  step "Training: $method"
  $crossilo simulate experiments/$method.emoji.toml --set data.path=$data --out runs/demo/$method
done

step "How well is a drawing found by words, and words by a drawing?"
$crossilo compare runs/demo/{local,fedavg,fedcafe,centralized}

step "A collection that can be searched"
collection=collections/$(basename $data)
rm -rf $collection
columns=()
[ $data = data/emoji ] && columns=(--silo-column house)
$crossilo index build $collection --bundle runs/demo/fedcafe/bundle.safetensors --data $data "${columns[@]}"

ask() {
  step "$1"
  shift
  $crossilo search --in $collection -k 5 "$@"
}
if [ $data = data/emoji ]; then
  ask "Drawings for \"smiling cat\"" "smiling cat"
  ask "... in French" "chat qui sourit"
  ask "... in Chinese, only Twitter's" --silo twitter "微笑的猫"
  ask "Words for Noto's drawing of a dog face" \
    --picture $data/emoji-datasource-google/img/google/64/1f436.png
else
  ask "Pairs most like the first one" --like 0
fi

step "The same as a page"
if [ -t 1 ]; then
  exec $crossilo serve $collection
fi
echo "$crossilo serve $collection"
