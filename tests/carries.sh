#!/usr/bin/env bash
# tests/carries.sh FOLDER COMPILER [ARGUMENT...]: the programs of tests/carries, compiled into FOLDER, have no static
# constructor: no code of rowan runs before main.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
shift
mkdir -p "$folder"
bad=0
for source in "$here"/carries/*.cpp; do
    object=$folder/$(basename "$source" .cpp).o
    "$@" -O0 -c -o "$object" "$source"
    found=$(objdump -ht "$object" | grep -E '_GLOBAL__sub_I_|__cxx_global_var_init|\.(init_array|ctors|preinit_array)' || true)
    if [[ -n $found ]]; then
        printf '%s has a static constructor:\n%s\n' "$source" "$found"
        bad=1
    fi
done
exit $bad
