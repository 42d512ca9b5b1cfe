#!/usr/bin/env bash
# examples/demo.sh [--job gloss] [ARGUMENT...]: installs missing Debian packages, builds the gloss classifier and runs it.
# examples/demo.sh --job clicks [ARGUMENT...]   the same of the click model; without arguments on 16 days of clicks that it
#                                               makes, of which the best possible AUC is known
# examples/demo.sh --job words [ARGUMENT...]    word2vec; without arguments on the King James Bible
# examples/demo.sh --job language [ARGUMENT...] the language model; without arguments on the same text, which it goes on to write
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
    words) programs=(word2vec) ;;
    language) programs=(language_model) ;;
    *) echo "demo.sh: --job is gloss, clicks, words or language, not '$job'" >&2 && exit 2 ;;
esac
install_missing "${packages_demo[@]}"
if [[ $job == words || $job == language ]]; then
    if (($# == 0)); then install_missing "${packages_texts[@]}"; fi
fi
(cd "$root" && cmake --preset demo --log-level=NOTICE && cmake --build --preset demo --target "${programs[@]}") >&2
built=$root/build/demo/examples
if [[ $job == gloss ]]; then exec "$built/gloss_classifier" "$@"; fi
if [[ $job == words || $job == language ]]; then
    if (($# > 0)); then exec "$built/${programs[0]}" "$@"; fi
    text=$root/build/demo/kjv.txt  # a verse a line, without its number
    bible -f 'Gen1:1-Rev22:21' | cut -d ' ' -f 2- >"$text"
    if [[ $job == words ]]; then
        exec "$built/word2vec" "$text" --nearest king --nearest egypt --nearest bread --analogy man woman father
    fi
    exec "$built/language_model" "$text" --generate 100
fi
if (($# > 0)); then exec "$built/click_model" "$@"; fi
logs=$root/build/demo/clicks
"$built/click_log" "$logs" --days 16 --examples 250000 --gzip
exec "$built/click_model" "$logs"/day_{0..15}.gz
