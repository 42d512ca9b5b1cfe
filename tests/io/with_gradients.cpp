// tests/io/with_gradients.cpp: nets of files that are trained, with the compiled library and without.
#include <rowan/io/from_program.hpp>
#include <rowan/io/model.hpp>
#include <rowan/io/to_program.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn_program.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/train/train.hpp>

#include "catch.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace test_with_gradients {

using namespace rowan;
using Out = layer::Var<float>;
using few_ops = registry<add_op, add_to_op, fc_op, gru_unit_op, lookup_table_op, tanh_op>;

#ifdef ROWAN_COMPILED
#define ROWAN_TEST_FORM "with the compiled library"
static_assert(std::is_same_v<with_gradients<forward_ops>, forward_ops>);
#else
#define ROWAN_TEST_FORM "header-only"
#endif
static_assert(with_gradients<few_ops>::has<fc_op> && with_gradients<few_ops>::with<exp_op>::has<exp_op>);

Feeds const batch{{"words", LoDTensor<std::int64_t>::from_nested({{1, 2, 3}, {5}, {}, {4, 0, 0, 8}})}};

Out words() { return layer::embedding(layer::data<std::int64_t>("words", {UNK}, 1), {.height = 9, .width = 3}); }

Out gru() {
    auto const states = layer::rnn_with_last(words(), 4, [](auto x, auto before) {
        auto const now = layer::gru_unit(x, before, {.size = 4});
        return layer::Step{now, now};
    });
    return layer::fc(states.last, {.output_size = 2});
}
Out step_program() {
    auto const memory = layer::tensor();
    layer::rnn({.input = words(), .step_net = layer::tanh(layer::fc(layer::add_to(memory, nullptr), {.output_size = 3}))});
    return layer::fc(memory, {.output_size = 2});
}

TrainOptions options(Parameters const& first) { return {.optimizer = layer::Sgd{.learning_rate = 0.01}, .resume = &first}; }

/// The results after two steps of training a net of this scope.
auto trained(Out const& out, Parameters const& first) {
    ScopeGuard const guard(out->scope());
    auto const reader = [](std::int64_t) { return std::vector{batch, batch}; };
    return infer(out, batch, train(layer::reduce_sum(layer::square(out)), reader, options(first)));
}

TEST_CASE("with_gradients: a net that was read is trained as the one that was built, " ROWAN_TEST_FORM, "[io]") {
    std::string const path = "rowan_with_gradients_" + std::to_string(::getpid()) + ".rowan";
    for (auto* const net : {&gru, &step_program}) {
        Scope scope, with, without;
        auto const [built, first] = [&] {
            ScopeGuard const guard(scope);
            auto const out = net();
            auto const reader = [](std::int64_t) { return std::vector{batch}; };
            return std::pair(out, train(layer::reduce_sum(out), reader));
        }();
        auto const program = to_program<few_ops>(*built);
        auto const want = trained(built, first);
        CHECK(want != infer(built, batch, first));

        CHECK(trained(Out(*from_program<with_gradients<few_ops>>(program, with).at(0)), first) == want);
        save_model<with_gradients<few_ops>>(built, first, path);
        auto const model = load_model<with_gradients<few_ops>>(path);
        CHECK(trained(model.predict, model.parameters) == want);

        Out const plain(*from_program<few_ops>(program, without).at(0));
        CHECK(infer(plain, batch, first) == infer(built, batch, first));
#ifdef ROWAN_COMPILED
        CHECK(trained(plain, first) == want);
#else
        CHECK_THROWS_WITH(trained(plain, first), "operator fc was made without its gradient: give from_program, load_model or make_operator the list "
                                                 "with_gradients<forward_ops>, or another with_gradients<...>");
#endif
        CHECK(to_program<few_ops>(*plain) == program);
    }
    std::remove(path.c_str());
}

}  // namespace test_with_gradients
