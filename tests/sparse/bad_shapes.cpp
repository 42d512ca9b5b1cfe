// tests/sparse/bad_shapes.cpp: ranks, counts, heights and row shapes that do not fit together.
#include "optimizers.hpp"
#include "refused.hpp"

#include <limits>

namespace test_bad_shapes {

namespace {

using rowan::Cpu, rowan::Ids, rowan::RowPlan, rowan::SelectedRows, rowan::ShapeError, rowan::Tensor;
using test::refused, test::refusal, test::States;

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

SelectedRows<float> gradient() { return {4, {2, 0, 2}, {{1, 2}, {3, 4}, {5, 6}}}; }

}  // namespace

TEST_CASE("SelectedRows refuses what is not one row of value per row", "[bad_input]") {
    auto const value = test::ramp<float>({3, 2});
    auto const make = [&](std::int64_t height, Ids<> rows, Tensor<float> const& v) {
        return refusal<ShapeError>([&](Cpu) { SelectedRows<float>(height, rows, v); }, v);
    };
    CHECK(make(4, {0, 1}, value) == "value.shape(0) is 3, expected 2, the number of rows");
    CHECK(make(4, {0, 1, 2, 3}, value) == "value.shape(0) is 3, expected 4, the number of rows");
    CHECK(make(4, {}, value) == "value.shape(0) is 3, expected 0, the number of rows");
    CHECK(make(4, {0}, Tensor<float>::full({}, 1)) == "value rank is 0, expected at least 1");
    CHECK(make(4, Tensor<std::int64_t>{{0, 1, 2}}, value) == "rows rank is 2, expected 1");
    CHECK(make(4, Tensor<std::int32_t>::zeros({}), value) == "rows rank is 0, expected 1");
    CHECK(make(-1, {0, 1, 2}, value) == "height is -1, expected in [0, 2^63 - 1]");
    CHECK(make(lowest, {0, 1, 2}, value) == "height is -9223372036854775808, expected in [0, 2^63 - 1]");
    CHECK(refusal<ShapeError>([&](Cpu) { SelectedRows<float>(std::uint64_t{1} << 63, {0}, test::ramp<float>({1})); }) ==
          "height is 9223372036854775808, expected in [0, 2^63 - 1]");
    CHECK(make(2, {9, 9}, value) == "value.shape(0) is 3, expected 2, the number of rows");  // counts come before ids
    CHECK_NOTHROW(SelectedRows<float>(4, {0, 1, 3}, value));

    auto const error = refused<ShapeError>([&](Cpu) { SelectedRows<float>(4, {0, 1}, value); });
    CHECK(error.field() == "value.shape(0)");
    CHECK(error.actual() == "3");
    CHECK(error.expected() == "2, the number of rows");
}

TEST_CASE("RowPlan and lookup_table_grad refuse shapes that do not fit", "[bad_input]") {
    Tensor<std::int64_t> const square{{0, 1}, {2, 3}};
    CHECK(refusal<ShapeError>([&](Cpu exec) { RowPlan<>(exec, {0}, -1); }) == "height is -1, expected in [0, 2^63 - 1]");
    CHECK(refusal<ShapeError>([&](Cpu exec) { RowPlan<>(exec, square, 4); }) == "rows rank is 2, expected 1");

    auto const out_grad = test::ramp<float>({2, 2, 3});
    CHECK(lookup_table_grad(square, out_grad, 4).rows().size() == 4);
    CHECK(refusal<ShapeError>([&](Cpu exec) { lookup_table_grad(exec, square, out_grad, -4); }) == "height is -4, expected in [0, 2^63 - 1]");
    CHECK(refusal<ShapeError>([&](Cpu exec) { lookup_table_grad(exec, {0, 1, 2}, out_grad, 4); }, out_grad) ==
          "out_grad.shape() is [2, 2, 3], expected to begin with [3], the shape of ids");
    CHECK(refusal<ShapeError>([&](Cpu exec) { lookup_table_grad(exec, square, test::ramp<float>({2}), 4); }) ==
          "out_grad.shape() is [2], expected to begin with [2, 2], the shape of ids");
    CHECK(refusal<rowan::IndexError>([&](Cpu exec) { lookup_table_grad(exec, square, out_grad, 4, -1); }) ==
          "padding_id[0] = -1 is not in [0, 4)");
    CHECK(refusal<rowan::IndexError>([&](Cpu exec) { lookup_table_grad(exec, square, out_grad, 4, 4); }, out_grad) ==
          "padding_id[0] = 4 is not in [0, 4)");
}

TEST_CASE("gather and scatter_add refuse shapes that do not fit", "[bad_input]") {
    auto table = test::ramp<float>({4, 2});
    auto out = test::ramp<float>({2, 3});
    auto scalar = Tensor<float>::full({}, 1);
    CHECK(refusal<ShapeError>([&](Cpu exec) { gather(exec, scalar, {0}); }, scalar) == "table rank is 0, expected at least 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { gather_into(exec, table, {0, 1}, out); }, table, out) == "out.shape() is [2, 3], expected [2, 2]");
    CHECK(refusal<ShapeError>([&](Cpu exec) { gather_into(exec, table, {0}, scalar); }, table, scalar) == "out.shape() is [], expected [1, 2]");

    auto const rows = test::ramp<float>({2, 2});
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, scalar, {0, 1}, rows); }, scalar) == "dst rank is 0, expected at least 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0}, rows); }, table) == "src.shape(0) is 2, expected 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0, 1, 9}, rows); }, table) == "src.shape(0) is 2, expected 3");
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0, 1}, out); }, table) == "src.shape() is [2, 3], expected [2, 2]");
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0, 1}, scalar); }, table) == "src rank is 0, expected at least 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, table, Tensor<std::int32_t>{{0, 1}}, rows); }, table) == "ids rank is 2, expected 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, table, {0, 1}, test::ramp<float>({2})); }, table) ==
          "src.shape() is [2], expected [2, 2]");

    auto short_table = test::ramp<float>({3, 2});
    auto wide_table = test::ramp<float>({4, 2, 1});
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, short_table, gradient()); }, short_table) == "dst.shape(0) is 3, expected 4");
    CHECK(refusal<ShapeError>([&](Cpu exec) { scatter_add(exec, wide_table, gradient()); }, wide_table) ==
          "dst.shape() is [4, 2, 1], expected [4, 2]");
    CHECK(refusal<ShapeError>([&](Cpu exec) { add(exec, short_table, gradient()); }, short_table) == "dense.shape(0) is 3, expected 4");
    CHECK_NOTHROW(scatter_add(table, {0, 3}, rows));
    CHECK_NOTHROW(scatter_add(table, gradient()));
}

TEST_CASE("merge, add, split and retain refuse shapes that do not fit", "[bad_input]") {
    auto const g = gradient();
    RowPlan<> const plan(g.rows(), 4);
    auto out = gradient();
    CHECK(refusal<ShapeError>([&](Cpu exec) { merge(exec, plan, test::ramp<float>({2, 2})); }, plan) ==
          "value.shape(0) is 2, expected 3, the number of rows");
    CHECK(refusal<ShapeError>([&](Cpu exec) { merge_into(exec, plan, Tensor<float>::full({}, 1), out); }, plan, out) ==
          "value rank is 0, expected at least 1");

    SelectedRows<float> const taller(5, {0}, {{1, 2}});
    SelectedRows<float> const wider(4, {0}, {{1, 2, 3}});
    CHECK(refusal<ShapeError>([&](Cpu exec) { add(exec, g, taller); }, g, taller) == "b.height() is 5, expected 4");
    CHECK(refusal<ShapeError>([&](Cpu exec) { add(exec, g, wider); }, g, wider) == "b.value().shape() is [1, 3], expected [1, 2]");

    CHECK(refusal<ShapeError>([&](Cpu exec) { split(exec, g, {1, -1, 4}); }, g) == "heights[1] is -1, expected 0 or more");
    CHECK(refusal<ShapeError>([&](Cpu exec) { split(exec, g, {1, 4}); }, g) ==
          "heights[1] is 4, expected at most 3, what is left of the height");
    CHECK(refusal<ShapeError>([&](Cpu exec) { split(exec, g, {1, std::numeric_limits<std::int64_t>::max()}); }, g) ==
          "heights[1] is 9223372036854775807, expected at most 3, what is left of the height");
    CHECK(refusal<ShapeError>([&](Cpu exec) { split(exec, g, {1, 2}); }, g) == "sum of heights is 3, expected 4");
    CHECK(refusal<ShapeError>([&](Cpu exec) { split(exec, g, {}); }, g) == "sum of heights is 0, expected 4");
    CHECK(refusal<ShapeError>([&](Cpu exec) { split(exec, g, Tensor<std::int64_t>{{1, 3}}); }, g) == "heights rank is 2, expected 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { retain(exec, g, Tensor<std::int64_t>{{0, 2}}); }, g) == "rows rank is 2, expected 1");
    CHECK(refusal<ShapeError>([&](Cpu exec) { from_dense(exec, Tensor<float>::full({}, 1)); }) == "dense rank is 0, expected at least 1");
    CHECK(rowan::split(g, {0, 1, 0, 3}).size() == 4);
}

TEST_CASE("every optimizer refuses param, state and gradient that do not match", "[bad_input]") {
    auto const g = gradient();
    RowPlan<> const plan(g.rows(), 4);
    auto const dense = rowan::to_dense(g);
    for (auto const& optimizer : test::optimizers()) {
        CAPTURE(optimizer.name);
        auto const refuse = [&](Tensor<float> param, States s, std::string const& text) {
            CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.sparse(e, param, s, g); }, param, s[0], s[1], s[2]) == text);
            CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.dense(e, param, s, dense); }, param, s[0], s[1], s[2]) == text);
            CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.planned(e, plan, param, s, g.value()); }, param, s[0], s[1], s[2]) == text);
        };
        for (auto const& [shape, text] : {std::pair<Tensor<float>::shape_type, char const*>{{3, 2}, "param.shape(0) is 3, expected 4"},
                                          {{5, 2}, "param.shape(0) is 5, expected 4"},
                                          {{4, 3}, "param.shape() is [4, 3], expected [4, 2]"},
                                          {{4}, "param.shape() is [4], expected [4, 2]"},
                                          {{4, 2, 1}, "param.shape() is [4, 2, 1], expected [4, 2]"}}) {
            auto const param = test::ramp<float>(shape);
            refuse(param, test::states_for(optimizer, param), text);
        }
        auto param = test::ramp<float>({4, 2});
        for (std::size_t k = 0; k < optimizer.state.size(); ++k) {
            auto s = test::states_for(optimizer, param);
            s[k] = test::ramp<float>({4, 1});
            refuse(param, s, optimizer.state_per_row ? "moment rank is 2, expected 1: one number per row"
                                                     : optimizer.state[k] + ".shape() is [4, 1], expected [4, 2], the shape of param");
            s[k] = test::ramp<float>({3});
            refuse(param, s, optimizer.state_per_row ? "moment.shape(0) is 3, expected 4"
                                                     : optimizer.state[k] + ".shape() is [3], expected [4, 2], the shape of param");
        }
        auto s = test::states_for(optimizer, param);
        CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.planned(e, plan, param, s, test::ramp<float>({2, 2})); }, param, s[0]) ==
              "value.shape(0) is 2, expected 3, the number of rows");
        CHECK(refusal<ShapeError>([&](Cpu e) { optimizer.dense(e, param, s, Tensor<float>::full({}, 1)); }, param, s[0]) ==
              "grad rank is 0, expected at least 1");
        CHECK_NOTHROW(optimizer.sparse(Cpu{}, param, s, g));
        CHECK_NOTHROW(optimizer.dense(Cpu{}, param, s, dense));
        CHECK_NOTHROW(optimizer.planned(Cpu{}, plan, param, s, g.value()));
    }
}

TEST_CASE("update_rows refuses a state of another height, however its rows are shaped", "[bad_input]") {
    auto const g = gradient();
    auto param = test::ramp<float>({4, 2});
    auto counts = Tensor<std::int64_t>::zeros({4});
    auto short_counts = Tensor<std::int64_t>::zeros({3, 7});
    auto const rule = [](std::span<float const>, std::span<float>, std::span<std::int64_t> count) { count[0] += 1; };
    CHECK(refusal<ShapeError>([&](Cpu e) { update_rows(e, g, rule, param, short_counts); }, param, short_counts) ==
          "state 0.shape(0) is 3, expected 4");
    CHECK(refusal<ShapeError>([&](Cpu e) { update_rows(e, rowan::to_dense(g), rule, param, short_counts); }, param, short_counts) ==
          "state 0.shape(0) is 3, expected 4");
    update_rows(g, rule, param, counts);
    CHECK(counts == Tensor<std::int64_t>{1, 0, 1, 0});
}

TEST_CASE("a tensor refuses shapes that no memory holds and lists of unequal length", "[bad_input]") {
    constexpr std::size_t huge = std::size_t{1} << 62;
    Tensor<float> t{{1, 2}, {3, 4}};
    for (Tensor<float>::shape_type const& shape : {Tensor<float>::shape_type{huge, 4}, {huge}, {~std::size_t{0}, 2}, {huge + 1, 4}, {0, huge, huge}}) {
        CHECK_THROWS_AS(Tensor<float>::from_shape(shape), ShapeError);
        refused<ShapeError>([&](Cpu) { t.resize(shape); }, t);
        refused<ShapeError>([&](Cpu) { t.reshape(shape); }, t);
        refused<ShapeError>([&](Cpu) { t.reshaped(shape); }, t);
    }
    CHECK(refusal<ShapeError>([&](Cpu) { t.reshaped({3}); }, t) == "reshaped shape is [3], expected 4 elements");
    CHECK(refusal<ShapeError>([&](Cpu) { t.reshape({-1, 3}); }, t) == "reshape shape is [1, 3], expected 4 elements");
    CHECK(refusal<ShapeError>([&](Cpu) { t.reshape({-1, 0}); }, t) == "reshape shape is [0, 0], expected 4 elements");
    CHECK(t.reshape({-1, 1}).shape() == Tensor<float>::shape_type{4, 1});
    CHECK_THROWS_AS((Tensor<float>{{1, 2}, {3}}), ShapeError);
    CHECK_THROWS_AS((Tensor<float>{{{1}}, {{2, 3}}}), ShapeError);
    CHECK_THROWS_AS((Tensor<float>{{1, 2}, 3}), ShapeError);
    CHECK_THROWS_AS(Tensor<float>::full({}, 1).row(0), ShapeError);
    CHECK_THROWS_AS(Tensor<float>::full({}, 1).slice(0, 0), ShapeError);
    refused<ShapeError>([&](Cpu) { t += Tensor<float>::zeros({2, 4, 1}); }, t);
}

}  // namespace test_bad_shapes
