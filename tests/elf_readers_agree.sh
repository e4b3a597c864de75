#!/bin/sh
# Compares the native ELF reader with readelf over every ELF file under /usr. Usage: elf_readers_agree.sh BUILD_DIR
set -eu
TRACSO_ALL_ELF=1 exec "${1:?build directory}/tests/tracso_live" \
  "elf readers: native and readelf say the same of the files of this machine" --durations yes
