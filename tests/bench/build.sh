#!/usr/bin/env bash
# Configures and builds as the product is built, but with the benchmarks. Prints to standard error.
# usage: tests/bench/build.sh BUILD_DIR CROARING_PREFIX_OR_NOTHING TARGET...
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$1
prefix=$2
shift 2
mkdir -p "$build"
exec >&2
# What an earlier run found with another prefix is forgotten.
if ! cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DDV_BUILD_BENCH=ON -Uroaring_DIR \
  "-DCMAKE_PREFIX_PATH=$prefix" >"$build/configure.log" 2>&1; then
  cat "$build/configure.log"
  exit 1
fi
cmake --build "$build" --target "$@"
