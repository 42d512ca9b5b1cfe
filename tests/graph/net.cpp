// tests/graph/net.cpp
#include <rowan/graph/net.hpp>

#include "catch.hpp"
#include "graph/builder.hpp"

#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/optimizer/optimizers.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/own_operator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace test_net {

namespace {

using namespace rowan;
using namespace test;

/// An operator that throws a given error.
struct throw_op {
    static constexpr std::string_view name = "throw";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    using grad = no_grad;
    struct attributes {
        std::function<void()> say;
    };
    static VarSpec infer(VarSpec const& x, attributes const&) { return x; }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, attributes const& a) {
        a.say();
        return x;
    }
};

}  // namespace

TEST_CASE("a net trains", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto& cost = b.mse(b.fc(x, b.parameter("w", {3, 2}, 1), b.parameter("b", {2}, 2)), b.data("y", {UNK, 2}));
    auto const gradients = append_backward<double>(cost);
    std::vector<Variable*> outputs{&cost};
    for (auto const& g : gradients) outputs.push_back(g.gradient);
    auto net = Net<>::trace_and_build(outputs);
    CHECK(std::ranges::equal(net.inputs(), std::array{"x", "w", "b", "y"}, {}, &Variable::name));
    for (auto const& g : gradients) net.append(b.scope.new_op<sgd_op, Cpu, double, double>({g.parameter, g.gradient}, {0.5}));
    auto const input = values({50, 3}, 5);
    b.feed("x", input);
    b.feed("y", fc(input, values({3, 2}, 7), values({2}, 8)));
    net.run(b.scope);
    double const first = tensor(cost).value()(0);
    for (int i = 0; i < 200; ++i) net.run(b.scope);
    CHECK(tensor(cost).value()(0) < 1e-8 * first);
    CHECK(tensor(b.scope.get("w")).value()(2, 1) == Approx(values({3, 2}, 7)(2, 1)).epsilon(1e-3));
}

TEST_CASE("an appended operator may read new inputs, and results that were cleared after the last one before it", "[graph]") {
    Builder b;
    auto& x = b.data("x", {1, 1});
    auto& hidden = b.op<tanh_op, double>({&x});
    auto& out = b.op<tanh_op, double>({&hidden});
    auto net = Net<>::trace_and_build(out);
    auto& y = b.data("y", {1, 1});
    auto& w = b.parameter("w", {1, 1}, 1);
    auto& sum = b.op<add_op, double, double>({&hidden, &y});
    Operator& update = b.scope.new_op<sgd_op, Cpu, double, double>({&w, &sum}, {0.5});
    net.append(*sum.writers()[0]);
    net.append(update);
    CHECK(std::ranges::equal(net.inputs(), std::array{&x, &y, &w}));
    CHECK(std::ranges::equal(net.operators(), std::array{hidden.writers()[0], out.writers()[0], sum.writers()[0], &update}));
    b.feed("x", Tensor<double>{{1}});
    b.feed("y", Tensor<double>{{2}});
    double const before = tensor(w).value()(0, 0);
    bool kept = false;
    net.run(b.scope, Cpu{}, [&](Operator const& op) {
        if (&op == out.writers()[0]) kept = !hidden.value().empty();
    });
    CHECK(kept);
    CHECK((hidden.value().empty() && sum.value().empty()));
    CHECK(tensor(out).value()(0, 0) == Approx(std::tanh(std::tanh(1.0))));
    CHECK(tensor(w).value()(0, 0) == Approx(before - 0.5 * (std::tanh(1.0) + 2)));
}

TEST_CASE("a net run in another scope uses the values of that scope", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 1});
    auto& out = b.op<tanh_op, double>({&x});
    auto const net = Net<>::trace_and_build(out);
    b.feed("x", Tensor<double>{{1}});
    Scope other;
    other.new_var("x", x.spec(), Role::data).value().set(LoDTensor<double>(Tensor<double>{{0}}));
    net.run(other);
    CHECK(tensor(out).value()(0, 0) == 0);
    Scope& inner = other.new_scope();
    net.run(inner);
    CHECK(tensor(out).value()(0, 0) == 0);
}

TEST_CASE("names follow from the net and not from the order in which it was made", "[graph]") {
    for (bool const swapped : {false, true}) {
        Builder b;
        auto& x = b.data("x", {UNK, 2});
        auto const arm = [&] { return &b.op<tanh_op, double>({&x}); };
        Variable* const first = arm();
        Variable* const second = arm();
        auto& sum = b.op<add_op, double, double>({swapped ? second : first, swapped ? first : second});
        static_cast<void>(Net<>::trace_and_build(sum));
        CHECK((swapped ? second : first)->name() == "tanh_0.out_0");
        CHECK(sum.name() == "add_0.out_0");
    }
}

TEST_CASE("invalid nets throw errors with names", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto& w = b.parameter("w", {3, 2}, 1);
    auto& out = b.fc(x, w, b.parameter("b", {2}, 2));
    auto const net = Net<>::trace_and_build(out);
    CHECK_THROWS_WITH(net.run(b.scope), "the variable \"x\" has no value: it is fed by the caller");
    b.feed("x", Tensor<double>{{1, 2}});
    CHECK_THROWS_AS(net.run(b.scope), ShapeError);
    CHECK_THROWS_WITH(net.run(b.scope), "fc(x, w, b): w.shape(0) is 3, expected 2, the width of x");
    x.value().set(LoDTensor<float>(Tensor<float>{{1, 2, 3}}));
    CHECK_THROWS_AS(net.run(b.scope), TypeError);
    b.feed("x", Tensor<double>{{1, 2, 3}});
    net.run(b.scope);  // and a valid batch runs
    CHECK(tensor(out).shape()[0] == 1);

    CHECK_THROWS_AS((b.fc(x, b.parameter("v", {4, 2}, 1), b.scope.get("b"))), ShapeError);
}

TEST_CASE("after a run that fails, the results of the run before are still there", "[graph]") {
    Builder b;
    bool fails = false;
    auto& x = b.data("x", {UNK});
    auto& first = b.op<tanh_op, double>({&x});
    auto& out = b.op<throw_op, double>({&first}, {[&] {
                                           if (fails) throw Error("no");
                                       }});
    auto const net = Net<>::trace_and_build(out);
    b.feed("x", Tensor<double>{0});
    net.run(b.scope);
    b.feed("x", Tensor<double>{1});
    fails = true;
    CHECK_THROWS_AS(net.run(b.scope), Error);
    CHECK(tensor(out).value()(0) == 0);
    CHECK(first.value().empty());
}

TEST_CASE("a net throws, and computes nothing, while another thread uses its variables", "[graph]") {
    Builder b;
    auto& out = b.op<tanh_op, double>({&b.data("x", {UNK})});
    b.feed("x", Tensor<double>{0});
    auto const net = Net<>::trace_and_build(out);
    std::string refusal;
    {
        detail::ScopeUse const use(b.scope);
        std::thread([&] {
            try {
                net.run(b.scope);
            } catch (GraphError const& e) {
                refusal = e.what();
            }
        }).join();
    }
    CHECK(refusal.starts_with("another thread runs or trains a net of this scope"));
    CHECK(out.value().empty());
    net.run(b.scope);
    CHECK(tensor(out).value()(0) == 0);
}

TEST_CASE("an error in an operator names the operator and keeps the text", "[graph]") {
    auto const check = [](auto const& error, std::string const& text) {
        using E = std::remove_cvref_t<decltype(error)>;
        Builder b;
        auto& x = b.data("x", {UNK});
        auto const net = Net<>::trace_and_build(b.op<throw_op, double>({&x}, {[&] { throw error; }}));
        b.feed("x", Tensor<double>{1});
        CHECK_THROWS_AS(net.run(b.scope), E);
        CHECK_THROWS_WITH(net.run(b.scope), text);
    };
    check(ValueError("min", std::nan(""), "a finite number"), "throw(x): min is nan, expected a finite number");
    check(ValueError("x[1] is 2, expected 3", 1e-300, "0, expected by all"), "throw(x): x[1] is 2, expected 3 is 1e-300, expected 0, expected by all");
    check(LodError(1, 2, -3, "is less than the offset before it, 5"), "lod[1][2] = -3 is less than the offset before it, 5, in throw(x)");
    check(IndexError("rows", 1, 9, 4), "throw(x): rows[1] = 9 is not in [0, 4)");
    check(IndexError("order", 2, 1, "is a repeated value"), "throw(x): order[2] = 1 is a repeated value");
    check(IndexError("slots", 3, "was never written"), "throw(x): slots[3] was never written");
    check(ShapeError("x.shape()", "[1]", "[2]"), "throw(x): x.shape() is [1], expected [2]");
    check(TypeError("x", "f32", "f64"), "throw(x): x is f32, expected f64");
    check(Error("param shares memory with grad"), "param shares memory with grad");

    Builder b;
    auto& x = b.data("x", {UNK});
    auto const net = Net<>::trace_and_build(b.op<throw_op, double>({&x}, {[] { throw LodError(1, 2, -3, "is wrong"); }}));
    b.feed("x", Tensor<double>{1});
    try {
        net.run(b.scope);
        FAIL("nothing was thrown");
    } catch (LodError const& e) {
        CHECK(e.level() == 1);
        CHECK(e.position() == 2);
        CHECK(e.value() == -3);
    }
}

TEST_CASE("a net prints itself for Graphviz", "[graph]") {
    Builder b;
    auto& out = b.op<tanh_op, double>({&b.data("x", {UNK, 3}, 1)});
    CHECK(Net<>::trace_and_build(out).dot() ==
          "digraph net {\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n"
          "  op0 [shape=ellipse, label=\"tanh\"];\n"
          "  \"x\" [shape=box, style=rounded, label=\"x\\nLoDTensor<f64> [UNK, 3], levels 1\"];\n"
          "  \"x\" -> op0;\n"
          "  \"tanh_0.out_0\" [shape=plaintext, label=\"tanh_0.out_0\\nLoDTensor<f64> [UNK, 3], levels 1\"];\n"
          "  op0 -> \"tanh_0.out_0\";\n}\n");
}

}  // namespace test_net
