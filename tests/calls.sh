#!/usr/bin/env bash
# tests/calls.sh COMPILER [ARGUMENT...]: the block of calls in include/rowan/calls.md compiles. Its includes stay outside, the rest is a function.
set -euo pipefail
awk '/^```/ { inside = /^```cpp/; next } inside && /^(#include|namespace)/ { print; next }
     inside { if (!begun++) print "void first_calls() {"; print } END { print "}" }' "$(dirname "${BASH_SOURCE[0]}")/../include/rowan/calls.md" | "$@" -x c++ -
