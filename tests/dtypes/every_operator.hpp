// tests/dtypes/every_operator.hpp: every operator on floating-point numbers takes elements of another type.
#pragma once

#include "op/sample_nets.hpp"
#include "own_types.hpp"

#include <rowan/io/operator_maker.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace every_operator_of {

using namespace rowan;
using sample_nets::converted;
using test::Sample, test::Samples;

using Run = void (*)(KernelCall const&);

template <class Op, class T, class... In>
Run run_with(detail::type_list<In...>) {
    constexpr bool batches = detail::takes_batches<Op, Cpu, In...>;
    if constexpr (!batches && !detail::has_kernel<Op, Cpu, In...>) return nullptr;
    else if constexpr (std::is_same_v<T, double>) return kernel_of<Op, Cpu, In...>::value.run;  // is compiled
    else if constexpr (batches) return &detail::run_batches<Op, Cpu, In...>;
    else return &detail::run_fixed<Op, Cpu, In...>;
}

/// The operator's function for elements of T, where labels may be numbers or `ids`: those with int64; nullptr if it has none.
template <class Op, class T>
Run run_of(bool ids) {
    if constexpr (!takes_elements<Op, T>) {
        return nullptr;
    } else if constexpr (detail::is_variadic<Op, Cpu, T>) {
        if constexpr (std::is_same_v<T, double>) return kernel_of<Op, Cpu, T>::value.run;
        else if constexpr (detail::takes_batches<Op, Cpu, T>) return &detail::run_batches<Op, Cpu, T>;
        else return &detail::run_variadic<Op, Cpu, T>;
    } else {
        if constexpr (!detail::needs_integers<Op>) {
            if (!ids || level_inputs_of<Op> != 0) return run_with<Op, T>(detail::input_types<Op, T, T>{});
        }
        return run_with<Op, T>(detail::input_types<Op, T, std::int64_t>{});
    }
}

struct Entry {
    std::string_view name;
    Samples (*samples)(std::size_t n);
    Run (*run)(bool ids);
    Run (*in_double)(bool ids);
    Attributes defaults;
    std::size_t outputs;
};
template <class T, class... Op>
std::vector<Entry> entries(detail::type_list<Op...>) {
    return {{Op::name, &test::samples<Op>, &run_of<Op, T>, &run_of<Op, double>, std::make_shared<attributes_of<Op> const>(), Op::outputs::size}...};
}

/// The results, and the inputs after the call.
inline std::vector<Value> call(Run run, std::vector<Value>& in, std::size_t outputs, Attributes const& options) {
    std::vector<Value> out(outputs);
    std::vector<Value*> from, to;
    for (Value& v : in) from.push_back(&v);
    for (Value& v : out) to.push_back(&v);
    Cpu const exec{1};
    run({.exec = AnyExec(exec), .in = from, .out = to, .attributes = options});
    for (Value& v : in) out.push_back(std::move(v));
    return out;
}

inline double error(double got, double want) {
    return got == want || (std::isnan(got) && std::isnan(want)) ? 0 : std::abs(got - want) / (1 + std::abs(want));
}

/// The largest error of elements; infinity if the kind, the shape or the levels differ.
inline double error(Value const& got, Value const& want) {
    if (got.is<SelectedRows<double>>() && want.is<SelectedRows<double>>()) {
        return got.row_numbers() == want.row_numbers() ? error(got.row_values(), want.row_values()) : INFINITY;
    }
    if (got.kind() != want.kind() || !(got.spec() == want.spec()) || !(got.lod() == want.lod())) return INFINITY;
    double worst = 0;
    if (!got.is<LoDTensor<double>>()) {
        Value a = got.share(), b = want.share();
        return std::ranges::equal(a.elements().bytes, b.elements().bytes) ? 0 : INFINITY;
    }
    auto const &a = got.get<LoDTensor<double>>().value(), &b = want.get<LoDTensor<double>>().value();
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, error(a.data()[i], b.data()[i]));
    return worst;
}

/// Every operator computes elements of T as doubles, and rounds them: errors are at most `most`.
template <class T>
void check(double most) {
    std::size_t called = 0;
    for (Entry const& e : entries<T>(detail::listed_ops{})) {
        auto const all = e.samples(6);
        for (std::size_t i = 0; i < all.size(); ++i) {
            Value const& last = *all[i].in.back().value;
            bool const ids = last.is<LoDTensor<std::int64_t>>();
            Run const run = e.run(ids), in_double = e.in_double(ids);
            if (!all[i].error.empty() || run == nullptr || in_double == nullptr) continue;
            INFO(e.name << ", sample " << i);
            try {
                std::vector<Value> in, same;
                for (auto const& v : all[i].in) {
                    in.push_back(converted<T, double>(*v.value));
                    same.push_back(converted<double, T>(in.back()));  // the same numbers
                }
                auto const& options = all[i].options ? all[i].options : e.defaults;
                auto const got = call(run, in, e.outputs, options), want = call(in_double, same, e.outputs, options);
                for (std::size_t k = 0; k < want.size(); ++k) {
                    CAPTURE(k, got[k].kind(), want[k].kind());
                    CHECK(error(converted<double, T>(got[k]), want[k]) <= most);
                }
                ++called;
            } catch (Error const& error) {
                FAIL_CHECK(error.what());
            }
        }
    }
    CHECK(called > 200);
}

}  // namespace every_operator_of
