#!/usr/bin/env bash
# examples/demo.sh [ARGUMENT...]: installs missing Debian packages, builds the gloss classifier and runs it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tests/packages.sh"
install_missing "${packages_demo[@]}"
(cd "$root" && cmake --preset demo --log-level=NOTICE && cmake --build --preset demo --target gloss_classifier) >&2
exec "$root/build/demo/examples/gloss_classifier" "$@"
