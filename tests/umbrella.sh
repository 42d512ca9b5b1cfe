#!/usr/bin/env bash
# tests/umbrella.sh: rowan/<room>.hpp must include every header of its room, and rowan/rowan.hpp every room.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../include"

failed=0
wants() { # UMBRELLA HEADER
    if ! grep -qxF "#include <$2>" "$1"; then
        echo "$1 does not include <$2>"
        failed=1
    fi
}

for folder in rowan/*/; do
    room=$(basename "$folder")
    if [[ $room == detail || $room == thrust ]]; then continue; fi
    wants rowan/rowan.hpp "rowan/$room.hpp"
    for header in "$folder"*.hpp; do
        wants "rowan/$room.hpp" "$header"
    done
done
exit $failed
