#!/usr/bin/env bash
# Counts the instructions that each kernel takes on a small fixed input, and compares them with what was recorded.
set -euo pipefail

# How far a count may be from the recorded one, in per cent. Counts of one binary do not vary at all; what remains is
# the C library, which picks its memcpy by the CPU.
readonly TOLERANCE=3
readonly LEVELS=(portable avx2)

usage() {
  cat <<'HELP'
usage: tests/bench/instructions.sh --check | --update [--program=FILE] [--build-dir=DIR] [--filter=REGEX]

Counts under valgrind's callgrind how many instructions index, validation and each kernel take on a small fixed input,
with the portable kernels and with those for AVX2 (valgrind has no AVX-512).

  --check           compare with tests/bench/instructions.txt: a count that is more than 3 % off, in either direction,
                    is a failure; one that is lower should be recorded
  --update          record the counts in tests/bench/instructions.txt
  --program=FILE    the program dv-bench-instructions; else it is built
  --build-dir=DIR   where to build it (default: build-bench, at the root of the source tree)
  --filter=REGEX    with --check: only the cases whose names match
  --help            this text

exit status: 0 as recorded, or recorded; 1 a count is off, or the build failed; 2 wrong usage; 77 skipped: no valgrind,
or another compiler, flags or C library than the counts are for
HELP
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
record=$here/instructions.txt
mode=
program=
build=$here/../../build-bench
filter=.
for arg in "$@"; do
  case $arg in
    --check | --update) mode=${arg#--} ;;
    --program=?*) program=${arg#*=} ;;
    --build-dir=?*) build=${arg#*=} ;;
    --filter=?*) filter=${arg#*=} ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'instructions.sh: unknown argument: %s\n' "$arg" >&2; usage >&2; exit 2 ;;
  esac
done
if [[ -z $mode || ($mode == update && $filter != .) ]]; then usage >&2; exit 2; fi

skip() {
  echo "SKIPPED instructions: $*"
  exit 77
}

command -v valgrind >/dev/null || skip "valgrind is not installed"
if [[ -z $program ]]; then
  "$here/build.sh" "$build" "" dv-bench-instructions || { echo "instructions.sh: the build failed"; exit 1; }
  program=$build/tests/bench/dv-bench-instructions
fi
# What the counts are for.
subject="$(uname -m), $("$program" --build), $(getconf GNU_LIBC_VERSION 2>/dev/null || echo "unknown C library")"
if [[ $mode == check ]]; then
  [[ -r $record ]] || skip "nothing is recorded"
  recorded=$(sed -n 's/^for //p' "$record")
  [[ $recorded == "$subject" ]] || skip "the counts are for \"$recorded\", this is \"$subject\""
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Counts one case of one level. Leaves nothing where this CPU has no such level.
count() {
  local level=$1 name=$2 log status=0
  log=$work/${level}_${name//\//_}
  valgrind --tool=callgrind --toggle-collect=dv_bench_counted --callgrind-out-file=/dev/null \
    "$program" "$level" "$name" >"$log.out" 2>"$log.err" || status=$?
  [[ $status != 77 ]] || return 0
  if [[ $status != 0 ]]; then
    cat "$log.err" >&2
    return 255
  fi
  sed -n "s|^.*Collected : \([0-9]*\)|$level $name \1|p" "$log.err" >"$log.count"
}
export -f count
export work program

"$program" --list >"$work/names"
for level in "${LEVELS[@]}"; do
  while read -r name; do
    if grep -qE "$filter" <<<"$level $name"; then printf '%s %s\n' "$level" "$name"; fi
  done <"$work/names"
done >"$work/cases"
# shellcheck disable=SC2016  # for the inner shell
xargs -P "$(nproc)" -L 1 bash -c 'count "$1" "$2"' _ <"$work/cases" || { echo "instructions.sh: a case failed"; exit 1; }
while read -r level name; do
  file=$work/${level}_${name//\//_}.count
  if [[ -r $file ]]; then cat "$file"; else echo "$level $name none"; fi
done <"$work/cases" >"$work/counts"
for level in "${LEVELS[@]}"; do
  if grep -q "^$level .* none$" "$work/counts"; then
    echo "SKIPPED instructions-$level: valgrind on this CPU has no $level"
  fi
done
sed -i '/ none$/d' "$work/counts"

if [[ $mode == update ]]; then
  {
    echo "# Instructions of each kernel on a small fixed input, as tests/bench/instructions.sh --update counted them and"
    echo "# --check checks them. Level, case, instructions."
    echo "for $subject"
    cat "$work/counts"
  } >"$record"
  echo "instructions.sh: recorded $(wc -l <"$work/counts") counts"
  exit 0
fi

awk -v tolerance="$TOLERANCE" -v filter="$filter" '
  BEGIN { printf "%-9s %-36s %12s %12s %9s\n", "level", "case", "recorded", "counted", "change" }
  FNR == NR { if ($1 ~ /^(portable|avx2)$/) recorded[$1 " " $2] = $3; next }
  {
    key = $1 " " $2
    levels[$1] = 1
    seen[key] = 1
    ++cases
    if (!(key in recorded)) {
      printf "%-9s %-36s %12s %12d %9s  NOT RECORDED\n", $1, $2, "-", $3, "-"
      ++bad
      next
    }
    change = 100 * ($3 - recorded[key]) / recorded[key]
    off = change > tolerance || change < -tolerance
    if (off) ++bad
    printf "%-9s %-36s %12d %12d %8.2f%%%s\n", $1, $2, recorded[key], $3, change, off ? "  OFF" : ""
  }
  END {
    for (key in recorded) {
      split(key, part, " ")
      if (key ~ filter && part[1] in levels && !(key in seen)) {
        printf "%s is recorded, but there is no such case\n", key
        ++bad
      }
    }
    if (cases == 0) { print "instructions.sh: no case matches"; exit 1 }
    printf "instructions.sh: %d cases, %d not as recorded (tolerance %d %%)\n", cases, bad, tolerance
    if (bad > 0) print "If the change is meant, record it with tests/bench/instructions.sh --update"
    exit bad > 0
  }' "$record" "$work/counts"
