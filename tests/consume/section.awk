# tests/consume/section.awk: the lines of the README that stand in fences under the heading `title`.
/^##/ { here = $0 == title }
here && /^```/ { inside = !inside; next }
here && inside
