// expect: rowan: the operator has no kernel, a function run, for this device and inputs of these types
#include <rowan/layer/data.hpp>
#include <rowan/op/lookup_table.hpp>

#ifdef ROWAN_VALID_TWIN
using id = std::int32_t;
#else
using id = float;
#endif

void use() {
    auto const table = rowan::layer::data("table", {7, 2});
    static_cast<void>(rowan::layer::apply<rowan::lookup_table_op>({}, table, rowan::layer::data<id>("ids", {rowan::UNK})));
}
