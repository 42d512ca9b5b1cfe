#!/usr/bin/env bash
# tests/mpi/failures.sh PROGRAM MPIRUN...: what goes wrong on one rank ends on all, with a sentence, within 20 seconds.
set -euo pipefail
program=$1
mpirun=("${@:2}")
failed=0

# expect RANKS CASE STATUS TEXT [SECONDS]: the program ends with status 0, or another if STATUS is "not 0", and prints TEXT.
expect() {
    local status=0 said
    said=$(timeout "${5:-20}" "${mpirun[@]}" -np "$1" "$program" "$2" 2>&1) || status=$?
    if ((status == 124)); then
        echo "FAILED: $2 hangs"
    elif [[ $3 == 0 && $status != 0 || $3 != 0 && $status == 0 ]]; then
        echo "FAILED: $2 ends with status $status"
    elif ! grep -qE -- "$4" <<<"$said"; then
        echo "FAILED: $2 does not say '$4'"
    else
        return 0
    fi
    echo "$said"
    failed=1
}
for ranks in 1 2 3; do expect $ranks none 0 '^all good$'; done
expect 3 recoverable 0 '^all good$'
expect 2 large 0 '^all good$' 120
expect 3 leaves 'not 0' '^rank 2: rows\[1\] = 9 is not in \[0, 4\)$'
expect 3 returns 'not 0' '^rank [01]: rank 2: has ended, where others go on$'
expect 3 memory 'not 0' '^rank 2: std::bad_alloc$'
expect 3 killed 'not 0' '.'
expect 3 late 'not 0' "^rank [01]: rank 2 has not come to step 17's fetch for 1 s$"
expect 3 late_exchange 'not 0' "^rank [01]: rank 2 has not come to step 17's fetch for 1 s$"
expect 3 caught 'not 0' '^rank 2 is refused$'
expect 3 slow 0 "^rowan: rank 2 has not come to step 17's fetch for [0-9 ms]+; ranks 0 and 1 wait in step 17's fetch$"
exit $failed
