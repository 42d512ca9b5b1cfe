// rowan/io/detail/safetensors_text.hpp: the header of a safetensors file that is to be written.
#pragma once

#include <rowan/core/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rowan::inline v0::detail {

/// A tensor that is to be written.
struct SafetensorsPart {
    std::string name;
    std::string_view type;
    std::vector<std::int64_t> shape;
    std::uint64_t bytes = 0;
    std::size_t source = 0;  ///< its position in the caller's list
};

/// Everything before the data, as the reference implementation writes it. Sorts the parts in the order of their data.
/// errors   Error if a name is invalid or given twice, a text is not UTF-8, or the header would exceed the limit
ROWAN_IF_CALLED std::string safetensors_header_text(std::vector<SafetensorsPart>& parts,
                                                    std::map<std::string, std::string> const& metadata);

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/safetensors_text_inl.hpp>
