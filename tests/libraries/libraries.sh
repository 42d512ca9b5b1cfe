#!/usr/bin/env bash
# tests/libraries/libraries.sh PROGRAM local|global COMPILED HEADERS: nets of each of three libraries run in each of
# them, whichever is loaded first. The third one is a copy of the first.
set -euo pipefail
copy=$(mktemp)
trap 'rm -f "$copy"' EXIT
cp "$3" "$copy"
"$1" "$2" "$3" "$copy" "$4"
"$1" "$2" "$4" "$3" "$copy"
