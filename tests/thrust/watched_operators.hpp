// tests/thrust/watched_operators.hpp: what the watched device sees of every operator and of those of its gradient.
#pragma once

#include "every_operator.hpp"
#include "watched.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace every_operator_on_device {

/// Where operators on float are tested: on the watched device, which runs what cpp runs.
#ifdef __CUDACC__
using FloatDevice = Device;
#else
using FloatDevice = device::Watched;
#endif

/// Calls f(call) for the operators of the samples and then for those of their gradients; f calls the kernel.
template <class T, class F>
void each_watched_call(std::vector<Entry> const& operators, F const& f) {
    each_sample(operators, 6, [&](Entry const& e, Sample const& s) {
        device::Watched const exec;
        Built<device::Watched, T> net(e, converted<T, double>(s));
        if (Variable* const cost = net.kernel.checks_first ? nullptr : net.cost()) append_backward<T, device::Watched>(*cost);
        for (auto const& op : net.scope.operators()) {
            std::vector<Value*> in, out;
            for (Variable* const v : op->inputs) in.push_back(&v->value());
            for (Variable* const v : op->outputs) out.push_back(&v->value());
            INFO(op->kernel->name);
            f(*op->kernel, KernelCall{.exec = AnyExec(exec), .in = in, .out = out, .attributes = op->attributes, .levels_from = op->levels_from});
        }
    });
}

inline bool has_elements(Value const& v) {
    auto const spec = v.spec();
    return std::ranges::find(spec.dims, 0) == spec.dims.end();
}

/// Requires that the kernel refuses each of its inputs if it belongs to another device, and changes nothing.
template <class T>
void ask_of_elsewhere(op_kernel const& kernel, KernelCall call) {
    for (std::size_t i = 0; i < call.in.size(); ++i) {
        if (!has_elements(*call.in[i])) continue;
        std::vector<Value*> in(call.in.begin(), call.in.end());
        Value const host = call.in[i]->on_host();
        Value moved;
        {
            device::watched::Current const one(1);
            moved = copy_on<device::Watched, T>(host);
        }
        in[i] = &moved;
        Values out(call.out.size());
        std::vector<Value*> results;
        for (Value& v : out) results.push_back(&v);
        auto const on_host = [&] {
            Values all;
            for (std::size_t k = 0; k < in.size(); ++k) {
                device::watched::Current const one(k == i ? 1 : 0);
                all.push_back(in[k]->on_host());
            }
            return bits_of(all);
        };
        auto const before = on_host();
        CAPTURE(i);
        CHECK(device::refusal<CudaError>([&] {
                  kernel.run({.exec = call.exec, .in = in, .out = results, .attributes = call.attributes, .levels_from = call.levels_from});
              }) == "the tensor belongs to device 1, and the current one is 0");
        CHECK(on_host() == before);
        CHECK(std::ranges::all_of(out, [](Value const& v) { return v.empty(); }));
    }
}

/// The watched device: which operators wait, and that all refuse what belongs to another device.
template <class T, class... Op>
void watch(detail::type_list<Op...> operators, std::set<std::string_view> const& waiting) {
    auto const all = entries<device::Watched, T>(operators);
    std::set<std::string_view> waited;
    each_watched_call<T>(all, [&](op_kernel const& kernel, KernelCall const& call) {
        if (!kernel.name.starts_with("weighed")) ask_of_elsewhere<T>(kernel, call);  // not rowan's
        device::watched::waits = 0;
        kernel.run(call);
        if (device::watched::waits != 0 && !kernel.name.starts_with("weighed")) waited.insert(kernel.name);
    });
    CHECK(waited == waiting);
}

}  // namespace every_operator_on_device
