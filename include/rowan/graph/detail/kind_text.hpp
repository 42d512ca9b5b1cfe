// rowan/graph/detail/kind_text.hpp: the kind and element type of a variable as text, for messages and Net::dot.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/fwd.hpp>
#include <rowan/op/var_spec.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace rowan::inline v0::detail {

template <class... T>
inline constexpr std::array dtype_names{std::pair{dtype<T>::wire, dtype<T>::name}...};

/// "f32", or "element type 1000" for a user-defined type.
std::string dtype_text(std::int32_t wire);

/// "LoDTensor<f32>", in the format of Value::kind().
std::string kind_text(VarSpec const& spec);

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
template <class T, class D>
struct kind_name<TensorArray<T, D>> {
    static std::string text() { return kind_on<T, D>("TensorArray"); }
};

}  // namespace rowan::inline v0::detail

#include <rowan/graph/detail/kind_text_inl.hpp>
