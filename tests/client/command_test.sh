#!/usr/bin/env bash
# Runs the real command-line client against a real server: every command, both outputs, and what can go wrong.
#
# shellcheck disable=SC2002,SC2162  # `read` is a command of dv here, and some pipes are there to be pipes.
set -uo pipefail

if (($# != 2)); then
  echo "usage: tests/client/command_test.sh DV DV_SERVER_BINARY" >&2
  exit 2
fi
dv=$(realpath "$1")
server_binary=$(realpath "$2")

scratch=$(mktemp -d)
server=
cleanup() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
  fi
  rm -rf "$scratch"
}
trap cleanup EXIT
cd "$scratch" || exit 1

failures=0
checks=0
fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$*"
}

# --- What a command did: its exit status in `status`, its output in the files out and err. ---

status=0
run() {
  timeout 60 "$dv" "$@" >out 2>err </dev/null
  status=$?
  command_line="dv $*"
}

# exits STATUS: the last command ended so.
exits() {
  checks=$((checks + 1))
  [[ $status == "$1" ]] || fail "$command_line: exit status $status, expected $1; it said: $(head -c 500 err)"
}

# prints TEXT...: its output is just these lines.
prints() {
  checks=$((checks + 1))
  printf '%s\n' "$@" >expected
  cmp -s out expected || fail "$command_line: printed $(head -c 500 out), expected $(cat expected)"
}

# output_has TEXT / error_has TEXT: it contains this text.
output_has() {
  checks=$((checks + 1))
  grep -qF -e "$1" out || fail "$command_line: printed $(head -c 500 out), without: $1"
}
error_has() {
  checks=$((checks + 1))
  grep -qF -e "$1" err || fail "$command_line: said $(head -c 500 err), without: $1"
}
error_matches() {
  checks=$((checks + 1))
  grep -qE -e "$1" err || fail "$command_line: said $(head -c 500 err), which does not match: $1"
}
silent_output() {
  checks=$((checks + 1))
  [[ ! -s out ]] || fail "$command_line: printed $(head -c 500 out), expected nothing"
}
silent_error() {
  checks=$((checks + 1))
  [[ ! -s err ]] || fail "$command_line: said $(head -c 500 err), expected nothing"
}

# answers TEXT...: it went well, and printed just these lines.
answers() {
  exits 0
  silent_error
  prints "$@"
}

# fails CODE (REASON): it failed with this error of the server, and printed nothing.
fails() {
  exits 1
  error_has "dv: $1: "
  silent_output
}

# --- The vectors. ---

vector() { base64 -d >"$1"; }
vector empty.bin <<<'AAAADNHTOWQAAAAAAAAAAL8YSAw='
# {1, 3, 5}
vector three.bin <<<'AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOQ=='
# The same, its CRC wrong by one bit.
vector broken.bin <<<'AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOA=='
# {0, 2^32}
vector keys.bin <<<'AAAAONHTOWQCAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAQAAAAAAABAAAAOjAAAAEAAAAAAAAAEAAAAAAAR7oHhA=='
# 0 to 65,535, as one run.
vector run.bin <<<'AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAA//8BAAAA//+S0xQ8'
# {1, 3, 5} in the middle of a file.
{ printf 'PFA1'; cat three.bin; printf 'footer'; } >middle.bin

# 2.4 MB of bare 64-bit Roaring: all even rows of 300 blocks, as bitsets.
blocks=300
le16() { printf '\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)); }
le32() { le16 $(($1 & 65535)); le16 $(($1 >> 16)); }
{
  printf '%b' "$(le32 1; le32 0; le32 0; le32 12346; le32 $blocks)"
  headers=
  offsets=
  for ((i = 0; i < blocks; i++)); do
    headers+=$(le16 $i; le16 32767)
    offsets+=$(le32 $((8 + 8 * blocks + 8192 * i)))
  done
  printf '%b' "$headers$offsets"
  head -c $((8192 * blocks)) /dev/zero | tr '\0' 'U'
} >even.roaring
even_rows=$((32768 * blocks))
even_end=$((65536 * blocks))

# --- Without a server. ---

unset DV_SERVER
run --help; exits 0; output_has 'Usage: dv'; silent_error
run --version; exits 0; silent_error
checks=$((checks + 1))
grep -qE '^dv [0-9]+\.[0-9]+\.[0-9]+$' out || fail "dv --version printed $(cat out)"
for command in describe read check count scan health; do
  run $command --help; exits 0; output_has "dv $command"; output_has 'Examples:'; silent_error
done

run; exits 2; error_has 'dv:'; silent_output
run frobnicate; exits 2; error_has 'frobnicate'
run describe; exits 2; error_has 'SOURCE'
run describe three.bin --frobnicate; exits 2; error_has '--frobnicate'
run describe three.bin --format=parquet; exits 2; error_has 'iceberg'
run describe three.bin --offset=-1; exits 2; error_has '"-1" is negative'
run describe three.bin --length=18446744073709551616; exits 2; error_has 'too large'
run describe three.bin --server=nowhere; exits 2; error_has 'no port'
run read three.bin --start=2 --end=1; exits 2; error_has '--start'
run read three.bin --encoding=mask --end=8; exits 2; error_has '--mask='
run count three.bin 1-2; exits 2; error_has '"1-2" is not a range'
run count three.bin 2:1; exits 2; error_has 'starts after its end'
run check three.bin; exits 2; error_has 'POSITION'
run check three.bin 1 two; exits 2; error_has '"two" is not a number'

run --server=127.0.0.1:1 health; fails UNAVAILABLE; error_has '127.0.0.1:1'; error_has 'is dv-server running there?'
run --server=127.0.0.1:1 read three.bin; fails UNAVAILABLE
run --server=127.0.0.1:1 check three.bin 1; fails UNAVAILABLE
run --server=127.0.0.1:1 scan three.bin; fails UNAVAILABLE
run --server=unix:"$scratch"/none describe three.bin; fails UNAVAILABLE; error_has "unix:$scratch/none"
checks=$((checks + 1))
[[ $(wc -l <err) == 1 ]] || fail "no server: more than one line: $(cat err)"
run --server=127.0.0.1:1 describe none.bin; exits 1; error_has 'dv: none.bin: No such file or directory'

# --- The server. ---

start_server() {
  rm -f address
  "$server_binary" "$@" --address_file="$scratch/address" >server.log 2>&1 &
  server=$!
  for ((i = 0; i < 200; i++)); do
    if [[ -s address ]]; then break; fi
    if ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.05
  done
  if [[ ! -s address ]]; then
    printf 'the server did not start; it said:\n'
    cat server.log
    exit 1
  fi
  read -r DV_SERVER <address
  export DV_SERVER
}
start_server --listen=127.0.0.1:0
# A proxy of the environment is not for this machine.
export http_proxy=http://127.0.0.1:1

# --- health ---

run health; answers SERVING
run health --output=json; exits 0; output_has '"status":"SERVING"'; silent_error
run health --service=deletionvector.v1.DeletionVectorService; answers SERVING
run health --service=none; fails NOT_FOUND

# --- describe ---

run describe three.bin; exits 0; silent_error
output_has 'cardinality:     3'
output_has 'first position:  1'
output_has 'last position:   5'
output_has 'format:          iceberg'
output_has 'layout:          frame64'
output_has 'encoded size:    46 bytes'
output_has 'containers:      1 array, 0 bitset, 0 run'
output_has 'checksum:        checked'
run describe three.bin --output=json; exits 0; silent_error
output_has '"cardinality":"3"'
output_has '"layout":"LAYOUT_FRAME64"'
checks=$((checks + 1))
[[ $(wc -l <out) == 1 ]] || fail "describe --output=json: more than one line"
run --output=json describe empty.bin; exits 0; output_has '"cardinality":"0"'
run describe empty.bin; exits 0; output_has 'cardinality:     0'
checks=$((checks + 1))
if grep -q position out; then fail "an empty vector has no first position: $(cat out)"; fi
run describe three.bin --row-count=10 --histogram=3; exits 0
output_has 'rows 0:3 1'
output_has 'rows 3:6 2'
output_has 'rows 6:10 0'
run describe three.bin --row-count=10 --histogram=2 --output=json; exits 0; output_has '"counts":["2","1"]'

run describe middle.bin --offset=4 --length=46; exits 0; output_has 'cardinality:     3'
run describe middle.bin --offset=50 --length=7; exits 1; silent_output
error_has 'middle.bin: --offset 50 with --length 7 goes past the end: it has 56 bytes'
run describe middle.bin --offset=57; exits 1; error_has 'goes past the end'
run describe middle.bin --offset=18446744073709551615 --length=18446744073709551615; exits 1; error_has 'goes past the end'
run describe none.bin; exits 1; error_has 'dv: none.bin: No such file or directory'; silent_output
run describe .; exits 1; error_has 'directory'; silent_output
: >nothing.bin
run describe nothing.bin; exits 1; error_matches '^dv: [A-Z_]+ \([A-Z_]+\): '; silent_output
run describe broken.bin; fails 'INVALID_ARGUMENT (CRC_MISMATCH)'
run describe three.bin --expected-cardinality=4; fails 'FAILED_PRECONDITION (CARDINALITY_MISMATCH)'
run describe three.bin --expected-cardinality=3; exits 0
run describe three.bin --row-count=5; fails 'FAILED_PRECONDITION (POSITION_PAST_ROW_COUNT)'
run describe middle.bin --offset=4 --length=45; fails 'FAILED_PRECONDITION (FRAME_LENGTH_MISMATCH)'
run describe even.roaring; fails 'FAILED_PRECONDITION (LAYOUT_UNKNOWN)'
run describe even.roaring --format=roaring64; exits 0; output_has "cardinality:     $even_rows"
run describe three.bin --format=roaring64; exits 1; error_matches '^dv: [A-Z_]+ \([A-Z_]+\): '
# Whether or not the server reads objects: this one it cannot read.
run describe s3://no-such-bucket/none --offset=4 --length=46; exits 1; error_matches '^dv: [A-Z_]+ \([A-Z_]+\): '
run describe even.roaring --format=roaring64 --timeout=1us; fails DEADLINE_EXCEEDED; error_has '--timeout'

# --- read ---

run read three.bin; answers 1 3 5
run read empty.bin; exits 0; silent_output; silent_error
run read three.bin --start=2 --end=5; answers 3
run read three.bin --limit=2; answers 1 3
run read three.bin --limit=0; exits 0; silent_output
run read keys.bin --encoding=runs; answers '0 1' '4294967296 1'
run read run.bin --encoding=runs --start=10; answers '10 65526'
run read three.bin --mask=deleted --end=8; answers '0 01010100'
run read three.bin --mask=live --start=1 --end=6 --encoding=mask; answers '1 01010'
run read three.bin --mask=deleted --end=70
answers '0 0101010000000000000000000000000000000000000000000000000000000000' '64 000000'
run read three.bin --output=json; exits 0; silent_error
output_has '"values":["1","3","5"]'
output_has '{"end":{'
output_has '"limitReached":false'
checks=$((checks + 1))
[[ $(wc -l <out) == 2 ]] || fail "read --output=json: not two lines: $(cat out)"
run read broken.bin; fails 'INVALID_ARGUMENT (CRC_MISMATCH)'
run read broken.bin --encoding=roaring; fails 'INVALID_ARGUMENT (CRC_MISMATCH)'

# Standard input and pipes.
command_line='dv read -'
timeout 60 "$dv" read - <three.bin >out 2>err; status=$?; answers 1 3 5
cat three.bin | timeout 60 "$dv" read - >out 2>err; status=$?; answers 1 3 5
cat middle.bin | timeout 60 "$dv" read - --offset=4 --length=46 >out 2>err; status=$?; answers 1 3 5
run read <(cat three.bin); answers 1 3 5
timeout 60 "$dv" read - --offset=4 --length=99 <middle.bin >out 2>err; status=$?; exits 1; error_has 'goes past the end'

# Many parts, and as they come: each is one bitmap, and together they are the bitmap that was sent.
run read even.roaring --format=roaring64 --encoding=roaring -o copy.roaring; exits 0; silent_output; silent_error
checks=$((checks + 1))
cmp even.roaring copy.roaring || fail "$command_line: another bitmap"
run read even.roaring --format=roaring64 --encoding=roaring; exits 0
checks=$((checks + 1))
cmp even.roaring out || fail "$command_line: another bitmap"
run read even.roaring --format=roaring64; exits 0
checks=$((checks + 1))
seq 0 2 $((even_end - 1)) | cmp - out || fail "$command_line: other positions"
run read even.roaring --format=roaring64 --mask=deleted --end=$even_end; exits 0
checks=$((checks + 1))
[[ $(wc -l <out) == $((even_end / 64)) ]] || fail "$command_line: $(wc -l <out) lines"

# A file is not touched by a call that fails.
echo old >kept
run read broken.bin -o kept; exits 1
checks=$((checks + 1))
[[ $(cat kept) == old ]] || fail "$command_line: the file was changed"
run read three.bin -o kept; exits 0; silent_output
checks=$((checks + 1))
[[ $(cat kept) == $'1\n3\n5' ]] || fail "$command_line: wrote $(cat kept)"
run read three.bin -o no/such/folder; exits 1; error_has 'cannot write to no/such/folder'

# A reader that has enough.
timeout 60 "$dv" read even.roaring --format=roaring64 2>err | head -n 1 >out
statuses="${PIPESTATUS[*]}"
command_line='dv read | head'
checks=$((checks + 1))
[[ $statuses == '0 0' ]] || fail "$command_line: exit statuses $statuses"
silent_error
prints 0
timeout 60 "$dv" scan even.roaring even.roaring --format=roaring64 --read 2>err | head -n 1 >out
statuses="${PIPESTATUS[*]}"
command_line='dv scan | head'
checks=$((checks + 1))
[[ $statuses == '0 0' ]] || fail "$command_line: exit statuses $statuses"
silent_error
prints 'even.roaring: position 0'
# No reader at all.
timeout 60 "$dv" read three.bin >&- 2>err; status=$?; command_line='dv read >&-'; exits 0; silent_error
timeout 60 "$dv" --help >/dev/full 2>err; status=$?; command_line='dv --help >/dev/full'; exits 1
error_has 'No space left'
timeout 60 "$dv" read three.bin >/dev/full 2>err; status=$?; command_line='dv read >/dev/full'; exits 1
error_has 'dv: cannot write to standard output: No space left'

# --- check ---

run check three.bin 5 4 3 5; answers 5 3 5
run check three.bin 5 4 3 --all; answers '5 deleted' '4 live' '3 deleted'
run check three.bin 4; exits 0; silent_output; silent_error
run check three.bin 5 4 3 --output=json; exits 0; output_has '"deleted":"BQ=="'; output_has '"deletedCount":"2"'
printf '1 2\n3\n' >positions
run check three.bin 5 --positions-from=positions; answers 5 1 3
printf '1\n2x\n' >positions
run check three.bin --positions-from=positions; exits 2; error_has 'positions, line 2: "2x" is not a number'
run check three.bin --positions-from=none; exits 1; error_has 'none: No such file or directory'
command_line='dv check --positions-from=-'
seq 0 5 | timeout 60 "$dv" check three.bin --positions-from=- >out 2>err; status=$?; answers 1 3 5
run check broken.bin 1; fails 'INVALID_ARGUMENT (CRC_MISMATCH)'
# More than one call takes.
seq 0 249999 >positions
run check even.roaring --format=roaring64 --positions-from=positions; exits 0; silent_error
checks=$((checks + 1))
seq 0 2 249999 | cmp - out || fail "$command_line: other positions"
run check three.bin --positions-from=positions; answers 1 3 5
run check three.bin --positions-from=positions --output=json; exits 0; output_has '"firstIndex":"0"'
checks=$((checks + 1))
covered=$(grep -oE '"positionCount":"[0-9]+"' out | grep -oE '[0-9]+' | paste -sd+ - | tr -d '\n')
((covered == 250000)) || fail "$command_line: answers for $covered positions"
run check broken.bin --positions-from=positions; fails 'INVALID_ARGUMENT (CRC_MISMATCH)'

# --- count ---

run count three.bin; answers '0: 3'
run count three.bin 0:4 4: :2 3:3; answers '0:4 2' '4: 1' '0:2 1' '3:3 0'
run count even.roaring 0:1000 --format=roaring64; answers '0:1000 500'
run count three.bin 0:4 4: --output=json; exits 0; output_has '"counts":["2","1"]'
run count broken.bin; fails 'INVALID_ARGUMENT (CRC_MISMATCH)'

# --- scan ---

run scan three.bin; answers 'three.bin: cardinality 3, first 1, last 5, iceberg, frame64, 46 bytes'
run scan three.bin --read --count=0:4 --count=4: --check=3 --check=4 --row-count=10 --histogram=2 --describe
exits 0; silent_error
output_has 'three.bin: cardinality 3, first 1, last 5'
for line in 'position 1' 'position 3' 'position 5' 'count 0:4 2' 'count 4: 1' 'check 3 deleted' 'check 4 live' \
  'rows 0:5 2' 'rows 5:10 1'; do
  output_has "three.bin: $line"
done
run scan three.bin --start=2 --encoding=runs; answers 'three.bin: run 3 1' 'three.bin: run 5 1'
run scan three.bin --mask=live --end=6; answers 'three.bin: mask 0 101010'
run scan middle.bin --offset=4 --length=46 --count=0:; answers 'middle.bin: count 0: 3'
run scan three.bin --count=0:4 --output=json; exits 0; silent_error
output_has '{"source":"three.bin","opened":{'
output_has '{"source":"three.bin","query":"count","part":{'
output_has '{"source":"three.bin","query":"count","done":{'

# One that fails does not stop the others.
run scan three.bin broken.bin none.bin . run.bin --count=0:; exits 1
sort out -o out
prints 'run.bin: count 0: 65536' 'three.bin: count 0: 3'
error_has 'dv: broken.bin: INVALID_ARGUMENT (CRC_MISMATCH): '
error_has 'dv: none.bin: No such file or directory'
error_has 'directory'
checks=$((checks + 1))
[[ $(wc -l <err) == 3 ]] || fail "$command_line: not one line an error: $(cat err)"
run scan s3://no-such-bucket/none three.bin --count=0:; exits 1; prints 'three.bin: count 0: 3'
error_has 'dv: s3://no-such-bucket/none: '

# More vectors than are open at a time, large ones among them.
sources=()
for ((i = 0; i < 30; i++)); do sources+=(even.roaring); done
run scan "${sources[@]}" --format=roaring64 --count=0:1000; exits 0; silent_error
checks=$((checks + 1))
[[ $(grep -cFx 'even.roaring: count 0:1000 500' out) == 30 ]] || fail "$command_line: printed $(head -n 40 out)"
sources=()
for ((i = 0; i < 200; i++)); do sources+=(three.bin); done
run scan "${sources[@]}" --read; exits 0; silent_error
checks=$((checks + 1))
[[ $(grep -cFx 'three.bin: position 5' out) == 200 ]] || fail "$command_line: printed $(head -n 40 out)"
command_line='dv scan -'
timeout 60 "$dv" scan - three.bin --count=0: <run.bin >out 2>err; status=$?
sort out -o out
answers '-: count 0: 65536' 'three.bin: count 0: 3'

# What a file name says does not steer the terminal, nor break JSON.
odd=$'odd\x1b[31m\xff".bin'
cp three.bin "$odd"
run scan "$odd" --count=0:; exits 0; output_has 'odd\x1b[31m\xff".bin: count 0: 3'
run scan "$odd" --count=0: --output=json; exits 0; output_has '"source":"odd\u001b[31m\ufffd\".bin"'

# --- A Unix socket. ---

kill "$server"
wait "$server" 2>/dev/null
run read three.bin; fails UNAVAILABLE
start_server --listen=unix:"$scratch/dv.sock"
run read three.bin; answers 1 3 5

printf '%d checks, %d failed\n' "$checks" "$failures"
((failures == 0))
