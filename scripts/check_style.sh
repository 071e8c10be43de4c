#!/usr/bin/env bash
# clang-format and clang-tidy over all sources; both must have nothing to say.
#   scripts/check_style.sh [BUILD]        (default build/release)
#   scripts/check_style.sh --format-only
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t sources < <(git ls-files 'crossilo/*.h' 'crossilo/*.cc' 'bench/*.cc' 'tests/*.cc')
clang-format --dry-run -Werror "${sources[@]}"
[ "${1:-}" != --format-only ] || exit 0

build=${1:-build/release}
# clang cannot read g++'s precompiled header, so its traces are taken out.
clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
sed -E -e 's# -include [^ ]*cmake_pch.hxx##g' -e 's# -fpch-preprocess##g' \
  -e 's# -Winvalid-pch##g' "$build/compile_commands.json" >"$clean/compile_commands.json"
# Tests and benches are left out: gtest's macros trip many checks, and clang 14
# cannot read torch's optimisers, which a bench compares with.  Half a minute a
# file, for libtorch's headers.
printf '%s\n' "${sources[@]}" | grep '\.cc$' | grep -v -e '^tests/' -e '^bench/' -e '_test\.cc$' \
  -e '_none\.cc$' -e 'neon' |
  xargs -P "$(nproc)" -n 4 clang-tidy -p "$clean" --quiet
