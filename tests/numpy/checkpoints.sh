#!/usr/bin/env bash
# tests/numpy/checkpoints.sh PROGRAM FOLDER: a reader in Python reads the checkpoints that PROGRAM writes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        rm -rf "$2"
        "$1" "$2" >"$2.written"
        "$python" "$here/../io/read_checkpoint.py" "$2"/* >"$2.read"
        diff -u "$2.written" "$2.read"
        exit 0
    fi
done
echo "SKIPPED checkpoints, numpy: Python has no numpy"
