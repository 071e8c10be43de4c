#!/usr/bin/env bash
# Installs, builds and runs every test.  JOBS and PRESET may be set.
set -euo pipefail
cd "$(dirname "$0")"
preset=${PRESET:-release}
# The page is tested in a real browser.
scripts/install.sh chromium chromium-driver
cmake --preset "$preset"
cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}"
ctest --preset "$preset" -j "${JOBS:-$(nproc)}" "$@"
