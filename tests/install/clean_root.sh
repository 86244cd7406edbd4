#!/usr/bin/env bash
# Installs the Debian packages on a root file system that has nothing but Debian's essentials, and
# uses them there: the command plans, verifies and runs a step; a program is built with the library
# through pkg-config and CMake; Python imports its package, if there is one. Needs root, debootstrap and a Debian archive; not part of ./dev test.
#
# usage: clean_root.sh FOLDER_OF_DEBS [ARCHIVE]
#
# ARCHIVE is the URL of a Debian archive; default the first of apt's own sources.
set -euo pipefail
debs=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2016  # apt reads the format, not the shell
archive=${2:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' |
  grep -v '^file:' | head -n 1)}
root=$(mktemp -d)
chmod 755 "$root"  # apt downloads as a user of its own
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$root"' EXIT

echo "clean_root: Debian 12 from $archive"
debootstrap --variant=minbase bookworm "$root" "$archive" >"$root.log" 2>&1 ||
  { tail -n 20 "$root.log" >&2 && exit 1; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
# What apt needs to reach the archive as this machine does.
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp -r "$debs" "$root/debs"
cp -r "$here/consumer" "$root/consumer"

chroot "$root" /bin/bash -euo pipefail <<'INSIDE'
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
echo 'Dpkg::Use-Pty "0";' >/etc/apt/apt.conf.d/99no-terminal
echo "clean_root: the command"
apt-get update >/dev/null
apt-get install -y --no-install-recommends /debs/stowage_*.deb >/dev/null
cd "$(mktemp -d)"
stowage --version
for length in 9000 4000 120000 512 700 38000; do echo "$length"; done >lengths.txt
stowage convert lengths.txt step.json --devices 64
stowage solve step.json -t 1 -o plan.json >outcome.json
stowage verify step.json plan.json >verdict.json
stowage run step.json plan.json --work 0.1 >execution.json
stowage convert step.json trainer.bin --plan plan.json
test -s trainer.bin
test -s /usr/share/doc/stowage/copyright
test -s /usr/share/doc/stowage/LICENSE
test -s /usr/share/bash-completion/completions/stowage
test -s /usr/share/zsh/vendor-completions/_stowage
zcat /usr/share/man/man1/stowage.1.gz | grep -q '^\.SH COMMANDS'

echo "clean_root: the library"
apt-get install -y --no-install-recommends /debs/libstowage*.deb g++ cmake make pkg-config >/dev/null
static=--static
if ls /usr/lib/*/libstowage.so >/dev/null 2>&1; then static=; fi
# shellcheck disable=SC2046,SC2086  # lists of flags
g++ -std=c++20 /consumer/main.cc -o consumer $(pkg-config $static --cflags --libs stowage)
./consumer
cmake -S /consumer -B build >/dev/null
cmake --build build >/dev/null
./build/consumer

if ls /debs/python3-stowage_*.deb >/dev/null 2>&1; then
  echo "clean_root: the Python package"
  apt-get install -y --no-install-recommends /debs/python3-stowage_*.deb >/dev/null
  python3 -c 'import stowage
stowage.Planner(stowage.Cluster.preset(devices=8)).plan([9000, 4000, 12000, 512]).verify()'
fi

apt-get purge -y stowage 'libstowage*' python3-stowage >/dev/null
test ! -e /usr/bin/stowage
INSIDE
echo "clean_root: installs, runs and leaves"
