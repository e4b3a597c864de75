# Sourced by the scripts beside it: other Debian suites, unpacked beside the system. `folder` is where, `suite_packages` what.
# Packages come from where this system gets its own; nothing is installed.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
site=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 2>/dev/null |
  awk -v suite="$codename" '$1 !~ /security/ && $2 == suite && $3 == "main" { print $1; exit }')
if [ -z "$site" ] || [ ! -e $keyring ]; then
  echo "$(basename "$0"): no Debian archive is configured here" >&2
  exit 77
fi

# An apt of its own: other suites, and nothing installed.
suite_apt() { # SUITE COMMAND...
  local state=$folder/$1/apt command=$2
  shift 2
  "$command" -q -o "Dir::State=$state" -o "Dir::State::status=$state/status" \
    -o "Dir::Cache=$state/cache" -o "Dir::Etc::sourcelist=$state/sources.list" \
    -o Dir::Etc::sourceparts=- -o Dir::Etc::preferences=- -o Dir::Etc::preferencesparts=- \
    -o Acquire::Languages=none -o APT::Install-Recommends=0 -o Debug::NoLocking=1 \
    -o APT::Sandbox::User= "$@"
}

# The packages and all they need, into FOLDER/SUITE/root. Fails where they cannot be had.
unpack() { # SUITE
  local state=$folder/$1/apt root=$folder/$1/root package
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$root"/usr/{bin,sbin,lib,lib64}
  : > "$state/status"
  echo "deb [signed-by=$keyring] $site $1 main" > "$state/sources.list"
  suite_apt "$1" apt-get update > "$state/log" 2>&1 || return 1
  # shellcheck disable=SC2086
  suite_apt "$1" apt-get install -y --download-only $suite_packages >> "$state/log" 2>&1 || return 1
  for package in bin sbin lib lib64; do ln -sfn "usr/$package" "$root/$package"; done
  for package in "$state"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" |
      tar -x --keep-directory-symlink --no-same-owner -C "$root" 2>> "$state/log"
  done
  rm -rf "$state/cache"
  touch "$folder/$1/unpacked"
}

# Once for each suite.
have_suite() { # SUITE
  [ -e "$folder/$1/unpacked" ] || unpack "$1"
}

python_of() { # ROOT: the path inside it
  (cd "$1" && ls usr/bin/python3.[0-9]* | grep -E 'python3\.[0-9]+$' | head -n 1)
}
