// tests/graph/backward.cpp
#include <rowan/graph/backward.hpp>

#include "catch.hpp"
#include "graph/builder.hpp"

#include <rowan/op/loss/accuracy.hpp>
#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/table/lookup_table.hpp>
#include <rowan/op/shape/reshape.hpp>
#include <rowan/op/elementwise/tanh.hpp>
#include <rowan/op/shape/transpose.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace test_backward {

using namespace rowan;
using namespace test;

TEST_CASE("gradients of a net equal central differences", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto& h = b.op<tanh_op, double>({&b.fc(x, b.parameter("w1", {3, 4}, 1), b.parameter("b1", {4}, 2))});
    auto& cost = b.mse(b.fc(h, b.parameter("w2", {4, 2}, 3), b.parameter("b2", {2}, 4)), b.data("y", {UNK, 2}));
    b.feed("x", values({5, 3}, 5));
    b.feed("y", values({5, 2}, 6));
    check_net(cost);
}

TEST_CASE("a variable that is read several times gets the sum of its gradients", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto &w = b.parameter("w", {3, 3}, 1), &bias = b.parameter("b", {3}, 2);
    auto& once = b.fc(x, w, bias);
    auto& twice = b.fc(once, w, bias);  // arms of unequal length
    auto& product = b.op<mul_op, double, double>({&twice, &twice});
    auto& joined = b.op<concat_op, double>({&once, &product, &once}, {.axis = 1});
    auto& cost = b.mse(joined, b.data("y", {UNK, 9}));
    b.feed("x", values({4, 3}, 5));
    b.feed("y", values({4, 9}, 6));
    check_net(cost);
}

TEST_CASE("the gradient of a table is row-sparse, and dense if the table is also a weight", "[graph]") {
    for (bool const tied : {false, true}) {
        Builder b;
        auto& ids = b.data<std::int64_t>("ids", {UNK}, 1);
        auto& table = b.parameter("table", {5, 3}, 1);
        auto& rows = b.op<lookup_table_op, double, std::int64_t>({&table, &ids});
        auto& again = b.op<lookup_table_op, double, std::int64_t>({&table, &ids});
        auto& h = b.op<add_op, double, double>({&rows, &again});
        auto& out = tied ? b.op<matmul_op, double, double>({&h, &table}, {.transpose_y = true}) : h;
        auto& cost = b.mse(out, b.data("y", {UNK, tied ? 5 : 3}));
        ids.value().set(LoDTensor<std::int64_t>({4, 0, 4, 1}, Lod{{0, 1, 4}}));
        b.feed("y", values({4, tied ? 5u : 3u}, 6));
        auto const gradients = append_backward<double>(cost);
        REQUIRE(gradients.size() == 1);
        std::array const outputs{&rows, gradients[0].gradient};
        Net<>::trace_and_build(outputs).run(b.scope);
        CHECK(gradients[0].gradient->value().is<SelectedRows<double>>() == !tied);
        CHECK((tensor(rows).lod() == Lod{{0, 1, 4}}));  // levels follow the rows
        if (!tied) CHECK(gradients[0].gradient->value().get<SelectedRows<double>>().rows().size() == 8);
        check_net(cost);
    }
}

TEST_CASE("a table that is computed has a dense gradient, unless its operator passes rows on", "[graph]") {
    for (int const k : {0, 1, 2, 3, 4, 5, 6}) {
        Builder b;
        auto& w = b.parameter("w", {4, 3}, 1);
        auto& both = b.op<add_op, double, double>({&w, &w});
        auto& table = k == 0   ? b.op<transpose_op, double>({&both})
                      : k == 1 ? b.op<reshape_op, double>({&w}, {.shape = {2, 6}})
                      : k == 2 ? b.op<squeeze_op, double>({&b.op<unsqueeze_op, double>({&w}, {.axes = {1}})}, {.axes = {1}})
                      : k == 3 ? b.op<tanh_op, double>({&both})
                      : k == 4 ? b.op<concat_op, double>({&w, &w}, {.axis = 1})
                      : k == 5 ? b.op<matmul_op, double, double>({&w, &w}, {.transpose_y = true})
                               : both;
        auto& ids = b.data<std::int64_t>("ids", {UNK});
        auto& rows = b.op<lookup_table_op, double, std::int64_t>({&table, &ids});
        auto& again = b.op<lookup_table_op, double, std::int64_t>({&table, &ids});
        auto const width = table.spec().dims[1];
        auto& cost = b.mse(b.op<mul_op, double, double>({&rows, &again}), b.data("y", {UNK, width}));
        ids.value().set(LoDTensor<std::int64_t>({1, 0, 1}));
        b.feed("y", values({3, static_cast<std::size_t>(width)}, 6));
        CHECK((append_backward<double>(cost)[0].gradient->spec().type == VarType::SELECTED_ROWS) == (k == 6));
        check_net(cost);
    }
}

TEST_CASE("gradients that no parameter needs are not computed", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    auto& cost = b.mse(b.fc(x, b.parameter("w", {3, 2}, 1), b.parameter("b", {2}, 2)), b.data("y", {UNK, 2}));
    std::vector<Variable*> outputs{&cost};
    for (auto const& g : append_backward<double>(cost)) outputs.push_back(g.gradient);
    std::vector<std::string_view> names;
    auto const net = Net<>::trace_and_build(outputs);
    for (Operator const* op : net.operators()) names.push_back(op->kernel->name);
    CHECK(std::ranges::count(names, "matrix_grad_y") == 1);
    CHECK(std::ranges::count(names, "matrix_grad_x") == 0);  // of x
}

TEST_CASE("append_backward throws if a net cannot be trained", "[graph]") {
    Builder b;
    auto& x = b.data("x", {UNK, 3});
    CHECK_THROWS_WITH(append_backward<double>(x), "x does not depend on a parameter: there is nothing to train");
    auto& share = b.op<accuracy_op, double, std::int64_t>({&b.parameter("w", {2, 3}, 1), &b.data<std::int64_t>("label", {UNK})});
    CHECK_THROWS_WITH(append_backward<double>(share),
                      "operator accuracy has no gradient for its input w, on which a result without a name depends");
    CHECK(b.scope.operators().size() == 1);
    CHECK(b.scope.variables().size() == 4);
    CHECK(share.readers().empty());
}

}  // namespace test_backward
