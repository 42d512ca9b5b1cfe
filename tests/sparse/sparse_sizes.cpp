// tests/sparse/sparse_sizes.cpp: sizes that every function accepts, and sizes for which every function throws.
#include "optimizers.hpp"
#include "refused.hpp"

#include <algorithm>
#include <functional>

namespace test_sparse_sizes {

namespace {

using rowan::Cpu, rowan::RowPlan, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor;
using test::refusal;

Tensor<float> zeros(std::size_t height) { return Tensor<float>::zeros({height, 1}); }

}  // namespace

TEST_CASE("R8: a value that was changed is checked when it is used (CVE-2021-37635)", "[bad_input]") {
    SelectedRows<float> g(337, {1, 2, 3}, zeros(3));
    auto const valid = g;
    auto out = g;
    auto table = zeros(337);
    RowPlan<> const plan(g);
    std::function<void(Cpu)> const uses[] = {
        [&](Cpu e) { merge(e, g); },        [&](Cpu e) { merge_into(e, g, out); },   [&](Cpu e) { merge(e, plan, g.value()); },
        [&](Cpu e) { to_dense(e, g); },     [&](Cpu e) { scatter_add(e, table, g); }, [&](Cpu e) { add(e, g, valid); },
        [&](Cpu e) { add(e, valid, g); },   [&](Cpu e) { add(e, table, g); },         [&](Cpu e) { add(e, g, table); },
        [&](Cpu e) { scale(e, g, 2); },     [&](Cpu e) { retain(e, g, {1}); },        [&](Cpu e) { split(e, g, {337}); },
        [&](Cpu e) { squared_norm(e, g); }, [&](Cpu e) { sgd(e, table, g, 1); },
        [&](Cpu e) { update_rows(e, g, [](auto, auto) {}, table); },
    };
    for (auto const& value : {zeros(2), zeros(4), Tensor<float>::zeros({0}), Tensor<float>::full({}, 1)}) {
        g.value() = value;
        for (auto const& use : uses) refusal<ShapeError>(use, g, valid, out, table);
        for (auto const& optimizer : test::optimizers()) {
            auto s = test::states_for(optimizer, table);
            refusal<ShapeError>([&](Cpu e) { optimizer.sparse(e, table, s, g); }, table, s[0], s[1], s[2]);
        }
    }
    CHECK(refusal<ShapeError>([&](Cpu) { g.shape(); }) == "value rank is 0, expected at least 1");
    g.value() = zeros(3);
    for (auto const& use : uses) CHECK_NOTHROW(use(Cpu{}));
}

TEST_CASE("R25: no rows, no width and no height are sizes that every function takes", "[bad_input]") {
    struct Size {
        std::size_t height, rows, width;
    };
    for (auto const [height, rows, width] : {Size{0, 0, 0}, {0, 0, 3}, {5, 0, 3}, {5, 0, 0}, {5, 4, 0}}) {
        CAPTURE(height, rows, width);
        std::vector<std::int64_t> const ids(rows, 2);
        auto const h = static_cast<std::int64_t>(height);
        auto const table = test::ramp<float>({height, width});
        SelectedRows<float> const g(h, ids, Tensor<float>::zeros({rows, width}));
        auto const distinct = std::min<std::size_t>(rows, 1);
        CHECK(rowan::merge(g).rows().size() == distinct);
        CHECK(rowan::RowPlan<>(g).rows().size() == distinct);
        CHECK(rowan::to_dense(g).shape() == table.shape());
        CHECK(rowan::add(g, table) == table);
        CHECK(rowan::add(g, g).rows().size() == 2 * rows);
        CHECK(rowan::scale(g, 2.0) == g);
        CHECK(rowan::squared_norm(g) == 0);
        CHECK(rowan::retain(g, {}).rows().empty());
        CHECK(rowan::retain(g, ids) == g);
        CHECK(rowan::split(g, {0, h, 0})[1] == g);
        CHECK(rowan::from_dense(Tensor<float>::zeros({height, width})).rows().empty());
        CHECK(rowan::gather(table, ids).shape() == g.value().shape());
        CHECK(rowan::lookup_table_grad(ids, g.value(), h) == g);
        for (auto const& optimizer : test::optimizers()) {
            CAPTURE(optimizer.name);
            auto param = table;
            auto s = test::states_for(optimizer, param);
            optimizer.sparse(Cpu{2}, param, s, g);
            optimizer.planned(Cpu{2}, RowPlan<>(g), param, s, g.value());
            CHECK(param == table);
            optimizer.dense(Cpu{2}, param, s, Tensor<float>::zeros(table.shape()));
            if (optimizer.name != "ftrl") CHECK(param == table);  // ftrl computes a row from its state alone
        }
    }
}

}  // namespace test_sparse_sizes
