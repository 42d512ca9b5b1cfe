// rowan/layer/split.hpp: layer::split, the parts of a value along an axis.
#pragma once

#include <rowan/layer/var.hpp>
#include <rowan/op/shape/declared.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace rowan::inline v0::layer {

/// The settings of split.
struct SplitOptions {
    std::int64_t axis = 0;  ///< negative values count from the end
};

/// Splits x along an axis; the dim of part k along it is sections[k]. A negative axis counts from the end.
///     auto const parts = layer::split(x, {2, 3}, {.axis = 1});      // for x [n, 5]: parts[0] is [n, 2], parts[1] is [n, 3]
/// shapes   x [..., Σ sections, ...] -> [..., sections[k], ...] for each k; with the levels of x, or without levels
///          along axis 0
/// errors   IndexError if there is no such axis; ShapeError if a section is negative or the sections do not add up to
///          the dim (when the net runs, if the dim is unknown before)
/// cost     as rowan::split, when the net runs
template <class T, class Device>
std::vector<Var<T, Device>> split(Var<T, Device> const& x, std::vector<std::int64_t> sections,
                                  SplitOptions const& options = {}) {
    rowan::SplitOptions attributes{.sections = std::move(sections), .axis = options.axis};
    std::vector<Var<T, Device>> parts;
    for (Variable* const part : default_scope().new_op<split_op, Device, T>({&*x}, std::move(attributes)).outputs)
        parts.push_back(Var<T, Device>(*part));
    return parts;
}
template <class T, class Device>
std::vector<Var<T, Device>> split(Var<T, Device> const& x, std::vector<std::int64_t> sections, std::int64_t axis) {
    return split(x, std::move(sections), {.axis = axis});
}

}  // namespace rowan::inline v0::layer

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/op/shape/split.hpp>
#endif
