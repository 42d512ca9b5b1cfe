// rowan/layer/array.hpp: Array, a TensorArray in a net, and the layers that read and write it.
#pragma once

#include <rowan/graph/detail/array_kernels.hpp>
#include <rowan/layer/operator_layer.hpp>
#include <rowan/layer/var.hpp>
#include <rowan/op/shape/declared.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

/// Adds an operator on arrays to the default scope and returns its result.
template <class Op>
Variable& result_of(std::vector<Variable*> inputs, Attributes attributes = {}) {
    return *default_scope().new_op(whole_kernel<Op>::value, std::move(inputs), std::move(attributes)).outputs[0];
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0::layer {

/// A reference to a variable that holds a TensorArray<T>. Copies refer to the same variable.
template <class T, class Device = Cpu>
class Array {
    static_assert(detail::is_element<T>(), "rowan::layer::Array<T>: specialize rowan::dtype<T> for this element type");

public:
    using value_type = T;

    /// Refers to `variable`, which must hold a TensorArray<T>.
    explicit Array(Variable& variable) : variable_(&variable) {}

    Variable& operator*() const noexcept { return *variable_; }  ///< the variable
    Variable* operator->() const noexcept { return variable_; }  ///< the variable

private:
    Variable* variable_;
};

/// Creates an array without slots. Slots written later must have these dims and levels.
///     auto outputs = layer::create_array<float>({UNK, 64});
/// shapes   slots of slot_dims
/// errors   none
/// cost     O(1), when the net runs
template <class T = float, class Device = Cpu>
Array<T, Device> create_array(Dims const& slot_dims, std::size_t lod_level = 0) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    auto const spec = std::make_shared<VarSpec const>(tensor_spec<T>(slot_dims, lod_level));
    return Array<T, Device>(rowan::detail::result_of<typename kernels::create>({}, spec));
}

/// Returns slot `index` of the array.
/// shapes   index [1] -> the shape of the slot
/// errors   when the net runs, IndexError if there is no such slot or it was never written, ShapeError if index does
///          not have exactly one element
/// cost     O(1): the result is an alias of the slot; on a device, a synchronization to read the index
template <class T, class Device>
Var<T, Device> array_read(Array<T, Device> const& array, Var<std::int64_t, Device> const& index) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Var<T, Device>(rowan::detail::result_of<typename kernels::read>({&*array, &*index}));
}

/// Returns the array with x in slot `index`; it grows as needed.
/// shapes   index [1], x of the slots' shape
/// errors   ShapeError if dims or levels of x differ from those of the slots; when the net runs, IndexError if index is
///          negative, ShapeError if it does not have exactly one element
/// cost     O(1) if no other operator reads the previous array later, else O(slots); elements are never copied; on a
///          device, a synchronization to read the index
template <class T, class Device>
Array<T, Device> array_write(Array<T, Device> const& array, Var<std::int64_t, Device> const& index,
                             Var<T, Device> const& x) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Array<T, Device>(rowan::detail::result_of<typename kernels::write>({&*array, &*index, &*x}));
}

/// The number of slots.
/// shapes   [1]
/// errors   none
/// cost     O(1)
template <class T, class Device>
Var<std::int64_t, Device> array_size(Array<T, Device> const& array) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Var<std::int64_t, Device>(rowan::detail::result_of<typename kernels::size>({&*array}));
}

/// Joins values of one shape along a new axis, as rowan::stack, or all slots of an array along a new first axis, as
/// TensorArray::stack.
///     auto pairs = layer::stack({a, b}, {.axis = 1});       // [n, 3] and [n, 3] -> [n, 2, 3]
/// shapes   n values or slots [...] -> [...] with a dim of n at the axis; with the levels of the first value unless it is
///          axis 0
/// errors   those of rowan::stack; for an array when the net runs, IndexError if a slot was never written, ShapeError if
///          the shapes of the slots differ
/// cost     one read and one write of every element
struct stack_layer : list_layer<stack_op> {
    using list_layer<stack_op>::operator();
    template <class T, class Device>
    Var<T, Device> operator()(Array<T, Device> const& array) const {
        using kernels = rowan::detail::array_kernels<T, Device>;
        auto const spec = std::make_shared<VarSpec const>(array->spec());
        return Var<T, Device>(rowan::detail::result_of<typename kernels::stack>({&*array}, spec));
    }
};

inline constexpr stack_layer stack{};  ///< Stacks values, or the slots of an array.

/// Splits a tensor along its first dim into slots, see TensorArray::unstack.
/// shapes   x [n, ...] -> n slots [...]
/// errors   ShapeError if x has rank 0
/// cost     one read and one write of every element
template <class T, class Device>
Array<T, Device> unstack(Var<T, Device> const& x) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Array<T, Device>(rowan::detail::result_of<typename kernels::unstack>({&*x}));
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/shape/stack.hpp>
#endif
