// expect: no matching function for call to .*RowPlan<.*>::RowPlan[(].*vector<double>|no matching constructor for initialization of .rowan::RowPlan<>
#include <rowan/sparse/row_plan.hpp>

#include <vector>

using id = double;  // ids read as floating-point numbers must be converted first

rowan::RowPlan<> plan(std::vector<id> const& ids) {
    return rowan::RowPlan<>(ids, 10);
}
