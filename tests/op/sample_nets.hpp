// tests/op/sample_nets.hpp: the samples of every operator, as calls of its kernel and as nets with gradients, on any device.
#pragma once

#include "op/samples.hpp"

#include <rowan/graph/net.hpp>
#include <rowan/io/operator_maker.hpp>
#include <rowan/sparse/to_dense.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sample_nets {

using namespace rowan;
using test::Sample, test::Samples;
using Values = std::vector<Value>;

/// An operator of the registry: all that the checks know of it.
struct Entry {
    std::string_view name;
    Samples (*samples)(std::size_t n);
    std::span<detail::KernelChoice const> kernels;  ///< for inputs of T, integers and bool
    Attributes defaults;
    bool stored;  ///< whether programs in files may contain it
};

template <class Op, class D, class T>
Entry entry() {
    static constexpr auto& known = detail::OperatorKernels<true, D, T>::template of<Op>;
    std::span<detail::KernelChoice const> kernels = known.kernels;
    if constexpr (std::is_same_v<Op, to_dense_op>) {  // its input is never dense
        static constexpr detail::KernelChoice only{detail::wires_of<T>, false, &kernel_of<Op, D, T>::value};
        kernels = std::span(&only, 1);
    }
    return {Op::name, &test::samples<Op>, kernels, std::make_shared<attributes_of<Op> const>(), forward_ops::has<Op>};
}

template <class D = Cpu, class T = double, class... Op>
std::vector<Entry> entries(detail::type_list<Op...>) {
    return {entry<Op, D, T>()...};
}

/// The kernel for inputs of these element types, or nullptr.
inline op_kernel const* find_kernel(Entry const& e, Sample const& s) {
    auto const takes = [&](detail::KernelChoice const& choice) {
        return choice.takes(s.in.size(), [&](std::size_t i) { return s.in[i].value->spec().dtype; });
    };
    auto const found = std::ranges::find_if(e.kernels, takes);
    return found == e.kernels.end() ? nullptr : found->kernel;
}
inline op_kernel const& kernel_for(Entry const& e, Sample const& s) {
    op_kernel const* const kernel = find_kernel(e, s);
    if (kernel == nullptr) FAIL("no kernel takes the sample");
    return *kernel;
}

/// A value with elements of To in place of From.
template <class To, class From>
Value converted(Value const& v) {
    auto const convert = [](Tensor<From> const& x) {
        auto made = Tensor<To>::from_shape(x.shape());
        for (std::size_t i = 0; i < x.size(); ++i) made.data()[i] = inputs::narrow<To>(static_cast<double>(dtype<From>::widen(x.data()[i])));
        return made;
    };
    Value made;
    if (v.is<LoDTensor<From>>()) {
        auto const& x = v.get<LoDTensor<From>>();
        made.set(LoDTensor<To>(convert(x.value()), x.lod()));
    } else if (v.is<SelectedRows<From>>()) {
        auto const& x = v.get<SelectedRows<From>>();
        made.set(SelectedRows<To>(x.height(), x.rows(), convert(x.value())));
    } else {
        made = v.copy();
    }
    return made;
}
template <class To, class From>
Sample converted(Sample s) {
    for (test::Input& in : s.in) in.value = std::make_shared<Value>(converted<To, From>(*in.value));
    return s;
}

/// The sample with int64 in place of double.
inline Sample with_integers(Sample s) {
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
inline std::string bits(Value const& v) {
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

/// The sum of the elements with weights between -1 and 1, computed on the host: the loss of an output.
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
        template <class T, class D>
        static LoDTensor<T, D> run(D const& exec, LoDTensor<T, D> const& x, Tensor<T, D> const& out_grad) {
            auto grad = Tensor<T>::from_shape(x.value().shape());
            T* const to = grad.data();
            double const g = dtype<T>::widen(to_host(exec, out_grad)(0));
            for (std::size_t i = 0; i < grad.size(); ++i) to[i] = ::inputs::narrow<T>(weight(i) * g);
            return {to_device(exec, std::move(grad)), x.lod()};
        }
    };
    using grad = grad_rule<grad_op>;
    static VarSpec infer(VarSpec const& x) { return {.dtype = x.dtype, .dims = {1}}; }
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, Tensor<T, D> const& x) {
        double sum = 0;
        auto const host = to_host(exec, x);
        for (std::size_t i = 0; i < host.size(); ++i) sum += weight(i) * dtype<T>::widen(host.data()[i]);
        return to_device(exec, Tensor<T>{::inputs::narrow<T>(sum)});
    }
};

/// A copy on the device.
template <class D, class T>
Value copy_on(Value const& v) {
    Value made;
    auto const copy = [&]<class V>(std::type_identity<V>) {
        if (v.is<V>()) made.set(to_device(D{}, v.get<V>()));
    };
    if constexpr (std::is_same_v<D, Cpu>) {
        made = v.copy();
    } else {
        copy(std::type_identity<SelectedRows<T>>{});
        copy(std::type_identity<LoDTensor<T>>{});
        copy(std::type_identity<LoDTensor<std::int64_t>>{});
        copy(std::type_identity<LoDTensor<std::int32_t>>{});
        copy(std::type_identity<LoDTensor<bool>>{});
        copy(std::type_identity<LoDTensor<std::uint8_t>>{});
        if constexpr (!std::is_same_v<T, double>) copy(std::type_identity<LoDTensor<double>>{});
    }
    return made;
}

/// A sample in a net on a device: inputs with elements of T are parameters.
template <class D = Cpu, class T = double>
struct Built {
    Scope scope;
    op_kernel const& kernel;
    std::vector<Variable*> in;
    Operator* op;

    Built(Entry const& e, Sample const& s) : kernel(kernel_for(e, s)) {
        ScopeGuard const guard(scope);
        for (auto const& v : s.in) {
            bool const levels = in.size() < 32 && (kernel.level_inputs >> in.size() & 1) != 0;
            bool const trained = v.value->is<LoDTensor<T>>() && !v.fixed && !levels && !kernel.gradient().rules.empty();
            Variable& made = scope.new_var("in" + std::to_string(in.size()), v.value->spec(), trained ? Role::parameter : Role::data);
            made.value() = copy_on<D, T>(*v.value);
            in.push_back(&made);
        }
        op = &scope.new_op(kernel, in, s.options ? s.options : e.defaults);
    }

    /// The kernel's results, and the inputs after it.
    Values call(Sample const& s, D exec) const {
        Values given, out(op->outputs.size());
        for (auto const& v : s.in) given.push_back(copy_on<D, T>(*v.value));
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
            if (spec.type != VarType::LOD_TENSOR || spec.dtype != dtype<T>::wire || std::ranges::none_of(kernel.gradient().rules, reads)) continue;
            terms.push_back(scope.new_op<weighed_op, D, T>({op->outputs[i]}).outputs[0]);
        }
        if (terms.empty()) return nullptr;
        return terms.size() == 1 ? terms[0] : scope.new_op<sum_op, D, T>(terms).outputs[0];
    }
};

/// Which samples: those without an error, these also with integers, the first of each operator, or those with an error.
enum class Which { good, integers_too, first, refused };

/// Calls f for samples of the operators. `samples` returns those of an operator.
template <class G, class F>
void each_sample_of(std::vector<Entry> const& operators, G const& samples, F const& f, Which which = Which::good) {
    for (Entry const& e : operators) {
        auto const all = samples(e);
        for (std::size_t i = 0; i < (which == Which::first ? 1 : all.size()); ++i) {
            INFO(e.name << ", sample " << i);
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
template <class F>
void each_sample(std::vector<Entry> const& operators, std::size_t n, F const& f, Which which = Which::good) {
    INFO("n = " << n);
    each_sample_of(operators, [n](Entry const& e) { return e.samples(n); }, f, which);
}

}  // namespace sample_nets
