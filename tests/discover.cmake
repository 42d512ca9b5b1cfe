# tests/discover.cmake: adds every Catch2 case of `program` to ctest, when ctest starts. Catch2's own script loses cases whose names have an
# unbalanced bracket, such as `[0, n)`.
if(NOT EXISTS "${program}")
    add_test("${prefix}: not built" "${program}")
    set_tests_properties("${prefix}: not built" PROPERTIES LABELS "cases;needs=${target}")
    return()
endif()

execute_process(COMMAND "${program}" ${list_cases} ~[.] OUTPUT_VARIABLE names)
if(NOT names)  # such as two cases of one name: the program says so, and fails
    add_test("${prefix}: cases are listed" "${program}")
    set_tests_properties("${prefix}: cases are listed" PROPERTIES LABELS "needs=${target}")
endif()
while(names MATCHES "^([^\n]*)\n(.*)$")
    set(name "${CMAKE_MATCH_1}")
    set(names "${CMAKE_MATCH_2}")
    string(REGEX REPLACE [=[([][,\])]=] [=[\\\1]=] pattern "${name}")  # the characters that have a meaning to Catch2
    add_test("${prefix}: ${name}" "${program}" "${pattern}" --warn ${warn_if_none})
    set_tests_properties("${prefix}: ${name}" PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED " LABELS "cases;needs=${target}")
endwhile()
