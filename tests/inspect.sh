#!/usr/bin/env bash
# tests/inspect.sh PROGRAM FOLDER: examples/inspect must print examples/inspect.out for the files written here.
set -euo pipefail
program=$1
expected=$(cd "$(dirname "${BASH_SOURCE[0]}")/../examples" && pwd)/inspect.out
rm -rf "$2"
mkdir -p "$2"
cd "$2"

hex() { printf "$(tr -d ' \n' <<<"$1" | sed -E 's/../\\x&/g')"; }
npy() { printf '\x93NUMPY\x01\x00v\x00%-117s\n' "$1"; }
two_levels='00000000 0200000000000000 1800000000000000 0000000000000000 0100000000000000 0200000000000000
1800000000000000 0000000000000000 0200000000000000 0300000000000000
00000000 06000000 080510031002 0000803f 00000040 00004040 00008040 0000a040 0000c040'
rows='00000000 0400000000000000 0000000000000000 0400000000000000 0700000000000000 0400000000000000
0a00000000000000 00000000 06000000 080510041002
00000000 0000803f 00000040 00004040 00008040 0000a040 0000c040 0000e040'
bools='00000000 0000000000000000 00000000 04000000 08001002 0100'
shorts='00000000 0000000000000000 00000000 04000000 08011001 0700'

npy "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 4), }" >empty.npy
{ npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }" && hex '0000803f 00000040 00004040 00008040'; } >fortran.npy
npy "{'descr': '<c8', 'fortran_order': False, 'shape': (0,), }" >complex.npy
hex "89524f57414e0d0a 01000000 40000000 3c00000000000000 4000000000000000 0100000000000000 0000000000000000 0000000000000000
ec34935c 6d68a242 38000000 11000000 0a0177 1000 1a08 0a06080510031002 2801 03000000 663332 04000000 01000000 8000000000000000
1800000000000000 b9045180 00000000 0000803f 00000040 00004040 00008040 0000a040 0000c040 $(printf '%080d' 0)" >model.rowan
hex "${two_levels//$'\n'/}" >tensor
hex "${rows//$'\n'/}" >rows
hex "${two_levels//$'\n'/}$bools$shorts" >params
hex "${two_levels//$'\n'/}" | head -c 100 >cut

{
    "$program" --values 5 model.rowan empty.npy fortran.npy complex.npy tensor rows params
    "$program" cut no_such_file 2>&1 && echo "a damaged file is no failure"
} >inspect.out || true
diff -u "$expected" inspect.out
