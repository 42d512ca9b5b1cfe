// tests/train/parameters.cpp
#include <rowan/own_operator.hpp>
#include <rowan/train/parameters.hpp>

#include "layer/check_net.hpp"

#include <rowan/layer/cond.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/train/infer.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/rnn.hpp>
#include <rowan/train/train.hpp>
#include <rowan/layer/while_loop.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <string>

namespace test_parameters {

// What a temporary returns outlives it.
static_assert(std::is_same_v<decltype(std::declval<rowan::Parameters>().get<float>("w")), rowan::Tensor<float>>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Parameters>().get_rows<float>("w")), rowan::SelectedRows<float>>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Parameters>().find("w")), rowan::Value>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Feeds>().at("x")), rowan::Feed>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Value>().get<rowan::LoDTensor<float>>()), rowan::LoDTensor<float>>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Value>().lod()), rowan::Lod>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Net<>>().operators()), std::vector<rowan::Operator*>>);
static_assert(std::is_same_v<decltype(std::declval<rowan::Net<>>().inputs()), std::vector<rowan::Variable*>>);

using namespace rowan;

TEST_CASE("parameters are values by name, and their aliases share the elements", "[layer]") {
    Parameters p;
    p.set("w", test::value(LoDTensor<float>(Tensor<float>{1, 2})));
    CHECK((p.size() == 1 && p.contains("w") && !p.contains("b")));
    CHECK(p.get<float>("w") == Tensor<float>{1, 2});
    CHECK_THROWS_WITH(p.get<float>("b"), "there is no parameter \"b\"");
    CHECK_THROWS_AS(p.find("b"), GraphError);
    CHECK_THROWS_AS(p.get<double>("w"), TypeError);
    p.steps = 3;
    Parameters const alias = p.share();
    Tensor<float> w = p.get<float>("w").share();
    w(0) = 5;
    CHECK((alias.get<float>("w") == Tensor<float>{5, 2} && alias.steps == 3));
    p.set("w", test::value(LoDTensor<float>(Tensor<float>{7})));
    CHECK((p.size() == 1 && p.get<float>("w") == Tensor<float>{7} && alias.get<float>("w") == w));
}

TEST_CASE("parameters are named after the layer, also in steps, loops and branches", "[layer]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 2}, 1);
    auto const shared = layer::parameter({2}, layer::Constant{1});
    auto const out = layer::rnn(x, 2, [&](auto x_t, auto before) {
        auto const h = layer::fc(layer::fc(x_t, {.output_size = 2, .bias = false}), {.output_size = 6, .name = "mine"});
        auto const now = layer::gru_unit(h + layer::dropout(h), before, {.size = 2});
        return layer::Step{now, now};
    });
    auto const looped = layer::while_loop(
        out, [](auto) { return layer::full<bool>({1}, false); },
        [&](auto s) { return layer::fc(s, {.output_size = 2}) + shared; });
    auto const y = layer::cond(
        layer::data<bool>("flag", {1}), [&] { return layer::fc(looped, {.output_size = 1}); },
        [&] { return layer::fc(looped + shared, {.output_size = 1}); });
    static_cast<void>(Net<>::trace_and_build(*y));
    std::set<std::string> names;
    for (auto const& v : default_scope().variables()) {
        if (v->role() == Role::parameter || v->role() == Role::seed) names.insert(v->name());
    }
    CHECK(names == std::set<std::string>{
                       "cond_0.otherwise.fc_0.b_0", "cond_0.otherwise.fc_0.w_0", "cond_0.then.fc_0.b_0",
                       "cond_0.then.fc_0.w_0", "mine.b_0", "mine.w_0", "rnn_0.dropout_0.seed_0", "rnn_0.fc_1.b_0",
                       "rnn_0.fc_1.w_0", "rnn_0.gru_unit_0.b_0", "rnn_0.gru_unit_0.w_0", "rnn_0.matmul_0.y_0",
                       "while_loop_0.add_0.y_0", "while_loop_0.fc_0.b_0", "while_loop_0.fc_0.w_0"});
}

TEST_CASE("later training does not change the parameters that training returned", "[layer]") {
    test::DefaultScope scope;
    auto const predict = layer::fc(layer::data("x", {UNK, 2}), {.output_size = 2});
    auto const cost = layer::mse(predict, layer::data("y", {UNK, 2}));
    auto const reader = [](std::int64_t) {
        return std::array{Feeds{{"x", Tensor<float>{{1, 2}, {-1, 1}}}, {"y", Tensor<float>{{3, 4}, {0, 1}}}}};
    };
    Feeds const batch{{"x", Tensor<float>{{1, 2}}}};
    auto const first = train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 0.1}});
    auto const before = infer(predict, batch, first);
    auto const longer = train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 0.1}, .resume = &first});
    CHECK(infer(predict, batch, first) == before);
    CHECK(!(infer(predict, batch, longer) == before));
    auto const again =
        train(cost, reader, {.optimizer = layer::Sgd{.learning_rate = 0.1}});  // begins with the seed's values
    CHECK(infer(predict, batch, again) == before);

    // infer with other parameters during training does not change the training
    auto const asked = train(cost, reader,
                             {.optimizer = layer::Sgd{.learning_rate = 0.1},
                              .on_batch = [&](BatchReport const&) { infer(predict, batch, longer); }});
    CHECK(infer(predict, batch, asked) == before);
}

}  // namespace test_parameters
