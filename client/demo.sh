#!/usr/bin/env bash
# From nothing to an answer: builds the server and its client, starts the server, asks it about two deletion vectors
# and stops it again. A second run takes seconds.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: client/demo.sh [--no-install]

Installs what is missing, builds the server and the client in build/, starts the server on a free port of this
machine, shows what it says about two deletion vectors, and stops it.

  --no-install  install nothing
  --help        this text
HELP
}

install=yes
for arg in "$@"; do
  case $arg in
    --no-install) install=no ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'demo: unknown argument: %s\n' "$arg" >&2; usage >&2; exit 2 ;;
  esac
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n# %s\n' "$*"; }

# Shows a command and runs it.
run() {
  printf '$ %s\n' "$*"
  "$@"
}

if [[ $install == yes ]]; then
  say "Install what is missing."
  status=0
  run docker/install-deps.sh || status=$?
  # 3: no apt on this machine. The dependencies may be there all the same; CMake will tell.
  [[ $status == 0 || $status == 3 ]] || exit "$status"
fi

say "Build the server and the client."
run cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo --log-level=WARNING
run cmake --build build --target dv-server dv

scratch=$(mktemp -d)
server=
stop() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" || true
  fi
  rm -rf "$scratch"
}
trap stop EXIT

say "Start the server on a free port. It writes its address to a file once it serves."
printf '$ %s\n' "build/server/dv-server --listen=127.0.0.1:0 --address_file=$scratch/address &"
build/server/dv-server --listen=127.0.0.1:0 --address_file="$scratch/address" >"$scratch/log" 2>&1 &
server=$!
for ((i = 0; i < 200; i++)); do
  if [[ -s $scratch/address ]]; then break; fi
  if ! kill -0 "$server" 2>/dev/null; then break; fi
  sleep 0.05
done
if [[ ! -s $scratch/address ]]; then
  echo "demo: the server did not start; it said:" >&2
  cat "$scratch/log" >&2
  exit 1
fi
read -r address <"$scratch/address"
run build/client/dv --server="$address" health

say "A deletion vector as Iceberg keeps it in a Puffin file: 46 bytes that say rows 1, 3 and 5 are deleted."
printf '$ %s\n' "base64 -d >$scratch/three.dv"
base64 -d >"$scratch/three.dv" <<'DV'
AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOQ==
DV
run build/client/dv --server="$address" describe "$scratch/three.dv"
run build/client/dv --server="$address" read "$scratch/three.dv"

say "Another one: 39 bytes for the 20,000 rows from 100,000 on. It is counted without being expanded."
printf '$ %s\n' "base64 -d >$scratch/run.dv"
base64 -d >"$scratch/run.dv" <<'DV'
AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQEAH04BAKCGH04yCBC2
DV
run build/client/dv --server="$address" describe "$scratch/run.dv"

say "Stop the server."
printf '$ %s\n' "kill $server"
kill "$server"
status=0
wait "$server" || status=$?
server=
if [[ $status != 0 ]]; then
  echo "demo: the server ended with status $status; it said:" >&2
  cat "$scratch/log" >&2
  exit 1
fi
printf '\nThat was all. Try build/client/dv --help and build/server/dv-server --help.\n'
