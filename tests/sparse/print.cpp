// tests/sparse/print.cpp: what <rowan/sparse.hpp> alone gives: row-sparse tensors as text, and MemoryPool.
#include <rowan/sparse.hpp>

#include "catch.hpp"

#include <sstream>

namespace test_sparse_print {

TEST_CASE("a SelectedRows is printed with its height, rows and value", "[print]") {
    std::ostringstream out;
    out << rowan::SelectedRows<float>(6, {4, 1}, {{1, 2}, {3, 4}}) << rowan::Tensor<float>{5};
    CHECK(out.str() == "height 6, rows [4, 1], value\n[[1, 2],\n [3, 4]][5]");
}

TEST_CASE("sparse.hpp has a MemoryPool", "[print]") {
    rowan::MemoryPool pool;
    rowan::MemoryPool::Guard const guard(pool);
    rowan::Tensor<float>::zeros({1000});
    CHECK(pool.kept() != 0);
}

}  // namespace test_sparse_print
