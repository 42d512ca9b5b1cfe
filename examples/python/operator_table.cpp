// examples/python/operator_table.cpp: the operators by name, with their slots, attributes and kernels.
#include "operator_table.hpp"

#include "attributes.hpp"

#include <rowan/graph/detail/compiled_kernels.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/op/builtin_ops.hpp>
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/elementwise/full.hpp>
#include <rowan/op/forward_ops.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>

namespace py = pybind11;

namespace python {

namespace {

namespace d = rowan::detail;
using rowan::Cpu, rowan::GraphError;
using Table = std::map<std::string_view, OperatorInfo>;

/// The operator of that name, which is added to the table if it lacks it.
OperatorInfo& entry_of(Table& table, OperatorInfo const& op) { return table.try_emplace(op.name, op).first->second; }

template <class Op>
OperatorInfo& entry(Table& table) {
    using A = rowan::attributes_of<Op>;
    return entry_of(table, {.name = Op::name,
                            .inputs = Op::inputs::names,
                            .outputs = Op::outputs::names,
                            .attributes = &describe_attributes<A>,
                            .make = &make_attributes<A>});
}

void add_choice(OperatorInfo& info, std::initializer_list<std::int32_t> wires, rowan::op_kernel const& kernel) {
    info.choices.push_back({wires, &kernel});
}

template <class Op, class... T>
void add_kernel(OperatorInfo& info, d::type_list<T...>) {
    add_choice(info, {rowan::dtype<T>::wire...}, rowan::kernel_of<Op, Cpu, T...>::value);
}

/// Adds the kernels that the compiled library has for elements of E: see compiled/operators.hpp.
template <class E, class Op>
void add_kernels(Table& table) {
    OperatorInfo& info = entry<Op>(table);
    if constexpr (d::is_variadic<Op, Cpu, E>) {
        info.variadic = true;
        add_kernel<Op>(info, d::type_list<E>{});
    } else {
        using plain = typename d::input_types<typename Op::inputs, E, E>::type;
        using with_int64 = typename d::input_types<typename Op::inputs, E, std::int64_t>::type;
        using with_int32 = typename d::input_types<typename Op::inputs, E, std::int32_t>::type;
        if constexpr (d::has_one_type<Op>) add_kernel<Op>(info, plain{});
        if constexpr (!d::has_one_type<Op> || !std::is_same_v<with_int64, plain>) add_kernel<Op>(info, with_int64{});
        if constexpr (!std::is_same_v<with_int32, with_int64>) add_kernel<Op>(info, with_int32{});
    }
}

template <class E, class... Op>
void add_all(Table& table, d::type_list<Op...>) {
    (add_kernels<E, Op>(table), ...);
}

template <class... Op>
void add_sources(Table& table, d::type_list<Op...>) {
    (add_choice(entry<Op>(table), {}, rowan::kernel_of<Op, Cpu>::value), ...);
}

/// The kernels of an operator that uses only the levels of y, whose elements are of type Y... and not of E.
template <class Op, class E, class... Y>
void add_levels(Table& table) {
    (add_kernel<Op>(entry<Op>(table), d::type_list<E, Y>{}), ...);
}

/// The same for shrink, with the number of a step.
template <class E, class... Y>
void add_steps(Table& table) {
    (add_kernel<rowan::shrink_op>(entry<rowan::shrink_op>(table), d::type_list<E, Y, std::int64_t>{}), ...);
}

std::string kinds_of(std::span<rowan::Variable* const> inputs) {
    std::string kinds(inputs.empty() ? "missing" : "");
    for (rowan::Variable const* v : inputs) kinds += (kinds.empty() ? "" : ", ") + d::kind_text(v->spec());
    return kinds;
}

}  // namespace

std::vector<OperatorInfo> const& operator_table() {
    static std::vector<OperatorInfo> const all = [] {
        using std::int32_t, std::int64_t;
        Table table;
        add_all<float>(table, d::compiled_ops{});
        add_all<double>(table, d::compiled_ops{});
        add_all<int64_t>(table, d::compiled_integer_ops{});
        add_all<int32_t>(table, d::compiled_integer_ops{});
        add_all<bool>(table, d::compiled_truth_ops{});
        add_sources(table, d::compiled_sources{});
        add_levels<rowan::sequence_expand_op, float, int64_t, int32_t>(table);
        add_levels<rowan::sequence_expand_op, double, int64_t, int32_t>(table);
        add_levels<rowan::lod_reset_op, float, int64_t, int32_t>(table);
        add_levels<rowan::lod_reset_op, double, int64_t, int32_t>(table);
        add_levels<rowan::reorder_op, float, int64_t, int32_t>(table);
        add_levels<rowan::reorder_op, double, int64_t, int32_t>(table);
        add_steps<float, int64_t, int32_t>(table);
        add_steps<double, int64_t, int32_t>(table);
        std::vector<OperatorInfo> list;
        for (auto& named : table) list.push_back(std::move(named.second));
        return list;
    }();
    return all;
}

std::string similar(std::string const& name, std::vector<std::string> const& names) {
    py::list list;
    for (std::string const& one : names) list.append(one);
    py::list const near = py::module_::import("difflib").attr("get_close_matches")(name, list, 1);
    return near.empty() ? "" : " (did you mean " + std::string(py::str(near[0])) + "?)";
}

OperatorInfo const& operator_of(std::string const& name) {
    auto const& table = operator_table();
    auto const found = std::ranges::lower_bound(table, std::string_view(name), {}, &OperatorInfo::name);
    if (found != table.end() && found->name == name) return *found;
    std::vector<std::string> names;
    for (OperatorInfo const& op : table) names.emplace_back(op.name);
    throw GraphError("there is no operator \"" + name + "\"" + similar(name, names));
}

rowan::Attributes attributes_from(OperatorInfo const& op, py::dict const& given) {
    std::string const name = "operator " + std::string(op.name);
    std::vector<std::string> names;
    for (AttributeInfo const& attribute : op.attributes()) names.push_back(attribute.name);
    for (auto const& one : given) {
        std::string const key = py::str(one.first);
        if (std::ranges::count(names, key) > 0) continue;
        std::string all;
        for (std::string const& known : names) all += (all.empty() ? "" : ", ") + known;
        throw GraphError(name + " has no attribute \"" + key + "\"" + similar(key, names) + ": its attributes are " +
                         (all.empty() ? "none" : all));
    }
    return op.make(name, given);
}

rowan::op_kernel const& kernel_for(OperatorInfo const& op, std::span<rowan::Variable* const> inputs) {
    std::string slots;
    for (std::string_view const slot : op.inputs) slots += (slots.empty() ? "" : ", ") + std::string(slot);
    bool const many = op.variadic && inputs.size() >= op.inputs.size();
    if (!many && inputs.size() != op.inputs.size())
        throw GraphError("operator " + std::string(op.name) + " reads " + (slots.empty() ? "nothing" : slots) +
                         (op.variadic ? ", the first of which may be several" : "") + ", but it is given " +
                         std::to_string(inputs.size()) + " variables");
    for (auto const& [wires, kernel] : op.choices) {
        bool fits = true;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            fits = fits && inputs[i]->spec().dtype == wires[op.variadic ? 0 : i];
        if (fits) return *kernel;
    }
    throw rowan::TypeError("the input of operator " + std::string(op.name), kinds_of(inputs),
                           "types for which it has a kernel");
}

}  // namespace python
