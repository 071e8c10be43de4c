# A collection as a person makes and changes it: build, search, add, remove, a
# new model and back, codes from and for elsewhere, and the server.
source "$SOURCE/tests/common.sh"
make_small
"$CROSSILO" simulate small.toml --out first >/dev/null 2>&1
"$CROSSILO" simulate small.toml --set seed=2 --out second >/dev/null 2>&1
first=first/bundle.safetensors second=second/bundle.safetensors

expect "400" "$CROSSILO" index build found --bundle $first --data small
refuse "is a collection already" "$CROSSILO" index build found --bundle $first --data small
expect '"verified": true' "$CROSSILO" index info found --verify --json
items() { "$CROSSILO" index info found --json | sed -n 's/^  "items": \([0-9]*\),$/\1/p' | head -1; }
[ "$(items)" = 400 ] || fail "not 400 items: $(items)"

# What the collection answers is what a scan of the dataset answers: as near,
# though equally near ones come by id here and by row there.
names() { sed -n 's/^ *"name": "\(.*\)",$/\1/p'; }
"$CROSSILO" search --in found --like g000008 --among image -k 20 --json | names >found.txt
distances() { grep '"distance"'; }
"$CROSSILO" search --in found --like g000008 --among image -k 20 --json | distances >found_far.txt
"$CROSSILO" search --bundle $first --data small --row 7 --among image -k 20 --json | distances >scanned.txt
[ "$(wc -l <found.txt)" = 20 ] || fail "not 20 hits: $(cat found.txt)"
diff found_far.txt scanned.txt || fail "the collection and the scan answer differently"
refuse "no tables" "$CROSSILO" search --in found --like g000008 --index mih
"$CROSSILO" index build tables --bundle $first --data small --index mih >/dev/null
"$CROSSILO" search --in tables --like g000008 --among image -k 20 --index mih --json | names | diff found.txt - ||
  fail "mih answers differently"
"$CROSSILO" search --in found --like g000008 --among image -k 5 --offset 5 --json | names | diff <(sed -n 6,10p found.txt) - ||
  fail "the second page is not the second page"
class=$("$CROSSILO" search --in found --like g000008 -k 1 --json | sed -n '/"classes"/{n;s/^ *"\(.*\)"$/\1/p}')
[ -n "$class" ] || fail "a hit without a class"
"$CROSSILO" search --in found --like g000008 --class "$class" -k 400 --json | grep -A1 '"classes"' |
  grep -v "classes\|--" | grep -vF "\"$class\"" && fail "a hit of another class than $class"
expect '"distance"' "$CROSSILO" search --in found --like g000008 --rerank --json

expect "1 item removed; 399 left" "$CROSSILO" index remove found g000008
refuse "1 is not in it: g000008" "$CROSSILO" index remove found g000008
refuse "1 is not in it: a [31m" "$CROSSILO" index remove found $'a\e[31m'
"$CROSSILO" search --in found --like g000009 --among image -k 399 --json | names >left.txt
grep -qx g000008 left.txt && fail "a removed item was found"
refuse "no item" "$CROSSILO" search --in found --like g000008

# A dataset without ids of its own comes in behind the last number.
"$CROSSILO" data generate --samples 50 --classes 5 --out more >/dev/null
rm more/items.tsv
expect "50 items added, 0 replaced; 449 in all" "$CROSSILO" index add found --data more
expect "0 items added, 50 replaced; 449 in all" "$CROSSILO" index add found --data more
expect "changes taken into the file" "$CROSSILO" index compact found
[ "$(items)" = 449 ] || fail "not 449 items: $(items)"

# One that has grown must not go on into the numbers of another.
made() {
  "$CROSSILO" data generate --samples "$1" --classes 5 --out "$2" >/dev/null
  rm "$2/items.tsv"
}
made 20 others
"$CROSSILO" index build grown --bundle $first --data more >/dev/null
"$CROSSILO" index remove grown 48 49 >/dev/null
expect "20 items added, 0 replaced; 68 in all" "$CROSSILO" index add grown --data others
mv more less
made 60 more
refuse "row 50 has no id and would replace item 50 of" "$CROSSILO" index add grown --data more
cp -r grown older
sed -i -e 's/^format = 2/format = 1/' -e '/^rows = /d' older/generation-1/collection.toml
refuse "row 50 has no id and would replace item 50 of" "$CROSSILO" index add older --data more
rm -r more
mv less more
expect "2 items added, 48 replaced; 70 in all" "$CROSSILO" index add older --data more
expect "format = 2" cat older/generation-1/collection.toml

# A new model, and back; what was removed stays removed.
"$CROSSILO" search --in found --like g000009 -k 20 --json | names >old.txt
expect "generation 2 is ready and serves: 449 items" "$CROSSILO" index reencode found --bundle $second
[ "$(items)" = 449 ] || fail "not 449 items: $(items)"
"$CROSSILO" search --in found --like g000009 -k 20 --json | names >new.txt
cmp -s old.txt new.txt && fail "another model, but the same answers"
expect "generation 1 serves: 449 items" "$CROSSILO" index switch found
"$CROSSILO" search --in found --like g000009 -k 20 --json | names | diff old.txt - || fail "not the old answers"
refuse "no generation before" "$CROSSILO" index switch found
refuse "whole number of at least 1" "$CROSSILO" index switch found abc

# An item stays the one that was added last, also when a new model comes.
"$CROSSILO" data generate --samples 20 --classes 5 --out ours >/dev/null
"$CROSSILO" data generate --samples 5 --classes 5 --out theirs >/dev/null
sed -i '2,$s/[^\t]*$/theirs/' theirs/items.tsv
"$CROSSILO" index build kept --bundle $first --data ours >/dev/null
expect "0 items added, 5 replaced; 20 in all" "$CROSSILO" index add kept --data theirs
expect "0 items added, 20 replaced; 20 in all" "$CROSSILO" index add kept --data ours
"$CROSSILO" index reencode kept --bundle $second >/dev/null 2>&1
"$CROSSILO" search --in kept --like g000001 --among image -k 20 --json >kept.json
grep -q theirs kept.json && fail "an older item came back"

# What would be lost is not lost unasked: items that left their dataset, the
# generation that served, all items where collection.toml is gone.
cp ours/items.tsv whole.tsv
sed -i 's/^g00001/h00001/' ours/items.tsv
refuse "10 of 20 items, such as 'g0000" "$CROSSILO" index reencode kept --bundle $first
expect "10 items left out" "$CROSSILO" index reencode kept --bundle $first --drop-missing
expect "10 of this one's were not in it" "$CROSSILO" index switch kept
cp whole.tsv ours/items.tsv
expect "generation 3 removed" "$CROSSILO" index reencode kept --bundle $first
expect "generation 2 serves: 20 items" "$CROSSILO" index switch kept
for lines in 0 2 6 8 10 12 14; do
  cp -r kept cut
  head -n $lines kept/generation-2/collection.toml >cut/generation-2/collection.toml
  refuse "collection.toml" "$CROSSILO" index reencode cut --bundle $first
  refuse "collection.toml" "$CROSSILO" index info cut --verify
  rm -r cut
done

# A generation that cannot be searched is not added to and not switched to.
cp -r kept mixed
cp $first mixed/generation-2/bundle.safetensors
refuse "another bundle" "$CROSSILO" index add mixed --data ours
refuse "another bundle" "$CROSSILO" index info mixed --verify
truncate -s 100 mixed/generation-4/items.cxi
refuse "items.cxi" "$CROSSILO" index switch mixed 4
expect '"generation": 2' "$CROSSILO" index info mixed --json

cp -r ours twice
sed -i '3s/^[^\t]*/g000001/' twice/items.tsv
refuse "two items have the id 'g000001'" "$CROSSILO" index add kept --data twice
printf 'g000001\r\n\r\ng000002\r\n' >names.txt
expect "2 items removed; 18 left" "$CROSSILO" index remove kept --from names.txt

# Nothing is left of what was refused.
refuse "nosuch" "$CROSSILO" index build nothing --bundle $first --data nosuch
refuse "two items" "$CROSSILO" index build nothing --bundle $first --data twice
refuse "small.toml" "$CROSSILO" index build nothing --bundle small.toml --data small
[ -e nothing ] && fail "a refused build left a folder"
refuse "cannot create" "$CROSSILO" index build small.toml/below --bundle $first --data small
refuse "crossilo index build" "$CROSSILO" index add small --data more
refuse "no complete generation 1; there are: none" "$CROSSILO" index switch small 1
[ -e small/lock ] && fail "a lock in a folder that is no collection"

# Names of folders that a line cannot hold are refused, others kept as they are.
cp -r ours $'two\nlines'
refuse "rename it" "$CROSSILO" index add kept --data $'two\nlines'
cp -r ours "it's a '''\"\"\"\\ folder"
"$CROSSILO" index build quoted --bundle $first --data "it's a '''\"\"\"\\ folder" >/dev/null
expect '"distance"' "$CROSSILO" search --in quoted --like g000001 --json
rm kept/current
refuse "one of: 2, 4" "$CROSSILO" index info kept

# Codes for others and from them.
expect "449 codes" "$CROSSILO" index export found --column image --faiss codes.faiss
expect "449 codes" "$CROSSILO" index export found --column image --npy codes.npy --ids ids.npy
expect "449 codes" "$CROSSILO" index import a.cxi --faiss codes.faiss
expect "449 codes" "$CROSSILO" index import b.cxi --npy codes.npy --ids ids.npy --bundle $first
untimed() { sed '/"seconds"/,/}/d'; }
"$CROSSILO" search --in a.cxi --code 0f3a -k 30 --json | untimed >a.json
"$CROSSILO" search --in b.cxi --code 0f3a -k 30 --json | untimed | diff a.json - || fail "faiss and npy differ"
refuse "another model" "$CROSSILO" search --in b.cxi --code 0f3a --bundle $second
refuse "hexadecimal" "$CROSSILO" search --in a.cxi --code xyz
refuse "--ids goes with --npy" "$CROSSILO" index export found --faiss codes2.faiss --ids ids2.npy
refuse "--ids goes with --npy" "$CROSSILO" index import c.cxi --faiss codes.faiss --ids ids.npy
refuse "small.toml" "$CROSSILO" index import c.cxi --faiss codes.faiss --bundle small.toml
[ -e c.cxi.lock ] && fail "a lock of a refused import"
# Codes alone are called by their ids, of which hashes have 19 digits.
expect '"silos": 0' "$CROSSILO" index info a.cxi --json
number=$(names <a.json | grep -xE '[0-9]{19}' | head -1)
expect "1 item removed; 448 left" "$CROSSILO" index remove a.cxi "$number"

# What is no index is refused with its reason.
for seed in 1 2 3 4 5; do
  awk -v seed=$seed 'BEGIN { srand(seed); for (i = 0; i < 3000; ++i) printf "%c", 1 + rand() * 255 }' >noise.cxi
  refuse "noise.cxi" "$CROSSILO" index info noise.cxi
done
head -c 1000 a.cxi >short.cxi
refuse "short.cxi" "$CROSSILO" index info short.cxi

# The server: only this machine without a certificate and a token.
refuse "certificate" "$CROSSILO" serve found --host 0.0.0.0
"$CROSSILO" serve found --port 0 >serve.txt 2>serve.err &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 200); do
  grep -q "served at" serve.txt && break
  kill -0 $server 2>/dev/null || fail "the server ended: $(cat serve.err)"
  sleep 0.05
done
port=$(sed -n 's/.*served at http:\/\/127.0.0.1:\([0-9]*\).*/\1/p' serve.txt)
[ -n "$port" ] || fail "no address in: $(cat serve.txt serve.err)"
get() {
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
  cat <&3
  exec 3>&-
}
id=$("$CROSSILO" search --in found --like g000009 -k 1 --json | sed -n 's/^ *"id": "\([0-9]*\)",$/\1/p')
get "/api/search?like=$id&k=20" | grep -q '"hits"' || fail "no hits: $(get "/api/search?like=$id")"
get "/api/search?like=$id&q=x" | grep -q "400" || fail "an unknown parameter was taken"
get / | grep -q "<html" || fail "no page"
# The other model comes in while it serves.
"$CROSSILO" index switch found 2 >/dev/null
for _ in $(seq 200); do
  get /healthz | grep -q '"generation": *2' && break
  sleep 0.05
done
get /healthz | grep -q '"generation": *2' || fail "the server did not change to generation 2"
kill -TERM $server
wait $server || fail "the server did not end well: $(cat serve.err)"
