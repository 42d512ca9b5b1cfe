// rowan/layer/array.hpp: Array, a TensorArray that a net computes with, and the layers that read and write it.
#pragma once

#include <rowan/graph/detail/array_kernels.hpp>
#include <rowan/layer/var.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rowan::inline v0::layer {

/// A variable that holds a TensorArray<T>. A copy is the same variable.
template <class T, class Device = Cpu>
class Array {
    static_assert(detail::is_element<T>(), "rowan::layer::Array<T>: specialize rowan::dtype<T> for this element type");

public:
    using value_type = T;

    /// The array that is in a variable.
    explicit Array(Variable& variable) : variable_(&variable) {}

    Variable& operator*() const noexcept { return *variable_; }  ///< its variable
    Variable* operator->() const noexcept { return variable_; }  ///< its variable

private:
    Variable* variable_;
};

/// An array without slots, whose slots are to have these dims and levels.
///     auto outputs = layer::create_array<float>({UNK, 64});
/// shapes   slots of slot_dims
/// errors   none
/// cost     O(1), when the net runs
template <class T = float, class Device = Cpu>
Array<T, Device> create_array(Dims const& slot_dims, std::size_t lod_level = 0) {
    auto const spec = std::make_shared<VarSpec const>(tensor_spec<T>(slot_dims, lod_level));
    return Array<T, Device>(*default_scope().new_op(rowan::detail::array_kernels<T, Device>::create, {}, spec).outputs[0]);
}

/// Slot `index` of the array.
/// shapes   index [1] -> that of the slot
/// errors   when the net runs, IndexError if there is no such slot or it was never written, ShapeError if index has not one element
/// cost     O(1), and on a device a wait for the index: an alias of the slot
template <class T, class Device>
Var<T, Device> array_read(Array<T, Device> const& array, Var<std::int64_t, Device> const& index) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Var<T, Device>(*default_scope().new_op(kernels::read, {&*array, &*index}, nullptr).outputs[0]);
}

/// The array with x in slot `index`; it grows as needed.
/// shapes   index [1], x as the slots
/// errors   ShapeError if x has other dims or levels than the slots; when the net runs, IndexError if index is negative,
///          ShapeError if it has not one element
/// cost     O(1), and on a device a wait for the index, where nothing else reads the array before, else O(slots): elements are never copied
template <class T, class Device>
Array<T, Device> array_write(Array<T, Device> const& array, Var<std::int64_t, Device> const& index,
                             Var<T, Device> const& x) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Array<T, Device>(*default_scope().new_op(kernels::write, {&*array, &*index, &*x}, nullptr).outputs[0]);
}

/// The number of slots.
/// shapes   [1]
/// errors   none
/// cost     O(1)
template <class T, class Device>
Var<std::int64_t, Device> array_size(Array<T, Device> const& array) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Var<std::int64_t, Device>(*default_scope().new_op(kernels::size, {&*array}, nullptr).outputs[0]);
}

/// All slots as one tensor. See TensorArray::stack.
/// shapes   n slots [...] -> [n, ...]
/// errors   when the net runs, IndexError if a slot was never written, ShapeError if shapes differ
/// cost     one read and one write of every element
template <class T, class Device>
Var<T, Device> stack(Array<T, Device> const& array) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    auto const spec = std::make_shared<VarSpec const>(array->spec());
    return Var<T, Device>(*default_scope().new_op(kernels::stack, {&*array}, spec).outputs[0]);
}

/// The parts of a tensor along its first dim. See TensorArray::unstack.
/// shapes   x [n, ...] -> n slots [...]
/// errors   ShapeError if x has rank 0
/// cost     one read and one write of every element
template <class T, class Device>
Array<T, Device> unstack(Var<T, Device> const& x) {
    using kernels = rowan::detail::array_kernels<T, Device>;
    return Array<T, Device>(*default_scope().new_op(kernels::unstack, {&*x}, nullptr).outputs[0]);
}

}  // namespace rowan::inline v0::layer
