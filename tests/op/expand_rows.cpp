// tests/op/expand_rows.cpp
#include <rowan/op/sequence/expand_rows.hpp>

#include "catch.hpp"

namespace test_expand_rows {

using rowan::Cpu, rowan::expand_rows, rowan::ShapeError, rowan::Tensor;

TEST_CASE("expand_rows repeats a row", "[op][golden]") {
    Tensor<float> const x{{1, 2}, {3, 4}, {5, 7}};
    CHECK((expand_rows(Cpu{}, Tensor<float>{8, 9}, x) == Tensor<float>{{8, 9}, {8, 9}, {8, 9}}));
}

}  // namespace test_expand_rows
