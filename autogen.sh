#!/bin/sh
# Makes configure and Makefile.in from the sources of the build system.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux m4
exec autoreconf --install --force --warnings=all,no-obsolete
