#!/bin/bash
# The Pythons of other Debian suites, unpacked into a folder: what the memory and the gdb probe read
# of them against what they say themselves.
#
#   tests/nightly/other_pythons.sh TRACSO_LIVE [FOLDER] [SUITE...]
#
# TRACSO_LIVE is the built test program. Each Python runs under the loader and libraries of its own
# suite. Exit status: 0 all alike, 1 a difference, 77 no Debian archive is configured here.
set -u
live=$(realpath "${1:?usage: other_pythons.sh TRACSO_LIVE [FOLDER] [SUITE...]}")
folder=${2:-$(mktemp -d)}
shift $(($# < 2 ? $# : 2))
suites=${*:-bullseye trixie forky sid}
here=$(dirname "$(realpath "$0")")
suite_packages="python3 python3-dbg"
# shellcheck source=tests/nightly/suites.sh
. "$here/suites.sh"

# A program of its own for each, as if it were installed.
wrap() { # ROOT PYTHON WRAPPER
  local libraries=$1/usr/lib/x86_64-linux-gnu loader
  # A link of the older suites is absolute and leads out of the folder.
  for loader in "$1"/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 "$1"/lib/x86_64-linux-gnu/ld-2.*.so; do
    [ -e "$loader" ] && break
  done
  cat > "$3" <<END
#!/bin/sh
PYTHONHOME=$1/usr exec $loader --library-path $libraries:$1/lib/x86_64-linux-gnu $1/$2 "\$@"
END
  chmod +x "$3"
}

programs=
failed=0
for suite in $suites; do
  root=$folder/$suite/root
  if ! have_suite "$suite"; then
    echo "MISSING    $suite: its packages cannot be had"
    tail -n 3 "$folder/$suite/apt/log"
    failed=1
    continue
  fi
  for python in $(cd "$root" && ls usr/bin/python3.[0-9]* | grep -E 'python3\.[0-9]+(t|-dbg|-nogil)?$'); do
    wrapper=$folder/$suite/$(basename "$python")
    wrap "$root" "$python" "$wrapper"
    if version=$("$wrapper" -c 'import sys, ctypes; print(sys.version.split()[0])' 2> "$folder/$suite/err"); then
      echo "$suite: ${python##*/} $version"
      programs=$programs:$wrapper
    else
      echo "MISSING    $suite: ${python##*/} does not start: $(tail -n 1 "$folder/$suite/err")"
      failed=1
    fi
  done
done
for tests in "memory probe: every Python here*" "gdb probe: every Python here*" "import chain: every Python here*" \
  "dump: tasks of asyncio as the Python tells them*" "dump: threads have the names that*"; do
  if TRACSO_PYTHONS=$programs "$live" "$tests" > "$folder/out" 2>&1; then
    echo "same       $tests ($(grep -o '[0-9]* assertions.*' "$folder/out" | tail -n 1)"
  else
    echo "DIFFERENT  $tests"
    grep -v '^Pythons tried' "$folder/out" | tail -n 60
    failed=1
  fi
done
exit $failed
