#!/usr/bin/env bash
# Measures dv-server beside a gRPC server that does nothing, over TCP and a Unix socket, and prints one table.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: tests/bench/end_to_end.sh [--json=FILE] [--quick] [--pairs=N] [--seconds=S] [--cases=NAME,...]
                                 [--transports=tcp,unix] [--build-dir=DIR] [--server=FILE]

Builds dv-server, a server that does nothing and a client with the product's own flags, runs them on this machine over
the loopback interface and over a Unix socket, and prints one table on standard output. Progress goes to standard error.
The two servers are measured by turns, in pairs, with the same encoded requests; figures are medians over the pairs.

  --json=FILE            also write all figures, every single one included, to FILE
  --quick                one short pair of each: shows that everything runs, not how fast
  --pairs=N              default 5
  --seconds=S            of one measurement, default 2
  --cases=NAME,...       only these of describe, scan_1, scan_8, read
  --transports=LIST      tcp, unix or both (default)
  --build-dir=DIR        where to build (default: build-bench, at the root of the source tree)
  --server=FILE          measure this dv-server instead of building one
  --help                 this text

exit status: 0 measured; 1 the build, a server or a call failed; 2 wrong usage
HELP
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
json=
pairs=5
seconds=2
warmup=0.3
cases=
transports=tcp,unix
build=$here/../../build-bench
server=
for arg in "$@"; do
  case $arg in
    --json=?*) json=${arg#*=} ;;
    --quick) pairs=1 seconds=0.3 warmup=0.1 ;;
    --pairs=?*) pairs=${arg#*=} ;;
    --seconds=?*) seconds=${arg#*=} ;;
    --cases=?*) cases=${arg#*=} ;;
    --transports=tcp | --transports=unix | --transports=tcp,unix) transports=${arg#*=} ;;
    --build-dir=?*) build=${arg#*=} ;;
    --server=?*) server=${arg#*=} ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'end_to_end.sh: unknown argument: %s\n' "$arg" >&2; usage >&2; exit 2 ;;
  esac
done

say() { printf 'end_to_end.sh: %s (after %d s)\n' "$*" "$SECONDS" >&2; }
fail() { say "$*"; exit 1; }

targets=(dv-bench-client dv-bench-null-server)
[[ -n $server ]] || targets+=(dv-server)
say "building in $build"
"$here/build.sh" "$build" "" "${targets[@]}" || fail "the build failed"
server=${server:-$build/server/dv-server}
client=$build/tests/bench/dv-bench-client

work=$(mktemp -d)
pids=()
# Of each server and transport.
declare -A addresses
# shellcheck disable=SC2317  # called by trap
clean_up() {
  [[ ${#pids[@]} == 0 ]] || kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$work"
}
trap clean_up EXIT

# start <name> <command>...: starts a server that listens on both transports, and waits until it does.
start() {
  local name=$1
  shift
  "$@" --listen="127.0.0.1:0,unix:$work/$name.sock" --address_file="$work/$name.address" >"$work/$name.log" 2>&1 &
  pids+=($!)
  for _ in {1..300}; do
    if [[ -r $work/$name.address ]]; then break; fi
    if ! kill -0 "${pids[-1]}" 2>/dev/null; then break; fi
    sleep 0.1
  done
  if [[ ! -r $work/$name.address ]]; then
    cat "$work/$name.log" >&2
    fail "$name does not start"
  fi
  addresses[$name tcp]=$(sed -n 1p "$work/$name.address")
  addresses[$name unix]=$(sed -n 2p "$work/$name.address")
}

start ours "$server" --log_level=error
flags=$("$client" --probe --ours="${addresses[ours tcp]}") || fail "dv-server does not answer as expected"
read -r -a flags <<<"$flags"
start null "$build/tests/bench/dv-bench-null-server" "${flags[@]}"

load=$(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown)
for transport in ${transports//,/ }; do
  say "load average $load; measuring over $transport"
  "$client" --transport="$transport" --ours="${addresses[ours $transport]}" --ours_pid="${pids[0]}" \
    --null="${addresses[null $transport]}" --null_pid="${pids[1]}" \
    --pairs="$pairs" --seconds="$seconds" --warmup="$warmup" --cases="$cases" >>"$work/lines" || fail "the client failed"
done
load+=" before, $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown) after"

arguments=("$work/lines" --load="$load" --replies="${flags[*]}")
if [[ -n $json ]]; then arguments+=(--json="$json"); fi
python3 "$here/end_to_end.py" "${arguments[@]}"
