#!/usr/bin/env bash
# Installs what is missing, builds, runs every test with CTest and lists what was skipped and why.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: tests/run.sh [--require=NAME,...] [--filter=REGEX] [--build-dir=DIR] [--cmake-args="ARG..."] [--no-install]

Installs what is missing, builds, runs every test with CTest, and lists at its end what was skipped and why.

  --require=NAME,...      a skip of one of these names is a failure, e.g. --require=grpcurl,buf,python
  --filter=REGEX          only the tests whose names match (ctest -R)
  --build-dir=DIR         where to build (default: build, at the root of the source tree)
  --cmake-args="ARG..."   more arguments for CMake, separated by spaces
  --no-install            install neither packages nor tools
  --help                  this text

exit status: 0 every test that ran passed; 1 a test, the build or an installation failed, or something required was
skipped; 2 wrong usage

A test that skips something prints a line "SKIPPED <name>: <reason>", with a name of one word; a test that skips as a
whole prints that line and exits with status 77.
HELP
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
require=
filter=
build=build
install=yes
cmake_args=()
for arg in "$@"; do
  case $arg in
    --require=*) require=${arg#*=} ;;
    --filter=*) filter=${arg#*=} ;;
    --build-dir=?*) build=${arg#*=} ;;
    --cmake-args=*) read -r -a cmake_args <<<"${arg#*=}" ;;
    --no-install) install=no ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'tests/run.sh: unknown argument: %s\n' "$arg" >&2; usage >&2; exit 2 ;;
  esac
done
case $build in /*) ;; *) build=$root/$build ;; esac
export DV_TOOLS_DIR=${DV_TOOLS_DIR:-$root/.tools}

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
fail() {
  printf '\ntests/run.sh: FAILED: %s, after %d s\n' "$*" "$SECONDS"
  exit 1
}
is_required() { [[ ",$require," == *",$1,"* ]]; }

if [[ $install == yes ]]; then
  step "Dependencies"
  status=0
  "$root/docker/install-deps.sh" || status=$?
  # 3: no apt on this machine. The dependencies may be there all the same; CMake will tell.
  [[ $status == 0 || $status == 3 ]] || fail "docker/install-deps.sh (to go on without it: --no-install)"

  step "Tools"
  "$root/tests/tools/install.sh" || fail "tests/tools/install.sh"
fi
for name in ${require//,/ }; do
  if [[ -r $DV_TOOLS_DIR/missing/$name ]]; then
    fail "$name is required and cannot be had: $(<"$DV_TOOLS_DIR/missing/$name")"
  fi
done

step "Configure"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "${cmake_args[@]}" || fail "cmake"

step "Build"
cmake --build "$build" || fail "the build"

step "Test"
log=$build/Testing/Temporary/LastTest.log
output=$build/Testing/output.txt
mkdir -p "$build/Testing"
rm -f "$log"
ctest_args=(--test-dir "$build" --output-on-failure --no-tests=error -j2)
if [[ -n $filter ]]; then ctest_args+=(-R "$filter"); fi
status=0
ctest "${ctest_args[@]}" 2>&1 | tee "$output" || status=$?
[[ -r $log ]] || fail "ctest ran no test"

# What the tests said that they skip, and whole tests that were skipped without a word.
mapfile -t skips < <(
  awk -v output="$output" '
    { sub(/\r$/, "") }
    /^[0-9]+\/[0-9]+ Test: / { test = $3 }
    /^SKIPPED [^ :]+: / { print; said[test] = 1 }
    END {
      while ((getline line < output) > 0) {
        if (line !~ /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /) continue
        if (line !~ /\*\*\*Skipped|\*\*\*Not Run|\(Disabled\)/) continue
        sub(/^.* Test +#[0-9]+: /, "", line)
        split(line, word, " ")
        if (!(word[1] in said)) print "SKIPPED " word[1] ": the whole test, which gave no reason"
      }
    }' "$log" | sort -u
)

missed=()
echo
if [[ ${#skips[@]} == 0 ]]; then
  echo "Skipped: nothing"
else
  echo "Skipped:"
  for line in "${skips[@]}"; do
    line=${line#SKIPPED }
    if is_required "${line%%:*}"; then
      missed+=("${line%%:*}")
      line+=" (REQUIRED)"
    fi
    printf '  %s\n' "$line"
  done
fi

echo
summary=$(sed -n 's/^\([0-9]*% tests passed, [0-9]* tests\{0,1\} failed out of [0-9]*\).*/\1/p' "$output" | tail -n 1)
summary="${summary:-no summary from ctest}, ${#skips[@]} skipped"
[[ $status == 0 ]] || fail "$summary"
[[ ${#missed[@]} == 0 ]] || fail "$summary; skipped although required: ${missed[*]}"
echo "tests/run.sh: passed: $summary, in $SECONDS s"
