#!/usr/bin/env bash
# Installs, builds and runs every test.  JOBS and PRESET may be set.
set -euo pipefail
cd "$(dirname "$0")"
preset=${PRESET:-release}
scripts/install.sh
cmake --preset "$preset"
cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}"
ctest --preset "$preset" -j "${JOBS:-$(nproc)}" "$@"
