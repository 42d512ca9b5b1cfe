// tests/op/expand_rows.cpp
#include <rowan/op/sequence/expand_rows.hpp>

#include "refused.hpp"

namespace test_expand_rows {

using rowan::Cpu, rowan::expand_rows, rowan::ShapeError, rowan::Tensor;

TEST_CASE("expand_rows repeats a row", "[op][golden]") {
    Tensor<float> const x{{1, 2}, {3, 4}, {5, 7}};
    CHECK((expand_rows(Cpu{}, Tensor<float>{8, 9}, x) == Tensor<float>{{8, 9}, {8, 9}, {8, 9}}));
}

TEST_CASE("expand_rows refuses tensors without rows, and rows of another shape", "[op][bad]") {
    Tensor<float> const x{{1, 2}}, row{1}, number = Tensor<float>::full({}, 1);
    CHECK(test::refusal<ShapeError>([&](Cpu e) { expand_rows(e, row, number); }, row, number) == "like rank is 0, expected at least 1");
    CHECK(test::refusal<ShapeError>([&](Cpu e) { expand_rows(e, row, x); }, row, x) ==
          "row.shape() is [1], expected that of the rows of like, [1, 2]");
}

}  // namespace test_expand_rows
