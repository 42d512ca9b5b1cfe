// examples/python/operator_table.hpp: the operators by name, with their slots, attributes and kernels.
#pragma once

#include <pybind11/pybind11.h>

#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/graph/scope.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace python {

/// An attribute of an operator.
struct AttributeInfo {
    std::string name, type;
    pybind11::object first;  // the default; None for an attribute that may be absent
};

/// A kernel of the compiled library, and the element types of its inputs; one for all if there may be any number.
struct Choice {
    std::vector<std::int32_t> wires;
    rowan::op_kernel const* kernel;
};

/// An operator.
struct OperatorInfo {
    std::string_view name, brief;
    std::span<std::string_view const> inputs, outputs;
    bool variadic = false;  // the first slot holds any number of inputs
    std::vector<Choice> choices = {};
    std::vector<AttributeInfo> (*attributes)() = nullptr;
    rowan::Attributes (*make)(std::string const& name, pybind11::dict const& given) = nullptr;
};

/// All operators of the compiled library, in the order of their names.
std::vector<OperatorInfo> const& operator_table();

/// The operator of that name, which may be one of an earlier version, with a DeprecationWarning.
/// errors   GraphError, which names a similar operator
OperatorInfo const& operator_of(std::string const& name);

/// The name that an operator of an earlier version has now; nothing if there was none, or if it has the name still.
std::optional<std::string> current_name(std::string const& former);

/// The attributes from a dict; those that are absent, or None, have the defaults of C++.
/// errors   GraphError for an unknown attribute, which lists the attributes; TypeError for a value of another type
rowan::Attributes attributes_from(OperatorInfo const& op, pybind11::dict const& given);

/// The kernel for the element types of the inputs.
/// errors   GraphError for another number of inputs; TypeError if there is no such kernel
rowan::op_kernel const& kernel_for(OperatorInfo const& op, std::span<rowan::Variable* const> inputs);

/// " (did you mean x?)" if one of the names is similar, else "".
std::string similar(std::string const& name, std::vector<std::string> const& names);

}  // namespace python
