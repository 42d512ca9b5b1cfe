#!/usr/bin/env bash
# tests/protobuf/packed.sh FILE: writes rowan.proto with packed lists of numbers into FILE.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sed -E 's/(repeated (int32|int64|bool|float|double) [a-z0-9_]+ = [0-9]+);/\1 [packed = true];/' "$here/../io/rowan.proto" >"$1"
