#!/usr/bin/env bash
# Makes all recordings anew with the given tracso: make.sh TRACSO. They change where Debian's libraries have changed: read the golden diff.
set -euo pipefail
tracso=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
lab=$(mktemp -d /tmp/tracso-lab-XXXX)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$lab"' EXIT
export TRACSO_NO_STATE=1
record() { # NAME PID
  pids+=("$2")
  "$tracso" record "$2" -o "$here/$1.tar.gz"
}
scenario() { # NAME SCRIPT
  LAB=$lab/$1 PY=/usr/bin/python3 bash "$here/../live/scenarios/$2" >/dev/null
  record "$1" "$(cat "$lab/$1/pid")"
}
start() { # CMD...: until it says "ready"
  "$@" >"$lab/out" &
  started=$!
  until grep -q ready "$lab/out"; do sleep 0.05; done
}
start /usr/bin/python3 -c 'import ssl, sqlite3, ctypes, time; print("ready", flush=True); time.sleep(600)'
record python-ssl "$started"
scenario library-path 03-ldpath-beats-runpath.sh
scenario preload 06-preload.sh
scenario dlopen 07-dlopen-attribution.sh
cd "$lab"
printf '#include <stdio.h>\n#include <unistd.h>\nint m(void);int main(void){printf("ready %%d\\n",m());fflush(stdout);sleep(600);}\n' >p.c
printf 'int m(void){return 5;}\n' >m.c
musl-gcc -shared -fPIC m.c -o libm5.so -Wl,-soname,libm5.so
musl-gcc p.c -L. -lm5 "-Wl,-rpath,$lab" -o p
start ./p
record musl "$started"
printf '#include <stdio.h>\n#include <unistd.h>\nint main(void){puts("ready");fflush(stdout);sleep(600);}\n' >q.c
gcc -m32 q.c -o q
start ./q
record program-32-bit "$started"
