#!/usr/bin/env bash
# Installs the Debian packages of packages.txt, and any named as arguments, as
# far as they are missing.  Needs root or sudo only when something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
for package in $(grep -v '^#' packages.txt) "$@"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "These Debian packages are missing, and neither root nor sudo is there to install them:" >&2
    echo "  ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "could not install the packages above; is there a network, and is this Debian 12?" >&2
  exit 1
fi
