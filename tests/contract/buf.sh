#!/usr/bin/env bash
# Holds the contract in proto/ against buf.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: tests/contract/buf.sh lint|format|breaking

  lint      names, packages and comments follow buf's STANDARD rules
  format    the files are written as `buf format` writes them (it shows what differs)
  breaking  nothing that callers may use already has changed since tests/contract/baseline.binpb

exit status: 0 as it should be; 77 buf is not installed; 2 wrong usage; anything else a finding
HELP
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
tools=${DV_TOOLS_DIR:-$root/.tools}
buf=$tools/bin/buf

if [[ $# != 1 ]]; then usage >&2; exit 2; fi
if [[ ! -x $buf ]]; then
  reason="not installed in $tools; run tests/tools/install.sh"
  if [[ -r $tools/missing/buf ]]; then reason=$(<"$tools/missing/buf"); fi
  echo "SKIPPED buf: $reason"
  exit 77
fi

# buf keeps a cache; nothing here needs it, and a test leaves nothing behind.
BUF_CACHE_DIR=$(mktemp -d)
export BUF_CACHE_DIR
trap 'rm -rf "$BUF_CACHE_DIR"' EXIT

cd "$root"
case $1 in
  lint) "$buf" lint proto ;;
  format) "$buf" format --diff --exit-code proto ;;
  breaking) "$buf" breaking proto --against tests/contract/baseline.binpb ;;
  --help | -h) usage ;;
  *) usage >&2; exit 2 ;;
esac
