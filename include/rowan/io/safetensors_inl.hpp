// rowan/io/safetensors_inl.hpp: definitions of rowan/io/safetensors.hpp.
#pragma once

#include <rowan/io/safetensors.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/detail/file.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace rowan::inline v0::detail {

/// The name and dims in a file of elements with this wire number.
ROWAN_FUNCTION ROWAN_RARE SafetensorsPart safetensors_part(Value::Elements const& e) {
    SafetensorsPart part{{}, "U8", e.dims, e.element_size, 0};
    bool built_in = false;
    auto const is = [&]<class T>(T) {
        if (dtype<T>::wire != e.dtype) return;
        built_in = true;
        part.type = safetensors_type<T>();
    };
    for (auto const& type : safetensors_types) with_safetensors_type(type.name, is);
    if (!built_in) part.shape.push_back(static_cast<std::int64_t>(e.element_size));
    for (std::int64_t const dim : e.dims) part.bytes *= static_cast<std::uint64_t>(dim);
    return part;
}

}  // namespace rowan::inline v0::detail

namespace rowan::inline v0 {

ROWAN_FUNCTION ROWAN_RARE void save_safetensors(std::string const& path,
                                                std::vector<std::pair<std::string, SafetensorsArray>> const& tensors,
                                                std::map<std::string, std::string> const& metadata) {
    std::vector<detail::SafetensorsPart> parts;
    for (auto const& [name, array] : tensors)
        parts.push_back({name, array.dtype(), array.shape(), array.elements().size(), parts.size()});
    std::string const header = detail::safetensors_header_text(parts, metadata);
    detail::AtomicFile<> file(path);
    file.write(std::as_bytes(std::span(header)));
    for (auto const& part : parts) file.write(tensors[part.source].second.elements());
    file.commit();
}

ROWAN_FUNCTION ROWAN_RARE void save_safetensors(Parameters const& parameters, std::string const& path,
                                                std::map<std::string, std::string> const& metadata) {
    std::vector<detail::SafetensorsPart> parts;
    for (auto const& [name, value] : parameters) {
        std::size_t levels = 0;
        try {
            levels = value.lod().levels();
        } catch (TypeError const& e) {
            throw TypeError(name, e.actual(), "a LoDTensor: a safetensors file has no other values");
        }
        if (levels != 0) throw ShapeError({name, ".lod().levels()"}, levels, "0");
        parts.push_back(detail::safetensors_part(value.share().elements()));
        parts.back().name = name;
    }
    std::string const header = detail::safetensors_header_text(parts, metadata);
    detail::AtomicFile<> file(path);
    file.write(std::as_bytes(std::span(header)));
    for (auto const& part : parts) file.write(parameters.find(part.name).on_host().elements().bytes);
    file.commit();
}

}  // namespace rowan::inline v0

#endif
