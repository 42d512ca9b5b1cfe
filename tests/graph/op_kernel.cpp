// tests/graph/op_kernel.cpp
#include <rowan/graph/op_kernel.hpp>

#include "catch.hpp"
#include "finite_differences.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/op/elementwise/add.hpp>
#include <rowan/op/elementwise/mul.hpp>
#include <rowan/op/elementwise/sub.hpp>
#include <rowan/op/loss/mse.hpp>
#include <rowan/op/optimizer/clip_by_norm.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/matrix/fc.hpp>
#include <rowan/op/reduce/reduce_sum.hpp>
#include <rowan/op/elementwise/scale.hpp>
#include <rowan/op/elementwise/sum.hpp>
#include <rowan/own_operator.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace test_op_kernel {

using namespace rowan;

TEST_CASE("a kernel has the slots, specs and rows of its operator", "[graph]") {
    op_kernel const& fc = kernel_of<fc_op, Cpu, double, double, double>::value;
    CHECK(fc.name == "fc");
    CHECK(std::ranges::equal(fc.inputs, std::array{"x", "w", "b"}));
    CHECK(std::ranges::equal(fc.outputs, std::array{"out"}));
    std::array const specs{tensor_spec<double>({UNK, 3}, 1), tensor_spec<double>({3, 2}), tensor_spec<double>({2})};
    CHECK((fc.infer(specs, {}) == std::vector{tensor_spec<double>({UNK, 2}, 1)}));
    CHECK(fc.row_inputs(specs, {}) == 1);
    CHECK((fc.row_output({}, 0) && !fc.row_traits({}).sums_rows && !fc.in_place && fc.in_step == nullptr));
    op_kernel const& sum = kernel_of<reduce_sum_op, Cpu, double>::value;
    ReduceOptions const over_rows{{0}}, over_columns{{1}};
    CHECK((!sum.row_output(AttributesRef(over_rows), 0) && sum.row_output(AttributesRef(over_columns), 0)));
    CHECK(kernel_of<bias_grad_op, Cpu, double>::value.row_traits({}).sums_rows);
    op_kernel const& concat = kernel_of<concat_op, Cpu, double>::value;
    attributes_of<concat_op> const columns{.axis = 1}, rows{.axis = 0};
    CHECK((concat.row_traits(AttributesRef(columns)).row_wise && !concat.row_traits(AttributesRef(rows)).row_wise));
}

TEST_CASE("the rules of a kernel state what the operators read and write", "[graph]") {
    auto const rules = kernel_of<fc_op, Cpu, double, double, double>::value.gradient().rules;
    REQUIRE(rules.size() == 3);
    auto const is = [](grad_slot const& s, grad_slot::Kind kind, std::size_t i) { return s.kind == kind && s.index == i; };
    CHECK(rules[0].op->name == "matrix_grad_x");
    CHECK(is(rules[0].reads[0], grad_slot::grad_of_output, 0));
    CHECK(is(rules[0].reads[1], grad_slot::input, 1));
    CHECK(is(rules[0].writes[0], grad_slot::grad_of_input, 0));
    CHECK(rules[2].op->name == "bias_grad");
    CHECK(is(rules[2].writes[0], grad_slot::grad_of_input, 2));
}

TEST_CASE("row inputs and rules follow from the specs of the inputs", "[graph]") {
    op_kernel const& mul = kernel_of<mul_op, Cpu, float, float>::value;
    BroadcastOptions const none, first{.axis = 0};
    std::array const same{tensor_spec<float>({UNK, 3}), tensor_spec<float>({4, 3})}, row{tensor_spec<float>({UNK, 3}), tensor_spec<float>({3})};
    CHECK(mul.row_inputs(same, AttributesRef(none)) == 0b11);
    CHECK(mul.row_inputs(row, AttributesRef(none)) == 0);
    CHECK(mul.row_inputs(same, AttributesRef(first)) == 0);
    auto const [rules, row_rules] = mul.gradient();
    REQUIRE((rules.size() == 2 && row_rules.size() == 2));
    CHECK((rules[1].op->name == "mul_broadcast_grad_y" && row_rules[1].op->name == "mul"));

    Scope scope;
    auto const made = [&](Dims const& dims, std::string_view x_grad, std::string_view y_grad) {
        Variable &x = scope.new_var("", tensor_spec<double>({UNK, 3}), Role::parameter), &y = scope.new_var("", tensor_spec<double>(dims), Role::parameter);
        Variable& cost = *scope.new_op<mse_op, Cpu, double, double>({scope.new_op<sub_op, Cpu, double, double>({&x, &y}).outputs[0], &x}).outputs[0];
        append_backward<double>(cost);
        std::vector<std::string_view> names;
        for (auto const& op : scope.operators()) names.push_back(op->kernel->name);
        CHECK(std::ranges::count(names, x_grad) == 1);
        CHECK(std::ranges::count(names, y_grad) == 1);
    };
    made({4, 3}, "identity", "negate");
    made({3}, "sub_broadcast_grad_x", "sub_broadcast_grad_y");
}

TEST_CASE("a kernel of a list names the position in the list, whatever the kinds of its parts", "[graph][bad_input]") {
    Cpu const device;
    Value out, g = test::value(SelectedRows<float>(4, {1}, {{1}})), tall = test::value(SelectedRows<float>(5, {1}, {{1}}));
    Value x = test::value(LoDTensor<float>(Tensor<float>::zeros({4, 1}))), wide = test::value(LoDTensor<float>(Tensor<float>::zeros({4, 2})));
    Value number = test::value(LoDTensor<float>(Tensor<float>::zeros({}))), cut = test::value(SelectedRows<float>(4, {1}, {{1}}));
    cut.get<SelectedRows<float>>().value() = Tensor<float>{{1}, {2}};
    std::array<Value*, 3> results{&out, &out, &out};
    auto const text = [&](op_kernel const& op, AttributesRef attributes, std::vector<Value*> const& in) -> std::string {
        try {
            op.run({.exec = device, .in = in, .out = results, .attributes = attributes});
        } catch (ShapeError const& e) {
            return e.what();
        }
        return "";
    };
    auto const sum = [&](std::vector<Value*> const& in) { return text(kernel_of<sum_op, Cpu, float>::value, {}, in); };
    CHECK(sum({&g, &g, &wide}) == "x[2].shape() is [4, 2], expected [4, 1]");
    CHECK(sum({&g, &x, &tall}) == "x[2].shape() is [5, 1], expected [4, 1]");
    CHECK(sum({&g, &wide}) == "x[1].shape() is [4, 2], expected [4, 1]");
    CHECK(sum({&x, &wide, &g}) == "x[1].shape() is [4, 2], expected [4, 1]");
    CHECK(sum({&x, &g, &cut}) == "x[2]: value.shape(0) is 2, expected 1, the number of rows");
    CHECK(sum({&g, &cut}) == "x[1]: value.shape(0) is 2, expected 1, the number of rows");
    ClipByNormOptions const options;
    auto const clip = [&](std::vector<Value*> const& in) { return text(kernel_of<clip_by_global_norm_op, Cpu, float>::value, AttributesRef(options), in); };
    CHECK(clip({&g, &x, &number}) == "x[2] rank is 0, expected at least 1");
    CHECK(clip({&x, &g, &cut}) == "x[2]: value.shape(0) is 2, expected 1, the number of rows");
    CHECK(out.empty());
}

TEST_CASE("a kernel runs on values of the kinds that its operator takes", "[graph]") {
    Cpu const device;
    Value out, x = test::value(LoDTensor<double>(Tensor<double>{1, 2})), y = test::value(LoDTensor<double>({3, 4}, Lod{{0, 2}}));
    std::array<Value*, 1> const results{&out};
    std::array<Value*, 2> const inputs{&x, &y};
    BroadcastOptions const none;
    kernel_of<add_op, Cpu, double, double>::value.run({.exec = device, .in = inputs, .out = results, .attributes = AttributesRef(none), .levels_from = 1});
    CHECK(out.get<LoDTensor<double>>() == LoDTensor<double>({4, 6}, Lod{{0, 2}}));
    kernel_of<add_op, Cpu, double, double>::value.run({.exec = device, .in = inputs, .out = results, .attributes = AttributesRef(none)});
    CHECK(out.get<LoDTensor<double>>() == LoDTensor<double>(Tensor<double>{4, 6}));

    op_kernel const& scale = kernel_of<scale_op, Cpu, double>::value;
    attributes_of<scale_op> const twice{.factor = 2};
    x = test::value(SelectedRows<double>(5, {4, 1}, {{1}, {3}}));
    scale.run({.exec = device, .in = std::span(inputs).first(1), .out = results, .attributes = AttributesRef(twice)});
    CHECK(out.get<SelectedRows<double>>() == SelectedRows<double>(5, {4, 1}, {{2}, {6}}));
    x = test::value(LoDTensor<float>(Tensor<float>{1}));
    CHECK_THROWS_AS(scale.run({.exec = device, .in = std::span(inputs).first(1), .out = results, .attributes = AttributesRef(twice)}), TypeError);
}

}  // namespace test_op_kernel
