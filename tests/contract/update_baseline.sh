#!/usr/bin/env bash
# Takes the contract as it stands in proto/ as the new baseline that later changes must be compatible with.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: tests/contract/update_baseline.sh

Writes tests/contract/baseline.binpb anew from proto/. Run it after an addition to the contract, and commit the baseline
together with it. A change that breaks callers (something removed, renumbered, or of another type) is refused, and the
baseline stays as it was.

exit status: 0 written; 1 refused, or buf is not installed; 2 wrong usage
HELP
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
buf=${DV_TOOLS_DIR:-$root/.tools}/bin/buf
baseline=tests/contract/baseline.binpb

case $# in
  0) ;;
  *)
    case $1 in
      --help | -h) usage; exit 0 ;;
      *) usage >&2; exit 2 ;;
    esac
    ;;
esac
if [[ ! -x $buf ]]; then
  echo "update_baseline: no buf at $buf: run tests/tools/install.sh buf" >&2
  exit 1
fi

cd "$root"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BUF_CACHE_DIR=$scratch/cache

if [[ -e $baseline ]] && ! "$buf" breaking proto --against "$baseline"; then
  echo "update_baseline: refused: the change above breaks callers. Add something new instead." >&2
  exit 1
fi
# Comments are not part of what callers depend on.
"$buf" build proto --exclude-source-info -o "$scratch/baseline.binpb"
mv "$scratch/baseline.binpb" "$baseline"
echo "update_baseline: wrote $baseline"
