#!/usr/bin/env bash
# Makes sure that the tests of the contract would notice: spoils copies of proto/ and expects each to be refused.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DV_TOOLS_DIR=${DV_TOOLS_DIR:-$root/.tools}
export DV_TOOLS_DIR
if [[ ! -x $DV_TOOLS_DIR/bin/buf ]]; then exec "$root/tests/contract/buf.sh" lint; fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# spoil <what> <file> <sed program> <command...>: the command, run in a spoilt copy, must fail.
spoil() {
  local what=$1 file=$2 program=$3 copy=$scratch/copy
  shift 3
  rm -rf "$copy"
  mkdir -p "$copy/tests"
  cp -R "$root/proto" "$copy/proto"
  cp -R "$root/tests/contract" "$copy/tests/contract"
  sed -i "$program" "$copy/proto/deletionvector/v1/$file"
  if cmp -s "$copy/proto/deletionvector/v1/$file" "$root/proto/deletionvector/v1/$file"; then
    echo "not a test: $what changed nothing"
    failures=$((failures + 1))
  elif (cd "$copy" && "$@") >"$scratch/output" 2>&1; then
    echo "not noticed: $what"
    failures=$((failures + 1))
  else
    echo "noticed: $what: $(head -n 1 "$scratch/output")"
  fi
  if ! cmp -s "$copy/tests/contract/baseline.binpb" "$root/tests/contract/baseline.binpb"; then
    echo "the baseline was overwritten: $what"
    failures=$((failures + 1))
  fi
}

renumber='s/uint64 cardinality = 1;/uint64 cardinality = 90;/'
spoil "a field with a new number" vector.proto "$renumber" tests/contract/buf.sh breaking
spoil "a field with a new number, as new baseline" vector.proto "$renumber" tests/contract/update_baseline.sh
spoil "a field of another type" scan.proto 's/uint64 offset = 2;/uint32 offset = 2;/' tests/contract/buf.sh breaking
spoil "a reason that is gone" reason.proto '/REASON_TRAILING_BYTES = /d' tests/contract/buf.sh breaking
spoil "a field name in camel case" scan.proto 's/uint64 offset = 2;/uint64 byteOffset = 2;/' tests/contract/buf.sh lint
spoil "an indent of three" scan.proto 's/^  uint64 offset = 2;/   uint64 offset = 2;/' tests/contract/buf.sh format

[[ $failures == 0 ]]
