#!/usr/bin/env bash
# Makes the packages of a static build and tries them where nothing of ours is: an empty root with only /proc, a root with
# nothing but busybox, and, with the network, fresh Debian 12 and 13. As root. Usage: packages.sh BUILD_DIR
set -euo pipefail
build=$(realpath "$1")
work=$(mktemp -d)
cleanup() {
  for root in "$work"/root-*; do
    mountpoint -q "$root/proc" && umount "$root/proc"
  done
  rm -rf "$work"
}
trap cleanup EXIT
tried=()

(cd "$work" && cpack --config "$build/CPackConfig.cmake" -G "DEB;TGZ" >cpack.log) || { cat "$work/cpack.log"; exit 1; }
deb=$(echo "$work"/*.deb)
tarball=$(echo "$work"/*.tar.gz)
in_deb=$(dpkg-deb -c "$deb")
in_tarball=$(tar -tzf "$tarball")
for file in usr/bin/tracso usr/share/man/man1/tracso.1 usr/share/bash-completion/completions/tracso \
  usr/share/zsh/vendor-completions/_tracso usr/share/fish/vendor_completions.d/tracso.fish usr/share/doc/tracso/copyright; do
  grep -q " \./$file\$" <<<"$in_deb" || { echo "the .deb has no /$file" >&2; exit 1; }
  grep -q "/${file#usr/}\$" <<<"$in_tarball" || { echo "the tarball has no ${file#usr/}" >&2; exit 1; }
done
echo "packages: $(basename "$deb") $(stat -c %s "$deb") bytes, $(basename "$tarball") $(stat -c %s "$tarball") bytes"

# What a user does first, in that root.
try_in() {
  local name=$1 root=$2 program=${3:-/usr/bin/tracso}
  mkdir -p "$root/proc"
  mount -t proc proc "$root/proc"
  export TRACSO_NO_STATE=1
  [[ $(chroot "$root" "$program" --version) == "tracso "* ]]
  [[ $(chroot "$root" "$program" $$) == "tracso · pid:$$ (bash)"* || $(chroot "$root" "$program" $$) == "tracso - pid:$$ (bash)"* ]]
  chroot "$root" "$program" -o /report.html $$ 2>/dev/null || echo "  ($name: no HTML in this build)"
  [[ $(chroot "$root" "$program" help exit-status) == *"126, 127"* ]]
  umount "$root/proc"
  tried+=("$name")
}

mkdir "$work/root-empty"
tar -xzf "$tarball" -C "$work/root-empty" --strip-components=1
try_in "empty root" "$work/root-empty" /bin/tracso

if command -v busybox >/dev/null && ! readelf -lW "$(command -v busybox)" | grep -q INTERP; then
  mkdir -p "$work/root-busybox/bin"
  cp "$(command -v busybox)" "$work/root-busybox/bin/"
  ln -s busybox "$work/root-busybox/bin/sh"
  tar -xzf "$tarball" -C "$work/root-busybox" --strip-components=1
  try_in "busybox" "$work/root-busybox" /bin/tracso
  [[ $(chroot "$work/root-busybox" /bin/tracso /bin/busybox) == *"statically linked"* ]]
else
  echo "skipped: busybox (install busybox-static)"
fi

for release in bookworm trixie; do
  if ! command -v mmdebstrap >/dev/null; then
    echo "skipped: Debian $release (install mmdebstrap)"
    continue
  fi
  root=$work/root-$release
  if ! mmdebstrap --quiet --variant=minbase "$release" "$root" 2>"$work/mmdebstrap.log"; then
    echo "skipped: Debian $release cannot be fetched: $(tail -1 "$work/mmdebstrap.log")"
    continue
  fi
  cp "$deb" "$root/tracso.deb"
  chroot "$root" dpkg -i /tracso.deb >/dev/null
  try_in "Debian $release" "$root"
  chroot "$root" bash -c 'source /usr/share/bash-completion/completions/tracso && complete -p tracso' >/dev/null
  chroot "$root" dpkg -r tracso >/dev/null
  [ ! -e "$root/usr/bin/tracso" ]
done
echo "tried: $(IFS=,; echo "${tried[*]}")"
