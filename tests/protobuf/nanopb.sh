#!/usr/bin/env bash
# tests/protobuf/nanopb.sh DESCS FOLDER COMPILER [ARGUMENT...]: code that nanopb generates from rowan.proto must read
# the bytes that the program DESCS writes. It must write the bytes of protoc with packed lists, as nanopb packs lists of
# numbers. Files go to FOLDER.
set -euo pipefail
descs=$1
folder=$2
compiler=("${@:3}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

generator=$(command -v nanopb_generator.py nanopb_generator | head -n 1 || true)
if [[ -z $generator ]] || ! "$generator" --version >/dev/null 2>&1; then
    echo "SKIPPED descriptors, nanopb's generator: nanopb_generator is not installed"
    exit 0
fi

rm -rf "$folder"
mkdir -p "$folder"/{ours,theirs,packed}
"$descs" write "$folder/ours"
rm "$folder"/ours/*.large* "$folder"/ours/{OpDesc.op,BlockDesc.block,ProgramDesc.program}  # a struct of nanopb's ends at 64 KiB
bash "$here/packed.sh" "$folder/packed.proto"
for file in "$folder"/ours/*; do
    name=$(basename "$file")
    protoc -I"$here/../io" --decode="rowan.${name%%.*}" rowan.proto <"$file" | protoc -I"$folder" --encode="rowan.${name%%.*}" packed.proto \
        >"$folder/packed/$name"
done

(cd "$here/../io" && "$generator" -q -s max_count:3 -s max_size:32 -D "$folder" rowan.proto)
"${compiler[@]}" -w -I"$folder" "$here/nanopb.cpp" -x c++ "$folder/rowan.pb.c" -x none -lprotobuf-nanopb -o "$folder/nanopb"
"$folder/nanopb" "$folder"/ours "$folder"/theirs
diff -r "$folder/packed" "$folder/theirs"
echo "$(ls "$folder/theirs" | wc -l) descriptors"
