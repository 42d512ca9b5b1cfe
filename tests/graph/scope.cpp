// tests/graph/scope.cpp
#include <rowan/graph/scope.hpp>

#include "catch.hpp"
#include "graph/builder.hpp"

#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/table/lookup_table.hpp>
#include <rowan/op/sequence/sequence_pool.hpp>
#include <rowan/op/elementwise/tanh.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace test_scope {

using namespace rowan;
using namespace test;

TEST_CASE("an operator with another number of inputs than slots throws", "[graph][bad]") {
    Builder net;
    Variable& x = net.data("x", {2, 3});
    CHECK_THROWS_WITH((net.op<mse_op, double, double>({&x})), "mse has 1 inputs, expected 2");
    CHECK_THROWS_WITH((net.op<tanh_op, double>({&x, &x})), "tanh has 2 inputs, expected 1");
    CHECK(net.scope.operators().empty());
}

TEST_CASE("a scope is free again if another thread uses the one around it", "[graph]") {
    Scope outer;
    Scope& inner = outer.new_scope();
    detail::ScopeUse const use(outer);
    std::string refusal;
    std::thread([&] {
        try {
            detail::ScopeUse const second(inner);
        } catch (GraphError const& e) {
            refusal = e.what();
        }
    }).join();
    CHECK(refusal == "another thread runs or trains a net of this scope: use a Predictor, or a scope for each thread");
    CHECK_NOTHROW([&] { detail::ScopeUse const third(inner); }());
}

TEST_CASE("a destroyed scope removes its operators from the readers of other variables", "[graph]") {
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

TEST_CASE("scopes that read the same variables forget them in any order, and a withdrawn operator leaves all lists", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK});
    Scope first(b.scope), second(b.scope);
    std::vector<Operator const*> of_second;
    for (int i = 0; i < 3; ++i) {
        first.new_op<add_op, Cpu, double, double>({&x, &x});
        of_second.push_back(&second.new_op<add_op, Cpu, double, double>({&x, &x}));
        of_second.push_back(of_second.back());
    }
    first.forget_readers();
    CHECK(std::ranges::equal(x.readers(), of_second));
    {
        detail::ScopeRollback const rollback(second);
        second.new_op<add_op, Cpu, double, double>({&x, second.operators()[0]->outputs[0]});
    }
    CHECK(std::ranges::equal(x.readers(), of_second));
    CHECK(second.operators()[0]->outputs[0]->readers().empty());
    second.forget_readers();
    CHECK(x.readers().empty());
}

TEST_CASE("the default scope belongs to the thread, or to a guard", "[graph]") {
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
}

TEST_CASE("an error about a name that no variable has gives the nearest one", "[graph][errors]") {
    Builder b;
    b.data("label", {1});
    b.data("table", {1});
    Scope& inner = b.scope.new_scope();
    CHECK_THROWS_WITH(inner.get(""), "there is no variable \"\"");
    CHECK_THROWS_WITH(inner.get("lable"), "there is no variable \"lable\" (did you mean label?)");
    CHECK_THROWS_WITH(inner.get("tables"), "there is no variable \"tables\" (did you mean table?)");
    CHECK_THROWS_WITH(inner.get("able"), "there is no variable \"able\" (did you mean table?)");
    CHECK_THROWS_WITH(inner.get("labours"), "there is no variable \"labours\"");
}

TEST_CASE("a name is unique in a scope, and hides the same name in the parent scope", "[graph]") {
    Builder b;
    Variable& x = b.data("x", {1});
    CHECK_THROWS_WITH(b.data("x", {1}), "the scope has a variable \"x\" already");
    CHECK_THROWS_WITH(b.scope.get("z"), "there is no variable \"z\"");
    CHECK(b.scope.find("z") == nullptr);
    Variable& nameless = b.scope.new_var("", x.spec());
    CHECK(nameless.name().empty());
    CHECK_THROWS_WITH(b.scope.set_name(nameless, "x"), "the scope has a variable \"x\" already");
    b.scope.set_name(nameless, "z", false);
    CHECK(&b.scope.get("z") == &nameless);
    CHECK((x.has_own_name() && !nameless.has_own_name()));

    Scope& inner = b.scope.new_scope();
    CHECK(inner.parent() == &b.scope);
    CHECK(inner.find("x") == &x);
    CHECK(inner.new_var("x", tensor_spec<float>({2})).spec().dims == Dims{2});
    CHECK(inner.find("x") != &x);
    CHECK(b.scope.scopes() == 1);
    b.scope.drop_scopes();
    CHECK(b.scope.scopes() == 0);
    CHECK(b.scope.variables().size() == 2);
}

TEST_CASE("an operator takes the levels of the first input with the most, and is the only writer of its result", "[graph]") {
    Builder b;
    auto &table = b.data("table", {5, 2}), &ids = b.data<std::int64_t>("ids", {UNK}, 1);
    Operator& rows = b.scope.new_op<lookup_table_op, Cpu, double, std::int64_t>({&table, &ids});
    CHECK(rows.levels_from == 1);
    CHECK(ids.readers()[0] == &rows);
    Variable& text = *rows.outputs[0];
    Operator& pool = b.scope.new_op<sequence_pool_op, Cpu, double>({&text}, {Pooling::sum});
    CHECK(pool.levels_from == -1);

    Variable& result = b.scope.new_var("result", tensor_spec<float>({7}));
    b.scope.write_to(rows, 0, result);
    CHECK(rows.outputs[0] == &result);
    CHECK(result.spec() == text.spec());
    CHECK(result.writers()[0] == &rows);
    CHECK_THROWS_WITH(b.scope.write_to(pool, 0, result), "sequence_pool: its result is also written by another operator");
    CHECK(pool.outputs[0] != &result);
}

TEST_CASE("an initializer writes a value from a seed, and can be empty", "[graph]") {
    CHECK_FALSE(Initializer());
    Initializer const make([](Value& v, std::optional<std::uint64_t> seed, AnyExec) {
        v.set(LoDTensor<double>(Tensor<double>{seed ? static_cast<double>(*seed) : -1}));
    });
    CHECK(make);
    Value v;
    make(v, 7);
    CHECK(v.get<LoDTensor<double>>().value() == Tensor<double>{7});
    make(v, std::nullopt);
    CHECK(v.get<LoDTensor<double>>().value() == Tensor<double>{-1});
}

}  // namespace test_scope
