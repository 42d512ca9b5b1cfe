// rowan/sequence/map_fn.hpp: map_fn, a function applied to every slot of a TensorArray.
#pragma once

#include <rowan/sequence/tensor_array.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>

namespace rowan::inline v0 {

/// Returns an array whose slot i is f(array.read(i)). f is called on the host, in ascending order of i; the slots are
/// in the memory of the array's device. A result that f returns by lvalue reference is copied.
/// shapes   f takes a LoDTensor (or a Tensor, to which it converts) and returns either, of any element type
/// errors   IndexError if a slot was never written, before any call of f; ShapeError if results differ in rank,
///          trailing dims or number of levels; whatever f throws
/// cost     size() calls of f, on one thread; results that f returns by value are not copied
template <class F, class T, class Device>
auto map_fn(F&& f, TensorArray<T, Device> const& array) {
    using R = std::invoke_result_t<F&, LoDTensor<T, Device>>;
    TensorArray<typename std::remove_cvref_t<R>::value_type, Device> results;
    // Throws unless all slots were written.
    for (std::size_t i = 0; i < array.size(); ++i) static_cast<void>(array.read(i));
    for (std::size_t i = 0; i < array.size(); ++i)
        results.write(i, std::invoke(f, array.read(i)), !std::is_lvalue_reference_v<R>);
    return results;
}

}  // namespace rowan::inline v0
