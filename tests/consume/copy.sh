# tests/consume/copy.sh FOLDER: copies this project into FOLDER, without what was built.
mkdir -p "$1"
tar -c --exclude build --exclude ./.git . | tar -x -C "$1"
