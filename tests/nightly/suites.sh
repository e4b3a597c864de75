# Sourced by the scripts beside it: other Debian suites, unpacked beside the system. `folder` is where, `suite_packages` what.

# One for each release of glibc, the oldest first.
suites_by_glibc="ubuntu-xenial ubuntu-bionic ubuntu-focal bullseye ubuntu-jammy ubuntu-noble trixie ubuntu-resolute forky sid"
# Packages come from where this system gets its own; nothing is installed. A suite `ubuntu-NAME` is one of Ubuntu's, from Ubuntu's
# archive; Debian packages the keys of that.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
ubuntu_keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
ubuntu_site=http://archive.ubuntu.com/ubuntu

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

# Where a suite comes from, as a line of sources.list.
source_of() { # SUITE
  case $1 in
    ubuntu-*) echo "deb [signed-by=$folder/ubuntu-keys/root$ubuntu_keyring] $ubuntu_site ${1#ubuntu-} main" ;;
    *) echo "deb [signed-by=$keyring] $site $1 main" ;;
  esac
}

# Debian 12 does not have the package, so it is that of the next release.
have_ubuntu_keys() {
  local state=$folder/ubuntu-keys/apt root=$folder/ubuntu-keys/root
  [ ! -e "$root$ubuntu_keyring" ] || return 0
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$root"
  : > "$state/status"
  source_of trixie > "$state/sources.list"
  suite_apt ubuntu-keys apt-get update > "$state/log" 2>&1 || return 1
  suite_apt ubuntu-keys apt-get install -y --download-only ubuntu-keyring >> "$state/log" 2>&1 || return 1
  dpkg-deb -x "$state"/cache/archives/ubuntu-keyring_*.deb "$root"
}

# The packages and all they need, into FOLDER/SUITE/root. Fails where they cannot be had.
unpack() { # SUITE
  local state=$folder/$1/apt root=$folder/$1/root package
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$root"/usr/{bin,sbin,lib,lib64}
  : > "$state/status"
  case $1 in ubuntu-*) have_ubuntu_keys || return 1 ;; esac
  source_of "$1" > "$state/sources.list"
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

glibc_of() { # ROOT: its release
  strings "$1"/lib/x86_64-linux-gnu/libc.so.6 | sed -n 's/^GNU C Library .*version \([0-9.]*[0-9]\).*/\1/p'
}
