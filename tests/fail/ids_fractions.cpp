// expect: no matching function for call to .*RowPlan<.*>::RowPlan[(].*vector<double>|no matching constructor for initialization of .rowan::RowPlan<>
#include <rowan/sparse/row_plan.hpp>

#include <vector>

using id = double;  // from a file of numbers, perhaps: they must be made integers, and checked, before they are ids

rowan::RowPlan<> plan(std::vector<id> const& ids) {
    return rowan::RowPlan<>(ids, 10);
}
