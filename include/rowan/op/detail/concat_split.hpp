// rowan/op/detail/concat_split.hpp: concatenation and splitting of tensors along one axis.
#pragma once

#include <rowan/core/detail/checked.hpp>
#include <rowan/core/parallel.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/detail/axis.hpp>
#include <rowan/op/operator.hpp>

#include <algorithm>

namespace rowan::inline v0::detail {

/// The name of tensor k of a list, and that of a dim of a tensor, for error messages.
std::string part_name(char const* field, std::size_t k);
std::string dim_name(std::string field, std::size_t axis);

/// Throws ShapeError for the first input whose shape is not that of most inputs, if there is one, given their names and
/// shapes.
void odd_shape(std::vector<std::pair<std::string, std::string>> const& inputs);

/// Calls check(name), where name is that of input k; in constant expressions it is `field`.
template <class Check>
constexpr void with_part_name(char const* field, std::size_t k, Check const& check) {
    if (std::is_constant_evaluated()) {
        check(field);
    } else {
        check(part_name(field, k).c_str());
    }
}

/// Throws if there are no tensors to concatenate.
constexpr void check_some(std::size_t parts) {
    if (parts == 0) throw ShapeError("x.size()", "0", "at least 1");
}

/// The whole consists of `outer` repetitions of all parts in order, part k having widths[k] elements in each. Calls
/// f(k, in, out, count) for runs of `count` elements that begin at offset `in` of part k and offset `out` of the
/// whole. The elements, not the parts, are divided among the threads.
template <class F>
void for_parts(Cpu exec, std::size_t outer, std::vector<std::size_t> const& widths, F const& f) {
    std::vector<std::size_t> starts{0};
    for (std::size_t const width : widths) starts.push_back(starts.back() + width);
    std::size_t const total = starts.back(), size = outer * total;
    for_ranges(exec, size, 1, [&](std::size_t begin, std::size_t end) {
        std::size_t row = begin / total;
        std::size_t const after = begin % total;
        auto k = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), after) - starts.begin()) - 1;
        while (begin < end) {
            std::size_t const skipped = begin - row * total - starts[k];
            std::size_t const count = std::min(end - begin, widths[k] - skipped);
            f(k, row * widths[k] + skipped, begin, count);
            begin += count;
            if (++k == widths.size()) {
                k = 0;
                ++row;
            }
        }
    });
}

/// Joins parts and cuts them out on a device, as for_parts describes. The Thrust specialization is in
/// rowan/thrust/op/detail/concat_split.hpp.
template <class D>
struct ConcatSplit {
    static_assert(has_backend<D>, "rowan: concat and split on a Thrust device needs #include <rowan/thrust/op.hpp>");
};

template <>
struct ConcatSplit<Cpu> {
    template <class T>
    static void join(Cpu exec, std::size_t outer, std::vector<std::size_t> const& widths,
                     std::vector<T const*> const& from, T* to) {
        for_parts(exec, outer, widths, [&](std::size_t k, std::size_t in, std::size_t whole, std::size_t count) {
            std::copy_n(from[k] + in, count, to + whole);
        });
    }

    template <class T>
    static void cut(Cpu exec, std::size_t outer, std::vector<std::size_t> const& widths, T const* from,
                    std::vector<T*> const& to) {
        for_parts(exec, outer, widths, [&](std::size_t k, std::size_t in, std::size_t whole, std::size_t count) {
            std::copy_n(from + whole, count, to[k] + in);
        });
    }
};

/// The parts of x along axis `at`; the sections have been checked.
template <class T, class D, class Sections>
std::vector<Tensor<T, D>> cut_along(D const& exec, Tensor<T, D> const& x, std::size_t at, Sections const& sections) {
    std::size_t const inner = product_from(x.shape(), at + 1);
    std::size_t const outer = x.shape(at) * inner == 0 ? 0 : x.size() / (x.shape(at) * inner);
    std::vector<Tensor<T, D>> parts;
    std::vector<T*> to;
    std::vector<std::size_t> widths;
    for (std::size_t k = 0; k < sections.size(); ++k) {
        auto shape = x.shape();
        shape[at] = static_cast<std::size_t>(sections[k]);
        parts.push_back(new_tensor<T>(exec, shape));
        to.push_back(parts.back().data());
        widths.push_back(shape[at] * inner);
    }
    ConcatSplit<D>::cut(exec, outer, widths, x.data(), to);
    return parts;
}

}  // namespace rowan::inline v0::detail

#include <rowan/op/detail/concat_split_inl.hpp>
