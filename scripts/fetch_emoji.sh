#!/bin/sh
# fetch_emoji.sh DIR: the packages that the emoji dataset is built from, each
# unpacked into a folder of DIR that bears its name.  What is there already is
# not fetched again.  Exit code 3: no npm or no network.
set -eu

if [ $# -ne 1 ]; then
  echo "usage: $0 DIR" >&2
  exit 2
fi
mkdir -p "$1"
cd "$1"

# complete PACKAGE VERSION PATH...: whether it is there with all the paths; an
# earlier version of this script may have left some out.
complete() {
  [ -f "$1/.version" ] && [ "$(cat "$1/.version")" = "$2" ] || return 1
  in=$1
  shift 2
  for path in "$@"; do
    [ -e "$in/${path#package/}" ] || return 1
  done
}

# fetch PACKAGE VERSION PATH...: unpacks only the paths.  Unpacking happens
# aside and ends with a rename, so that a folder is there whole or not at all.
fetch() {
  if complete "$@"; then
    return 0
  fi
  package=$1 version=$2
  shift 2
  if ! command -v npm >/dev/null 2>&1; then
    echo "$0: npm is not installed; install it (Debian: apt-get install npm) and try again" >&2
    exit 3
  fi
  echo "fetching $package $version"
  rm -rf .fetch
  mkdir -p .fetch/unpacked
  if ! (cd .fetch && npm pack --loglevel error "$package@$version" >npm.log 2>&1); then
    echo "$0: cannot fetch $package@$version: is there a network?" >&2
    sed 's/^/  /; 4q' .fetch/npm.log >&2
    rm -rf .fetch
    exit 3
  fi
  tar -xzf .fetch/*.tgz -C .fetch/unpacked "$@"
  echo "$version" >.fetch/unpacked/package/.version
  rm -rf "$package"
  mkdir -p "$(dirname "$package")"
  mv .fetch/unpacked/package "$package"
  rm -rf .fetch
}

languages=
for language in bn da de es es-mx et fi fr hi hu it ja ko lt ms nb nl pl pt ru sv th uk vi zh \
  zh-hant; do
  languages="$languages package/$language/data.json"
done
# shellcheck disable=SC2086  # a list
fetch emojibase-data 17.0.0 package/package.json package/LICENSE package/en/data.json \
  package/en/messages.json $languages
fetch emoji-datasource-google 16.0.0 package/package.json package/img/google/64
fetch emoji-datasource-twitter 16.0.0 package/package.json package/img/twitter/64
fetch @lobehub/fluent-emoji-3d 1.1.0 package/package.json package/assets
