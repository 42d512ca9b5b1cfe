// tests/python/shared.hpp: common functions of the libraries that Python loads.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/core/tensor.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace shared {

/// Calls f with a value of the named type.
template <class F>
void with_type(std::string_view name, F const& f) {
    auto const is = [&]<class T>(T x) { return name == rowan::dtype<T>::name && (f(x), true); };
    if (is(float{}) || is(double{}) || is(std::int32_t{}) || is(std::int64_t{}) || is(std::uint8_t{}) || is(bool{}) || is(rowan::float16{}) ||
        is(rowan::bfloat16{}))
        return;
    throw rowan::TypeError("type", std::string(name), "one of rowan's");
}

/// The text of the error that f throws, valid until the next call; null if it throws nothing.
template <class F>
char const* said(F const& f) {
    static std::string text;
    try {
        f();
        return nullptr;
    } catch (std::exception const& error) {
        text = error.what();
        return text.c_str();
    }
}

/// Rows of 3: 0, 1, 2 …, converted to the type.
template <class T>
rowan::Tensor<T> counting(std::size_t rows) {
    auto t = rowan::Tensor<T>::from_shape({rows, 3});
    for (std::size_t i = 0; i < t.size(); ++i) {
        t.data()[i] = rowan::dtype<T>::narrow(static_cast<typename rowan::dtype<T>::sum>(i));
    }
    return t;
}

}  // namespace shared
