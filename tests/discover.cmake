# tests/discover.cmake: makes every Catch2 case of `program` a case of ctest, when ctest starts. The script that comes with Catch2
# loses cases whose names have an unbalanced bracket, as `[0, n)` has.
if(NOT EXISTS "${program}")
    add_test("${prefix}: not built" "${program}")
    set_tests_properties("${prefix}: not built" PROPERTIES LABELS "cases;needs=${target}")
    return()
endif()

execute_process(COMMAND "${program}" ${list_cases} ~[.] OUTPUT_VARIABLE names)
while(names MATCHES "^([^\n]*)\n(.*)$")
    set(name "${CMAKE_MATCH_1}")
    set(names "${CMAKE_MATCH_2}")
    string(REGEX REPLACE [=[([][,\])]=] [=[\\\1]=] pattern "${name}")  # what has a meaning to Catch2
    add_test("${prefix}: ${name}" "${program}" "${pattern}" --warn ${warn_if_none})
    set_tests_properties("${prefix}: ${name}" PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED " LABELS "cases;needs=${target}")
endwhile()
