// tests/op/every_operator.cpp: what holds for every operator of rowan, shown on its samples.
#include "op/register_bytes.hpp"
#include "op/sample_nets.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/io/from_program.hpp>
#include <rowan/io/to_program.hpp>
#include <rowan/sparse/to_dense.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

namespace test_every_operator {

namespace {

using namespace rowan;
using namespace sample_nets;
using test::Sample;

bool is_number(Value const& v) { return v.is<LoDTensor<double>>(); }
Tensor<double> dense(Value const& v) {
    if (v.is<SelectedRows<double>>()) return to_dense(v.get<SelectedRows<double>>());
    return v.get<LoDTensor<double>>().value();
}

/// Calls f for samples of every operator.
template <class F>
void each_sample(std::size_t n, F const& f, Which which = Which::good) {
    sample_nets::each_sample(entries(detail::listed_ops{}), n, f, which);
}

/// Runs the operator's kernel.
void run(Operator const& op, Values& in, Values& out, Cpu exec) {
    std::vector<Value*> from, to;
    for (Value& v : in) from.push_back(&v);
    for (Value& v : out) to.push_back(&v);
    AnyExec const any(exec);
    op.kernel->run({.exec = any, .in = from, .out = to, .attributes = op.attributes, .levels_from = op.levels_from});
}

/// Whether tensors of these dims can be broadcast.
bool fit(Dims const& a, Tensor<double>::shape_type const& b) {
    for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
        auto const x = a[a.size() - i], y = static_cast<std::int64_t>(b[b.size() - i]);
        if (x != y && x != 1 && y != 1) return false;
    }
    return true;
}

/// The text of what the call throws, or "".
template <class Call>
std::string error_of(Call const& call) {
    try {
        call();
    } catch (Error const& error) {
        return error.what();
    }
    return "";
}

bool agrees(std::int64_t dim, std::int64_t with) { return dim == UNK || dim == with; }
bool agree(VarSpec const& inferred, VarSpec const& found) {
    return inferred.type == found.type && inferred.dtype == found.dtype && inferred.lod_level == found.lod_level &&
           std::ranges::equal(inferred.dims, found.dims, agrees);
}

}  // namespace

TEST_CASE("every operator: results have the inferred specs, and inputs do not change", "[op]") {
    auto const check = [](Entry const& e, Sample const& s) {
        Built<> const net(e, s);
        auto const found = net.call(s, Cpu{1});
        std::vector<VarSpec> in, open;
        for (auto const& v : s.in) {
            in.push_back(v.value->spec());
            open.push_back(v.value->spec());
            if (!open.back().dims.empty()) open.back().dims[0] = UNK;
        }
        for (auto const& specs : {in, open}) {
            auto const inferred = net.kernel.infer(specs, net.op->attributes);
            REQUIRE(inferred.size() == net.op->outputs.size());
            for (std::size_t i = 0; i < inferred.size(); ++i) {
                CAPTURE(i, inferred[i].dims, found[i].kind(), found[i].spec().dims, inferred[i].lod_level);
                CHECK(agree(inferred[i], found[i].spec()));
            }
        }
        for (std::size_t i = 0; i < s.in.size() && !net.kernel.checks_first; ++i)
            CHECK((bits(found[net.op->outputs.size() + i]) == bits(*s.in[i].value)));
    };
    for (std::size_t const n : {0u, 1u, 6u}) each_sample(n, check, Which::integers_too);
}

TEST_CASE("every operator: gradients equal differences", "[op]") {
    auto const check = [](Entry const& e, Sample const& s) {
        Built<> net(e, s);
        Variable* const cost = net.cost();
        if (cost == nullptr) return;
        auto const forward = Net<>::trace_and_build(*cost);
        auto const gradients = append_backward<double>(*cost);
        std::vector<Variable*> wanted{cost};
        for (auto const& g : gradients) wanted.push_back(g.gradient);
        Net<>::trace_and_build(wanted).run(net.scope);
        for (Variable* const in : net.in) {
            if (in->role() != Role::parameter) continue;
            auto const found = std::ranges::find(gradients, in, &ParameterGradient::parameter);
            REQUIRE(found != gradients.end());
            auto& x = in->value().get<LoDTensor<double>>().value();
            auto const got = dense(found->gradient->value());
            REQUIRE(got.shape() == x.shape());
            if (is_number(found->gradient->value())) CHECK((found->gradient->value().lod() == in->value().lod()));
            for (std::size_t k = 0; k < x.size(); ++k) {
                double const before = x.data()[k], step = 1e-5;
                auto const loss = [&](double at) {
                    x.data()[k] = at;
                    forward.run(net.scope);
                    return cost->value().get<LoDTensor<double>>().value()(0);
                };
                double const numeric = (loss(before + step) - loss(before - step)) / (2 * step);
                x.data()[k] = before;
                CAPTURE(in->name(), k, numeric, got.data()[k]);
                CHECK(std::abs(numeric - got.data()[k]) <= 1e-7 * (1 + std::abs(numeric)));
            }
        }
    };
    for (std::size_t const n : {0u, 1u, 6u}) each_sample(n, check);
}

TEST_CASE("every gradient refuses a gradient of a result that has other rows, and changes nothing", "[op]") {
    auto const check = [](Operator const& op, std::size_t of_result) {
        Values in, out(op.outputs.size());
        for (Variable const* v : op.inputs) in.push_back(v->value().copy());
        if (!is_number(in[of_result])) return;
        auto shape = in[of_result].get<LoDTensor<double>>().value().shape();
        if (shape.empty()) shape.push_back(0);
        shape[0] += 99;
        bool broadcasts = true;  // such a gradient may be that of a result
        for (std::size_t i = 0; i < in.size(); ++i) broadcasts = broadcasts && (i == of_result || fit(in[i].spec().dims, shape));
        if (broadcasts) return;
        in[of_result].set(LoDTensor<double>(test::values(shape, 1)));
        auto const before = bits_of(in);
        INFO(op.kernel->name << ", input " << of_result);
        CHECK(!error_of([&] { run(op, in, out, Cpu{1}); }).empty());
        CHECK((bits_of(in) == before));
    };
    each_sample(6, [&](Entry const& e, Sample const& s) {
        Built net(e, s);
        Variable* const cost = net.cost();
        if (cost == nullptr) return;
        append_backward<double>(*cost);
        std::vector<Variable*> all;
        for (auto const& op : net.scope.operators()) all.insert(all.end(), op->outputs.begin(), op->outputs.end());
        Net<>::trace_and_build(all).run(net.scope);
        for (auto const& op : net.scope.operators()) {
            auto const names = op->kernel->inputs;
            if (op->kernel->name == "weighed_grad" || op->kernel->name == "sum_grad") continue;  // sum_grad hands on what it gets
            for (std::size_t slot = 0; slot < names.size(); ++slot)
                if (names[slot].ends_with("@GRAD")) check(*op, op->inputs.size() - names.size() + slot);
        }
    });
}

TEST_CASE("every operator: a net computes what the operator does, with the same bits on any threads and registers", "[op]") {
    bool small = true;
    auto const check = [&small](Entry const& e, Sample const& s) {
        Built<> net(e, s);
        if (net.kernel.checks_first) {
            auto const want = bits_of(net.call(s, Cpu{1}));
            for (int const threads : {2, 8}) CHECK((bits_of(net.call(s, Cpu{threads})) == want));
            return;
        }
        std::vector<Variable*> wanted = net.op->outputs;
        if (Variable* const cost = net.cost()) {
            for (auto const& g : append_backward<double>(*cost)) wanted.push_back(g.gradient);
        }
        auto const all = Net<>::trace_and_build(wanted);
        auto const run = [&](int threads) {
            all.run(net.scope, Cpu{threads});
            std::vector<std::string> found;
            for (Variable const* v : wanted) found.push_back(bits(v->value()));
            return found;
        };
        auto const serial = run(1);
        if (small) {
            auto const want = net.call(s, Cpu{1});
            for (std::size_t i = 0; i < net.op->outputs.size(); ++i) CHECK((serial[i] == bits(want[i])));
        }
        for (int const threads : small ? std::vector{2, 8} : std::vector{8}) CHECK((run(threads) == serial));
        if (detail::widest_bytes == detail::native_bytes) return;  // there is one kind of registers
        for (std::size_t const bytes : small ? std::vector<std::size_t>{16, 32} : std::vector<std::size_t>{16}) {
            test::RegisterBytes const registers(bytes);
            CHECK((run(1) == serial));
        }
    };
    each_sample(6, check, Which::integers_too);
    small = false;
    each_sample(90'000, check, Which::first);
}

TEST_CASE("every operator: a program contains it with its options", "[op]") {
    each_sample(6, [](Entry const& e, Sample const& s) {
        if (!e.stored) return;
        Built<> net(e, s);
        auto const program = decode<ProgramDesc>(encode(to_program(net.op->outputs)));
        Scope scope;
        auto const outputs = from_program<forward_ops, dtypes<double>>(program, scope);
        for (Variable const* v : net.in) scope.get(v->name()).value() = v->value().copy();
        Net<>::trace_and_build(outputs).run(scope, Cpu{1});
        auto const want = net.call(s, Cpu{1});
        for (std::size_t i = 0; i < outputs.size(); ++i) CHECK((bits(outputs[i]->value()) == bits(want[i])));
        CHECK((to_program(outputs) == program));
    }, Which::integers_too);
}

TEST_CASE("every operator refuses bad inputs and options, and changes nothing", "[op]") {
    each_sample(6, [](Entry const& e, Sample const& s) {
        op_kernel const& kernel = kernel_for(e, s);
        Attributes const options = s.options ? s.options : e.defaults;
        auto const own_name = std::string(e.name) + ": ";
        auto const unnamed = [&](std::string const& text) { return text.substr(text.starts_with(own_name) ? own_name.size() : 0); };
        CHECK(error_of([&] { Built<> const net(e, s); }) == (s.late ? "" : s.error));
        for (int const threads : {1, 2, 8}) {
            Cpu const exec{threads};
            Values in, out(8);
            for (auto const& v : s.in) in.push_back(v.value->copy());
            auto const before = bits_of(in);
            CHECK(unnamed(error_of([&] { run({.kernel = &kernel, .attributes = options}, in, out, exec); })) == unnamed(s.when_run));
            CHECK((bits_of(in) == before));
        }
    }, Which::refused);
}

}  // namespace test_every_operator
