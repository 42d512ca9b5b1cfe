// rowan/sequence/map_fn.hpp: map_fn, a function applied to every slot of a TensorArray.
#pragma once

#include <rowan/sequence/tensor_array.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>

namespace rowan::inline v0 {

/// Slot i of the result is f(array.read(i)), for i in order: what f returns, or a copy of what it returns a reference to. It
/// is called on the host, with slots that lie on the array's device.
/// shapes   f takes a LoDTensor (or, as it converts, a Tensor) and returns either, of any element type
/// errors   IndexError if a slot was never written, before f is called; what f throws; ShapeError if its results differ in rank or
///          trailing dims
/// cost     size() calls of f, on one thread; results that are not references are taken over
template <class F, class T, class Device>
auto map_fn(F&& f, TensorArray<T, Device> const& array) {
    using R = std::invoke_result_t<F&, LoDTensor<T, Device>>;
    TensorArray<typename std::remove_cvref_t<R>::value_type, Device> results;
    for (std::size_t i = 0; i < array.size(); ++i) static_cast<void>(array.read(i));  // all were written
    for (std::size_t i = 0; i < array.size(); ++i)
        results.write(i, std::invoke(f, array.read(i)), !std::is_lvalue_reference_v<R>);
    return results;
}

}  // namespace rowan::inline v0
