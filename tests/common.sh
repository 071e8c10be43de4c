# Sourced by the program tests: a clean folder to work in, and a few checks.
set -euo pipefail
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect TEXT COMMAND...: the command's output has TEXT in it, and exit code 0.
expect() {
  local text=$1 out
  shift
  out=$("$@" 2>&1) || fail "$* ended with $?: $out"
  grep -qF -- "$text" <<<"$out" || fail "$*: no '$text' in: $out"
}

# refuse TEXT COMMAND...: exit code 2 and one line on stderr with TEXT in it.
refuse() {
  local text=$1 out code=0
  shift
  out=$("$@" 2>&1 >/dev/null) || code=$?
  [ $code -eq 2 ] || fail "$* ended with $code, not 2: $out"
  grep -qF -- "$text" <<<"$out" || fail "$*: no '$text' in: $out"
  [ "$(wc -l <<<"$out")" -le 2 ] || fail "$*: more than a sentence: $out"
}

# A small dataset with known answers, and an experiment of a few seconds.
make_small() {
  "$CROSSILO" data generate --samples 400 --classes 5 --out small >/dev/null
  cat >small.toml <<'TOML'
[data]
path = "small"
[partition]
kind = "dirichlet"
silos = 4
beta = 0.5
[model]
bits = 16
hidden_image = 32
hidden_text = 32
[training]
rounds = 6
local_epochs = 2
[evaluate]
every = 2
TOML
}
