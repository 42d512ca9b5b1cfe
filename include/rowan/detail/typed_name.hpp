// rowan/detail/typed_name.hpp: names of operators that are templates of an element type.
#pragma once

#include <rowan/core/dtype.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace rowan::inline v0::detail {

/// Of `Family::name` "fill_" and float: fill_f32.
template <class Family, class T>
struct typed_name {
private:
    static constexpr auto text = [] {
        constexpr std::string_view family = Family::name, type = dtype<T>::name;
        std::array<char, family.size() + type.size()> text{};
        std::copy(type.begin(), type.end(), std::copy(family.begin(), family.end(), text.begin()));
        return text;
    }();

public:
    static constexpr std::string_view value{text.data(), text.size()};
};

}  // namespace rowan::inline v0::detail
