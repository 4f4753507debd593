#!/usr/bin/env bash
# Installs the real tools that integration tests talk to the server with, into a folder of their own.
# A tool that cannot be had here is reported and never makes this script fail.
set -euo pipefail

# Every version, pinned here and nowhere else.
readonly GRPCURL_VERSION=1.9.3
readonly GRPCURL_OLD_VERSION=1.8.7 # knows server reflection v1alpha only
readonly BUF_VERSION=1.75.0
readonly PYTHON_PACKAGES=(
  grpcio==1.76.0 grpcio-tools==1.76.0 grpcio-status==1.76.0 grpcio-reflection==1.76.0
  protobuf==6.33.1 googleapis-common-protos==1.72.0 setuptools==80.9.0 typing_extensions==4.15.0
)

# Oldest versions that these can be installed with.
readonly GO_MIN=1.21
readonly PYTHON_MIN=3.11

usage() {
  cat <<'HELP'
usage: tests/tools/install.sh [--apt] [TOOL...]

Installs the tools named, by default all:

  grpcurl         bin/grpcurl         needs go 1.21 or newer
  grpcurl-1.8.7   bin/grpcurl-1.8.7   the same; an old release that speaks reflection v1alpha only
  buf             bin/buf             needs npm
  python          python/bin/python3  gRPC for Python in a virtual environment; needs python3 3.11 or newer with venv

They go to .tools/ at the root of the source tree, or to the folder that DV_TOOLS_DIR names. For a tool that cannot be
had a line "SKIPPED-INSTALL <name>: <reason>" is printed and missing/<name> holds the reason; the exit status is 0.

  --apt   first install what the tools need (golang-go, npm, python3-venv) with apt; needs root or sudo. On Debian 12
          golang-go is 1.19, too old for grpcurl: install a newer Go by hand there.
  --help  this text
HELP
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tools=${DV_TOOLS_DIR:-$root/.tools}
use_apt=no
wanted=()
for arg in "$@"; do
  case $arg in
    --apt) use_apt=yes ;;
    --help | -h) usage; exit 0 ;;
    grpcurl | grpcurl-1.8.7 | buf | python) wanted+=("$arg") ;;
    *) printf 'tools: unknown argument: %s\n' "$arg" >&2; usage >&2; exit 2 ;;
  esac
done
[[ ${#wanted[@]} -gt 0 ]] || wanted=(grpcurl grpcurl-1.8.7 buf python)

mkdir -p "$tools"/{bin,log,missing,cache,stamps}
tools=$(cd "$tools" && pwd)

# Says that a tool cannot be had, and why.
missing() {
  rm -f "$tools/bin/$1" "$tools/stamps/$1"
  printf '%s\n' "$2" >"$tools/missing/$1"
  printf 'SKIPPED-INSTALL %s: %s\n' "$1" "$2"
}

# Notes that a tool is installed; what is noted changes with the pinned versions.
installed() {
  rm -f "$tools/missing/$1"
  printf '%s\n' "$2" >"$tools/stamps/$1"
  printf 'tools: %s is installed\n' "$1"
}

is_installed() {
  [[ -x $tools/$3 && -r $tools/stamps/$1 && $(<"$tools/stamps/$1") == "$2" ]] || return 1
  rm -f "$tools/missing/$1"
}

is_wanted() { [[ " ${wanted[*]} " == *" $1 "* ]]; }

at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$2" ]]; }

# The last line of a log that says something, as a reason.
why() { printf '%s failed: %s' "$1" "$(grep -v '^[[:space:]]*$' "$tools/log/$2.log" | tail -n 1 | cut -c1-200)"; }

apt_packages() {
  local missing=() p run=()
  for p in golang-go npm python3-venv; do
    case $p in
      golang-go) if command -v go >/dev/null; then continue; fi ;;
      npm) if command -v npm >/dev/null; then continue; fi ;;
      python3-venv) if python3 -c 'import venv, ensurepip' 2>/dev/null; then continue; fi ;;
    esac
    missing+=("$p")
  done
  if [[ ${#missing[@]} == 0 ]]; then return; fi
  if ! command -v apt-get >/dev/null; then echo "tools: no apt here, nothing installed with it"; return; fi
  if [[ $(id -u) != 0 ]]; then
    if ! command -v sudo >/dev/null; then echo "tools: neither root nor sudo, nothing installed with apt"; return; fi
    run=(sudo)
  fi
  echo "tools: installing with apt: ${missing[*]}"
  "${run[@]}" apt-get -qq -o DPkg::Lock::Timeout=600 update || true
  for p in "${missing[@]}"; do
    "${run[@]}" env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
      apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
      install -y --no-install-recommends "$p" >"$tools/log/apt-$p.log" 2>&1 ||
      echo "tools: $p could not be installed: $(tail -n 1 "$tools/log/apt-$p.log")"
  done
}

# Builds the grpcurl releases named (name and version by turns), one after the other: they share most packages.
install_grpcurl() {
  local go version name
  if ! command -v go >/dev/null; then
    version="go is not installed"
  else
    # "go version go1.24.4 linux/amd64"; a Go too old for the module may fetch a newer one by itself.
    go=$(go version | sed -n 's/^go version go\([0-9.]*\).*/\1/p')
    version=
    at_least "${go:-0}" "$GO_MIN" || version="go ${go:-of unknown version} is older than $GO_MIN"
  fi
  while [[ $# -gt 0 ]]; do
    name=$1
    if [[ -n $version ]]; then
      missing "$name" "$version"
    elif GOBIN=$tools/cache/gobin GOPATH=$tools/cache/gopath GOCACHE=$tools/cache/gocache GOENV=off \
      GOFLAGS="${GOFLAGS:-} -modcacherw" CGO_ENABLED=0 \
      go install "github.com/fullstorydev/grpcurl/cmd/grpcurl@v$2" </dev/null >"$tools/log/$name.log" 2>&1; then
      mv -f "$tools/cache/gobin/grpcurl" "$tools/bin/$name"
      installed "$name" "$2"
    else
      missing "$name" "$(why "go install" "$name")"
    fi
    shift 2
  done
  rm -rf "$tools"/cache/{gobin,gopath,gocache}
}

install_buf() {
  local native
  if ! command -v npm >/dev/null; then
    missing buf "npm is not installed"
    return
  fi
  rm -rf "$tools/npm"
  mkdir -p "$tools/npm"
  if ! npm install --prefix "$tools/npm" --cache "$tools/cache/npm" --no-audit --no-fund --no-update-notifier \
    "@bufbuild/buf@$BUF_VERSION" </dev/null >"$tools/log/buf.log" 2>&1; then
    missing buf "$(why "npm install" buf)"
    return
  fi
  # The program itself, and not the script that starts it with node, where there is just one for this machine.
  native=("$tools"/npm/node_modules/@bufbuild/buf-*/bin/buf)
  if [[ ! -x ${native[0]} ]]; then native=("$tools/npm/node_modules/.bin/buf"); fi
  ln -sfn "${native[0]}" "$tools/bin/buf"
  rm -rf "$tools/cache/npm"
  installed buf "$BUF_VERSION"
}

install_python() {
  local version
  if ! command -v python3 >/dev/null; then
    missing python "python3 is not installed"
    return
  fi
  version=$(python3 -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
  if ! at_least "$version" "$PYTHON_MIN"; then
    missing python "python3 $version is older than $PYTHON_MIN"
    return
  fi
  if ! python3 -m venv --clear "$tools/python" >"$tools/log/python.log" 2>&1; then
    missing python "python3 has no venv (Debian: apt-get install python3-venv)"
    return
  fi
  if ! "$tools/python/bin/python3" -m pip install --quiet --no-cache-dir --disable-pip-version-check --no-input \
    --only-binary=:all: "${PYTHON_PACKAGES[@]}" </dev/null >>"$tools/log/python.log" 2>&1; then
    rm -rf "$tools/python"
    missing python "$(why "pip install" python)"
    return
  fi
  installed python "${PYTHON_PACKAGES[*]}"
}

[[ $use_apt == no ]] || apt_packages

# The three kinds are installed at the same time; each says what became of it when it is done.
grpcurl=()
for pair in "grpcurl $GRPCURL_VERSION" "grpcurl-1.8.7 $GRPCURL_OLD_VERSION"; do
  read -r name version <<<"$pair"
  if is_wanted "$name" && ! is_installed "$name" "$version" "bin/$name"; then grpcurl+=("$name" "$version"); fi
done
pids=()
if [[ ${#grpcurl[@]} -gt 0 ]]; then install_grpcurl "${grpcurl[@]}" & pids+=($!); fi
if is_wanted buf && ! is_installed buf "$BUF_VERSION" bin/buf; then install_buf & pids+=($!); fi
if is_wanted python && ! is_installed python "${PYTHON_PACKAGES[*]}" python/bin/python3; then
  install_python &
  pids+=($!)
fi
status=0
for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
[[ $status == 0 ]] || echo "tools: an installation broke off (status $status), see $tools/log"
echo "tools: in $tools"
