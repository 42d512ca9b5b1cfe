#!/usr/bin/env bash
# Checks that the loops in a program which are compiled for AVX2 and AVX-512 have registers of these, and call no function
# that computes with them: bash tests/wide_loops.sh PROGRAM
set -euo pipefail
objdump -d --no-show-raw-insn -M att "$1" | awk '
    /^[0-9a-f]+ <.*>:$/ { name = $2; wide = name ~ /9on_avx512I/ ? "zmm" : name ~ /7on_avx2I/ ? "ymm" : ""; registers = calls = 0 }
    wide != "" && $0 ~ wide { ++registers }
    wide != "" && /call.*(LaneRegister|clI)/ && name !~ /5apart/ { ++calls }
    /^$/ && wide != "" {
        ++loops
        if (registers == 0 || calls != 0) { print "FAILED " name " " registers " instructions with " wide ", " calls " calls"; bad = 1 }
        wide = ""
    }
    END { print loops + 0 " loops"; exit bad || loops < 50 }'
