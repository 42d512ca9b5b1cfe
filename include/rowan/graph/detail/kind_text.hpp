// rowan/graph/detail/kind_text.hpp: the kind and element type of a variable as text, for messages and Net::dot.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/fwd.hpp>
#include <rowan/op/detail/dtype_text.hpp>
#include <rowan/op/var_spec.hpp>

#include <string>
#include <string_view>

namespace rowan::inline v0::detail {

/// "LoDTensor<f32>", in the format of Value::kind().
ROWAN_IF_CALLED std::string kind_text(VarSpec const& spec);

template <class D>
inline constexpr std::string_view memory_text = " on a device";
template <>
inline constexpr std::string_view memory_text<Cpu> = "";

/// "LoDTensor<f32>", for messages, with " on a device" if it is in device memory.
template <class T, class D>
std::string kind_on(char const* kind) {
    std::string text(kind);
    return text.append("<").append(dtype<T>::name).append(">").append(memory_text<D>);
}
template <class V>
struct kind_name {
    static std::string text() { return "a user-defined type"; }
};
template <class T, class D>
struct kind_name<LoDTensor<T, D>> {
    static std::string text() { return kind_on<T, D>("LoDTensor"); }
};
template <class T, class D>
struct kind_name<SelectedRows<T, D>> {
    static std::string text() { return kind_on<T, D>("SelectedRows"); }
};
template <class T>
struct kind_name<RowStore<T>> {
    static std::string text() { return kind_on<T, Cpu>("RowStore"); }
};
template <>
struct kind_name<Strings> {
    static std::string text() { return "Strings"; }
};
template <class T, class D>
struct kind_name<TensorArray<T, D>> {
    static std::string text() { return kind_on<T, D>("TensorArray"); }
};

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/kind_text_inl.hpp>
