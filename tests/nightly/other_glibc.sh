#!/bin/bash
# Link maps under other glibcs: unpacks the Python of other Debian and Ubuntu suites into a folder, runs it
# there, and compares what tracso reads from its memory with what its loader says itself.
#
#   tests/nightly/other_glibc.sh TRACSO_LIVE [FOLDER] [SUITE...]
#
# TRACSO_LIVE is the built test program. Packages come from where this system gets its own. Needs
# Debian's keyring, and root or user namespaces for chroot. Exit status: 0 all alike, 1 a difference,
# 77 this system has no Debian archive configured.
set -u
live=$(realpath "${1:?usage: other_glibc.sh TRACSO_LIVE [FOLDER] [SUITE...]}")
folder=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
here=$(dirname "$(realpath "$0")")
suite_packages=python3
# shellcheck source=tests/nightly/suites.sh
. "$here/suites.sh"
suites=${*:-$suites_by_glibc}

check() { # LABEL COMMAND...
  local label=$1
  shift
  if PYTHONHASHSEED=0 TRACSO_OTHER_GLIBC=$(printf '%s\n' "$@") "$live" "[other-glibc]" > "$folder/out" 2>&1; then
    echo "same       $label: $(grep -o 'objects:.*' "$folder/out" | head -n 1)"
  else
    echo "DIFFERENT  $label"
    cat "$folder/out"
    failed=1
  fi
}

enter=(chroot)
[ "$(id -u)" = 0 ] || enter=(unshare -r chroot)
failed=0
for suite in $suites; do
  root=$folder/$suite/root
  if ! have_suite "$suite"; then
    echo "DIFFERENT  $suite: its packages cannot be had"
    tail -n 5 "$folder/$suite/apt/log"
    failed=1
    continue
  fi
  cp "$here/own_link_map.py" "$root/own_link_map.py"
  python=/$(python_of "$root")
  label="$suite, glibc $(glibc_of "$root"), ${python##*/}"
  check "$label" "${enter[@]}" "$root" "$python" -B /own_link_map.py
  check "$label, dlmopen" "${enter[@]}" "$root" "$python" -B /own_link_map.py ns
  check "$label, ld.so PROGRAM" "${enter[@]}" "$root" /lib64/ld-linux-x86-64.so.2 "$python" -B \
    /own_link_map.py
done
exit $failed
