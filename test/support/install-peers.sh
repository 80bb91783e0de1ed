#!/usr/bin/env bash
# What the tests run against and npm does not bring: etcd, curl, Python 3 with venv, Maven, a JDK. Installed where that is possible without asking (root
# on a Debian); elsewhere the tests that need one fail and say so.
set -euo pipefail
missing=()
command -v etcd >/dev/null || missing+=(etcd-server)
command -v curl >/dev/null || missing+=(curl)
command -v mvn >/dev/null || missing+=(maven)
command -v javac >/dev/null || missing+=(default-jdk-headless)
python3 -m venv --help >/dev/null 2>&1 || missing+=(python3 python3-venv)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "the system tests need: ${missing[*]} (names of Debian's packages)" >&2
  exit 0
fi
apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
