// expect: rowan: the operator has no function run for this device and these input types
#include <rowan/layer/data.hpp>
#include <rowan/op/table/lookup_table.hpp>

using id = float;

void use() {
    auto const table = rowan::layer::data("table", {7, 2});
    static_cast<void>(rowan::layer::apply<rowan::lookup_table_op>({}, table, rowan::layer::data<id>("ids", {rowan::UNK})));
}
