// rowan/detail/near_name.hpp: NearName, which finds what somebody may have meant by a name that does not exist.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace rowan::inline v0::detail {

/// The name nearest to `wanted` of those that it has seen, by letters that are replaced, inserted, left out or swapped.
class NearName {
public:
    explicit NearName(std::string_view wanted) : wanted_(wanted), least_((wanted.size() + 3) / 4) {}

    void see(std::string_view name);
    /// ` (did you mean label?)`, or nothing if more than a quarter of the letters, or all, differ in all names.
    std::string text() const;

private:
    std::string wanted_;
    std::string nearest_;
    std::size_t least_;  // the letters that differ in nearest_, or that may differ
};

/// The text of the nearest of names, or of the keys of a map:
///     throw GraphError({"there is no \"lable\"", near_text("lable", values)});
template <class Names>
std::string near_text(std::string_view wanted, Names const& names) {
    NearName near(wanted);
    for (auto const& one : names) {
        if constexpr (requires { one.first; }) {
            near.see(one.first);
        } else {
            near.see(one);
        }
    }
    return near.text();
}

}  // namespace rowan::inline v0::detail

#include <rowan/detail/near_name_inl.hpp>
