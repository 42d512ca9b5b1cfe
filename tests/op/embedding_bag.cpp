// tests/op/embedding_bag.cpp
#include <rowan/op/table/embedding_bag.hpp>
#include <rowan/op/table/weighted_embedding_bag.hpp>

#include "catch.hpp"
#include "op/register_bytes.hpp"
#include "reference.hpp"
#include "sanitizers.hpp"

#include <rowan/op/elementwise/cast.hpp>
#include <rowan/sparse/merge.hpp>
#include <rowan/sparse/quantize_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace test_embedding_bag {

using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::Tensor, rowan::embedding_bag_op;
using rowan::selected_rows_spec, rowan::tensor_spec, rowan::UNK;

namespace {

LoDTensor<std::int64_t> const bags({3, 1, 3, 0, 2, 2}, Lod{{0, 3, 3, 4, 6}});  // [3 1 3] [] [0] [2 2]
Tensor<float> const table{{1, 10}, {2, 20}, {3, 30}, {4, 40}};

/// The bags number by number: sums in blocks of 64, and the first of the largest numbers or of those that are none.
template <class T>
Tensor<T> number_by_number(Tensor<T> const& rows, LoDTensor<std::int32_t> const& ids, Tensor<T> const* weight, bool max) {
    using S = reference::sum_t<T>;
    auto const& offsets = ids.lod()[0];
    auto out = Tensor<T>::zeros({offsets.size() - 1, rows.shape(1)});
    for (std::size_t bag = 0; bag + 1 < offsets.size(); ++bag) {
        for (std::size_t k = 0; k < rows.shape(1); ++k) {
            std::vector<S> x;
            for (auto i = static_cast<std::size_t>(offsets[bag]); i < static_cast<std::size_t>(offsets[bag + 1]); ++i) {
                S const row = rowan::dtype<T>::widen(rows(static_cast<std::size_t>(ids.value()(i)), k));
                x.push_back(weight == nullptr ? row : reference::product(row, S(rowan::dtype<T>::widen((*weight)(i)))));
            }
            if (x.empty()) continue;
            S best = x[0];
            for (S const y : x) best = y > best || (y != y && best == best) ? y : best;
            out(bag, k) = rowan::dtype<T>::narrow(max ? best : reference::block_sum(x));
        }
    }
    return out;
}

template <class T>
void check_bags_of_many_rows(std::size_t width) {
    CAPTURE(width);
    std::vector<std::int64_t> const lengths{3, 0, 1, 63, 64, 65, 128, 4096, 4097, 130, 2};
    auto const lod = Lod::from_lengths({lengths});
    auto const n = static_cast<std::size_t>(lod[0].back());
    auto ids = Tensor<std::int32_t>::from_shape({n});
    auto weight = Tensor<T>::from_shape({n}), rows = Tensor<T>::from_shape({301, width});
    auto const number = [](std::size_t i) { return rowan::dtype<T>::narrow(static_cast<reference::sum_t<T>>(i * 2654435761U % 20011) / 10000 - 1); };
    for (std::size_t i = 0; i < n; ++i) ids(i) = static_cast<std::int32_t>(i * 7919 % 301), weight(i) = number(i + 1);
    for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = number(i);
    rows(7, width / 2) = rowan::dtype<T>::narrow(std::numeric_limits<reference::sum_t<T>>::quiet_NaN());
    LoDTensor<std::int32_t> const narrow(ids, lod);
    LoDTensor<std::int64_t> const wide(rowan::cast<std::int64_t>(Cpu{}, ids), lod);
    for (Pooling const pool : {Pooling::sum, Pooling::max}) {
        auto const pooled = [&](Cpu exec) {
            return std::vector{rowan::embedding_bag(exec, rows, narrow, {pool}).value(), rowan::embedding_bag(exec, rows, wide, weight, {pool}).value()};
        };
        bool const max = pool == Pooling::max;
        CHECK(test::same_bits(pooled(Cpu{3}), std::vector{number_by_number(rows, narrow, static_cast<Tensor<T> const*>(nullptr), max), number_by_number(rows, narrow, &weight, max)}));
        test::check_any_registers([&] { return pooled(Cpu{1}); });
        test::check_any_threads(pooled);
    }
}

}  // namespace

TEST_CASE("bags of many rows have the sums and maxima that are formed number by number", "[op]") {
    for (std::size_t const width : sanitizers::any ? std::vector{3U, 16U, 75U} : std::vector{1U, 3U, 16U, 17U, 64U, 75U, 128U, 261U}) {
        check_bags_of_many_rows<float>(width);
        check_bags_of_many_rows<double>(width);
    }
    check_bags_of_many_rows<rowan::bfloat16>(67);
}

TEST_CASE("bags of rows of few bits have the bits of bags of their numbers, with any registers", "[op]") {
    std::vector<std::int64_t> lengths, list;
    for (std::int64_t b = 0; b < 30; ++b) {
        lengths.push_back(b == 20 ? 70 : b % 6);
        for (std::int64_t i = 0; i < lengths.back(); ++i) list.push_back((b * 31 + i * 17) % 50);
    }
    LoDTensor<std::int64_t> const ids(Tensor<std::int64_t>(list), Lod::from_lengths({lengths}));
    auto const numbers = [](Tensor<float>::shape_type const& shape) {
        auto x = Tensor<float>::from_shape(shape);
        for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 7919 % 2003) / 1000 - 1;
        return x;
    };
    auto const weight = numbers({list.size()});
    for (std::size_t const width : {7U, 24U, 37U}) {
        for (rowan::RowFormat const format : {rowan::RowFormat::int8, rowan::RowFormat::int8_half, rowan::RowFormat::int4}) {
            auto const store = rowan::quantize_rows(numbers({50, width}), format);
            auto const rows = rowan::dequantize_rows(store);
            CAPTURE(width, rowan::format_name(format));
            for (Pooling const pool : {Pooling::sum, Pooling::mean}) {
                auto const pooled = [&](auto const& from) {
                    return std::vector{rowan::embedding_bag(Cpu{1}, from, ids, {.pool = pool}).value(),
                                       rowan::embedding_bag(Cpu{1}, from, ids, weight, {.pool = pool}).value()};
                };
                CHECK(test::same_bits(pooled(store), pooled(rows)));
                test::check_any_registers([&] { return pooled(store); });
            }
        }
    }
}

TEST_CASE("a bag is the sum, the mean, the sum over the root, or the largest elements of its rows", "[op]") {
    CHECK((rowan::embedding_bag(Cpu{}, table, bags).value() == Tensor<float>{{10, 100}, {0, 0}, {1, 10}, {6, 60}}));
    CHECK((rowan::embedding_bag(Cpu{}, table, bags, {Pooling::mean}).value() ==
           Tensor<float>{{10.f / 3, 100.f / 3}, {0, 0}, {1, 10}, {3, 30}}));
    CHECK((rowan::embedding_bag(Cpu{}, table, bags, {Pooling::max}).value() == Tensor<float>{{4, 40}, {0, 0}, {1, 10}, {3, 30}}));
    float const root = static_cast<float>(std::sqrt(3.0)), two = static_cast<float>(std::sqrt(2.0));
    CHECK((rowan::embedding_bag(Cpu{}, table, bags, {Pooling::sqrt}).value() ==
           Tensor<float>{{10 / root, 100 / root}, {0, 0}, {1, 10}, {6 / two, 60 / two}}));
    CHECK(rowan::embedding_bag(Cpu{}, table, bags).lod().empty());
}

TEST_CASE("padding is left out of bags with and without weights, and gets no gradient", "[op]") {
    // torch.nn.functional.embedding_bag(..., padding_idx=3): the bags are [1] [] [0] [2 2]
    CHECK((rowan::embedding_bag(Cpu{}, table, bags, {.pool = Pooling::mean, .padding_id = 3}).value() == Tensor<float>{{2, 20}, {0, 0}, {1, 10}, {3, 30}}));
    CHECK((rowan::embedding_bag(Cpu{}, table, bags, {.pool = Pooling::max, .padding_id = 2}).value() == Tensor<float>{{4, 40}, {0, 0}, {1, 10}, {0, 0}}));
    auto const shorter = rowan::sequence_erase(bags, {3});
    Tensor<float> const weight{5, 2, 7, 3, 4, 1}, kept{2, 3, 4, 1}, out_grad{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
        rowan::BagOptions const plain{pool}, padded{pool, 3};
        CHECK((rowan::embedding_bag(Cpu{}, table, bags, padded) == rowan::embedding_bag(Cpu{}, table, shorter, plain)));
        CHECK((rowan::embedding_bag(Cpu{}, table, bags, weight, padded) == rowan::embedding_bag(Cpu{}, table, shorter, kept, plain)));
        auto const grad = rowan::embedding_bag_grad(Cpu{}, table, bags, out_grad, padded);
        auto const want = rowan::embedding_bag_grad(Cpu{}, table, shorter, out_grad, plain);
        CHECK((std::ranges::equal(grad.rows(), want.rows()) && grad.value() == want.value()));
        auto const [rows, slopes] = rowan::embedding_bag_grad(Cpu{}, table, bags, weight, out_grad, padded);
        auto const [want_rows, want_slopes] = rowan::embedding_bag_grad(Cpu{}, table, shorter, kept, out_grad, plain);
        CHECK((std::ranges::equal(rows.rows(), want_rows.rows()) && rows.value() == want_rows.value()));
        CHECK((slopes == Tensor<float>{0, want_slopes(0), 0, want_slopes(1), want_slopes(2), want_slopes(3)}));
    }
    CHECK_THROWS_WITH(rowan::embedding_bag(Cpu{}, table, bags, {.padding_id = 4}), "padding_id = 4 is not in [0, 4)");
    LoDTensor<std::int64_t> const bad({3, 4}, Lod{{0, 2}});
    CHECK_THROWS_WITH(rowan::embedding_bag(Cpu{}, table, bad, {.padding_id = 3}), "ids[1] = 4 is not in [0, 4)");
}

TEST_CASE("ids that a table does not have count in bags as the row of unknown ones", "[op]") {
    LoDTensor<std::int64_t> const ids({3, -1, 9, 0, 4, 2}, bags.lod()), known({3, 1, 1, 0, 1, 2}, bags.lod());
    Tensor<float> const weight{5, 2, 7, 3, 4, 1}, out_grad{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    rowan::SelectedRows<float> const some(9, {3, 1, 0, 2}, table);
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
        rowan::BagOptions const unknown{.pool = pool, .padding_id = 3, .unknown = 1}, plain{.pool = pool, .padding_id = 3};
        CHECK((rowan::embedding_bag(Cpu{}, table, ids, unknown) == rowan::embedding_bag(Cpu{}, table, known, plain)));
        CHECK((rowan::embedding_bag(Cpu{}, some, ids, unknown) == rowan::embedding_bag(Cpu{}, some, known, plain)));
        CHECK((rowan::embedding_bag(Cpu{}, table, ids, weight, unknown) == rowan::embedding_bag(Cpu{}, table, known, weight, plain)));
        CHECK((rowan::embedding_bag(Cpu{}, some, ids, weight, unknown) == rowan::embedding_bag(Cpu{}, some, known, weight, plain)));
        CHECK((rowan::embedding_bag_grad(Cpu{}, table, ids, out_grad, unknown) == rowan::embedding_bag_grad(Cpu{}, table, known, out_grad, plain)));
        CHECK((rowan::embedding_bag_grad(Cpu{}, some, ids, out_grad, unknown) == rowan::embedding_bag_grad(Cpu{}, some, known, out_grad, plain)));
        CHECK((rowan::embedding_bag_grad(Cpu{}, table, ids, weight, out_grad, unknown) == rowan::embedding_bag_grad(Cpu{}, table, known, weight, out_grad, plain)));
        CHECK((rowan::embedding_bag_grad(Cpu{}, some, ids, weight, out_grad, unknown) == rowan::embedding_bag_grad(Cpu{}, some, known, weight, out_grad, plain)));
        CHECK((rowan::embedding_bag(Cpu{}, table, ids, {.pool = pool, .padding_id = 3, .unknown = 3}) ==
               rowan::embedding_bag(Cpu{}, table, LoDTensor<std::int64_t>({3, 3, 3, 0, 3, 2}, bags.lod()), plain)));
    }
    CHECK_THROWS_WITH(rowan::embedding_bag(Cpu{}, table, ids, {.unknown = 4}), "unknown = 4 is not in [0, 4)");
    CHECK_THROWS_WITH(rowan::embedding_bag(Cpu{}, some, ids, {.unknown = 4}), "unknown = 4 is not a row of the table");
}

TEST_CASE("weighted bags of a table of which some rows exist are those of the table", "[op]") {
    rowan::SelectedRows<float> const some(9, {3, 1, 0, 2}, {{4, 40}, {2, 20}, {1, 10}, {3, 30}});  // the rows of `table`
    Tensor<float> const weight{5, 2, 7, 3, 4, 1}, out_grad{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    for (Pooling const pool : {Pooling::sum, Pooling::mean, Pooling::sqrt, Pooling::max}) {
        rowan::BagOptions const options{.pool = pool, .padding_id = 3};
        CHECK((rowan::embedding_bag(Cpu{}, some, bags, weight, options) == rowan::embedding_bag(Cpu{}, table, bags, weight, options)));
        auto const [rows, slopes] = rowan::embedding_bag_grad(Cpu{}, some, bags, weight, out_grad, options);
        auto const [want_rows, want_slopes] = rowan::embedding_bag_grad(Cpu{}, table, bags, weight, out_grad, options);
        CHECK((std::ranges::equal(rows.rows(), want_rows.rows()) && rows.value() == want_rows.value() && slopes == want_slopes));
    }
    CHECK_THROWS_WITH(rowan::embedding_bag(Cpu{}, some, LoDTensor<std::int64_t>({3, 5}, Lod{{0, 2}}), {1, 1}), "ids[1] = 5 is not a row of the table");
}

TEST_CASE("levels above the bags are kept", "[op]") {
    LoDTensor<std::int32_t> const ids({0, 1, 2}, Lod{{0, 1, 2}, {0, 2, 3}});
    CHECK((rowan::embedding_bag(Cpu{}, table, ids) == LoDTensor<float>({{3, 30}, {3, 30}}, Lod{{0, 1, 2}})));
}

TEST_CASE("the gradient of a bag has a row for each id", "[op]") {
    auto const g = rowan::embedding_bag_grad(Cpu{}, table, bags, {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, {Pooling::sum});
    CHECK((std::vector(g.rows().begin(), g.rows().end()) == std::vector<std::int64_t>{3, 1, 3, 0, 2, 2}));
    CHECK((g.value() == Tensor<float>{{1, 2}, {1, 2}, {1, 2}, {5, 6}, {7, 8}, {7, 8}}));
}

static_assert(embedding_bag_op::infer(tensor_spec<float>({9, 4, 2}), tensor_spec<std::int64_t>({UNK}, 2)) ==
              tensor_spec<float>({UNK, 4, 2}, 1));
static_assert(rowan::embedding_bag_op::infer_backward(tensor_spec<float>({9, 4}), tensor_spec<std::int64_t>({UNK}, 1),
                                               tensor_spec<float>({UNK, 4})) == selected_rows_spec<float>({9, 4}));

}  // namespace test_embedding_bag
