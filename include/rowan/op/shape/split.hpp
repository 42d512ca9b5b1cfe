// rowan/op/shape/split.hpp: split, a tensor split along one axis.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/sparse/split.hpp>

#include <limits>
#include <span>

namespace rowan::inline v0 {

namespace detail {

[[noreturn]] inline void bad_section(std::size_t k, std::int64_t section, std::int64_t left) {
    std::string const bound = std::string("at most ").append(std::to_string(left)).append(", what is left of the axis");
    throw ShapeError(part_name("sections", k), std::to_string(section), section < 0 ? "0 or more" : bound);
}

/// Checks that no section is negative and, if the dim is known, that the sections add up to it.
template <class Sections>
constexpr void check_sections(Sections const& sections, std::int64_t dim) {
    std::int64_t const most = dim == UNK ? std::numeric_limits<std::int64_t>::max() : dim;
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < sections.size(); ++k) {
        if (sections[k] < 0 || sections[k] > most - sum) bad_section(k, sections[k], most - sum);
        sum += sections[k];
    }
    if (dim != UNK && sum != dim) throw ShapeError("sum of sections", std::to_string(sum), std::to_string(dim));
}

}  // namespace detail

/// Splits x along an axis: part k has size sections[k] and begins at sections[0] + … + sections[k - 1]. Axis -1 is the
/// last one.
///
///     split([[1 2 3] [4 5 6]], {1, 2}, 1)   ->   [[1] [4]]   and   [[2 3] [5 6]]
///
/// shapes   x [..., Σ sections, ...] -> [..., sections[k], ...] for each k
/// errors   IndexError if the axis is out of range; ShapeError if sections is not of rank 1, a section is negative, or
///          they do not add up to the dim
/// cost     one read and one write of every element
template <class T, device D>
std::vector<Tensor<T, D>> split(D const& exec, Tensor<T, D> const& x, std::type_identity_t<Ids<>> sections,
                                std::int64_t axis = 0) {
    detail::ElementLoops<D>::check(exec, x);
    std::size_t const at = detail::checked_axis(axis, x.dimension());
    if (sections.shape().size() != 1) throw ShapeError("sections rank", std::to_string(sections.shape().size()), "1");
    detail::check_sections(sections, static_cast<std::int64_t>(x.shape(at)));
    return detail::cut_along(exec, x, at, sections);
}

template <class T, class Device>
std::vector<Tensor<T, Device>> split(Tensor<T, Device> const& x, std::type_identity_t<Ids<>> sections,
                                     std::int64_t axis = 0) {
    return split(x.device(), x, sections, axis);
}

/// See split. The slot `out` holds all parts as a std::vector.
struct split_op : detail::declared<split_op> {
    static constexpr Linearity linearity = Linearity::scaled;
    using grad = gradient<split_op, uses<grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr bool row_wise(attributes const& a) { return a.axis > 0; }

    static constexpr std::vector<VarSpec> infer(VarSpec const& x, attributes const& a) {
        spec::dense("split: x", x);
        std::size_t const at = detail::checked_axis(a.axis, x.dims.size());
        detail::check_sections(a.sections, x.dims[at]);
        std::vector<VarSpec> parts;
        for (std::int64_t const section : a.sections) {
            parts.push_back(x);
            parts.back().dims[at] = section;
            if (at == 0) parts.back().lod_level = 0;
        }
        return parts;
    }

    template <class T, class D>
    static std::vector<Tensor<T, D>> run(D exec, Tensor<T, D> const& x, attributes const& a) {
        return split(exec, x, a.sections, a.axis);
    }

    static constexpr VarSpec infer_backward(std::span<VarSpec const> out_grad, attributes const& a) {
        return concat_op::infer(out_grad, {a.axis});
    }

    /// Concatenates the gradients of the parts.
    template <class T, class D>
    static Tensor<T, D> backward(D exec, std::vector<Tensor<T, D>> const& out_grad, attributes const& a) {
        return concat(exec, out_grad, a.axis);
    }
};

}  // namespace rowan::inline v0
