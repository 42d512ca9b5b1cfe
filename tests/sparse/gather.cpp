// tests/sparse/gather.cpp: rows of a table, copied as they are.
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/lookup_table_grad.hpp>
#include <rowan/sparse/to_dense.hpp>

#include "reference.hpp"
#include "refused.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace test_gather {

using inputs::Rows, inputs::Shape;
using rowan::Cpu, rowan::gather, rowan::Tensor;

namespace {

template <class T>
bool is_gathered(Tensor<T> const& out, Tensor<T> const& table, Rows const& ids) {
    if (out.size() != ids.size() * table.row_size()) return false;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        auto const row = table.row(static_cast<std::size_t>(ids[i]));
        if (!row.empty() && std::memcmp(out.data() + i * row.size(), row.data(), row.size_bytes()) != 0) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("gather gives the rows that ids name, in their order", "[gather]") {
    Tensor<float> const table{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}};
    CHECK((gather(table, {1, 3, 1}) == Tensor<float>{{2, 3}, {6, 7}, {2, 3}}));
    CHECK((gather(Cpu{.threads = 2}, table, {5, 0}) == Tensor<float>{{10, 11}, {0, 1}}));
}

TEST_CASE("the result has the shape of the ids, then that of a row", "[gather]") {
    Tensor<float> const table{{{1}, {2}}, {{3}, {4}}};
    CHECK(gather(table, {1, 0, 1}).shape() == Shape{3, 2, 1});
    CHECK(gather(table, Tensor<std::int32_t>{{1, 0}, {1, 1}, {0, 0}}).shape() == Shape{3, 2, 2, 1});
    CHECK((gather(table, Tensor<std::int32_t>{{1}, {0}}) == Tensor<float>{{{{3}, {4}}}, {{{1}, {2}}}}));
    CHECK((gather(table, Tensor<std::int64_t>::full({}, 1)) == Tensor<float>{{3}, {4}}));
    CHECK(gather(table, Tensor<std::int64_t>::from_shape({4, 0})).shape() == Shape{4, 0, 2, 1});
    CHECK((gather(Tensor<float>{5, 6, 7}, {2, 0}) == Tensor<float>{7, 5}));
}

TEST_CASE("empty ids, rows and tables are valid", "[gather]") {
    CHECK(gather(Tensor<float>::from_shape({0, 3}), {}).shape() == Shape{0, 3});
    CHECK(gather(Tensor<float>::from_shape({4, 0}), {3, 3}).shape() == Shape{2, 0});
    CHECK(gather(Tensor<float>{{1, 2}}, {}).shape() == Shape{0, 2});
}

TEMPLATE_TEST_CASE("every element type is gathered bit for bit, at all sizes", "[gather]", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool, rowan::bfloat16, rowan::float16) {
    inputs::for_sizes<TestType>([](auto const& g) {
        auto const table = inputs::wild<TestType>(g.shape(), 3);
        Rows const ids(g.rows().begin(), g.rows().end());
        CHECK(is_gathered(gather(table, ids), table, ids));
        std::vector<std::int32_t> const narrow(ids.begin(), ids.end());
        CHECK(is_gathered(gather(Cpu{.threads = 3}, table, narrow), table, ids));
    });
}

TEST_CASE("outputs larger than the caches have the same rows", "[gather]") {
    for (std::size_t width : std::vector<std::size_t>{64, 65, 80}) {
        auto const table = inputs::wild<float>({100, width}, 3);
        Rows ids(40'000);
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i * 7 % 100);
        for (int threads : {1, 2}) CHECK(is_gathered(gather(Cpu{threads}, table, ids), table, ids));
    }
}

TEST_CASE("NaN payloads, negative zeros and denormals are copied unchanged", "[gather]") {
    Tensor<std::int32_t> const bits{{0x7F800001, -0x7FFFFF, std::int32_t{1}}, {INT32_MIN, 0x7FC12345, 0x7F800000}};
    auto table = Tensor<float>::from_shape({2, 3});
    std::memcpy(table.data(), bits.data(), 24);
    auto const out = gather(table, {1, 0});
    CHECK((std::memcmp(out.data(), bits.data() + 3, 12) == 0 && std::memcmp(out.data() + 3, bits.data(), 12) == 0));
}

TEST_CASE("gather_into writes to its output only", "[gather]") {
    Tensor<float> const table{{1, 2, 3}, {4, 5, 6}};
    auto around = Tensor<float>::full({6, 3}, -7);
    auto out = around.slice(1, 5);  // begins at no multiple of 16 bytes
    rowan::gather_into(table, {1, 1, 0, 1}, out);
    CHECK((around == Tensor<float>{{-7, -7, -7}, {4, 5, 6}, {4, 5, 6}, {1, 2, 3}, {4, 5, 6}, {-7, -7, -7}}));
    rowan::gather_into(Cpu{.threads = 2}, table, {0, 0, 0, 0}, out);
    CHECK((around.slice(3, 6) == Tensor<float>{{1, 2, 3}, {1, 2, 3}, {-7, -7, -7}}));
}

TEST_CASE("gather and lookup_table_grad are adjoint", "[gather][property]") {
    CHECK(rc::check([] {
        auto const g = inputs::arbitrary_gradient<std::int64_t>(5, 2);
        auto const table = inputs::wild<std::int64_t>({5, 2}, *rc::gen::arbitrary<std::uint64_t>());
        auto const inner = [](auto const& a, auto const& b) {
            std::uint64_t sum = 0;  // wraps around, in which it is still linear
            for (std::size_t i = 0; i < a.size(); ++i) {
                sum += static_cast<std::uint64_t>(a.data()[i]) * static_cast<std::uint64_t>(b.data()[i]);
            }
            return sum;
        };
        auto const grad = rowan::lookup_table_grad(g.rows(), g.value(), 5);
        RC_ASSERT(inner(gather(table, g.rows()), g.value()) == inner(table, rowan::to_dense(grad)));
    }));
}

TEST_CASE("gather refuses shapes that do not fit", "[gather][bad_input]") {
    auto const table = test::ramp<float>({4, 2});
    auto out = test::ramp<float>({2, 3});
    auto scalar = Tensor<float>::full({}, 1);
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { gather(exec, scalar, {0}); }, scalar) == "table rank is 0, expected at least 1");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { gather_into(exec, table, {0, 1}, out); }, table, out) == "out.shape() is [2, 3], expected [2, 2]");
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { gather_into(exec, table, {0}, scalar); }, table, scalar) == "out.shape() is [], expected [1, 2]");

    auto const most = Tensor<float>::zeros(Shape(Tensor<float>::max_rank, 1));
    CHECK(gather(most, {0}).dimension() == Tensor<float>::max_rank);
    CHECK(test::refusal<rowan::ShapeError>([&](Cpu exec) { gather(exec, most, Tensor<std::int64_t>{{0}}); }, most) == "rank is 9, expected at most 8");
}

TEST_CASE("gather_into throws if the output shares memory with table or ids", "[gather][bad_input]") {
    auto table = test::ramp<float>({6, 2});
    auto out = table.slice(1, 3);
    CHECK(test::refusal<rowan::Error>([&](Cpu e) { gather_into(e, table, {4, 5}, out); }, table) == "out shares memory with table");
    auto ids = Tensor<std::int64_t>{{2}, {1}, {0}};
    auto const flat = ids.reshaped({3});
    auto const ones = Tensor<std::int64_t>::full({3, 1}, 1);
    CHECK(test::refusal<rowan::Error>([&](Cpu e) { gather_into(e, ones, flat, ids); }, ids) == "out shares memory with ids");

    auto lower = table.slice(3, 6);  // the same block, other rows
    gather_into(table.slice(0, 3), {2, 1, 0}, lower);
    CHECK(table == Tensor<float>{{0, 0.125}, {0.25, 0.375}, {0.5, 0.625}, {0.5, 0.625}, {0.25, 0.375}, {0, 0.125}});
}

}  // namespace test_gather
