// tests/op/sum_rows.cpp
#include <rowan/op/sum_rows.hpp>

#include "any_threads.hpp"
#include "check_gradients.hpp"
#include "refused.hpp"

namespace test_sum_rows {

using rowan::Cpu, rowan::expand_rows, rowan::ShapeError, rowan::sum_rows, rowan::Tensor;

TEST_CASE("sum_rows adds the rows, and expand_rows repeats one", "[op][golden]") {
    Tensor<float> const x{{1, 2}, {3, 4}, {5, 7}};
    CHECK((sum_rows(Cpu{}, x) == Tensor<float>{9, 13}));
    CHECK((expand_rows(Cpu{}, Tensor<float>{8, 9}, x) == Tensor<float>{{8, 9}, {8, 9}, {8, 9}}));
    test::check_gradients<rowan::expand_rows_op>(std::tuple(test::values({2}, 1), test::values({3, 2}, 2)));
    auto const wide = inputs::wild<float>({rowan::detail::serial_below / 3, 5}, 3);
    test::check_any_threads([&](Cpu exec) { return sum_rows(exec, wide); });
    test::check_any_threads([&](Cpu exec) { return expand_rows(exec, Tensor<float>{1, 2, 3, 4, 5}, wide); });
}

TEST_CASE("sum_rows and expand_rows refuse what has no rows, and rows of another shape", "[op][bad]") {
    Tensor<float> const x{{1, 2}}, row{1}, number = Tensor<float>::full({}, 1);
    CHECK(test::refusal<ShapeError>([&](Cpu e) { sum_rows(e, number); }, number) == "x rank is 0, expected at least 1");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { expand_rows(e, row, number); }, row, number) == "like rank is 0, expected at least 1");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { expand_rows(e, row, x); }, row, x) ==
          "row.shape() is [1], expected that of the rows of like, [1, 2]");
}

}  // namespace test_sum_rows
