#!/usr/bin/env bash
# Runs one of the integration tests with the Python and the tools that it needs.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: tests/integration/run.sh [--needs=TOOL,...] TEST.py [ARGUMENT...]

  --needs=TOOL,...  tools of tests/tools/install.sh without which the test is skipped: grpcurl, grpcurl-1.8.7, or python
                    for gRPC in Python. A test that does not need that runs with any python3.

exit status: that of the test, or 77 if something that it needs is missing
HELP
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export DV_TOOLS_DIR=${DV_TOOLS_DIR:-$root/.tools}

needs=()
case ${1:-} in
  --needs=*) IFS=, read -r -a needs <<<"${1#*=}"; shift ;;
  --help | -h) usage; exit 0 ;;
esac
if [[ $# == 0 ]]; then usage >&2; exit 2; fi

skip() {
  local reason=$2
  if [[ -r $DV_TOOLS_DIR/missing/$1 ]]; then reason=$(<"$DV_TOOLS_DIR/missing/$1"); fi
  echo "SKIPPED $1: $reason"
  exit 77
}

python=$DV_TOOLS_DIR/python/bin/python3
for tool in "${needs[@]}"; do
  program=$DV_TOOLS_DIR/bin/$tool
  if [[ $tool == python ]]; then program=$python; fi
  if [[ ! -x $program ]]; then skip "$tool" "not installed in $DV_TOOLS_DIR; run tests/tools/install.sh"; fi
done
if [[ ! -x $python ]]; then
  python=$(command -v python3) || skip python "python3 is not installed"
fi

# Nothing is left behind in the source tree.
export PYTHONDONTWRITEBYTECODE=1
# A proxy that is meant for the outside must not be asked for this machine.
unset http_proxy https_proxy grpc_proxy HTTP_PROXY HTTPS_PROXY GRPC_PROXY all_proxy ALL_PROXY
exec "$python" "$here/$1" "${@:2}"
