#!/bin/sh
# Builds the fuzz targets with clang and runs each for a while; fails with the first input that breaks something.
# Usage: run.sh SECONDS [TARGET...]
set -eu
seconds=${1:?usage: run.sh SECONDS [TARGET...]}
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/fuzz
if [ $# -eq 0 ]; then
  for source in "$root"/tests/fuzz/fuzz_*.cpp; do
    set -- "$@" "$(basename "$source" .cpp)"
  done
fi
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-g1 -DTRACSO_FUZZ=ON -DTRACSO_TESTS=OFF -DTRACSO_STATIC=OFF \
  -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_CXX_FLAGS="-O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" >/dev/null
cmake --build "$build" --parallel "${TRACSO_JOBS:-2}" --target "$@"
mkdir -p "$build/crashes"
for target in "$@"; do
  echo "== $target, $seconds s"
  mkdir -p "$build/corpus/$target" "$root/tests/fuzz/corpus/$target"
  log=$build/crashes/$target.log
  status=0
  "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="$build/crashes/$target-" \
    "$build/corpus/$target" "$root/tests/fuzz/corpus/$target" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 60 "$log"
    exit 1
  fi
  grep -E '^(Done|stat::(average_exec_per_sec|new_units_added|peak_rss_mb))' "$log"
done
