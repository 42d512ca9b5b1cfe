// tests/graph/net.cpp
#include <rowan/graph/net.hpp>

#include "catch.hpp"
#include "inputs.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/op/concat.hpp>
#include <rowan/op/accuracy.hpp>
#include <rowan/op/add.hpp>
#include <rowan/op/elementwise_mul.hpp>
#include <rowan/op/fc.hpp>
#include <rowan/op/lookup_table.hpp>
#include <rowan/op/mse.hpp>
#include <rowan/op/sgd.hpp>
#include <rowan/op/tanh.hpp>
#include <rowan/sparse/to_dense.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <type_traits>

namespace test_net {

namespace {

using namespace rowan;

Tensor<double> values(Tensor<double>::shape_type const& shape, std::uint64_t seed) {
    inputs::Random random(seed);
    auto t = Tensor<double>::from_shape(shape);
    for (double& x : t) x = (static_cast<double>(random.below(2'000'001)) - 1e6) / 1'000'003;
    return t;
}

/// A net of doubles, built by hand.
struct Builder {
    Scope scope;

    Variable& parameter(char const* name, Tensor<double>::shape_type const& shape, std::uint64_t seed) {
        Dims dims;
        for (std::size_t const d : shape) dims.push_back(static_cast<std::int64_t>(d));
        Variable& v = scope.new_var(name, tensor_spec<double>(dims), Role::parameter);
        v.value().set(LoDTensor<double>(values(shape, seed)));
        return v;
    }
    template <class T = double>
    Variable& data(char const* name, Dims const& dims, std::size_t levels = 0) {
        return scope.new_var(name, tensor_spec<T>(dims, levels), Role::data);
    }
    template <class Op, class... T>
    Variable& op(std::vector<Variable*> inputs, attributes_of<Op> attributes = {}) {
        return *scope.new_op<Op, Cpu, T...>(std::move(inputs), std::move(attributes)).outputs[0];
    }
    Variable& fc(Variable& x, Variable& w, Variable& b) { return op<fc_op, double, double, double>({&x, &w, &b}); }
    Variable& mse(Variable& x, Variable& y) { return op<mse_op, double, double>({&x, &y}); }
};

LoDTensor<double>& tensor(Variable& v) { return v.value().get<LoDTensor<double>>(); }

Tensor<double> dense(Variable const& v) {
    if (v.value().is<SelectedRows<double>>()) return to_dense(v.value().get<SelectedRows<double>>());
    return v.value().get<LoDTensor<double>>().value();
}

/// Throws what it is told to.
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

/// Compares every gradient with central differences of the cost.
void check(Builder& b, Variable& cost) {
    auto const forward = Net<>::trace_and_build(cost);
    auto const gradients = append_backward<double>(cost);
    std::vector<Variable*> outputs{&cost};
    for (auto const& g : gradients) outputs.push_back(g.gradient);
    Net<>::trace_and_build(outputs).run(b.scope);
    std::vector<Tensor<double>> found;
    for (auto const& g : gradients) found.push_back(dense(*g.gradient));
    for (std::size_t p = 0; p < gradients.size(); ++p) {
        Tensor<double>& w = tensor(*gradients[p].parameter).value();
        REQUIRE(found[p].shape() == w.shape());
        for (std::size_t k = 0; k < w.size(); ++k) {
            double const before = w.data()[k], step = 1e-5;
            auto const loss = [&](double x) {
                w.data()[k] = x;
                forward.run(b.scope);
                return tensor(cost).value()(0);
            };
            double const numeric = (loss(before + step) - loss(before - step)) / (2 * step);
            w.data()[k] = before;
            CAPTURE(gradients[p].parameter->name(), k, numeric, found[p].data()[k]);
            CHECK(std::abs(numeric - found[p].data()[k]) <= 1e-8 * (1 + std::abs(numeric)));
        }
    }
}

}  // namespace

TEST_CASE("an operator with another number of inputs than slots throws", "[graph][bad]") {
    Builder net;
    Variable& x = net.data("x", {2, 3});
    CHECK_THROWS_WITH((net.op<mse_op, double, double>({&x})), "mse has 1 inputs, expected 2");
    CHECK_THROWS_WITH((net.op<tanh_op, double>({&x, &x})), "tanh has 2 inputs, expected 1");
    CHECK(net.scope.operators().empty());
}

TEST_CASE("a net runs its operators in order, and every gradient is that of central differences", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto& h = b.op<tanh_op, double>({&b.fc(x, b.parameter("w1", {3, 4}, 1), b.parameter("b1", {4}, 2))});
    auto& cost = b.mse(b.fc(h, b.parameter("w2", {4, 2}, 3), b.parameter("b2", {2}, 4)), b.data("y", {UNK, 2}));
    x.value().set(LoDTensor<double>(values({5, 3}, 5)));
    b.scope.get("y").value().set(LoDTensor<double>(values({5, 2}, 6)));
    check(b, cost);
}

TEST_CASE("a variable that is read more than once gets the sum of its gradients", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto &w = b.parameter("w", {3, 3}, 1), &bias = b.parameter("b", {3}, 2);
    auto& once = b.fc(x, w, bias);
    auto& twice = b.fc(once, w, bias);  // arms of unequal length
    auto& product = b.op<elementwise_mul_op, double, double>({&twice, &twice});
    auto& joined = b.op<concat_op, double>({&once, &product, &once}, {.axis = 1});
    auto& cost = b.mse(joined, b.data("y", {UNK, 9}));
    x.value().set(LoDTensor<double>(values({4, 3}, 5)));
    b.scope.get("y").value().set(LoDTensor<double>(values({4, 9}, 6)));
    check(b, cost);
}

TEST_CASE("the gradient of a table stays row-sparse, and is dense where the table is a weight, too", "[graph]") {
    for (bool const tied : {false, true}) {
        Builder b;
        auto& ids = b.data<std::int64_t>("ids", {UNK}, 1);
        auto& table = b.parameter("table", {5, 3}, 1);
        auto& rows = b.op<lookup_table_op, double, std::int64_t>({&table, &ids});
        auto& again = b.op<lookup_table_op, double, std::int64_t>({&table, &ids});
        auto& h = b.op<add_op, double, double>({&rows, &again});
        auto& out = tied ? b.op<mul_nt_op, double, double>({&h, &table}) : h;
        auto& cost = b.mse(out, b.data("y", {UNK, tied ? 5 : 3}));
        ids.value().set(LoDTensor<std::int64_t>({4, 0, 4, 1}, Lod{{0, 1, 4}}));
        b.scope.get("y").value().set(LoDTensor<double>(values({4, tied ? 5u : 3u}, 6)));
        auto const gradients = append_backward<double>(cost);
        REQUIRE(gradients.size() == 1);
        std::array const outputs{&rows, gradients[0].gradient};
        Net<>::trace_and_build(outputs).run(b.scope);
        CHECK(gradients[0].gradient->value().is<SelectedRows<double>>() == !tied);
        CHECK((tensor(rows).lod() == Lod{{0, 1, 4}}));  // levels follow the rows
        if (!tied) CHECK(gradients[0].gradient->value().get<SelectedRows<double>>().rows().size() == 8);
        check(b, cost);
    }
}

TEST_CASE("a net trains", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto& cost = b.mse(b.fc(x, b.parameter("w", {3, 2}, 1), b.parameter("b", {2}, 2)), b.data("y", {UNK, 2}));
    auto const gradients = append_backward<double>(cost);
    std::vector<Variable*> outputs{&cost};
    for (auto const& g : gradients) outputs.push_back(g.gradient);
    auto net = Net<>::trace_and_build(outputs);
    for (auto const& g : gradients) net.append(b.scope.new_op<sgd_op, Cpu, double, double>({g.parameter, g.gradient}, {0.5}));
    auto const input = values({50, 3}, 5);
    x.value().set(LoDTensor<double>(input));
    b.scope.get("y").value().set(LoDTensor<double>(fc(input, values({3, 2}, 7), values({2}, 8))));
    net.run(b.scope);
    double const first = tensor(cost).value()(0);
    for (int i = 0; i < 200; ++i) net.run(b.scope);
    CHECK(tensor(cost).value()(0) < 1e-8 * first);
    CHECK(tensor(b.scope.get("w")).value()(2, 1) == Approx(values({3, 2}, 7)(2, 1)).epsilon(1e-3));
}

TEST_CASE("what no parameter needs is not computed", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto& cost = b.mse(b.fc(x, b.parameter("w", {3, 2}, 1), b.parameter("b", {2}, 2)), b.data("y", {UNK, 2}));
    std::vector<Variable*> outputs{&cost};
    for (auto const& g : append_backward<double>(cost)) outputs.push_back(g.gradient);
    std::vector<std::string_view> names;
    auto const net = Net<>::trace_and_build(outputs);
    for (Operator const* op : net.operators()) names.push_back(op->kernel->name);
    CHECK(std::ranges::count(names, "mul_tn") == 1);
    CHECK(std::ranges::count(names, "mul_nt") == 0);  // of x
}

TEST_CASE("a net run in another scope uses the values of that scope", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 1});
    auto& out = b.op<tanh_op, double>({&x});
    auto const net = Net<>::trace_and_build(out);
    x.value().set(LoDTensor<double>(Tensor<double>{{1}}));
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

TEST_CASE("nets that cannot run are refused, with names", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto& w = b.parameter("w", {3, 2}, 1);
    auto& out = b.fc(x, w, b.parameter("b", {2}, 2));
    auto const net = Net<>::trace_and_build(out);
    CHECK_THROWS_WITH(net.run(b.scope), "the variable \"x\" has no value: it is fed by the caller");
    x.value().set(LoDTensor<double>(Tensor<double>{{1, 2}}));
    CHECK_THROWS_AS(net.run(b.scope), ShapeError);
    CHECK_THROWS_WITH(net.run(b.scope), "fc(x, w, b): w.shape(0) is 3, expected 2, the width of x");
    x.value().set(LoDTensor<float>(Tensor<float>{{1, 2, 3}}));
    CHECK_THROWS_AS(net.run(b.scope), TypeError);
    x.value().set(LoDTensor<double>(Tensor<double>{{1, 2, 3}}));
    net.run(b.scope);  // and a good batch runs
    CHECK(tensor(out).shape()[0] == 1);

    CHECK_THROWS_AS((b.fc(x, b.parameter("v", {4, 2}, 1), b.scope.get("b"))), ShapeError);
    CHECK_THROWS_WITH(b.data("x", {1}), "the scope has a variable \"x\" already");
    CHECK_THROWS_WITH(b.scope.get("z"), "there is no variable \"z\"");
    CHECK_THROWS_WITH(append_backward<double>(x), "x does not depend on a parameter: there is nothing to train");
}

TEST_CASE("an error of an operator names it, and says what it said", "[graph]") {
    auto const check = [](auto const& error, std::string const& text) {
        using E = std::remove_cvref_t<decltype(error)>;
        Builder b;
        auto& x = b.data("x", {UNK});
        auto const net = Net<>::trace_and_build(b.op<throw_op, double>({&x}, {[&] { throw error; }}));
        x.value().set(LoDTensor<double>(Tensor<double>{1}));
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
    x.value().set(LoDTensor<double>(Tensor<double>{1}));
    try {
        net.run(b.scope);
        FAIL("nothing was thrown");
    } catch (LodError const& e) {
        CHECK(e.level() == 1);
        CHECK(e.position() == 2);
        CHECK(e.value() == -3);
    }
}

TEST_CASE("a scope that goes takes its operators from the readers of others", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK});
    auto& stays = b.op<tanh_op, double>({&x});
    {
        Scope inner(b.scope);
        Variable& mine = *inner.new_op<add_op, Cpu, double, double>({&x, &x}).outputs[0];
        inner.new_op<tanh_op, Cpu, double>({&mine});
        CHECK(x.readers().size() == 3);
        inner.forget_readers();
        CHECK(mine.readers().size() == 1);
    }
    REQUIRE(x.readers().size() == 1);
    CHECK(x.readers()[0] == stays.writers()[0]);
}

TEST_CASE("the default scope is the thread's own, or a guard's", "[graph]") {
    Scope& own = default_scope();
    Scope mine;
    {
        ScopeGuard const guard(mine);
        CHECK(&default_scope() == &mine);
        Scope inner;
        ScopeGuard const again(inner);
        CHECK(&default_scope() == &inner);
    }
    CHECK(&default_scope() == &own);
    Scope& child = mine.new_scope();
    Variable& v = mine.new_var("v", tensor_spec<float>({1}));
    CHECK(child.find("v") == &v);
    CHECK(child.new_var("v", tensor_spec<float>({2})).spec().dims[0] == 2);  // hides the outer one
    CHECK(child.parent() == &mine);
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
