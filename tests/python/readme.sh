#!/usr/bin/env bash
# tests/python/readme.sh BUILD: checks the lines for Python in examples/README.md: the first installs all packages that
# the build needs, the second builds an existing target, the third runs an example with the module in BUILD. The
# program there prints what its last line says.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tests/packages.sh"
mapfile -t lines < <(grep -A 2 '^    apt install .*pybind11-dev' "$root/examples/README.md")

for package in "${packages_build[@]}" pybind11-dev python3-dev python3-numpy; do
    # cmake brings make, which the lines use instead of ninja
    if [[ $package != ninja-build && " ${lines[0]} " != *" $package "* ]]; then
        echo "examples/README.md does not install $package"
        exit 1
    fi
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
ln -s "$1" build
ln -s "$root/examples" examples
if ! cmake --build build --target help | grep -w "${lines[1]##* }" >/dev/null; then
    echo "there is no target ${lines[1]##* }"
    exit 1
fi
export PYTHONDONTWRITEBYTECODE=1
eval "${lines[2]}" | diff examples/python/01_plain_network.out -

sed -n '/^```python$/,/^```$/{/^```/!p}' "$root/examples/README.md" >program.py
PYTHONPATH=build/examples/python:examples/python /usr/bin/python3 program.py | diff <(sed -n '$s/.*  # //p' program.py) -
