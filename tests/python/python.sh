#!/usr/bin/env bash
# tests/python/python.sh MODULE SCRIPT [ARGUMENT...]: runs the script with every Python that has the module: the one in
# PATH, Debian's, and that of `tests/run.sh paddle`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PYTHONDONTWRITEBYTECODE=1

found=()
for python in python3 /usr/bin/python3 "$here/../../build/paddle/bin/python3"; do
    python=$(command -v "$python") || continue
    if [[ " ${found[*]:-} " == *" $python "* ]] || ! "$python" -c "import $1" 2>/dev/null; then continue; fi
    found+=("$python")
    "$python" "$here/$2" "${@:3}"
done
if ((${#found[@]} == 0)); then echo "SKIPPED $2 $1: no Python here has the module $1"; fi
