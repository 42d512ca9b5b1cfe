// rowan/train/detail/counted_inl.hpp: definitions of rowan/train/detail/counted.hpp.
#pragma once

#include <rowan/train/detail/counted.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/detail/arithmetic.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/detail/reduction.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <unordered_set>

namespace rowan::inline v0::detail {

/// The label numbers of a value of int32 or int64.
inline std::vector<std::int64_t> label_numbers(Value const& labels) {
    Value host = labels.on_host();
    auto const elements = host.elements();
    std::vector<std::int64_t> all(elements.bytes.size() / elements.element_size);
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::byte const* const at = elements.bytes.data() + i * elements.element_size;
        if (elements.element_size == sizeof(std::int64_t)) {
            std::memcpy(&all[i], at, sizeof(std::int64_t));
        } else {
            std::int32_t label;
            std::memcpy(&label, at, sizeof label);
            all[i] = label;
        }
    }
    return all;
}

/// What a mean over these labels divides by, times a power of two that depends on the weights alone.
inline double sum_of_weights(Value const& labels, CrossEntropyOptions const& o) {
    auto const numbers = label_numbers(labels);
    double greatest = 0;
    for (double const w : o.weights) greatest = std::max(greatest, std::abs(w));
    int const exponent = greatest > 0 && std::isfinite(greatest) ? std::ilogb(greatest) : 0;
    std::vector<double> kept;
    for (std::int64_t const label : numbers) {
        if (o.ignore_index && label == *o.ignore_index) {
            kept.push_back(0);
        } else if (o.weights.empty()) {
            kept.push_back(1);
        } else {
            if (label < 0 || label >= static_cast<std::int64_t>(o.weights.size()))
                throw IndexError("label", label, o.weights.size());
            kept.push_back(std::ldexp(o.weights[static_cast<std::size_t>(label)], -exponent));
        }
    }
    double sum = 0;
    Totals<Cpu>::of_losses<double>(Cpu{.threads = 1}, kept.size(), kept.data(), false, &sum);
    return sum;
}

/// The number of elements that are not `ignored`, compared as losses compare labels.
template <class T>
double count_kept(Value const& host, std::int64_t ignored) {
    using S = sum_t<T>;
    S const other = constant<S>(static_cast<double>(ignored));
    auto const& labels = host.get<LoDTensor<T>>().value();
    auto const of_ignored = [&](T const& label) { return load<S>(&label) == other; };
    return static_cast<double>(labels.size() -
                               static_cast<std::size_t>(std::count_if(labels.begin(), labels.end(), of_ignored)));
}

ROWAN_FUNCTION double Counted::count() const {
    Value const& now = variable->value();
    if (of == rows) return static_cast<double>(now.rows());
    if (of == labels) return sum_of_weights(now, *options);
    if (of == kept) {
        Value host = now.on_host();
        auto const type = host.elements().dtype;
        if (type == dtype<double>::wire) return count_kept<double>(host, ignored);
        if (type == dtype<float>::wire) return count_kept<float>(host, ignored);
        if (type == dtype<float16>::wire) return count_kept<float16>(host, ignored);
        return count_kept<bfloat16>(host, ignored);
    }
    if (of == value) {
        Value host = now.on_host();
        auto const held = host.elements();
        if (held.dtype == dtype<double>::wire) return host.get<LoDTensor<double>>().value().data()[0];
        if (held.dtype == dtype<float>::wire)
            return static_cast<double>(host.get<LoDTensor<float>>().value().data()[0]);
        return static_cast<double>(dtype<bfloat16>::widen(host.get<LoDTensor<bfloat16>>().value().data()[0]));
    }
    double product = 1;
    auto const spec = now.spec();
    for (std::size_t i = 0; i < spec.dims.size(); ++i) {
        if (static_cast<std::int64_t>(i) != axis) product *= static_cast<double>(spec.dims[i]);
    }
    return product;
}

ROWAN_FUNCTION double CostDivisor::count() const {
    double all = 1;
    for (Counted const& factor : factors) all *= factor.count();
    return all;
}

ROWAN_FUNCTION double CostDivisor::rounding() const {
    double all = 1e-12;
    for (Counted const& factor : factors) {
        if (factor.of != Counted::value) continue;
        auto const type = factor.variable->spec().dtype;
        if (type == dtype<float>::wire) all = std::max(all, 1e-5);
        if (type == dtype<bfloat16>::wire) all = std::max(all, 2e-2);
    }
    return all;
}

ROWAN_FUNCTION Variable* rows_variable(Variable& cost) {
    std::vector<Variable*> found{&cost};
    std::unordered_set<Variable const*> seen{&cost};
    for (std::size_t i = 0; i < found.size(); ++i) {
        Variable& v = *found[i];
        if (v.role() == Role::parameter || v.role() == Role::state) continue;
        auto const& spec = v.spec();
        if (spec.type == VarType::LOD_TENSOR && !spec.dims.empty() && spec.dims[0] == UNK) return &v;
        for (Operator const* const op : v.writers()) {
            for (Variable* const in : op->inputs) {
                if (seen.insert(in).second) found.push_back(in);
            }
        }
    }
    return nullptr;
}

ROWAN_FUNCTION Counted counted_rows(Variable& v) {
    auto const& dims = v.spec().dims;
    bool const alone = !dims.empty() && dims[0] == UNK && std::ranges::count(dims, UNK) == 1;
    return {&v, alone ? Counted::rows : Counted::elements};
}

ROWAN_FUNCTION std::optional<Counted> rows_of_input(Operator const& op) {
    Variable& x = *op.inputs[0];
    bool const known = std::ranges::count(x.spec().dims, UNK) == 0;
    if (!known) return counted_rows(x);
    Variable* const rows = rows_variable(x);
    return rows == nullptr ? std::nullopt : std::optional(Counted{rows});
}

}  // namespace rowan::inline v0::detail

#endif
