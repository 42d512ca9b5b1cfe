// tests/op/every_operator.cpp: what holds for every operator of rowan, shown on its samples.
#include "op/samples.hpp"

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
using test::Sample, test::Samples;
using Values = std::vector<Value>;

/// An operator of the registry: all that the checks know of it.
struct Entry {
    std::string_view name;
    Samples (*samples)(std::size_t n);
    std::span<detail::KernelChoice const> kernels;  ///< for inputs of double, integers and bool
    Attributes defaults;
    bool stored;  ///< whether programs in files may contain it
};

template <class Op>
Entry entry() {
    static constexpr auto& known = detail::OperatorKernels<Cpu, double>::of<Op>;
    std::span<detail::KernelChoice const> kernels = known.kernels;
    if constexpr (std::is_same_v<Op, to_dense_op>) {  // its input is never dense
        static constexpr detail::KernelChoice only{detail::wires_of<double>, false, &kernel_of<Op, Cpu, double>::value};
        kernels = std::span(&only, 1);
    }
    return {Op::name, &test::samples<Op>, kernels, std::make_shared<attributes_of<Op> const>(), forward_ops::has<Op>};
}

template <class... Op>
std::vector<Entry> entries(detail::type_list<Op...>) {
    return {entry<Op>()...};
}

/// The kernel for inputs of these element types, or nullptr.
op_kernel const* find_kernel(Entry const& e, Sample const& s) {
    auto const takes = [&](detail::KernelChoice const& choice) {
        if (!choice.variadic && choice.wires.size() != s.in.size()) return false;
        for (std::size_t i = 0; i < s.in.size(); ++i) {
            if (s.in[i].value->spec().dtype != choice.wires[choice.variadic ? 0 : i]) return false;
        }
        return true;
    };
    auto const found = std::ranges::find_if(e.kernels, takes);
    return found == e.kernels.end() ? nullptr : found->kernel;
}
op_kernel const& kernel_for(Entry const& e, Sample const& s) {
    op_kernel const* const kernel = find_kernel(e, s);
    if (kernel == nullptr) FAIL("no kernel takes the sample");
    return *kernel;
}

/// The sample with int64 in place of double.
Sample with_integers(Sample s) {
    for (test::Input& in : s.in) {
        if (!in.value->is<LoDTensor<double>>()) continue;
        auto const& x = in.value->get<LoDTensor<double>>();
        auto whole = Tensor<std::int64_t>::from_shape(x.value().shape());
        for (std::size_t i = 0; i < whole.size(); ++i) whole.data()[i] = std::lround(10 * x.value().data()[i]);
        in = test::sample::holder(LoDTensor<std::int64_t>(std::move(whole), x.lod()));
    }
    return s;
}

/// Everything that a value holds, as text: kind, dims, levels and the bytes of its elements.
std::string bits(Value const& v) {
    Value dense;
    std::ostringstream text;
    text << v.kind() << v.spec().dims;
    if (v.spec().type == VarType::SELECTED_ROWS) {
        for (std::int64_t const row : v.row_numbers()) text << ' ' << row;
        dense = v.row_values();
    } else {
        dense = v.share();
        for (std::size_t l = 0; l < v.lod().levels(); ++l) {
            text << '|';
            for (std::int64_t const offset : v.lod()[l]) text << ' ' << offset;
        }
    }
    auto const bytes = dense.elements().bytes;
    return text.str().append(":").append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
}
template <class... V>
std::vector<std::string> bits_of(V const&... lists) {
    std::vector<std::string> all;
    (std::ranges::transform(lists, std::back_inserter(all), bits), ...);
    return all;
}

/// The sum of the elements with weights between -1 and 1: the loss of an output.
struct weighed_op {
    static constexpr std::string_view name = "weighed";
    using inputs = slots<slot::x>;
    using outputs = slots<slot::out>;
    static double weight(std::size_t i) { return static_cast<double>(i * 7919 % 2003) / 1001 - 1; }
    struct grad_op {
        static constexpr std::string_view name = "weighed_grad";
        using inputs = slots<slot::x, grad_of<slot::out>>;
        using outputs = slots<grad_of<slot::x>>;
        using grad = no_grad;
        static VarSpec infer(VarSpec const& x, VarSpec const&) { return x; }
        template <class T>
        static LoDTensor<T> run(Cpu, LoDTensor<T> const& x, Tensor<T> const& out_grad) {
            auto grad = Tensor<T>::from_shape(x.value().shape());
            T* const to = grad.data();
            T const g = out_grad(0);
            for (std::size_t i = 0; i < grad.size(); ++i) to[i] = weight(i) * g;
            return {std::move(grad), x.lod()};
        }
    };
    using grad = grad_rule<grad_op>;
    static VarSpec infer(VarSpec const&) { return tensor_spec<double>({1}); }
    template <class T>
    static Tensor<T> run(Cpu, Tensor<T> const& x) {
        T sum = 0;
        T const* const from = x.data();
        for (std::size_t i = 0; i < x.size(); ++i) sum += weight(i) * from[i];
        return {sum};
    }
};

bool is_number(Value const& v) { return v.is<LoDTensor<double>>(); }

/// A sample in a net: floating-point inputs are parameters.
struct Built {
    Scope scope;
    op_kernel const& kernel;
    std::vector<Variable*> in;
    Operator* op;

    Built(Entry const& e, Sample const& s) : kernel(kernel_for(e, s)) {
        ScopeGuard const guard(scope);
        for (auto const& v : s.in) {
            bool const levels = (kernel.level_inputs >> in.size() & 1) != 0;
            bool const trained = is_number(*v.value) && !v.fixed && !levels && !kernel.rules.empty();
            Variable& made = scope.new_var("in" + std::to_string(in.size()), v.value->spec(), trained ? Role::parameter : Role::data);
            made.value() = v.value->copy();
            in.push_back(&made);
        }
        op = &scope.new_op(kernel, in, s.options ? s.options : e.defaults);
    }

    /// The kernel's results, and the inputs after it.
    Values call(Sample const& s, Cpu exec) const {
        Values given, out(op->outputs.size());
        for (auto const& v : s.in) given.push_back(v.value->copy());
        std::vector<Value*> inputs, outputs;
        for (Value& v : given) inputs.push_back(&v);
        for (Value& v : out) outputs.push_back(&v);
        AnyExec const any(exec);
        kernel.run({.exec = any, .in = inputs, .out = outputs, .attributes = op->attributes, .levels_from = op->levels_from});
        for (Value& v : given) out.push_back(std::move(v));
        return out;
    }

    /// The sum of the outputs whose gradients are read, with weights, or nullptr.
    Variable* cost() {
        std::vector<Variable*> terms;
        for (std::size_t i = 0; i < op->outputs.size(); ++i) {
            auto const reads = [&](grad_kernel const& rule) {
                return std::ranges::any_of(rule.reads, [&](grad_slot const& r) { return r.kind == grad_slot::grad_of_output && (r.index == i || op->outputs.size() != kernel.outputs.size()); });
            };
            VarSpec const& spec = op->outputs[i]->spec();
            if (spec.type != VarType::LOD_TENSOR || spec.dtype != dtype<double>::wire || std::ranges::none_of(kernel.rules, reads)) continue;
            terms.push_back(scope.new_op<weighed_op, Cpu, double>({op->outputs[i]}).outputs[0]);
        }
        if (terms.empty()) return nullptr;
        return terms.size() == 1 ? terms[0] : scope.new_op<sum_op, Cpu, double>(terms).outputs[0];
    }
};

Tensor<double> dense(Value const& v) {
    if (v.is<SelectedRows<double>>()) return to_dense(v.get<SelectedRows<double>>());
    return v.get<LoDTensor<double>>().value();
}

/// Which samples: those without an error, these also with integers, the first of each operator, or those with an error.
enum class Which { good, integers_too, first, refused };

/// Calls f for samples of every operator.
template <class F>
void each_sample(std::size_t n, F const& f, Which which = Which::good) {
    for (Entry const& e : entries(detail::listed_ops{})) {
        auto const all = e.samples(n);
        for (std::size_t i = 0; i < (which == Which::first ? 1 : all.size()); ++i) {
            INFO(e.name << ", sample " << i << ", n = " << n);
            if (all[i].error.empty() == (which == Which::refused)) continue;
            try {
                f(e, all[i]);
                if (which != Which::integers_too) continue;
                Sample const integers = with_integers(all[i]);
                if (find_kernel(e, integers) != nullptr) f(e, integers);
            } catch (Error const& error) {
                FAIL_CHECK(error.what());
            }
        }
    }
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
        Built const net(e, s);
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
        Built net(e, s);
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

TEST_CASE("every operator: a net computes what the operator does, with the same bits on 1, 2 and 8 threads", "[op]") {
    bool small = true;
    auto const check = [&small](Entry const& e, Sample const& s) {
        Built net(e, s);
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
        for (int const threads : {2, 8}) CHECK((run(threads) == serial));
    };
    each_sample(6, check, Which::integers_too);
    small = false;
    each_sample(90'000, check, Which::first);
}

TEST_CASE("every operator: a program contains it with its options", "[op]") {
    each_sample(6, [](Entry const& e, Sample const& s) {
        if (!e.stored) return;
        Built net(e, s);
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
        CHECK(error_of([&] { Built const net(e, s); }) == (s.late ? "" : s.error));
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
