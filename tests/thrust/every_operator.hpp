// tests/thrust/every_operator.hpp: what holds for every operator on a device, shown on its samples: it does what it does on Cpu.
#pragma once

#include <rowan/thrust/op.hpp>

#include "devices.hpp"
#include "op/sample_nets.hpp"
#include "sequences.hpp"
#include "wide_samples.hpp"

#include <rowan/graph/backward.hpp>
#include <rowan/graph/net.hpp>
#include <rowan/sparse/merge.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace every_operator_on_device {

using namespace rowan;
using namespace sample_nets;

/// Other builds have other devices.
using Device = std::tuple_element_t<0, std::tuple<ROWAN_TEST_DEVICES>>;

/// Whether the operator sums in another order on a device: one that adds updates to places sums duplicates first, and cuBLAS computes matrix products.
inline bool other_order(Entry const& e) {
    if (!e.kernels.empty() && std::ranges::find(e.kernels[0].kernel->inputs, slot::updates::name) != e.kernels[0].kernel->inputs.end()) return true;
#ifdef __CUDACC__
    constexpr std::string_view names[] = {"cosine_similarity", "fc", "ftrl", "gru_unit", "lstm_unit", "matmul"};
    return std::ranges::find(names, e.name) != std::end(names);
#else
    return false;
#endif
}

/// Where both are NaN, whose sign may differ, `got` becomes `want`.
template <class T>
void same_nan(Value const& got, Value const& want) {
    auto const set = [](Tensor<T> const& a, Tensor<T> const& b) {
        auto alias = a.share();
        auto const nan = [](T x) { return std::isnan(static_cast<double>(dtype<T>::widen(x))); };
        for (std::size_t i = 0; i < a.size() && a.shape() == b.shape(); ++i)
            if (nan(a.data()[i]) && nan(b.data()[i])) alias.data()[i] = b.data()[i];
    };
    if (got.is<LoDTensor<T>>() && want.is<LoDTensor<T>>()) set(got.get<LoDTensor<T>>().value(), want.get<LoDTensor<T>>().value());
    if (got.is<SelectedRows<T>>() && want.is<SelectedRows<T>>()) set(got.get<SelectedRows<T>>().value(), want.get<SelectedRows<T>>().value());
}

/// Whether they are the same but for rounding.
template <class T>
bool close(Value const& got, Value const& want) {
    if (!got.is<LoDTensor<T>>() || !want.is<LoDTensor<T>>()) return bits(got) == bits(want);
    if (!(got.spec() == want.spec()) || !(got.lod() == want.lod())) return false;
    auto const &a = got.get<LoDTensor<T>>().value(), &b = want.get<LoDTensor<T>>().value();
    auto const near = [](T x, T y) {
        auto const p = static_cast<double>(dtype<T>::widen(x)), q = static_cast<double>(dtype<T>::widen(y));
        return p == q || (std::isnan(p) && std::isnan(q)) || std::abs(p - q) <= (sizeof(T) == 8 ? 1e-12 : sizeof(T) == 4 ? 1e-4 : 0.1) * (1 + std::abs(q));
    };
    return std::equal(a.data(), a.data() + a.size(), b.data(), near);
}

/// The results of the operator in a net, then the gradients of its inputs, on the host; of an optimizer the results, then the inputs after it.
template <class D, class T>
Values run(Entry const& e, Sample const& s) {
    D exec{};
    if constexpr (std::is_same_v<D, Cpu>) exec.threads = 1;
    Built<D, T> net(e, s);
    Values found;
    if (net.kernel.checks_first) {
        for (Value const& v : net.call(s, exec)) found.push_back(v.on_host());
        return found;
    }
    std::vector<Variable*> wanted = net.op->outputs;
    if (Variable* const cost = net.cost()) {
        for (auto const& g : append_backward<T, D>(*cost)) wanted.push_back(g.gradient);
    }
    Net<D>::trace_and_build(wanted).run(net.scope, exec);
    for (Variable const* v : wanted) found.push_back(v->value().on_host());
    return found;
}

/// Calls the kernel, which may throw, or the device may when it is waited for.
template <class D, class T>
std::string refusal(Entry const& e, Sample const& s) {
    return device::refusal<Error>([&] {
        Built<D, T> const net(e, s);
        try {
            for (Value const& v : net.call(s, {})) v.on_host();
        } catch (Error const&) {
            rowan::synchronize(D{});
            throw;
        }
        rowan::synchronize(D{});
    });
}

/// With duplicate rows summed, as a device does before it adds rows to a table.
template <class T>
Sample with_merged_rows(Sample s) {
    for (test::Input& in : s.in)
        if (in.value->is<SelectedRows<T>>()) in = test::sample::holder(merge(in.value->get<SelectedRows<T>>()));
    return s;
}

/// With NaN, infinities and other special numbers among the elements of T, but weights of rows, which must be finite.
template <class T>
Sample with_special_numbers(Entry const& e, Sample s) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    auto const names = e.kernels[0].kernel->inputs;
    for (std::size_t k = 0; k < s.in.size(); ++k) {
        test::Input& in = s.in[k];
        if (!in.value->is<LoDTensor<T>>() || (k < names.size() && names[k] == slot::weights::name)) continue;
        auto made = std::make_shared<Value>(in.value->copy());
        auto& x = made->get<LoDTensor<T>>().value();
        std::size_t i = 0;
        for (double const special : {0.0, -0.0, inf, 1e-40, -100.0, std::nan(""), 100.0, -inf, 3e38, -2e6, 0.5})
            if (3 * ++i < x.size()) x.data()[3 * i] = inputs::narrow<T>(special);
        in.value = std::move(made);
    }
    return s;
}

/// With another last number in the lists of integers.
inline Sample with_bad_id(Sample s, std::int64_t id) {
    for (test::Input& in : s.in) {
        if (!in.value->is<LoDTensor<std::int64_t>>()) continue;
        auto made = std::make_shared<Value>(in.value->copy());
        auto& x = made->get<LoDTensor<std::int64_t>>().value();
        if (x.size() != 0) x.data()[x.size() - 1] = id;
        in.value = std::move(made);
    }
    return s;
}

template <std::size_t first, class... Op, std::size_t... i>
auto slice(detail::type_list<Op...>, std::index_sequence<i...>) -> detail::type_list<std::tuple_element_t<first + i, std::tuple<Op...>>...>;
template <class... Op>
constexpr std::size_t count(detail::type_list<Op...>) {
    return sizeof...(Op);
}
/// The operators of part k of 2, which are compiled apart to need less memory.
template <std::size_t k, std::size_t all = count(detail::listed_ops{}), std::size_t middle = all / 2>
using Part = decltype(slice<k == 0 ? 0 : middle>(detail::listed_ops{}, std::make_index_sequence<k == 0 ? middle : all - middle>{}));

/// Asks all questions of the operators Op... on elements of T, on the device D.
template <class T, class D = Device, class... Op>
void ask(detail::type_list<Op...> operators) {
    auto const hosts = entries<Cpu, T>(operators), devices = entries<D, T>(operators);
    auto const on_host = [&](Entry const& e) -> Entry const& { return hosts[static_cast<std::size_t>(&e - devices.data())]; };
    auto const ask_one = [&](Entry const& e, Sample const& s) {
        auto const want = run<Cpu, T>(on_host(e), s), got = run<D, T>(e, s);
        REQUIRE(got.size() == want.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            CAPTURE(i, got[i].kind(), got[i].spec().dims);
            same_nan<T>(got[i], want[i]);
            if (other_order(e)) {
                CHECK(close<T>(got[i], want[i]));
            } else if (bits(got[i]) != bits(want[i])) {
                CHECK((bits(got[i]) == bits(run<Cpu, T>(on_host(e), with_merged_rows<T>(s))[i])));
            }
        }
    };
    // Also with ids of int32, and with integers in place of T.
    auto const ask_kinds = [&](Entry const& e, Sample const& s) {
        Sample const with_t = converted<T, double>(s), integers = with_integers(s);
        ask_one(e, with_t);
        for (Sample const& other : {converted<std::int32_t, std::int64_t>(with_t), integers, converted<std::int32_t, std::int64_t>(integers)})
            if (find_kernel(e, other) != nullptr) ask_one(e, other);
    };
    SECTION("results and gradients have the same bits") {
        for (std::size_t const n : {0u, 1u, 6u, 17u, 40u, 64u, 65u}) each_sample(devices, n, ask_kinds);
        each_sample(devices, 4'097, ask_kinds, Which::first);
    }
    SECTION("so have those of other widths and sequences") {
        auto const ask_named = [&](NamedSamples const& named) {
            auto const samples = [&](Entry const& e) { return named.contains(e.name) ? named.at(e.name) : Samples(); };
            each_sample_of(devices, samples, [&](Entry const& e, Sample const& s) { ask_one(e, converted<T, double>(s)); });
        };
        for (std::size_t const n : {0u, 65u}) {
            for (std::size_t const width : {0u, 1u, 2u, 15u, 16u, 17u, 40u}) {
                CAPTURE(n, width);
                ask_named(wide_samples(n, width));
            }
        }
        for (Lod const& lod : device::some_lods()) {
            for (std::size_t const width : {0u, 1u, 3u, 4u, 16u}) {
                CAPTURE(lod, width);
                ask_named(sequence_samples(lod, width));
            }
        }
    }
    SECTION("so have those of special numbers") {
        each_sample(devices, 40, [&](Entry const& e, Sample const& s) { ask_one(e, with_special_numbers<T>(e, converted<T, double>(s))); });
    }
    SECTION("bad inputs and options are refused with the text of Cpu") {
        each_sample(devices, 6, [&](Entry const& e, Sample const& s) {
            Sample const bad = converted<T, double>(s);
            CHECK(refusal<D, T>(e, bad) == refusal<Cpu, T>(on_host(e), bad));
        }, Which::refused);
    }
    SECTION("bad ids are refused with the text of Cpu") {
        each_sample(devices, 6, [&](Entry const& e, Sample const& s) {
            // a list alone may say how much memory is needed
            for (std::int64_t const id : {std::int64_t{-1}, std::int64_t{1} << (s.in.size() == 1 ? 20 : 40)}) {
                Sample const bad = with_bad_id(converted<T, double>(s), id);
                CHECK(refusal<D, T>(e, bad) == refusal<Cpu, T>(on_host(e), bad));
            }
        });
    }
}

}  // namespace every_operator_on_device
