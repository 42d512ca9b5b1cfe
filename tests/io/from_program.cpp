// tests/io/from_program.cpp: nets converted to programs, also in model files, and back.
#include <rowan/io/checkpoint_chain.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/io/from_program.hpp>
#include <rowan/io/model.hpp>
#include <rowan/io/to_program.hpp>

#include "finite_differences.hpp"

#include <rowan/layer/array.hpp>
#include <rowan/layer/batch_norm.hpp>
#include <rowan/layer/beam_search.hpp>
#include <rowan/layer/compare.hpp>
#include <rowan/layer/cond.hpp>
#include <rowan/layer/data.hpp>
#include <rowan/layer/dropout.hpp>
#include <rowan/layer/elementwise.hpp>
#include <rowan/layer/embedding.hpp>
#include <rowan/layer/fc.hpp>
#include <rowan/layer/full.hpp>
#include <rowan/layer/gru_unit.hpp>
#include <rowan/layer/if_else.hpp>
#include <rowan/layer/loss.hpp>
#include <rowan/layer/lstm_unit.hpp>
#include <rowan/layer/map_fn.hpp>
#include <rowan/layer/matmul.hpp>
#include <rowan/layer/operators.hpp>
#include <rowan/layer/rnn_program.hpp>
#include <rowan/layer/split.hpp>
#include <rowan/layer/static_input.hpp>
#include <rowan/layer/while_loop.hpp>
#include <rowan/own_operator.hpp>
#include <rowan/train/infer.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test_from_program {

namespace {

using namespace rowan;
using Out = layer::Var<float>;

/// A custom operator with an attribute.
struct leaky_op {
    static constexpr std::string_view name = "leaky";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static constexpr unsigned row_inputs = 0b1;
    struct attributes {
        double slope = 0.01;

        static constexpr auto fields = std::tuple(field{"slope", &attributes::slope});
    };
    using grad = no_grad;
    static constexpr VarSpec infer(VarSpec const& x, attributes const&) { return spec::elementwise("leaky: x", x); }
    template <class T, class D>
    static Tensor<T, D> run(D, Tensor<T, D> const& x, attributes const& a) {
        Tensor<T, D> out = x;
        for (T& v : out) v = v < 0 ? static_cast<T>(a.slope * v) : v;
        return out;
    }
};
// Own operators whose names begin like those of rowan's families.
struct array_mean_op : leaky_op {
    static constexpr std::string_view name = "array_mean";
};
struct cast_votes_op : leaky_op {
    static constexpr std::string_view name = "cast_votes";
};
struct fill_missing_op : leaky_op {
    static constexpr std::string_view name = "fill_missing";
};
// Own operators with names that programs use for others.
struct feed_op : leaky_op {
    static constexpr std::string_view name = "feed";
};
struct rnn_like_op : leaky_op {
    static constexpr std::string_view name = "rnn";
};
struct array_size_op : leaky_op {
    static constexpr std::string_view name = "array_size";
};
struct cast_f32_op : leaky_op {
    static constexpr std::string_view name = "cast_f32";
};
struct relu_like_op : leaky_op {
    static constexpr std::string_view name = "relu";
};
using my_ops = forward_ops::with<leaky_op>::with<array_mean_op>::with<cast_votes_op>::with<fill_missing_op>;

Out words_to_rows() {
    auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
    return layer::embedding(words, {.height = 9, .width = 3, .padding_id = 0, .name = "table"});
}
Out last_of_gru(Out const& rows) {
    return layer::rnn_with_last(rows, 4, [&](auto x_t, auto before) {
               auto const now = layer::gru_unit(x_t, before, {.size = 4});
               return layer::Step{now, now};
           })
        .last;
}

/// Nets with steps, branches, loops and values of several types. tests/op/every_operator.cpp has the operators.
std::vector<std::function<Out()>> const nets{
    [] { return layer::fc(last_of_gru(words_to_rows()), {.output_size = 2}); },
    [] {  // backwards, with a first state and two memories
        auto const rows = words_to_rows();
        auto const boot = layer::tanh(layer::fc(layer::sequence_pool(rows, {.pool = Pooling::mean}), {.output_size = 4}));
        auto const made = layer::rnn_with_last(
            rows, std::vector<layer::Memory>{{.size = 0, .like = boot}, {.size = 4}},
            [](auto x, auto const& states) {
                auto const h = layer::tanh(layer::add(layer::fc(x, {.output_size = 4}), states[0]));
                auto const c = layer::sub(states[1], h);
                return layer::Step<float, Cpu>{layer::mul(h, c), {h, c}};
            },
            {.reverse = true});
        return layer::add(layer::sequence_pool(made.output, {.pool = Pooling::max}), made.last[1]);
    },
    [] {  // an LSTM within the steps of a recurrent layer
        auto const texts = layer::data<float>("texts", {UNK, 3}, 2);
        return layer::rnn_with_last(texts, 4, [](auto sentence, auto before) {
                   auto const inner = layer::rnn_with_last(sentence, 8, [](auto x, auto state) { return layer::lstm_unit(x, state, {.size = 4}); });
                   auto const read = layer::split(inner.last, {4, 4}, {.axis = 1})[0];
                   auto const now = layer::relu(layer::add(before, read));
                   return layer::Step{now, now};
               }, {.level = 0})
            .last;
    },
    [] {  // a step that reads its whole sequence
        auto const rows = words_to_rows();
        return layer::rnn(rows, 3, [&](auto x_t, auto before) {
            auto const source = layer::static_input(rows);
            auto const now = layer::add(layer::sequence_pool(layer::mul(source, layer::sequence_expand(before, source))), x_t);
            return layer::Step{now, now};
        });
    },
    [] {  // a condition whose branches read outer variables, one of them as it is
        auto const x = layer::data<float>("x", {UNK, 3});
        auto const large = layer::any(layer::greater(layer::reduce_sum(x, {.axes = {0}}), 0));
        return layer::cond(large, [&] { return layer::tanh(layer::fc(x, {.output_size = 3})); }, [&] { return x; });
    },
    [] {  // rows of two branches
        auto const x = layer::data<float>("x", {UNK, 3});
        auto const mask = layer::greater(layer::reduce_sum(x, {.axes = {1}}), 0);
        return layer::if_else(mask, x, [](auto const& a) { return layer::tanh(a); }, [](auto const& b) { return layer::scale(b, 2); });
    },
    [] {  // truth values, aligned at an axis
        auto const x = layer::data<float>("x", {UNK, 3}), sums = layer::reduce_sum(x, {.axes = {1}});
        auto const either = layer::logical_or(layer::greater_equal(x, sums, {.axis = 0}), layer::less_equal(sums, 0), {.axis = 0});
        return x * layer::cast<float>(either);
    },
    [] {  // a loop over an array
        auto const x = layer::data<float>("x", {UNK, 3});
        auto const rows = layer::unstack(x);
        auto const doubled = layer::map_fn(rows, [](auto const& row) { return layer::scale(row, 2, 1); });
        auto const [i, y] = layer::while_loop(
            std::tuple(layer::full<std::int64_t>({1}, 0), layer::stack(doubled)),
            [](auto const& k, auto const& v) { return layer::logical_and(layer::less(k, 3), layer::any(layer::greater(layer::reduce_sum(v, {.axes = {0}}), -1e9))); },
            [](auto const& k, auto const& v) { return std::tuple(layer::scale(k, 1, 1), layer::sigmoid(layer::fc(v, {.output_size = 3}))); },
            {.max_iterations = 10});
        return y;
    },
    [] {
        auto const x = layer::data<float>("x", {UNK, 3}), y = layer::clip(layer::dropout(x, {.probability = 0.25}), -0.5, 0.75);
        auto const both = layer::concat({x, y}, {.axis = 1});
        auto const soft = layer::softmax(layer::fc(both, {.output_size = 5}));
        auto const label2 = layer::data<std::int64_t>("label2", {UNK});
        return layer::sum({layer::cross_entropy_of_probabilities(soft, layer::data<std::int64_t>("label", {UNK})), layer::cross_entropy(both, label2), layer::mse(x, y),
                           layer::cross_entropy(both, label2, {.reduction = Reduction::sum, .ignore_index = 5}),
                           layer::cross_entropy(layer::log_softmax(both, {.axis = 0}), label2, {.axis = 1, .weights = {1, 2, 3, 4, 5, 0.5}}),
                           layer::cross_entropy(y, layer::softmax(x), {.soft_label = true}),
                           layer::cast<float>(layer::cast<std::int64_t>(layer::full<float>({1}, 3)))});
    },
    [] {  // a choice of bools
        auto const x = layer::data<float>("x", {UNK, 3});
        return layer::cast<float>(layer::where(layer::greater(x, 0.5), layer::isfinite(x), layer::less(x, 0.0)));
    },
    [] { return layer::batch_norm(layer::batch_norm(layer::data<float>("texts", {UNK, 3}, 2), {.epsilon = 4}), {.momentum = 0.5, .epsilon = 6, .shift = false}); },
    [] {  // a step of a beam search, and what it found
        auto const words = layer::data<std::int64_t>("words", {UNK}, 1);
        auto const rows = layer::sequence_pool(layer::embedding(words, {.height = 9, .width = 8}));
        auto const scores = layer::lod_from_offsets(rows, layer::data<std::int32_t>("sources", {UNK}));
        auto const beam = layer::beam_search(words, scores, layer::reduce_sum(rows, {.axes = {1}}), {.beam_size = 3});
        return layer::embedding(layer::beam_search_decode(beam.prefixes, beam.scores).sentences, {.height = 9, .width = 3});
    },
    [] {  // a step that is an expression
        auto const memory = layer::tensor();
        layer::rnn({.input = words_to_rows(), .step_net = layer::tanh(layer::fc(layer::add_to(memory, nullptr), {.output_size = 3}))});
        return layer::fc(memory, {.output_size = 2});
    },
};

Feeds const batch{{"words", LoDTensor<std::int64_t>::from_nested({{1, 2, 3}, {5}, {}, {4, 0, 0, 8}})},
                  {"bags", LoDTensor<std::int32_t>::from_nested({{1, 2, 3}, {5}, {}, {4, 0, 0, 8}})},
                  {"texts", LoDTensor<float>(inputs::wild<float>({5, 3}, 1), Lod{{0, 2, 3}, {0, 2, 2, 5}})},
                  {"x", Tensor<float>{{0.5F, -1, 2}, {1, 0.25F, -0.75F}}},
                  {"label", Tensor<std::int64_t>{4, 0}},
                  {"picks", Tensor<std::int64_t>{1, 0, 1}},
                  {"first", Tensor<std::int32_t>{1, 0, 0, 1}},
                  {"count", Tensor<std::int32_t>{2, 1, 0, 3}},
                  {"sources", Tensor<std::int32_t>{0, 1, 4}},
                  {"offsets", Tensor<std::int32_t>{0, 2, 2, 5, 8}},
                  {"label2", Tensor<std::int64_t>{5, 1}}};

/// The feeds that the program reads.
Feeds feeds_of(ProgramDesc const& program) {
    Feeds feeds;
    for (OpDesc const& op : program.blocks[0].ops) {
        if (op.type != "feed" || op.outputs.empty() || op.outputs[0].arguments.empty()) continue;
        auto const found = batch.find(op.outputs[0].arguments[0]);
        if (found != batch.end()) feeds.insert(*found);
    }
    return feeds;
}

/// Values for the parameters of a net, by their names in its program.
Parameters values_for(Variable& out) {
    Parameters parameters;
    std::uint64_t seed = 0;
    auto const program = to_program<my_ops>(out);
    for (VarDesc const& v : program.blocks[0].vars) {
        if (!v.persistable) continue;
        Tensor<float>::shape_type shape(v.lod_desc->tensor.dims.begin(), v.lod_desc->tensor.dims.end());
        auto t = Tensor<float>::from_shape(shape);
        inputs::Random random(++seed);
        for (float& x : t) x = static_cast<float>(random.below(2001)) / 1000 - 1;
        Value value;
        value.set(LoDTensor<float>(std::move(t)));
        parameters.set(v.name, std::move(value));
    }
    return parameters;
}

/// The error text of a program after `change`.
std::string refusal(ProgramDesc program, std::function<void(ProgramDesc&)> const& change) {
    change(program);
    Scope scope;
    try {
        from_program<my_ops>(program, scope);
    } catch (Error const& e) {
        return e.what();
    }
    return "nothing";
}

}  // namespace

TEST_CASE("a net converted to a program and back has the same program and bits", "[io]") {
    for (std::size_t n = 0; n < nets.size(); ++n) {
        CAPTURE(n);
        Scope scope, other;
        auto const out = [&] {
            ScopeGuard const guard(scope);
            return nets[n]();
        }();
        auto const program = decode<ProgramDesc>(encode(to_program(*out)));
        CHECK(program == to_program(*out));
        auto const again = from_program<my_ops>(program, other);
        REQUIRE(again.size() == 1);
        CHECK(to_program(*again[0]) == program);

        auto const values = values_for(*out);
        Net<>::trace_and_build(*out);  // names the parameters
        Parameters by_name;
        for (auto& [v, name] : detail::names_of(detail::trace(std::array{&*out}))) {
            if (v->role() == Role::parameter) by_name.set(v->name(), values.find(name).share());
        }
        CHECK(infer(Out(*again[0]), feeds_of(program), values) == infer(out, feeds_of(program), by_name));
    }
}

TEST_CASE("a custom operator is in a program if the registry names it", "[io]") {
    Scope scope, other;
    ScopeGuard const guard(scope);
    auto const out = layer::apply<leaky_op>({.slope = 0.25}, layer::data<float>("x", {UNK, 3}));
    CHECK_THROWS_WITH(to_program(*out), Catch::StartsWith("there is no operator \"leaky\" among the "));
    auto const program = to_program<my_ops>(*out);
    CHECK(program.blocks[0].ops[1].attrs[0] == Attribute{"slope", 0.25});
    using few_ops = registry<scale_op>;
    CHECK_THROWS_AS(from_program<few_ops>(program, other), GraphError);
    Scope third;
    auto const again = from_program<my_ops>(program, third);
    CHECK(infer(Out(*again[0]), feeds_of(program), {}) == infer(out, feeds_of(program), {}));
}

TEMPLATE_TEST_CASE("a custom operator may have a name that begins like one of rowan's", "[io]", array_mean_op, cast_votes_op, fill_missing_op) {
    test::DefaultScope scope;
    auto const out = layer::apply<TestType>({.slope = 0.25}, layer::data<float>("x", {UNK, 3}));
    CHECK_THROWS_AS(to_program(*out), GraphError);
    auto const program = to_program<my_ops>(*out);
    CHECK(program.blocks[0].ops[1].attrs.at(0) == Attribute{"slope", 0.25});
    Scope other;
    auto const again = from_program<my_ops>(program, other);
    CHECK(infer(Out(*again[0]), feeds_of(program), {}) == infer(out, feeds_of(program), {}));
}

TEMPLATE_TEST_CASE("a custom operator with a name that programs use otherwise is refused", "[io]", feed_op, rnn_like_op, array_size_op, cast_f32_op) {
    test::DefaultScope scope;
    auto const out = layer::apply<TestType>({.slope = 0.25}, layer::data<float>("x", {UNK, 3}));
    CHECK_THROWS_WITH(to_program<forward_ops::with<TestType>>(*out),
                      "an operator of your own has the name \"" + std::string(TestType::name) + "\", which means one of rowan's in a program: rename it");
}

TEST_CASE("a custom operator is not taken for the registry's operator of the same name", "[io]") {
    test::DefaultScope scope;
    auto const out = layer::apply<relu_like_op>({.slope = 0.25}, layer::data<float>("x", {UNK, 3}));
    CHECK_THROWS_WITH(to_program(*out), "the registry has another operator with the name \"relu\" than the net: rename yours");
}

TEST_CASE("the operators that products of matrices had in earlier versions are matmul", "[io]") {
    test::DefaultScope scope;
    auto const x = layer::data("x", {UNK, 3}), y = layer::data("y", {UNK, 3});
    Feeds const feeds{{"x", Tensor<float>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}, {"y", Tensor<float>{{1, 0, 2}, {0, 3, 0}, {4, 0, 5}}}};
    for (auto const& [name, options] : {std::pair<std::string, MatmulOptions>{"matmul_nn", {}}, {"matmul_nt", {.transpose_y = true}}, {"matmul_tn", {.transpose_x = true}}}) {
        auto const out = layer::matmul(x, y, options);
        auto former = to_program(*out);
        OpDesc& op = *std::ranges::find(former.blocks[0].ops, "matmul", &OpDesc::type);
        op.type = name;
        op.attrs.clear();
        Scope other;
        CHECK(infer(Out(*from_program(former, other)[0]), feeds, {}) == infer(out, feeds, {}));
        former.version.version = 1;
        op.type = name == "matmul_nn" ? "mul" : name == "matmul_nt" ? "mul_nt" : "mul_tn";
        Scope third;
        CHECK(infer(Out(*from_program(former, third)[0]), feeds, {}) == infer(out, feeds, {}));
    }
}

TEST_CASE("an inconsistent program throws", "[io][bad]") {
    test::DefaultScope scope;
    auto const program = to_program(*nets[0]());
    CHECK(refusal(program, [](auto&) {}) == "nothing");
    auto const op = [](ProgramDesc& p, std::string const& type) -> OpDesc& {
        for (auto& block : p.blocks) {
            for (auto& o : block.ops) {
                if (o.type == type) return o;
            }
        }
        throw Error(type);
    };
    CHECK(refusal(program, [&](auto& p) { op(p, "fc").type = "sgd"; }) .starts_with("there is no operator \"sgd\" among the "));
    CHECK(refusal(program, [&](auto& p) { op(p, "lookup_table").attrs.clear(); }) == "nothing");  // padding is optional
    CHECK(refusal(program, [&](auto& p) { op(p, "lookup_table").attrs[0].value = 0.5; }) == "operator lookup_table: its attribute padding_id has another type");
    CHECK(refusal(program, [&](auto& p) { op(p, "fc").attrs.push_back({"x", true}); }) == "operator fc: its attribute x is unknown to it");
    CHECK(refusal(program, [&](auto& p) { op(p, "rnn").attrs.erase(op(p, "rnn").attrs.begin()); }) == "operator rnn: its attribute block is missing");
    CHECK(refusal(program, [&](auto& p) { op(p, "rnn").attrs[0].value = BlockIndex{0}; }) ==
          "operator rnn: its block is missing or belongs to another operator");
    CHECK(refusal(program, [&](auto& p) { op(p, "rnn").attrs[0].value = BlockIndex{7}; }) ==
          "operator rnn: its block is missing or belongs to another operator");
    CHECK(refusal(program, [&](auto& p) { p.blocks[0].vars.pop_back(); }) == "the variable \"fc_0.out_0\" is not declared in its block");
    CHECK(refusal(program, [&](auto& p) { p.blocks[0].vars.back().lod_desc->tensor.dims[1] = 3; }) ==
          "the variable \"fc_0.out_0\" is declared as LoDTensor<f32>[UNK, 3], but is LoDTensor<f32>[UNK, 2]");
    CHECK(refusal(program, [&](auto& p) { op(p, "fc").inputs[0].arguments[0] = op(p, "fc").inputs[1].arguments[0]; }).starts_with("fc(x = fc_"));
    CHECK(refusal(program, [&](auto& p) { op(p, "fetch").inputs[0].arguments[0] = "nobody"; }) ==
          "the variable \"nobody\" is read before an operator writes it");
    CHECK(refusal(program, [&](auto& p) { p.blocks[0].ops.pop_back(); }) == "the program has no operator of type fetch: it has no result");
    CHECK(refusal(program, [&](auto& p) { std::swap(p.blocks[0].ops[0], p.blocks[0].ops[1]); }) ==
          "the variable \"words\" is read before an operator writes it");
    CHECK(refusal(program, [&](auto& p) { p.blocks[0].ops.insert(p.blocks[0].ops.begin(), p.blocks[0].ops[0]); }) ==
          "the scope has a variable \"words\" already");
    CHECK(refusal(program, [&](auto& p) { p.blocks[0].vars[0].lod_desc->tensor.data_type = 6; }) ==
          "lookup_table(w = table, ids = words): the input of operator lookup_table is LoDTensor<f64>, LoDTensor<i64>, expected types among the template arguments, such as dtypes<float>");
    CHECK(refusal(program, [&](auto& p) { p.blocks[1].ops.push_back(op(p, "fetch")); }) == "an inner block of the program has an operator of type fetch");
    CHECK(refusal(program, [&](auto& p) { std::swap(op(p, "fc").inputs[0], op(p, "fc").inputs[1]); }) != "nothing");
    CHECK(refusal(program, [&](auto& p) { op(p, "fc").inputs[0].parameter = "y"; }) == "operator fc has the inputs (y, w, b), expected (x, w, b)");
    CHECK(refusal(program, [&](auto& p) { op(p, "fc").outputs[0].parameter = "y"; }) == "operator fc has the outputs (y), expected (out)");
    CHECK(refusal(program, [&](auto& p) { std::swap(op(p, "rnn").inputs[0].arguments[1], op(p, "rnn").inputs[0].arguments[2]); }) ==
          "operator rnn does not read what its block reads, in the same order");
    CHECK(refusal(program, [&](auto& p) { op(p, "fc").outputs[0].arguments.push_back("z"); }) == "operator fc has 2 results, expected 1");
    CHECK(refusal(program, [&](auto& p) { p.blocks.clear(); }) == "the program has no block");
}

TEST_CASE("a changed program throws or is still a net", "[io][bad]") {
    inputs::Random random(7);
    std::size_t refused = 0, runs = 0;
    for (std::size_t n = 0; n < 6; ++n) {
        test::DefaultScope scope;
        auto const out = nets[n]();
        auto const program = to_program(*out);
        auto const values = values_for(*out);
        for (int i = 0; i < 150; ++i) {
            ProgramDesc p = program;
            auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n))); };
            auto const any = [&](auto& list) -> auto& { return list[below(list.size())]; };
            for (std::int64_t changes = 1 + random.below(2); changes != 0; --changes) {
                auto& block = any(p.blocks);
                if (block.ops.empty() || block.vars.empty()) continue;
                auto& op = any(block.ops);
                auto& var = any(block.vars);
                switch (random.below(9)) {
                    case 0: block.ops.erase(block.ops.begin() + static_cast<std::ptrdiff_t>(below(block.ops.size()))); break;
                    case 1: std::swap(op, any(block.ops)); break;
                    case 2: block.ops.push_back(op); break;
                    case 3: if (!op.inputs.empty() && !op.inputs[0].arguments.empty()) any(op.inputs[0].arguments) = any(block.vars).name; break;
                    case 4: if (!op.attrs.empty()) any(op.attrs).value = any(op.attrs).value; break;
                    case 5: if (var.lod_desc && !var.lod_desc->tensor.dims.empty()) any(var.lod_desc->tensor.dims) += 1; break;
                    case 6: if (var.lod_desc) var.lod_desc->lod_level += 1; break;
                    case 7: if (!op.inputs.empty()) op.inputs.pop_back(); break;
                    default: if (!op.outputs.empty() && !op.outputs[0].arguments.empty()) op.outputs[0].arguments.pop_back();
                }
                if (block.ops.empty()) break;
            }
            Scope other;
            try {
                auto const again = from_program<my_ops>(p, other);
                static_cast<void>(infer(Out(*again[0]), feeds_of(p), values));
                ++runs;
            } catch (Error const&) {
                ++refused;
            }
        }
    }
    CHECK(refused > 300);
    CHECK(runs > 5);
}

TEST_CASE("a model file is complete: it runs without the code that built the net", "[io]") {
    std::string const path = "rowan_program_" + std::to_string(::getpid()) + ".rowan", second = path + "2";
    for (std::size_t n = 0; n < nets.size(); ++n) {
        CAPTURE(n);
        test::DefaultScope scope;
        auto const out = layer::apply<leaky_op>({.slope = 0.5}, nets[n]());
        auto const feeds = feeds_of(to_program<my_ops>(*out));
        Net<>::trace_and_build(*out);
        Parameters parameters;
        auto const values = values_for(*out);
        for (auto& [v, name] : detail::names_of(detail::trace(std::array{&*out}))) {
            if (v->role() == Role::parameter) parameters.set(v->name(), values.find(name).share());
        }
        auto const want = infer(out, feeds, parameters);
        save_model<my_ops>(out, parameters, path);
        for (bool const map : {false, true}) {
            auto const model = load_model<my_ops>(path, {.map = map});
            CHECK(infer(model.predict, feeds, model.parameters) == want);
            save_model<my_ops>(model.predict, model.parameters, second);
            auto const one = detail::read_file(path), two = detail::read_file(second);
            CHECK(std::ranges::equal(one, two));
        }
    }
    std::remove(path.c_str());
    std::remove(second.c_str());
}

TEST_CASE("a model's program and its values must belong together", "[io][bad]") {
    std::string const path = "rowan_program_" + std::to_string(::getpid()) + ".rowan";
    test::DefaultScope scope;
    auto const out = nets[0]();
    auto const program = to_program(*out);
    auto const said = [&](auto const& change) -> std::string {
        Checkpoint c;
        c.program = program;
        std::map<std::string, Tensor<float>> values;
        for (auto const& [name, value] : values_for(*out)) values.emplace(name, value.template get<LoDTensor<float>>().value());
        change(c, values);
        for (auto const& [name, value] : values) c.add(name, value);
        save_checkpoint(c, path);
        try {
            load_model<my_ops>(path);
        } catch (Error const& e) {
            return e.what();
        }
        return "nothing";
    };
    CHECK(said([](auto&, auto&) {}) == "nothing");
    CHECK(said([](auto& c, auto&) { c.program.reset(); }) == path + " has no program: build the net, and load its parameters");
    CHECK(said([](auto&, auto& v) { v.erase("table"); }) == path + " has no value for \"table\", a parameter of its program");
    CHECK(said([](auto&, auto& v) { v["chair"] = Tensor<float>{1}; }) == path + " has a value \"chair\", which is not a parameter of its program");
    CHECK(said([](auto&, auto& v) { v["words"] = Tensor<float>{1}; }) == path + " has a value \"words\", which is not a parameter of its program");
    CHECK(said([](auto&, auto& v) { v["table"] = Tensor<float>{{1}}; }) == "table.shape() is [1, 1], expected [9, 3]");
    CHECK(said([](auto& c, auto& v) {
              c.add("table", Tensor<double>::zeros({9, 3}));
              v.erase("table");
          }) == path + ": table is f64, expected a type among the template arguments, such as dtypes<float>");
    CHECK(said([](auto& c, auto&) { c.program->blocks[0].ops.back().inputs[0].arguments.push_back("words"); }) ==
          path + ": the result is 2 of LoDTensor<f32>, expected 1 of LoDTensor<f32>");
    save_delta(Checkpoint(), 1, path);
    CHECK_THROWS_WITH(load_model<my_ops>(path), path + " is a delta: see CheckpointChain");
    std::remove(path.c_str());
}

}  // namespace test_from_program
