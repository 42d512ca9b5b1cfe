#!/usr/bin/env bash
# tests/carries.sh FOLDER COMPILER [ARGUMENT...]: what programs of tests/carries have in them, compiled into FOLDER. No static constructor;
# of rowan's operators all that the first line names, and no others but those of the second.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
shift
mkdir -p "$folder"
bad=0

# constructors OBJECT: what runs before main.
constructors() {
    nm -C "$1" | grep -E '_GLOBAL__sub_I_|__cxx_global_var_init' || true
    objdump -h "$1" | grep -E '\.(init_array|ctors|preinit_array)' || true
}

# This test sees one where there is one.
echo 'int f(); int x = f();' >"$folder/control.cpp"
"$@" -c -o "$folder/control.o" "$folder/control.cpp"
if [[ -z $(constructors "$folder/control.o") ]]; then
    echo "this test does not see static constructors"
    exit 1
fi

for source in "$here"/carries/*.cpp; do
    object=$folder/$(basename "$source" .cpp).o
    "$@" -O2 -c -o "$object" "$source"
    found=$(constructors "$object")
    if [[ -n $found ]]; then
        printf '%s has a static constructor:\n%s\n' "$source" "$found"
        bad=1
    fi
    must=$(sed -nE '1s/^\/\/ carries: //p' "$source")
    may=$(sed -nE '2s/^\/\/ may carry: //p' "$source")
    if [[ -z $must || -z $may ]]; then
        echo "$source must begin with '// carries: ' and '// may carry: '"
        exit 1
    fi
    has=$(nm -C "$object" | grep -oE 'rowan::(v[0-9]+::)?[a-z0-9_]+_op\b' | sed 's/.*:://' | sort -u)
    for op in $must; do
        if ! grep -qx "$op" <<<"$has"; then
            echo "$source does not carry $op"
            bad=1
        fi
    done
    for op in $has; do
        if [[ " $must $may " != *" $op "* ]]; then
            echo "$source carries $op"
            bad=1
        fi
    done
    echo "$(basename "$source"): $(nm "$object" | wc -l) symbols, operators" $has
done
exit $bad
