#!/usr/bin/env bash
# tests/protobuf/protobuf.sh DESCS FOLDER: protoc and Python's protobuf must read the bytes of the program DESCS and
# write the same bytes, and DESCS must read theirs. Files go to FOLDER.
set -euo pipefail
descs=$1
folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
proto=$here/../io/rowan.proto

skip() {
    echo "SKIPPED descriptors, protobuf: $1"
    exit 0
}
command -v protoc >/dev/null || skip "protoc is not installed"

rm -rf "$folder"
mkdir -p "$folder"/{ours,theirs,packed,python}
"$descs" write "$folder/ours"

# The same values have the same bytes; with packed lists the bytes differ, and rowan reads them.
bash "$here/packed.sh" "$folder/packed.proto"
for file in "$folder"/ours/*; do
    name=$(basename "$file")
    kind=rowan.${name%%.*}
    text=$folder/$name.txt
    protoc -I"$here/../io" --decode="$kind" rowan.proto <"$file" >"$text"
    if grep -nE '^ *[0-9]+(:| \{)' "$text"; then
        echo "$name has fields that rowan.proto has not"
        exit 1
    fi
    protoc -I"$here/../io" --encode="$kind" rowan.proto <"$text" >"$folder/theirs/$name"
    cmp "$file" "$folder/theirs/$name"
    protoc -I"$folder" --encode="$kind" packed.proto <"$text" >"$folder/packed/$name"
done
"$descs" read "$folder/theirs"
"$descs" read "$folder/packed"

# protoc's text of one descriptor of each kind.
diff -u "$here/program.txt" "$folder/ProgramDesc.program.txt"

for python in python3 /usr/bin/python3; do
    if "$python" -c 'import google.protobuf' 2>/dev/null; then
        protoc -I"$here/../io" --python_out="$folder" rowan.proto
        PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1 "$python" "$here/descs.py" "$folder/ours" "$folder/python"
        "$descs" read "$folder/python"
        exit 0
    fi
done
skip "Python has no google.protobuf"
