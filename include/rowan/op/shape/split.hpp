// rowan/op/shape/split.hpp: split, a tensor split along one axis.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/shape/concat.hpp>
#include <rowan/op/shape/declared.hpp>
#include <rowan/op/shape/functions.hpp>
#include <rowan/sparse/split.hpp>

#include <limits>
#include <span>

namespace rowan::inline v0 {

namespace detail {

[[noreturn]] inline void bad_section(std::size_t k, std::int64_t section, std::int64_t left) {
    std::string const bound = std::string("at most ").append(std::to_string(left)).append(", what is left of the axis");
    throw ShapeError(part_name("sections", k), section, section < 0 ? "0 or more" : bound);
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
    if (dim != UNK && sum != dim) throw ShapeError("sum of sections", sum, dim);
}

}  // namespace detail

template <>
struct detail::function_of<split_op> {
    template <class T, class D>
    static std::vector<Tensor<T, D>> run(D const& exec, Tensor<T, D> const& x, Ids<> const& sections,
                                         std::int64_t axis) {
        ElementLoops<D>::check(exec, x);
        std::size_t const at = checked_axis(axis, x.dimension());
        if (sections.shape().size() != 1) throw ShapeError("sections rank", sections.shape().size(), "1");
        check_sections(sections, static_cast<std::int64_t>(x.shape(at)));
        return cut_along(exec, x, at, sections);
    }
};

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
