// expect: rowan::scatter_add: an integer table takes integer rows only
#include <rowan/sparse/scatter_add.hpp>

#ifdef ROWAN_VALID_TWIN
using number = std::int32_t;
#else
using number = float;
#endif

void count(rowan::Tensor<std::int64_t>& table, rowan::SelectedRows<number> const& rows) {
    rowan::scatter_add(table, rows);
}
