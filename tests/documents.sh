# Documents say what is true: every catalog name has a row in METHODS.md, every
# row a catalog entry with the same "leaves a silo"; every file a document
# links to is there.
source "$SOURCE/tests/common.sh"
for catalog in methods models; do "$CROSSILO" $catalog --json >$catalog.json; done
names() { sed -n 's/^    "name": "\(.*\)",$/\1/p' "$1.json"; }

for catalog in methods models; do
  for name in $(names $catalog); do
    grep -q "^| $name |" "$SOURCE/docs/METHODS.md" || fail "METHODS.md has no row for $name"
  done
done
sed -n '/^| name | paper | leaves/,/^$/p' "$SOURCE/docs/METHODS.md" | tail -n +3 |
  while IFS='|' read -r _ name _ sends _; do
    [ -n "${name// /}" ] || continue
    read -r name <<<"$name"
    read -r sends <<<"$sends"
    grep -A3 "\"name\": \"$name\"" methods.json | grep -qF "\"sends\": \"$sends\"" ||
      fail "METHODS.md says that $name sends '$sends'; the program says otherwise"
  done

# What passes in a round, tensor by tensor.
"$CROSSILO" methods --sends >sends.txt
sed -n '/^method    direction/,/^```$/p' "$SOURCE/docs/METHODS.md" | sed '$d' >documented.txt
diff sends.txt documented.txt || fail "METHODS.md shows other messages than crossilo methods --sends"

for document in "$SOURCE"/README.md "$SOURCE"/docs/*.md; do
  { grep -o '](\([^)#]*\)' "$document" || true; } | sed 's/^](//' | while read -r link; do
    [[ $link == http* ]] || [ -e "$(dirname "$document")/$link" ] || fail "$document links to $link, which is not there"
  done
done

# Every experiment file has only keys that exist; the data need not be there.
for file in "$SOURCE"/experiments/*.toml "$SOURCE"/experiments/*/*.toml \
  "$SOURCE"/experiments/*/*/*.toml; do
  out=$("$CROSSILO" simulate "$file" --set data.path=absent --out never 2>&1) && fail "$file ran"
  grep -q "absent" <<<"$out" || fail "$file: $out"
done
