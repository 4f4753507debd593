#!/usr/bin/env bash
# Builds and runs the micro benchmarks and prints one table.
set -euo pipefail

readonly PYROARING=pyroaring==1.1.0

usage() {
  cat <<'HELP'
usage: tests/bench/run.sh [--json=FILE] [--filter=REGEX] [--quick] [--cpu=portable|avx2|avx512]
                          [--croaring-prefix=DIR] [--build-dir=DIR] [--repetitions=N] [--no-python]

Builds with the product's own flags, measures decoding and queries beside CRoaring and beside PyIceberg's decoders, and
prints one table on standard output; progress goes to standard error. What the rows and columns mean is said above the
table and in tests/bench/README.md.

  --json=FILE            also write all figures to FILE
  --filter=REGEX         only the benchmarks whose names match, e.g. '^decode/large_dense' or '^query/mask'
  --quick                few and short repetitions: shows that everything runs, not how fast
  --cpu=LEVEL            use the kernels of this level instead of the best ones that the CPU has
  --croaring-prefix=DIR  measure against the CRoaring that is installed in DIR; from 5.1 on it has the 64-bit frozen
                         reader, without which that column is empty
  --build-dir=DIR        where to build (default: build-bench, at the root of the source tree)
  --repetitions=N        default 9
  --no-python            leave PyIceberg's decoders out
  --help                 this text

exit status: 0 measured; 1 the build or a benchmark failed; 2 wrong usage

PyIceberg's decoders need pyroaring, which is installed into .tools/bench (or the folder bench in the one that
DV_TOOLS_DIR names); where it cannot be had, the table says SKIPPED.
HELP
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
json=
filter=
quick=no
cpu=()
prefix=
build=$root/build-bench
repetitions=9
python=yes
for arg in "$@"; do
  case $arg in
    --json=?*) json=${arg#*=} ;;
    --filter=?*) filter=${arg#*=} ;;
    --quick) quick=yes ;;
    --cpu=?*) cpu=("$arg") ;;
    --croaring-prefix=?*) prefix=${arg#*=} ;;
    --build-dir=?*) build=${arg#*=} ;;
    --repetitions=?*) repetitions=${arg#*=} ;;
    --no-python) python=no ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'tests/bench/run.sh: unknown argument: %s\n' "$arg" >&2; usage >&2; exit 2 ;;
  esac
done
seconds=0.05
if [[ $quick == yes ]]; then
  repetitions=2
  seconds=0.002
fi
case $build in /*) ;; *) build=$PWD/$build ;; esac

say() { printf 'tests/bench/run.sh: %s (after %d s)\n' "$*" "$SECONDS" >&2; }

# Installs pyroaring. Prints why not, if it cannot be had.
install_pyroaring() {
  local venv=$1 log
  if [[ -x $venv/bin/python3 ]] && "$venv/bin/python3" -c 'import pyroaring' 2>/dev/null; then return; fi
  if ! command -v python3 >/dev/null; then echo "python3 is not installed"; return; fi
  if ! log=$(python3 -m venv --clear "$venv" 2>&1); then echo "python3 has no venv"; return; fi
  if ! log=$("$venv/bin/python3" -m pip install --quiet --no-cache-dir --disable-pip-version-check --no-input \
    --only-binary=:all: "$PYROARING" 2>&1 </dev/null); then
    rm -rf "$venv"
    echo "pip install failed: $(tail -n 1 <<<"$log" | cut -c1-200)"
  fi
}

# Writes {"skipped": reason} as JSON.
skipped() { python3 -c 'import json, sys; json.dump({"skipped": sys.argv[1]}, open(sys.argv[2], "w"))' "$1" "$2"; }

command -v python3 >/dev/null || { say "python3, which makes the table, is not installed"; exit 1; }

say "building in $build"
"$here/build.sh" "$build" "$prefix" dv-bench dv-bench-payloads || { say "the build failed"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
load=$(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown)
say "load average $load; measuring"
"$build/tests/bench/dv-bench" "${cpu[@]}" --min_time="$seconds" --benchmark_repetitions="$repetitions" \
  --benchmark_enable_random_interleaving=true --benchmark_filter="${filter:-.}" \
  --benchmark_out="$work/micro.json" --benchmark_out_format=json --benchmark_format=console \
  >"$work/log" 2>&1 || { cat "$work/log" >&2; say "dv-bench failed"; exit 1; }

if [[ $python == no ]]; then
  skipped "left out with --no-python" "$work/python.json"
else
  tools=${DV_TOOLS_DIR:-$root/.tools}
  mkdir -p "$tools"
  why=$(install_pyroaring "$tools/bench")
  if [[ -n $why ]]; then
    skipped "$why" "$work/python.json"
  else
    say "measuring PyIceberg's decoders"
    "$build/tests/bench/dv-bench-payloads" "$work"
    "$tools/bench/bin/python3" "$here/memoryview.py" "$work" --repetitions="$repetitions" --seconds="$seconds" \
      --json="$work/python.json" >&2
  fi
fi
load+=" before, $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown) after"

arguments=("$work/micro.json" --python="$work/python.json" --load="$load")
if [[ -n $json ]]; then arguments+=(--json="$json"); fi
python3 "$here/table.py" "${arguments[@]}"
