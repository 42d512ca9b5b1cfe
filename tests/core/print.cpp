// tests/core/print.cpp: tensors as text.
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/print.hpp>

#include "catch.hpp"

#include <cstdint>
#include <sstream>
#include <string>

namespace test_print {

using rowan::Tensor;

namespace {

template <class T>
std::string text(Tensor<T> const& t) {
    std::ostringstream out;
    out << t;
    return out.str();
}

}  // namespace

TEST_CASE("a tensor is printed with a row per line", "[print]") {
    CHECK(text(Tensor<float>{1, 2.5, -3}) == "[1, 2.5, -3]");
    CHECK(text(Tensor<std::int64_t>{{1, 2}, {3, 4}}) == "[[1, 2],\n [3, 4]]");
    CHECK(text(Tensor<double>{{{1}, {2}}, {{3}, {4}}}) == "[[[1],\n  [2]],\n [[3],\n  [4]]]");
    CHECK(text(Tensor<float>()) == "[]");
    CHECK(text(Tensor<float>::full({}, 7)) == "7");
    CHECK(text(Tensor<float>::zeros({2, 0})) == "[[],\n []]");
}

TEST_CASE("bytes, bools and 16-bit floats are printed as numbers", "[print]") {
    CHECK(text(Tensor<std::uint8_t>{65, 10}) == "[65, 10]");
    CHECK(text(Tensor<bool>{true, false}) == "[1, 0]");
    CHECK(text(Tensor<rowan::bfloat16>{1.5, -2}) == "[1.5, -2]");
}

TEST_CASE("of a large tensor the first and last elements of each dim are printed", "[print]") {
    CHECK(text(Tensor<std::int32_t>::full({1001}, 5)) == "[5, 5, 5, …, 5, 5, 5]");
    auto t = Tensor<std::int32_t>::zeros({7, 200});
    t(6, 199) = 9;
    auto const row = std::string("[0, 0, 0, …, 0, 0, 0],\n ");
    CHECK(text(t) == "[" + row + row + row + "…,\n " + row + row + "[0, 0, 0, …, 0, 0, 9]]");
}

}  // namespace test_print
