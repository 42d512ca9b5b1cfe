// rowan/graph/detail/with_elements.hpp: with_elements, the type of the elements of a table by keys or in a file.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/graph/detail/any_table.hpp>
#include <rowan/op/detail/dtype_text.hpp>

#include <type_traits>

namespace rowan::inline v0::detail {

/// Calls make(std::type_identity<T>{}) with that of these types of which a table has elements.
/// errors   TypeError if it is none of them
template <class... T, class Make>
auto with_elements(TableSpec const& spec, Make const& make) {
    decltype(make(std::type_identity<float>{})) made{};
    if (!((spec.wire == dtype<T>::wire && (made = make(std::type_identity<T>{}), true)) || ...))
        throw TypeError("the elements of a table by keys or in a file", dtype_text(spec.wire), "f32, f64 or bf16");
    return made;
}

}  // namespace rowan::inline v0::detail
