#!/usr/bin/env bash
# Installs what is needed to build, run and test the deletion vector service on Debian 12 or newer.
# A second run, with everything there, changes nothing and takes about a second.
set -euo pipefail

# Oldest CRoaring that the build accepts.
readonly CROARING_MIN=4.0
# Where CMake looks for it by itself.
readonly DEFAULT_PREFIX=/opt/croaring

readonly BUILD_PACKAGES=(
  g++ make cmake ninja-build pkg-config git ca-certificates
  libgrpc++-dev libgrpc-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
  libabsl-dev libspdlog-dev nlohmann-json3-dev libcli11-dev
  libisal-dev zlib1g-dev libssl-dev
)
readonly TEST_PACKAGES=(libgtest-dev libgmock-dev)
readonly LINT_PACKAGES=(clang clang-format clang-tidy shellcheck)

usage() {
  cat <<'HELP'
usage: docker/install-deps.sh [--croaring-prefix=DIR] [--require-croaring] [--lint]

Installs the dependencies of the deletion vector service on Debian 12 or newer: Debian's own packages with apt,
and CRoaring from a newer Debian release (only its own files, into a prefix of its own).

  --croaring-prefix=DIR  where CRoaring goes; its files are then in DIR/usr (default /opt/croaring)
  --require-croaring     fail when CRoaring cannot be had; without it CMake fetches CRoaring's source from upstream
  --lint                 also install clang-format, clang-tidy, clang and shellcheck
  --help                 this text

exit status: 0 all there; 1 an installation failed; 2 wrong usage; 3 no apt on this machine (what to install by hand
is printed); 4 packages are missing and there is neither root nor sudo (the command to run is printed)
HELP
}

say() { printf 'install-deps: %s\n' "$*"; }

prefix=$DEFAULT_PREFIX
require_croaring=no
packages=("${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}")
for arg in "$@"; do
  case $arg in
    --croaring-prefix=?*) prefix=${arg#*=} ;;
    --require-croaring) require_croaring=yes ;;
    --lint) packages+=("${LINT_PACKAGES[@]}") ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'install-deps: unknown argument: %s\n' "$arg" >&2; usage >&2; exit 2 ;;
  esac
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  cat <<'HELP'
install-deps: there is no apt on this machine, so nothing was installed. Install by hand:

  compiler and tools   a C++20 compiler (GCC 12 or Clang 15 and newer), CMake 3.25+, Ninja, pkg-config, git
  RPC                  gRPC for C++ 1.51+ with its protoc plugin, Protocol Buffers 3.21+ with protoc
  bitmaps              CRoaring 4.0+ (when it is not found, CMake fetches its source from upstream)
  library              Abseil, spdlog, nlohmann-json, CLI11, zlib, OpenSSL
  speed                ISA-L
  tests                GoogleTest with GoogleMock

  Homebrew   brew install cmake ninja pkg-config grpc protobuf abseil croaring spdlog nlohmann-json cli11 isa-l googletest
  vcpkg      vcpkg install grpc protobuf abseil roaring spdlog nlohmann-json cli11 isal gtest zlib openssl
  dnf        dnf install gcc-c++ cmake ninja-build pkgconf git grpc-devel grpc-plugins protobuf-devel abseil-cpp-devel
             spdlog-devel json-devel cli11-devel isa-l-devel zlib-devel openssl-devel gtest-devel gmock-devel

Then run CMake as the README says; it names whatever it still misses.
HELP
  exit 3
fi

# Runs a command as root.
as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}
can_be_root() { [[ $(id -u) == 0 ]] || command -v sudo >/dev/null; }

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes \
    apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@"
}

# Prints those of the packages named that are not installed.
missing_packages() {
  local p
  for p in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null) == installed ]] || printf '%s\n' "$p"
  done
}

install_packages() {
  local missing
  read -r -a missing <<<"$(missing_packages "$@" | tr '\n' ' ')"
  if [[ ${#missing[@]} == 0 ]]; then
    say "Debian packages: all $# are there"
    return
  fi
  if ! can_be_root; then
    say "these packages are missing, and installing them needs root or sudo. Run as root:"
    say "  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    exit 4
  fi
  say "Debian packages: installing ${#missing[@]} of $#: ${missing[*]}"
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}" >/dev/null
  say "Debian packages: installed"
}

# Prints the version that a roaring_version.h states, or nothing.
header_version() {
  [[ ! -r $1 ]] || sed -n 's/^#define ROARING_VERSION "\(.*\)"$/\1/p' "$1"
}

new_enough() { [[ -n $1 ]] && dpkg --compare-versions "$1" ge "$CROARING_MIN"; }

# The archives that this machine's apt uses for Debian's main component, the most likely one first.
archives() {
  # shellcheck disable=SC2016  # apt expands these
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(COMPONENT) $(CREATED_BY)' 2>/dev/null |
    awk '$(NF) == "Packages" && $(NF-1) == "main" { print (/security/ ? 2 : 1), $(NF-2) }' | sort -u | cut -d' ' -f2
}

# Fetches CRoaring's packages from one archive and release into the folder given, with an apt state of its own: the
# machine's sources, lists and pins are neither read nor changed, and nothing else can come from that release.
fetch_croaring() (
  archive=$1 release=$2 work=$3
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs"
  printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
    "$archive" "$release" /usr/share/keyrings/debian-archive-keyring.gpg >"$work/debian.sources"
  cat >"$work/apt.conf" <<CONF
Dir::State::lists "$work/lists";
Dir::State::status "/dev/null";
Dir::Cache "$work/cache";
Dir::Etc::sourcelist "$work/debian.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "3";
// The archive may be a mirror frozen at some day.
Acquire::Check-Valid-Until "false";
CONF
  export APT_CONFIG=$work/apt.conf
  apt-get -qq update || exit 1
  version=$(apt-cache policy libroaring-dev | awk '/Candidate:/ { print $2 }')
  new_enough "$version" || { echo "it has CRoaring '$version' only"; exit 1; }
  # The library's package has its ABI number in its name.
  library=$(apt-cache depends libroaring-dev | awk '/Depends: libroaring/ { print $2 }')
  [[ -n $library ]] || { echo "libroaring-dev names no library package"; exit 1; }
  cd "$work/debs"
  # shellcheck disable=SC2086  # there may be more than one
  apt-get -qq download libroaring-dev $library
)

# What CMake has to be told when CRoaring is in a folder where it does not look.
hint() {
  if [[ $1 == "$prefix/usr" && $prefix != "$DEFAULT_PREFIX" ]]; then printf ' (CMake: -DDV_CROARING_PREFIX=%s)' "$prefix"; fi
}

install_croaring() {
  local version scratch archive release found=no run=()
  for dir in "$prefix/usr" /usr /usr/local; do
    version=$(header_version "$dir/include/roaring/roaring_version.h")
    if new_enough "$version"; then
      say "CRoaring: $version is there, in $dir$(hint "$dir")"
      return
    fi
  done
  version=$(apt-cache policy libroaring-dev 2>/dev/null | awk '/Candidate:/ { print $2 }') || version=
  if new_enough "$version"; then
    install_packages libroaring-dev
    return
  fi

  scratch=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$scratch'" EXIT
  for release in forky sid; do
    for archive in $(archives); do
      if fetch_croaring "$archive" "$release" "$scratch/$release" >"$scratch/log" 2>&1; then
        found=yes
        break 2
      fi
      say "CRoaring: not from Debian $release: $(tail -n 1 "$scratch/log")"
    done
  done

  if [[ $found == no ]]; then
    say "CRoaring: no package of version $CROARING_MIN or newer can be had"
    if [[ $require_croaring == yes ]]; then return 1; fi
    say "CRoaring: CMake will fetch its source from upstream instead (this needs access to the network)"
    return
  fi

  if ! { mkdir -p "$prefix" && [[ -w $prefix ]]; } 2>/dev/null; then
    if ! can_be_root; then
      say "CRoaring: cannot write to $prefix; run as root, or choose another folder with --croaring-prefix=DIR"
      exit 4
    fi
    run=(as_root)
    as_root mkdir -p "$prefix"
  fi
  # The -dev package last: its version header is what the next run looks for.
  for deb in $(printf '%s\n' "$scratch/$release"/debs/*.deb | grep -v -- '-dev_') "$scratch/$release"/debs/*-dev_*.deb; do
    "${run[@]}" dpkg -x "$deb" "$prefix"
  done
  version=$(header_version "$prefix/usr/include/roaring/roaring_version.h")
  say "CRoaring: $version from Debian $release is now in $prefix/usr$(hint "$prefix/usr")"
}

install_packages "${packages[@]}"
install_croaring
say "done"
