#!/usr/bin/env bash
# examples/demo.sh [--job gloss] [ARGUMENT...]: installs missing Debian packages, builds the gloss classifier and runs it.
# examples/demo.sh --job clicks [ARGUMENT...]   the same of the click model; without arguments on 16 days of clicks that it
#                                               makes, of which the best possible AUC is known
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tests/packages.sh"
job=gloss
if [[ ${1-} == --job ]]; then
    job=${2-}
    shift $(($# < 2 ? $# : 2))
fi
case $job in
    gloss) programs=(gloss_classifier) ;;
    clicks) programs=(click_model click_log) ;;
    *) echo "demo.sh: --job is gloss or clicks, not '$job'" >&2 && exit 2 ;;
esac
install_missing "${packages_demo[@]}"
(cd "$root" && cmake --preset demo --log-level=NOTICE && cmake --build --preset demo --target "${programs[@]}") >&2
built=$root/build/demo/examples
if [[ $job == gloss ]]; then exec "$built/gloss_classifier" "$@"; fi
if (($# > 0)); then exec "$built/click_model" "$@"; fi
logs=$root/build/demo/clicks
"$built/click_log" "$logs" --days 16 --examples 250000 --gzip
exec "$built/click_model" "$logs"/day_{0..15}.gz
