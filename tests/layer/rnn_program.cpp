// tests/layer/rnn_program.cpp: the recurrent programs of the design documents.
#include <rowan/layer/rnn_program.hpp>

#include "catch.hpp"
#include "finite_differences.hpp"

#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/own_operator.hpp>

namespace test_rnn_program {

namespace {

using namespace rowan;
using namespace test;

Lod const lod = Lod::from_lengths({{0, 1, 5, 5, 2}});

struct own_op : tanh_op {  // a custom operator with the name of a layer's operator
    static constexpr std::string_view name = "add_to";
};

}  // namespace

TEST_CASE("a custom operator is not mistaken for add_to because of its name", "[rnn_program]") {
    DefaultScope scope;
    auto const x = fed("x", LoDTensor<float>(Tensor<float>(xt::cast<float>(values({13, 2}, 1))), lod));
    auto const run = [&](auto const& step) {
        auto const out = layer::rnn({.input = x, .step_net = step, .concat_output = true});
        Net<>::trace_and_build(*out).run(scope);
        return out->value().template get<LoDTensor<float>>().value().share();
    };
    Tensor<float> const own = run(layer::apply<own_op>({}, layer::add_to(layer::tensor(), nullptr)));
    CHECK(own == run(layer::tanh(layer::add_to(layer::tensor(), nullptr))));
}

TEST_CASE("the recurrent program equals the function form", "[rnn_program]") {
    DefaultScope scope;
    auto const x = fed("x", LoDTensor<float>(Tensor<float>(xt::cast<float>(values({13, 2}, 1))), lod));
    auto const memory = layer::tensor();
    auto const out = layer::rnn({.input = layer::fc(x, {.output_size = 4}),
                                 .step_net = layer::fc(layer::add_to(memory, nullptr), {.output_size = 3}),
                                 .concat_output = true});
    CHECK((out->spec().dims == Dims{UNK, 3} && out->spec().lod_level == 1));
    CHECK((memory->spec().dims == Dims{UNK, 4}));
    auto const net = Net<>::trace_and_build(std::array{&*out, &*memory});
    initialize(net, 1);
    net.run(scope);

    auto const p = [&](char const* name) { return scope.get(name).value().get<LoDTensor<float>>().value().share(); };
    auto const& rows = x->value().get<LoDTensor<float>>().value();
    Tensor<float> const input = fc(rows, p("fc_0.w_0"), p("fc_0.b_0"));
    REQUIRE(out->writers()[0]->inputs.size() == 3);  // x, and weight and bias of the step
    auto const& w = out->writers()[0]->inputs[1]->value().get<LoDTensor<float>>().value();
    auto const& b = out->writers()[0]->inputs[2]->value().get<LoDTensor<float>>().value();
    auto const& found = out->value().get<LoDTensor<float>>().value();
    auto const& last = memory->value().get<LoDTensor<float>>().value();
    REQUIRE(last.shape(0) == 5);
    for (std::size_t s = 0; s < 5; ++s) {
        auto sum = Tensor<float>::zeros({1, 4});
        for (auto r = static_cast<std::size_t>(lod[0][s]); r < static_cast<std::size_t>(lod[0][s + 1]); ++r) {
            for (std::size_t k = 0; k < 4; ++k) sum(0, k) += input(r, k);
            CHECK(Tensor<float>(found.slice(r, r + 1)) == fc(sum, w, b));
        }
        CHECK(Tensor<float>(last.slice(s, s + 1)) == sum);
    }
}

TEST_CASE("gradients through the recurrent program, its memory, and its last step alone", "[rnn_program]") {
    for (bool const concat : {true, false}) {
        DefaultScope scope;
        auto const memory = layer::tensor<double>();
        auto const out = layer::rnn(layer::RnnProgram<double>{
            .input = layer::fc(fed("x", LoDTensor<double>(values({13, 2}, 1), lod)), {.output_size = 3}),
            .step_net = layer::tanh(layer::fc(layer::add_to(memory, nullptr), {.output_size = 2})),
            .concat_output = concat});
        auto const rows = concat ? 13u : 5u;
        check_gradients(layer::add(layer::mse(out, fed("y", LoDTensor<double>(values({rows, 2}, 2)))),
                                   layer::mse(layer::fc(memory, {.output_size = 1}), fed("z", LoDTensor<double>(values({5, 1}, 3))))));
    }
}

TEST_CASE("a memory can keep a value computed in the step", "[rnn_program]") {
    DefaultScope scope;
    auto const memory = layer::tensor<double>();
    auto const ones = layer::tensor<double>();  // a second memory, to which the first one is added
    auto const now = layer::add_to(memory, nullptr);
    auto const out = layer::rnn(layer::RnnProgram<double>{
        .input = fed("x", LoDTensor<double>(Tensor<double>{{1}, {1}, {1}, {2}, {2}}, Lod{{0, 3, 5}})), .step_net = layer::add_to(ones, now)});
    Net<>::trace_and_build(std::array{&*out, &*memory, &*ones}).run(scope);
    CHECK((out->value().get<LoDTensor<double>>().value() == Tensor<double>{{1}, {3}, {6}, {2}, {6}}));
    CHECK((memory->value().get<LoDTensor<double>>().value() == Tensor<double>{{3}, {4}}));
    CHECK((ones->value().get<LoDTensor<double>>().value() == Tensor<double>{{6}, {6}}));
}

TEST_CASE("the last step of a reversed program is the first row", "[rnn_program]") {
    DefaultScope scope;
    auto const memory = layer::tensor<double>();
    auto const out = layer::rnn(layer::RnnProgram<double>{.input = fed("x", LoDTensor<double>(Tensor<double>{{1}, {10}, {100}, {5}}, Lod{{0, 3, 4}})),
                                                          .step_net = layer::add_to(memory, nullptr),
                                                          .concat_output = false,
                                                          .reverse = true});
    Net<>::trace_and_build(std::array{&*out, &*memory}).run(scope);
    CHECK((out->value().get<LoDTensor<double>>().value() == Tensor<double>{{111}, {5}}));
    CHECK((memory->value().get<LoDTensor<double>>().value() == Tensor<double>{{111}, {5}}));
}

TEST_CASE("an invalid step throws", "[rnn_program]") {
    DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1);
    CHECK_THROWS_WITH(layer::rnn({.input = x, .step_net = layer::fc(layer::data("y", {UNK, 2}), {.output_size = 3})}),
                      "layer::rnn: step_net depends neither on the step's input nor on a memory");
    auto const memory = layer::tensor();
    CHECK_THROWS_WITH(layer::rnn({.input = x, .step_net = layer::add(layer::add_to(memory, nullptr), layer::add_to(memory, nullptr))}),
                      "layer::add_to is called twice for one memory");
    auto const flat = layer::data("flat", {UNK, 2});
    CHECK_THROWS_AS(layer::rnn({.input = flat, .step_net = layer::add_to(layer::tensor(), nullptr)}), ShapeError);
    CHECK_THROWS_WITH(layer::fc(layer::tensor()), "layer::fc: output_size is 0, expected a size, as the width of x is unknown");
    auto const other = layer::tensor();
    CHECK_THROWS_WITH(layer::rnn({.input = x, .step_net = layer::add(other, layer::add_to(layer::tensor(), nullptr))}),
                      "layer::rnn: step_net reads a memory without layer::add_to");
    auto const used = layer::tensor();
    layer::rnn({.input = x, .step_net = layer::add_to(used, nullptr)});
    std::size_t const operators = scope.operators().size();
    auto const again = layer::add_to(used, nullptr);
    CHECK_THROWS_WITH(layer::rnn({.input = x, .step_net = again}), "layer::add_to: the memory belongs to another recurrent layer");
    CHECK(scope.operators().size() == operators + 1);  // the result of add_to
    auto const never = layer::tensor();
    auto const net = Net<>::trace_and_build(*layer::fc(never, {.output_size = 1}));
    CHECK_THROWS_AS(net.run(scope), GraphError);
}

}  // namespace test_rnn_program
