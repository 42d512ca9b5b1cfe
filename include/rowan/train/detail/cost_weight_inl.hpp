// rowan/train/detail/cost_weight_inl.hpp: definitions of rowan/train/detail/cost_weight.hpp.
#pragma once

#include <rowan/train/detail/cost_weight.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/graph/detail/trace.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/loss/declared.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace rowan::inline v0::detail {

inline bool has_rows(Variable const& v) {
    return v.spec().type == VarType::LOD_TENSOR && v.role() != Role::parameter &&
           std::ranges::count(v.spec().dims, UNK) != 0;
}

inline Linearity linearity(Operator const& op) { return op.kernel->row_traits(op.attributes).linearity; }
/// Whether the third input of an operator has the weights of the rows of the others.
inline bool weighs_rows(Linearity how) { return how == Linearity::weighed_sum || how == Linearity::weighed_mean; }

/// Its inputs but those that give shapes or levels.
inline std::span<Variable* const> factors(Operator const& op) {
    bool const one = linearity(op) == Linearity::scaled || linearity(op) == Linearity::shifted;
    return std::span(op.inputs).first(one ? 1 : op.inputs.size());
}

[[noreturn]] inline void no_parts(Operator const& op, char const* why) {
    throw GraphError(
        {"parts: the cost depends on the operator ", op.kernel->name, " -> ", describe(*op.outputs[0]), ", ", why});
}

/// Checks that a variable may divide: that it is a number and does not depend on parameters.
inline void check_divides(Operator const& op, Variable& v) {
    std::int64_t elements = 1;
    for (std::int64_t const dim : v.spec().dims) elements *= dim;
    if (elements != 1) no_parts(op, "which divides by several numbers of the whole batch");
    auto const type = v.spec().dtype;
    if (type != dtype<float>::wire && type != dtype<double>::wire && type != dtype<bfloat16>::wire)
        no_parts(op, "which divides by a number that is no float, double or bfloat16");
    for (Operator const* const before : trace(std::array{&v})) {
        if (std::ranges::any_of(before->inputs, [](Variable const* in) { return in->role() == Role::parameter; }))
            no_parts(op, "which divides by a number that depends on a parameter");
    }
}

/// What is repeated for each row, or v.
inline Variable& expanded_from(Variable& v) {
    bool const expands = !v.writers().empty() && linearity(*v.writers()[0]) == Linearity::scaled;
    return expands && has_rows(v) && !has_rows(*v.writers()[0]->inputs[0]) ? *v.writers()[0]->inputs[0] : v;
}

ROWAN_CALLED_FUNCTION CostWeight::CostWeight(Variable& cost) {
    Term all = compute(cost);
    kind_ = all.kind;
    divisors_ = std::move(all.divisors);
}

ROWAN_CALLED_FUNCTION auto CostWeight::of(Variable& v) -> Term {
    if (auto const found = known_.find(&v); found != known_.end()) return found->second;
    return known_[&v] = compute(v);
}

ROWAN_CALLED_FUNCTION auto CostWeight::of_summand(Variable& v) -> Term {
    return v.readers().size() == 1 ? compute(v) : of(v);
}

ROWAN_CALLED_FUNCTION auto CostWeight::compute(Variable& v) -> Term {
    if (v.writers().empty()) return {.fed = v.role() != Role::parameter && v.role() != Role::state};
    Operator const& op = *v.writers()[0];
    Linearity const how = linearity(op);
    if (op.inputs.empty() || how == Linearity::constant) return {};
    if (has_rows(v)) return {mean, true, {{&op, {counted_rows(v)}}}};
    if (weighs_rows(how)) check_weights(op);
    if (how == Linearity::mean_of_rows || how == Linearity::weighed_mean) {
        if (op.attributes.is<CrossEntropyOptions>()) return labelled(op);
        using Binary = BinaryCrossEntropyOptions;
        auto const ignored = op.attributes.is<Binary>() ? op.attributes.get<Binary>().ignore_index : std::nullopt;
        Variable* const weights = how == Linearity::weighed_mean ? op.inputs[2] : nullptr;
        if (ignored || weights != nullptr) return of_kept(op, ignored, weights);
        return reduced(op, mean, {counted_rows(*op.inputs[0])});
    }
    if (how == Linearity::sum_of_rows || how == Linearity::weighed_sum) return reduced(op, sum, {});
    bool const of_rows = std::ranges::any_of(op.inputs, [](Variable const* in) { return has_rows(*in); });
    if (of_rows && how == Linearity::of_all_rows) no_parts(op, "which is neither a sum nor a mean of rows");
    if (of_rows && how == Linearity::product) {
        std::vector<Variable*> divisors;
        for (Variable* const in : op.inputs) {
            if (has_rows(*in)) find_divisors(*in, divisors);
        }
        return of_divided_rows(op, divisors, {.kind = sum, .fed = true});
    }
    Term all;
    if (!of_rows) {
        if (how == Linearity::quotient) return quotient(op);
        if (how >= Linearity::scaled && how <= Linearity::product) return linear(op, how);
        for (Variable* const in : op.inputs) {
            Term const term = of(*in);
            all.fed = all.fed || term.fed;
            if (term.kind != same) all.kind = term.kind;
        }
        if (all.kind == same) return all;
        if (how != Linearity::inside) no_parts(op, "which is not linear in a sum or mean over the batch");
    }
    Variable* const rows = rows_variable(v);
    all = {mean, true, {{&op, {}}}};
    if (rows != nullptr) all.divisors[0].factors = {{rows}};
    return all;
}

ROWAN_CALLED_FUNCTION auto CostWeight::reduced(Operator const& op, Kind kind, std::vector<Counted> factors) -> Term {
    Variable& x = *op.inputs[0];
    bool const alone = op.inputs.size() == 1;  // a sum or mean, no loss
    Term all{.kind = kind};
    if (has_rows(x)) {
        all.fed = true;
        if (kind == mean) all.divisors = {{&op, std::move(factors)}};
        std::vector<Variable*> divisors;
        if (alone) find_divisors(x, divisors);
        return of_divided_rows(op, divisors, std::move(all));
    } else {
        factors.clear();
        for (Variable* const in : op.inputs) {
            if (has_rows(*in)) {
                all.fed = true;
                continue;
            }
            Term const term = of(*in);
            all.fed = all.fed || term.fed;
            if (term.kind == same) continue;
            if (alone) return term;
            no_parts(op, "which is not linear in a sum or mean over the batch");
        }
        if (!all.fed) all.kind = same;
    }
    if (all.kind == mean) all.divisors = {{&op, std::move(factors)}};
    return all;
}

ROWAN_CALLED_FUNCTION auto CostWeight::labelled(Operator const& op) -> Term {
    auto const& options = op.attributes.get<CrossEntropyOptions>();
    Variable &x = *op.inputs[0], &label = *op.inputs[1];
    auto const& dims = x.spec().dims;
    bool const soft = label.spec().dims.size() == dims.size();
    if (!soft && (options.ignore_index || !options.weights.empty())) {
        Term all = reduced(op, mean, {});
        if (all.kind == mean) all.divisors[0].factors = {{&label, Counted::labels, -1, &options}};
        return all;
    }
    std::size_t const axis = checked_axis(options.axis.value_or(-1), dims.size());
    bool known = axis != 0;
    for (std::size_t i = 1; i < dims.size(); ++i) known = known && (i == axis || dims[i] != UNK);
    if (known) return reduced(op, mean, {{&x, Counted::rows}});
    return reduced(op, mean, {{&x, Counted::elements, static_cast<std::int64_t>(axis)}});
}

ROWAN_CALLED_FUNCTION void CostWeight::check_weights(Operator const& op) {
    std::vector<Variable*> divisors;
    find_divisors(*op.inputs[2], divisors);
    if (!divisors.empty()) no_parts(op, "whose weights are divided by a sum or mean over the batch");
}

ROWAN_CALLED_FUNCTION auto CostWeight::of_kept(Operator const& op, std::optional<std::int64_t> ignored,
                                               Variable* weights) -> Term {
    Variable& label = *op.inputs[1];
    Term all = reduced(op, mean, {});
    if (all.kind != mean) return all;
    if (!has_floats(label))
        no_parts(op, "which counts or weighs labels that are no float, double, bfloat16 or float16");
    all.divisors[0].factors = {{&label, Counted::kept, -1, nullptr, ignored, weights}};
    return all;
}

ROWAN_CALLED_FUNCTION auto CostWeight::linear(Operator const& op, Linearity how) -> Term {
    Term all;
    bool const product = how == Linearity::product;
    bool constant = how == Linearity::shifted;
    for (Variable* const in : factors(op)) {
        Term term = of_summand(*in);
        all.fed = all.fed || term.fed;
        if (term.kind == same) {
            constant = true;
            continue;
        }
        if (all.kind != same && product) no_parts(op, "which multiplies sums or means over the batch");
        if (all.kind != same && all.kind != term.kind) no_parts(op, "which adds a mean over the batch to a sum");
        all.kind = term.kind;
        if (all.divisors.empty()) std::swap(all.divisors, term.divisors);  // of a sum of many, the most
        std::ranges::move(term.divisors, std::back_inserter(all.divisors));
    }
    if (all.kind == sum && constant && !product)
        no_parts(op, "which adds to a sum over the batch what does not depend on the batch");
    return all;
}

ROWAN_CALLED_FUNCTION auto CostWeight::quotient(Operator const& op) -> Term {
    Variable& by = *op.inputs[1];
    Term all = of(*op.inputs[0]);
    Term const divisor = of(by);
    all.fed = all.fed || divisor.fed;
    if (divisor.kind == same) return all;
    if (all.kind != divisor.kind) no_parts(op, "which is not linear in a sum or mean over the batch");
    return divided(op, by, std::move(all));
}

ROWAN_CALLED_FUNCTION auto CostWeight::divided(Operator const& op, Variable& by, Term term) -> Term {
    check_divides(op, by);
    Counted const value{&by, Counted::value};
    if (term.kind == sum) return {mean, true, {{&op, {value}}}};
    // The divisors of both means are in proportion; by's, times its value, is a sum over the batch.
    auto const of_by = of(by).divisors;
    term.divisors.insert(term.divisors.end(), of_by.begin(), of_by.end());
    for (CostDivisor& d : term.divisors) d.factors.push_back(value);
    return term;
}

ROWAN_CALLED_FUNCTION auto CostWeight::of_divided_rows(Operator const& op, std::span<Variable* const> by, Term term)
    -> Term {
    if (by.empty()) return term;
    if (by.size() > 1 || of(*by[0]).kind != term.kind)
        no_parts(op, "which reduces rows that are divided by a sum or mean over the batch");
    return divided(op, *by[0], std::move(term));
}

ROWAN_CALLED_FUNCTION void CostWeight::find_divisors(Variable& rows, std::vector<Variable*>& all) {
    if (rows.writers().empty()) return;
    Operator const& op = *rows.writers()[0];
    Linearity const how = linearity(op);
    if (how < Linearity::scaled || how > Linearity::quotient) return;
    bool const divides = how == Linearity::quotient;
    std::size_t const before = all.size();
    auto const inputs = factors(op);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        Variable& in = i == 1 && divides ? expanded_from(*inputs[1]) : *inputs[i];
        if (has_rows(in)) {
            if (i == 0 || !divides) find_divisors(in, all);
            continue;
        }
        if (of(in).kind == same) continue;
        if (i == 0 || !divides) no_parts(op, "by which each row depends on a sum or mean over the batch");
        all.push_back(&in);
    }
    if (how == Linearity::sum && all.size() != before)
        no_parts(op, "which adds rows that are divided by a sum or mean over the batch");
}

}  // namespace rowan::inline v0::detail

#endif
