// rowan/train/detail/cost_divisors_inl.hpp: definitions of cost_weight.hpp: the numbers of the parts.
#pragma once

#include <rowan/train/detail/cost_weight.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/detail/arithmetic.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/detail/reduction.hpp>
#include <rowan/train/detail/table_lookups.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION bool has_floats(Variable const& v) {
    auto const type = v.spec().dtype;
    return type == dtype<float>::wire || type == dtype<double>::wire || type == dtype<bfloat16>::wire ||
           type == dtype<float16>::wire;
}

template <class T>
std::vector<double> as_doubles(std::span<std::byte const> bytes) {
    std::vector<double> all(bytes.size() / sizeof(T));
    auto const* const x = reinterpret_cast<T const*>(bytes.data());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(dtype<T>::widen(x[i]));
    return all;
}

ROWAN_FUNCTION std::vector<double> floats_of(Value const& x) {
    Value host = x.on_host();
    auto const elements = host.elements();
    if (elements.dtype == dtype<double>::wire) return as_doubles<double>(elements.bytes);
    if (elements.dtype == dtype<float>::wire) return as_doubles<float>(elements.bytes);
    if (elements.dtype == dtype<float16>::wire) return as_doubles<float16>(elements.bytes);
    return as_doubles<bfloat16>(elements.bytes);
}

/// What a mean over these labels divides by, times a power of two that depends on the weights alone.
ROWAN_IF_CALLED double sum_of_weights(Value const& labels, CrossEntropyOptions const& o);
ROWAN_CALLED_FUNCTION double sum_of_weights(Value const& labels, CrossEntropyOptions const& o) {
    std::vector<std::int64_t> numbers;
    Value const host = labels.on_host();
    visit_ids(host, [&](auto const& ids) { numbers.assign(ids.begin(), ids.end()); });
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

/// The sum of the weights of the elements of labels that do not have the ignored value.
ROWAN_IF_CALLED double sum_of_kept(Value const& labels, std::optional<std::int64_t> ignored, Variable const* weights);
ROWAN_CALLED_FUNCTION double sum_of_kept(Value const& labels, std::optional<std::int64_t> ignored,
                                         Variable const* weights) {
    std::vector<double> of_rows;
    if (weights != nullptr) of_rows = floats_of(weights->value());
    std::vector<double> const all = floats_of(labels);
    auto other = static_cast<double>(ignored.value_or(0));  // compared as losses compare labels
    if (labels.spec().dtype != dtype<double>::wire) other = static_cast<double>(constant<float>(other));
    std::size_t const width = of_rows.empty() ? 1 : all.size() / of_rows.size();
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!ignored || all[i] != other) sum += of_rows.empty() ? 1 : of_rows[i / width];
    }
    return sum;
}

ROWAN_CALLED_FUNCTION double Counted::count() const {
    Value const& now = variable->value();
    if (of == rows) return static_cast<double>(now.rows());
    if (of == labels) return sum_of_weights(now, *options);
    if (of == kept) return sum_of_kept(now, ignored, weights);
    if (of == value) return floats_of(now)[0];
    double product = 1;
    auto const spec = now.spec();
    for (std::size_t i = 0; i < spec.dims.size(); ++i) {
        if (static_cast<std::int64_t>(i) != axis) product *= static_cast<double>(spec.dims[i]);
    }
    return product;
}

ROWAN_CALLED_FUNCTION double CostDivisor::count() const {
    double all = 1;
    for (Counted const& factor : factors) all *= factor.count();
    return all;
}

ROWAN_CALLED_FUNCTION double CostDivisor::rounding() const {
    double all = 1e-12;
    for (Counted const& factor : factors) {
        if (factor.of != Counted::value) continue;
        auto const type = factor.variable->spec().dtype;
        if (type == dtype<float>::wire) all = std::max(all, 1e-5);
        if (type == dtype<bfloat16>::wire) all = std::max(all, 2e-2);
    }
    return all;
}

ROWAN_CALLED_FUNCTION Variable* rows_variable(Variable& cost) {
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

ROWAN_CALLED_FUNCTION Counted counted_rows(Variable& v) {
    auto const& dims = v.spec().dims;
    bool const alone = !dims.empty() && dims[0] == UNK && std::ranges::count(dims, UNK) == 1;
    return {&v, alone ? Counted::rows : Counted::elements};
}

ROWAN_CALLED_FUNCTION std::optional<Counted> rows_of_input(Operator const& op) {
    Variable& x = *op.inputs[0];
    bool const known = std::ranges::count(x.spec().dims, UNK) == 0;
    if (!known) return counted_rows(x);
    Variable* const rows = rows_variable(x);
    return rows == nullptr ? std::nullopt : std::optional(Counted{rows});
}

ROWAN_CALLED_FUNCTION std::vector<Variable*> CostWeight::reads() const {
    std::vector<Variable*> all;
    for (CostDivisor const& d : divisors_) {
        for (Counted const& factor : d.factors) {
            all.push_back(factor.variable);
            if (factor.weights != nullptr) all.push_back(factor.weights);
        }
    }
    return all;
}

ROWAN_CALLED_FUNCTION void CostWeight::append_to(std::vector<double>& all) const {
    if (divisors_.empty()) all.push_back(1);
    for (CostDivisor const& d : divisors_) all.push_back(d.count());
}

ROWAN_CALLED_FUNCTION double CostWeight::divisor(std::span<double const> weights, std::size_t stride) const {
    if (kind_ == sum) return 1;
    std::vector<double> totals(size());
    for (std::size_t i = 0; i < weights.size(); i += stride) {
        for (std::size_t k = 0; k < totals.size(); ++k) totals[k] += weights[i + k];
    }
    if (kind_ == same) return totals[0];
    for (std::size_t k = 0; k < totals.size(); ++k) {
        for (Counted const& f : divisors_[k].factors) {
            if (totals[k] == 0 && f.of == Counted::value)
                throw ValueError({"parts: the sum of ", describe(*f.variable)}, 0.0,
                                 "a number other than 0, as it divides the cost");
        }
    }
    std::size_t const by = first_given(totals);  // which of_part may have taken
    auto const text = [&](std::size_t k) {
        Operator const& op = *divisors_[k].op;
        return std::string(op.kernel->name).append(" -> ").append(describe(*op.outputs[0]));
    };
    for (std::size_t k = 0; k < totals.size(); ++k) {
        if (k == by) continue;
        double const tolerance = std::max(divisors_[by].rounding(), divisors_[k].rounding());
        for (std::size_t at = 0; at < weights.size(); at += stride) {
            double const a = weights[at + by] * totals[k], b = weights[at + k] * totals[by];
            if (std::abs(a - b) > tolerance * std::max(std::abs(a), std::abs(b)))
                throw ValueError({"parts: the divisor of ", text(k), " in part ", at / stride}, weights[at + k],
                                 {"in proportion to that of ", text(by),
                                  ", a mean that is added to it: else the parts are not one batch"});
        }
    }
    return totals[by];
}

}  // namespace rowan::inline v0::detail

#endif
