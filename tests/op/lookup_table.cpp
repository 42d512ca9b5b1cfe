// tests/op/lookup_table.cpp
#include <rowan/op/table/lookup_table.hpp>

#include "refused.hpp"

#include <rowan/sparse/merge.hpp>

#include <limits>

namespace test_lookup_table {

using rowan::Cpu, rowan::lookup_table_op, rowan::Tensor;
using rowan::selected_rows_spec, rowan::tensor_spec, rowan::UNK;

namespace {

Tensor<float> const table{{1, 10}, {2, 20}, {3, 30}};
Tensor<std::int64_t> const ids{{2, 1}, {1, 1}};

}  // namespace

TEST_CASE("lookup_table gives rows of a table, zeros for padding", "[op]") {
    CHECK((rowan::lookup_table(table, ids) == Tensor<float>{{{3, 30}, {2, 20}}, {{2, 20}, {2, 20}}}));
    CHECK((rowan::lookup_table(table, ids, {.padding_id = 1}) == Tensor<float>{{{3, 30}, {0, 0}}, {{0, 0}, {0, 0}}}));
}

TEST_CASE("padding gives zeros; other ids are still checked", "[op]") {
    Tensor<float> const six{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}};
    CHECK((rowan::lookup_table(six, Tensor<std::int64_t>{1, 3, 1}, {.padding_id = 1}) == Tensor<float>{{0, 0}, {6, 7}, {0, 0}}));
    auto const large = Tensor<float>::zeros({1000, 64});
    for (std::int64_t const id : {1000, -2}) {
        Tensor<std::int64_t> const one{id};
        CHECK(test::refusal<rowan::IndexError>([&](Cpu exec) { rowan::lookup_table(exec, large, one, {.padding_id = 1}); }) ==
              "ids[0] = " + std::to_string(id) + " is not in [0, 1000)");
    }
}

TEST_CASE("the gradient of lookup_table is row-sparse", "[op]") {
    auto const [grad, none] = rowan::gradients<lookup_table_op>(Cpu{}, std::tie(table, ids), std::tuple(table),
                                                                std::tuple(Tensor<float>::full({2, 2, 2}, 1)));
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(grad)>, rowan::SelectedRows<float>>);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(none)>, rowan::no_value>);
    CHECK(grad.rows().size() == 4);
}

TEST_CASE("ids that a table does not have read the row of unknown ones, which gets their gradients", "[op]") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
    Tensor<std::int64_t> const list{{0, 3, -1}, {most, least, 2}}, all_bad{9, -9}, none = Tensor<std::int64_t>::from_shape({0});
    CHECK((rowan::lookup_table(table, list, {.unknown = 1}) == rowan::gather(table, Tensor<std::int64_t>{{0, 1, 1}, {1, 1, 2}})));
    CHECK((rowan::lookup_table(table, all_bad, {.unknown = 2}) == rowan::gather(table, {2, 2})));
    CHECK((rowan::lookup_table(table, none, {.unknown = 2}).shape() == Tensor<float>::shape_type{0, 2}));
    CHECK((rowan::lookup_table(table, Tensor<std::int32_t>{0, 7}, {.padding_id = 0, .unknown = 1}) == Tensor<float>{{0, 0}, {2, 20}}));
    CHECK((rowan::lookup_table(table, Tensor<std::int32_t>{1, 7}, {.padding_id = 0, .unknown = 0}) == Tensor<float>{{2, 20}, {0, 0}}));
    rowan::SelectedRows<float> const unsorted(31, {30, 10, 30, 20}, Tensor<float>{{5, 6}, {1, 2}, {9, 9}, {3, 4}}), sorted = rowan::merge(unsorted);
    Tensor<std::int64_t> const few{20, 11, 99, -4, 30};
    for (auto const* const some : {&unsorted, &sorted}) {
        CHECK((rowan::lookup_table(Cpu{}, *some, few, {.unknown = 10}) == rowan::lookup_table(Cpu{}, *some, Tensor<std::int64_t>{20, 10, 10, 10, 30})));
        CHECK((rowan::lookup_table(Cpu{}, *some, few, {.padding_id = 11, .unknown = 20}) ==
               rowan::lookup_table(Cpu{}, *some, Tensor<std::int64_t>{20, 11, 20, 20, 30}, {.padding_id = 11})));
        CHECK((rowan::lookup_table(Cpu{}, *some, few, {.padding_id = 7, .unknown = 7}) ==
               rowan::lookup_table(Cpu{}, *some, Tensor<std::int64_t>{20, 7, 7, 7, 30}, {.padding_id = 7})));
        auto const grad = rowan::lookup_table_grad_op::run(Cpu{}, *some, few, Tensor<float>::full({5, 2}, 1), {.padding_id = 11, .unknown = 20});
        CHECK((std::vector(grad.rows().begin(), grad.rows().end()) == std::vector<std::int64_t>{20, 20, 20, 30}));
        CHECK(test::refusal<rowan::IndexError>([&](Cpu exec) { rowan::lookup_table(exec, *some, few, {.unknown = 11}); }) ==
              "unknown = 11 is not a row of the table");
        CHECK(test::refusal<rowan::IndexError>([&](Cpu exec) { rowan::lookup_table(exec, *some, few, {.unknown = 31}); }) ==
              "unknown = 31 is not in [0, 31)");
    }
    for (std::int64_t const row : {-1, 3})
        CHECK(test::refusal<rowan::IndexError>([&](Cpu exec) { rowan::lookup_table(exec, table, ids, {.unknown = row}); }) ==
              "unknown = " + std::to_string(row) + " is not in [0, 3)");
}

static_assert(lookup_table_op::infer(tensor_spec<float>({9, 4}), tensor_spec<std::int64_t>({UNK}, 1)) ==
              tensor_spec<float>({UNK, 4}, 1));
static_assert(rowan::lookup_table_grad_op::infer(tensor_spec<float>({9, 4}), tensor_spec<std::int64_t>({UNK}, 1),
                                                 tensor_spec<float>({UNK, 4})) == selected_rows_spec<float>({9, 4}));

}  // namespace test_lookup_table
