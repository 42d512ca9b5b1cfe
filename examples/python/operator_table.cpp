// examples/python/operator_table.cpp: the operators by name, with their slots, attributes and kernels.
#include "operator_table.hpp"

#include "attributes.hpp"

#include <rowan/detail/near_name.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/io/detail/former_names.hpp>
#include <rowan/io/operator_maker.hpp>
#include <rowan/op/builtin_ops.hpp>
#include <rowan/op/detail/input_types.hpp>
#include <rowan/op/elementwise/cast.hpp>
#include <rowan/op/elementwise/full.hpp>
#include <rowan/own_operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
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
                            .brief = Op::brief,
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

/// Adds the kernels that the compiled library has for elements of E.
template <class E, class Op>
void add_kernels(Table& table) {
    if constexpr (d::is_compiled<Op> && rowan::takes_elements<Op, E>) {
        OperatorInfo& info = entry<Op>(table);
        if constexpr (d::is_variadic<Op, Cpu, E>) {
            info.variadic = true;
            add_kernel<Op>(info, d::type_list<E>{});
        } else {
            d::each_input_types<Op, E>([&]<class... T>(d::type_list<T...> types) {
                info.variadic = d::is_variadic<Op, Cpu, T...>;
                add_kernel<Op>(info, types);
            });
        }
    }
}

template <class E, class... Op>
void add_all(Table& table, rowan::registry<Op...>) {
    static_cast<void>(std::initializer_list<int>{(add_kernels<E, Op>(table), 0)...});  // clang limits folds
}

template <class... Op>
void add_sources(Table& table, rowan::registry<Op...>) {
    (add_choice(entry<Op>(table), {}, rowan::kernel_of<Op, Cpu>::value), ...);
}

/// The operator of that name, or nullptr.
OperatorInfo const* find(std::string_view name) {
    auto const& table = operator_table();
    auto const found = std::ranges::lower_bound(table, name, {}, &OperatorInfo::name);
    return found != table.end() && found->name == name ? &*found : nullptr;
}

std::string kinds_of(std::span<rowan::Variable* const> inputs) {
    std::string kinds(inputs.empty() ? "missing" : "");
    for (rowan::Variable const* v : inputs) kinds += (kinds.empty() ? "" : ", ") + d::kind_text(v->spec());
    return kinds;
}

}  // namespace

std::vector<OperatorInfo> const& operator_table() {
    static std::vector<OperatorInfo> const all = [] {
        using std::int64_t;
        using Ops = rowan::builtin_ops::with<rowan::cast_op<double>, rowan::cast_op<float>, rowan::cast_op<int64_t>>;
        Table table;
        add_all<float>(table, Ops{});
        add_all<double>(table, Ops{});
        add_all<int64_t>(table, Ops{});
        add_all<std::int32_t>(table, Ops{});
        add_all<bool>(table, Ops{});
        add_sources(table, rowan::registry<rowan::full_op<double>, rowan::full_op<float>, rowan::full_op<int64_t>>{});
        std::vector<OperatorInfo> list;
        for (auto& named : table) list.push_back(std::move(named.second));
        return list;
    }();
    return all;
}

std::string similar(std::string const& name, std::vector<std::string> const& names) {
    return d::near_text(name, names);
}

std::optional<std::string> current_name(std::string const& former) {
    std::vector<std::string_view> names{"sum_rows", "matmul_nt", "matmul_tn"};  // which need attributes now
    for (OperatorInfo const& op : operator_table()) names.push_back(op.name);
    rowan::BlockDesc block;
    block.ops.push_back({.type = former});
    rowan::ProgramDesc program{.blocks = {block}, .version = {1}};
    if (std::ranges::count(names, former) > 0) return std::nullopt;
    std::string now = d::with_current_names(std::move(program), names).blocks[0].ops[0].type;
    return find(now) != nullptr ? std::optional(std::move(now)) : std::nullopt;
}

OperatorInfo const& operator_of(std::string const& name) {
    if (OperatorInfo const* const found = find(name)) return *found;
    if (auto const now = current_name(name)) {
        std::string const warning = "the operator " + name + " is now " + *now;
        if (PyErr_WarnEx(PyExc_DeprecationWarning, warning.c_str(), 1) != 0) throw py::error_already_set();
        return operator_of(*now);
    }
    std::vector<std::string> names;
    for (OperatorInfo const& op : operator_table()) names.emplace_back(op.name);
    throw GraphError({"there is no operator \"", name, "\"", similar(name, names)});
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
        throw GraphError({name, " has no attribute \"", key, "\"", similar(key, names), ": its attributes are ", (all.empty() ? "none" : all)});
    }
    return op.make(name, given);
}

rowan::op_kernel const& kernel_for(OperatorInfo const& op, std::span<rowan::Variable* const> inputs) {
    std::string slots;
    for (std::string_view const slot : op.inputs) slots += (slots.empty() ? "" : ", ") + std::string(slot);
    bool const many = op.variadic && inputs.size() >= op.inputs.size();
    if (!many && inputs.size() != op.inputs.size())
        throw GraphError({"operator ", op.name, " reads ", (slots.empty() ? "nothing" : slots), (op.variadic ? ", the first of which may be several" : ""), ", but it is given ", inputs.size(), " variables"});
    for (auto const& [wires, kernel] : op.choices) {
        d::KernelChoice const choice{wires, op.variadic, kernel};
        if (choice.takes(inputs.size(), [&](std::size_t i) { return inputs[i]->spec().dtype; })) return *kernel;
    }
    throw rowan::TypeError({"the input of operator ", op.name}, kinds_of(inputs),
                           "types for which it has a kernel");
}

}  // namespace python
