#!/bin/bash
# --run under other releases of glibc: unpacks the Python of other Debian and Ubuntu suites into a folder, runs it there, and compares
# what tracso tells of its loads with what its loader and its Python say themselves (gate_truth.py).
#
#   tests/nightly/gate_other_glibc.sh TRACSO [FOLDER] [SUITE...]
#
# Debian's packages come from where this system gets its own, Ubuntu's from its archive. Needs Debian's keyring, and root for chroot.
# Exit status: 0 all alike, 1 a difference, 77 this system has no Debian archive configured, or no root.
set -u
tracso=$(realpath "${1:?usage: gate_other_glibc.sh TRACSO [FOLDER] [SUITE...]}")
folder=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
here=$(dirname "$(realpath "$0")")
suite_packages=python3
# shellcheck source=tests/nightly/suites.sh
. "$here/suites.sh"
suites=${*:-$suites_by_glibc}
if [ "$(id -u)" != 0 ]; then
  echo "gate_other_glibc.sh: needs root" >&2
  exit 77
fi

failed=0
for suite in $suites; do
  root=$folder/$suite/root
  if ! have_suite "$suite"; then
    echo "DIFFERENT  $suite: its packages cannot be had"
    tail -n 5 "$folder/$suite/apt/log"
    failed=1
    continue
  fi
  python=/$(python_of "$root")
  label="$suite, glibc $(glibc_of "$root"), ${python##*/}"
  if "$here/gate_truth.py" "$tracso" "$root" "$python" > "$folder/out" 2>&1; then
    echo "same       $label: $(cat "$folder/out")"
  else
    echo "DIFFERENT  $label"
    cat "$folder/out"
    failed=1
  fi
done
exit $failed
