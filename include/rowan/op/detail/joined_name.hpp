// rowan/op/detail/joined_name.hpp: the names of two types concatenated at compile time.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace rowan::inline v0::detail {

/// Concatenates A::name and B::name: "full_" and "f32" become "full_f32". A zero follows the text.
template <class A, class B>
struct joined_name {
private:
    static constexpr auto text = [] {
        constexpr std::string_view a = A::name, b = B::name;
        std::array<char, a.size() + b.size() + 1> text{};
        std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), text.begin()));
        return text;
    }();

public:
    static constexpr std::string_view value{text.data(), text.size() - 1};
};

struct grad_op_suffix {
    static constexpr std::string_view name = "_grad";
};
struct x_suffix {
    static constexpr std::string_view name = ": x";
};
struct y_suffix {
    static constexpr std::string_view name = ": y";
};
struct out_grad_suffix {
    static constexpr std::string_view name = ": out@GRAD";
};

}  // namespace rowan::inline v0::detail
