// tests/layer/elementwise.cpp
#include <rowan/layer/elementwise.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/compare.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace test_elementwise {

using namespace rowan;

TEST_CASE("an axis aligns y with the dims of x, as in Paddle", "[layer][golden]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 3, 2}, 1), y = layer::data("y", {3}), z = layer::data("z", {UNK});
    Tensor<float> const a{{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}};
    Feeds const feeds{{"x", LoDTensor<float>(a, Lod{{0, 0, 2}})}, {"y", Tensor<float>{2, -4, 6}}, {"z", Tensor<float>{1, 10}}};
    auto const gives = [&](auto const& out, auto const& want) {
        auto const found = test::run(out, feeds);
        CHECK(found.value() == want);
        CHECK(found.lod() == Lod{{0, 0, 2}});
        CHECK(out->spec().dims == Dims{UNK, 3, 2});
    };
    using Truth = Tensor<bool>;
    gives(layer::add(x, y, {.axis = 1}), Tensor<float>{{{3, 4}, {-1, 0}, {11, 12}}, {{9, 10}, {5, 6}, {17, 18}}});
    gives(layer::sub(x, z, {.axis = 0}), Tensor<float>{{{0, 1}, {2, 3}, {4, 5}}, {{-3, -2}, {-1, 0}, {1, 2}}});
    gives(layer::mul(x, y, {.axis = 1}), Tensor<float>{{{2, 4}, {-12, -16}, {30, 36}}, {{14, 16}, {-36, -40}, {66, 72}}});
    gives(layer::div(x, y, {.axis = 1}), Tensor<float>{{{0.5F, 1}, {-0.75F, -1}, {5 / 6.0F, 1}}, {{3.5F, 4}, {-2.25F, -2.5F}, {11 / 6.0F, 2}}});
    gives(layer::maximum(x, z, {.axis = 0}), Tensor<float>{{{1, 2}, {3, 4}, {5, 6}}, {{10, 10}, {10, 10}, {11, 12}}});
    gives(layer::minimum(x, y, {.axis = 1}), Tensor<float>{{{1, 2}, {-4, -4}, {5, 6}}, {{2, 2}, {-4, -4}, {6, 6}}});
    gives(layer::less(x, z, {.axis = 0}), Truth{{{false, false}, {false, false}, {false, false}}, {{true, true}, {true, false}, {false, false}}});
    gives(layer::greater_equal(x, y, {.axis = 1}), Truth{{{false, true}, {true, true}, {false, true}}, {{true, true}, {true, true}, {true, true}}});
    gives(layer::greater(x, z, {.axis = 0}), Truth{{{false, true}, {true, true}, {true, true}}, {{false, false}, {false, false}, {true, true}}});
    gives(layer::equal(x, y, {.axis = 1}), Truth{{{false, true}, {false, false}, {false, true}}, {{false, false}, {false, false}, {false, false}}});
    gives(layer::less(x, x, {.axis = 0}), Truth::zeros({2, 3, 2}));
    gives(layer::where(layer::less(x, y, {.axis = 1}), layer::scale(x, -1), x), Tensor<float>{{{-1, 2}, {3, 4}, {-5, 6}}, {{7, 8}, {9, 10}, {11, 12}}});
    gives(layer::where(layer::greater(x, 5), 5, x), Tensor<float>{{{1, 2}, {3, 4}, {5, 5}}, {{5, 5}, {5, 5}, {5, 5}}});
    gives(layer::where(layer::greater(x, 5), x, 0), Tensor<float>{{{0, 0}, {0, 0}, {0, 6}}, {{7, 8}, {9, 10}, {11, 12}}});
}

TEST_CASE("the levels of a broadcast result are those of the value that has the rows", "[layer]") {
    test::DefaultScope scope;
    auto const one = layer::data("one", {1, 2}, 1), row = layer::data("row", {1, 2}), x = layer::data("x", {UNK, 2}, 1), deep = layer::data("deep", {2, UNK, 2}, 1);
    Feeds const feeds{{"one", LoDTensor<float>({{1, 2}}, Lod{{0, 1}})}, {"row", Tensor<float>{{3, 4}}}, {"x", LoDTensor<float>({{5, 6}, {7, 8}}, Lod{{0, 0, 2}})}, {"deep", LoDTensor<float>(Tensor<float>::zeros({2, 2, 2}), Lod{{0, 1, 2}})}};
    auto const lod = [&](layer::Var<float> const& out) {
        auto const made = test::run(out, feeds).lod();
        CHECK(made.levels() == out->spec().lod_level);
        return made;
    };
    CHECK(lod(one + x) == Lod{{0, 0, 2}});
    CHECK(lod(x + one) == Lod{{0, 0, 2}});
    CHECK(lod(one + row) == Lod{{0, 1}});
    CHECK(lod(one + layer::reduce_sum(row, {.axes = {1}, .keep_dims = true})) == Lod{{0, 1}});
    CHECK(lod(row + one).empty());  // of x, as for one shape
    CHECK(lod(x + deep) == Lod{{0, 1, 2}});
    CHECK(lod(deep + x) == Lod{{0, 1, 2}});
    CHECK(lod(one + layer::drop_levels(x)).empty());
}

TEST_CASE("layers broadcast weights, in nets and in steps, and the gradients are summed to their shapes", "[layer]") {
    test::DefaultScope scope;
    auto const w = test::parameter({5, 4}, 1), b = test::parameter({4}, 2, "b"), c = test::parameter({1, 4}, 3, "c"), d = test::parameter({5, 1}, 4, "d");
    auto const target = layer::data<double>("target", {UNK, 4}, 1);
    test::set(*target, LoDTensor<double>(test::values({5, 4}, 3), Lod{{0, 2, 2, 5}}));
    test::check_net(layer::mse((w + b) * c - layer::maximum(d, b) / layer::exp(layer::minimum(c, d)), target));

    auto const x = layer::data<double>("x", {UNK, 4}, 1);
    test::set(*x, LoDTensor<double>(test::values({5, 4}, 6), Lod{{0, 2, 2, 5}}));
    auto const states = layer::rnn(x, 4, [&](auto x_t, auto before) {
        auto const now = layer::tanh((x_t + before) * c + b) * layer::fc(x_t, {.output_size = 1});
        return layer::Step{now, now};
    });
    test::check_net(layer::mse(states, target));
    CHECK((states + b)->spec() == tensor_spec<double>({UNK, 4}, 1));
}

TEST_CASE("rows that may be as many are not broadcast when a run tells that they are not", "[layer][bad]") {
    test::DefaultScope scope;
    auto const a = layer::fc(layer::data<double>("a", {UNK, 3}), {.output_size = 2}), b = layer::fc(layer::data<double>("b", {UNK, 3}), {.output_size = 2});
    test::set(*default_scope().find("a"), LoDTensor<double>(test::values({4, 3}, 1)));
    test::set(*default_scope().find("b"), LoDTensor<double>(test::values({1, 3}, 2)));
    auto const out = a + b;
    for (auto const& v : default_scope().variables()) {
        if (v->role() == Role::parameter) test::set(*v, LoDTensor<double>(test::values(v->spec().dims.size() == 1 ? Tensor<double>::shape_type{2} : Tensor<double>::shape_type{3, 2}, 3)));
    }
    std::array<Variable*, 1> const all{&*out};
    auto const net = Net<>::trace_and_build(all);
    CHECK_THROWS_WITH(net.run(scope), Catch::Matchers::StartsWith("add(") && Catch::Matchers::EndsWith("y.shape(0) is 1, expected 4"));
}

TEST_CASE("rows [UNK, 1] beside [UNK] are refused when the net is built, with the ways out", "[layer][bad]") {
    test::DefaultScope scope;
    auto const column = layer::data("column", {UNK, 1}), row = layer::data("row", {UNK}), table = layer::data("table", {UNK, 1, 3});
    auto const rows = layer::data("rows", {UNK, 3});
    std::string const rest = "[UNK, 1], or each row would meet every other: layer::reshape, or layer::data(\"";
    auto const refused = [&](char const* what, char const* name) {
        return std::string(what) + ".shape() is [UNK], expected as many dims as " + rest + name + "\", {UNK, 1}); for all pairs, layer::reshape to [1, ...]";
    };
    CHECK_THROWS_WITH(layer::fc(rows, {.output_size = 1}) - row, refused("sub: y", "y"));
    CHECK_THROWS_WITH(column - row, refused("sub: y", "y"));
    CHECK_THROWS_WITH(row - column, refused("sub: x", "x"));
    CHECK_THROWS_WITH(column + row, refused("add: y", "y"));
    CHECK_THROWS_WITH(row * column, refused("mul: x", "x"));
    CHECK_THROWS_WITH(column / row, refused("div: y", "y"));
    CHECK_THROWS_WITH(layer::maximum(column, row), refused("maximum: y", "y"));
    CHECK_THROWS_WITH(layer::less(column, row), refused("less: y", "y"));
    CHECK_THROWS_WITH(layer::equal(row, column), refused("equal: x", "x"));
    CHECK_THROWS_WITH(layer::logical_and(layer::less(row, 0), layer::less(column, 0)), refused("logical_and: x", "x"));
    CHECK_THROWS_WITH(layer::where(layer::less(row, 0), column, 1), refused("where: condition", "condition"));
    CHECK_THROWS_WITH(layer::where(layer::less(column, 0), row, 0), refused("where: x", "x"));
    CHECK_THROWS_WITH(layer::where(layer::less(column, 0), column, row), refused("where: y", "y"));
    CHECK_THROWS_WITH(table - rows,
                      "sub: y.shape() is [UNK, 3], expected as many dims as [UNK, 1, 3], or each row would meet every other: "
                      "layer::reshape, or layer::data(\"y\", {UNK, 1, 3}); for all pairs, layer::reshape to [1, ...]");
    Feeds const feeds{{"column", Tensor<float>{{3}, {5}}}, {"row", Tensor<float>{1, 2}}};
    CHECK(test::run(column - layer::reshape(row, {-1, 1}), feeds).value() == Tensor<float>{{2}, {3}});
    CHECK(test::run(layer::sub(column, row, {.axis = 0}), feeds).value() == Tensor<float>{{2}, {3}});
    CHECK(test::run(column - layer::reshape(row, {1, -1}), feeds).value() == Tensor<float>{{2, 1}, {4, 3}});
    CHECK((layer::data("a", {3, 1}) - layer::data("b", {3}))->spec().dims == Dims{3, 3});
    CHECK((column - layer::data("c", {3}))->spec().dims == Dims{UNK, 3});
    CHECK((rows - layer::data("d", {3}))->spec().dims == Dims{UNK, 3});
}

TEST_CASE("Vars and numbers are added, subtracted, multiplied and divided", "[layer]") {
    test::DefaultScope scope;
    auto const x = test::parameter({3, 2}, 1, "x"), y = test::parameter({3, 2}, 2, "y");
    test::set(*x, LoDTensor<double>(Tensor<double>{{1, 2}, {3, -4}, {-1, 8}}));
    test::set(*y, LoDTensor<double>(Tensor<double>{{2, -2}, {4, 1}, {2, 16}}));
    auto const is = [&](layer::Var<double> const& out, Tensor<double> const& want) {
        Net<>::trace_and_build(*out).run(scope);
        CHECK(out->value().get<LoDTensor<double>>().value() == want);
        test::check_net(layer::mse(out, layer::full<double>({3, 2}, 1)));
    };
    is(x + y, {{3, 0}, {7, -3}, {1, 24}});
    is(x - y, {{-1, 4}, {-1, -5}, {-3, -8}});
    is(x * y, {{2, -4}, {12, -4}, {-2, 128}});
    is(x / y, {{0.5, -1}, {0.75, -4}, {-0.5, 0.5}});
    is(-x, {{-1, -2}, {-3, 4}, {1, -8}});
    is(x + 1, {{2, 3}, {4, -3}, {0, 9}});
    is(1 + x, {{2, 3}, {4, -3}, {0, 9}});
    is(x - 1.5f, {{-0.5, 0.5}, {1.5, -5.5}, {-2.5, 6.5}});
    is(1 - x, {{0, -1}, {-2, 5}, {2, -7}});
    is(x * 2, {{2, 4}, {6, -8}, {-2, 16}});
    is(2 * x, {{2, 4}, {6, -8}, {-2, 16}});
    is(layer::scale(x, {.factor = 2, .bias = 0.5}) - layer::clip(x, 0, 2.5), {{1.5, 2.5}, {4, -7.5}, {-1.5, 14}});
    is(layer::sum({x, y, x}), {{4, 2}, {10, -7}, {0, 32}});
    is(x / 2, {{0.5, 1}, {1.5, -2}, {-0.5, 4}});
    is(2 / y, {{1, -1}, {0.5, 2}, {1, 0.125}});
    is(layer::where(layer::less(x, y), x * 2, y), {{2, -2}, {6, -8}, {-2, 16}});
    CHECK_THROWS_WITH(x + test::parameter({3, 3}, 1), "add: y.shape(1) is 3, expected 2");
}

}  // namespace test_elementwise
