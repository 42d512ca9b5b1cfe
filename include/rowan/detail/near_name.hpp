// rowan/detail/near_name.hpp: NearName, which finds what somebody may have meant by a name that does not exist.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace rowan::inline v0::detail {

/// The name nearest to `wanted` of those that it has seen, by letters that are replaced, inserted, left out or swapped.
///     NearName near("lable");
///     for (auto const& [name, value] : values) near.see(name);
///     throw GraphError("there is no \"lable\"" + near.text());
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

}  // namespace rowan::inline v0::detail

#include <rowan/detail/near_name_inl.hpp>
