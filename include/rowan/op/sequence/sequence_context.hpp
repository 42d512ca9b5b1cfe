// rowan/op/sequence/sequence_context.hpp: sequence_context, the windows of rows around each row of a sequence.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/op/detail/sequence_windows.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/op/sequence/declared.hpp>
#include <rowan/op/sequence/functions.hpp>
#include <rowan/sequence/detail/sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <limits>

namespace rowan::inline v0 {

namespace detail {

/// Throws unless x is a batch of sequences whose rows are elements or vectors.
template <class T, class D>
void check_context(D const& exec, LoDTensor<T, D> const& x) {
    check_sequences(exec, "x", x);
    if (x.shape().size() > 2) throw ShapeError("x rank", x.shape().size(), "1 or 2");
}

template <class T, class D>
LoDTensor<T, D> context_of(D const& exec, LoDTensor<T, D> const& x, Tensor<T, D> const* padding,
                           SequenceContextOptions const& window) {
    ContextRows const around = rows_of_context(window);
    check_context(exec, x);
    std::size_t const width = x.value().row_size(), length = static_cast<std::size_t>(window.length);
    if (padding != nullptr) {
        check_usable(exec, *padding);
        check_height("padding", *padding, around.both());
        check_trailing("padding", *padding, x.shape());
    }
    auto out = new_tensor<T>(exec, {x.shape()[0], length, width});
    auto const on_host = bounds_of_rows(last_level(x.lod()));
    OnDevice<std::int64_t, D> const bounds(exec, on_host);
    ElementLoops<D>::each_element(exec, x.shape()[0] * length, width,
                                  CopyContext<T>{{bounds.data(), window.start, window.length, width},
                                                 x.value().data(),
                                                 padding == nullptr ? nullptr : padding->data(),
                                                 around.before,
                                                 checked_number<T>("pad_value", window.pad_value),
                                                 out.data()});
    return {out.reshaped({x.shape()[0], length * width}), x.lod()};
}

template <class T, class D>
ContextRows check_context_grad(D const& exec, Tensor<T, D> const& out_grad, LoDTensor<T, D> const& x,
                               SequenceContextOptions const& window) {
    ContextRows const around = rows_of_context(window);
    check_context(exec, x);
    check_usable(exec, out_grad);
    std::size_t const width = x.value().row_size() * static_cast<std::size_t>(window.length);
    check_trailing("out_grad", out_grad, typename Tensor<T, D>::shape_type{0, width});
    check_height("out_grad", out_grad, static_cast<std::int64_t>(x.shape()[0]));
    return around;
}

}  // namespace detail

template <>
struct detail::function_of<sequence_context_op> {
    template <class T, class D>
    static LoDTensor<T, D> run(D const& exec, LoDTensor<T, D> const& x, SequenceContextOptions const& window) {
        return context_of<T, D>(exec, x, nullptr, window);
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D const& exec, LoDTensor<T, D> const& x, Tensor<T, D> const& padding,
                               SequenceContextOptions const& window) {
        return context_of(exec, x, &padding, window);
    }
};

template <>
struct detail::function_of<detail::backward_of<sequence_context_op>> {
    template <class T, class D>
    static LoDTensor<T, D> run(D const& exec, std::type_identity_t<Tensor<T, D>> const& out_grad,
                               LoDTensor<T, D> const& x, SequenceContextOptions const& window) {
        check_context_grad(exec, out_grad, x, window);
        auto x_grad = new_tensor<T>(exec, x.shape());
        std::size_t const width = x_grad.row_size();
        auto const on_host = bounds_of_rows(last_level(x.lod()));
        OnDevice<std::int64_t, D> const bounds(exec, on_host);
        ElementLoops<D>::each_element(
            exec, x.shape()[0], width,
            SumContext<T>{{bounds.data(), window.start, window.length, width}, out_grad.data(), x_grad.data()});
        return {std::move(x_grad), x.lod()};
    }
};

template <>
struct detail::function_of<detail::backward_of<padded_sequence_context_op>> {
    template <class T, class D>
    static Tensor<T, D> run(D const& exec, std::type_identity_t<Tensor<T, D>> const& out_grad, LoDTensor<T, D> const& x,
                            SequenceContextOptions const& window) {
        auto const around = check_context_grad(exec, out_grad, x, window);
        auto shape = x.shape();
        shape[0] = static_cast<std::size_t>(around.both());
        auto grad = new_tensor<T>(exec, shape);
        std::size_t const width = x.value().row_size();
        auto const offsets = last_level(x.lod());
        OnDevice<std::int64_t, D> const bounds(exec, offsets);
        ElementLoops<D>::each_element(exec, shape[0], width,
                                      SumPadding<T>{{bounds.data(), window.start, window.length, width},
                                                    offsets.size() - 1,
                                                    around.before,
                                                    out_grad.data(),
                                                    grad.data()});
        return grad;
    }
};

struct sequence_padding_grad_op
    : operator_of<slots<slot::x, slot::w, grad_of<slot::out>>, slots<grad_of<slot::w>>, SequenceContextOptions> {
    static constexpr std::string_view name = "sequence_padding_grad";
    static constexpr bool row_output = false;

    static constexpr VarSpec infer(VarSpec const&, VarSpec const& w, VarSpec const&, SequenceContextOptions const&) {
        return w;
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const&,
                               LoDTensor<T, D> const& out_grad, SequenceContextOptions const& window) {
        return LoDTensor<T, D>(sequence_padding_grad(exec, out_grad.value(), x, window));
    }
};

/// See sequence_context.
struct sequence_context_op : detail::declared<sequence_context_op> {
    using grad = gradient<sequence_context_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;
    static constexpr bool row_wise = true;

    static constexpr VarSpec infer(VarSpec const& x, SequenceContextOptions const& window) {
        spec::sequences("sequence_context: x", x);
        if (x.dims.size() > 2) spec::the_rank_does_not_fit("sequence_context: x", x.dims.size(), "1 or 2");
        detail::rows_of_context(window);
        auto const width = spec::times("sequence_context: x.row_size()", x.dims.product_from(1), window.length);
        return spec::with_dims(x, {x.dims[0], width}, x.lod_level);
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, SequenceContextOptions const& window) {
        return sequence_context(exec, x, window);
    }

    template <class T, class D>
    static LoDTensor<T, D> backward(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const& out_grad,
                                    SequenceContextOptions const& window) {
        return sequence_context_grad(exec, out_grad.value(), x, window);
    }
};

/// See sequence_context; the slot `w` holds the rows of the padding.
struct padded_sequence_context_op : detail::declared<padded_sequence_context_op> {
    using grad = grad_rules<sequence_context_op::grad, grad_rule<sequence_padding_grad_op>>;

    static constexpr VarSpec infer(VarSpec const& x, VarSpec const& w, SequenceContextOptions const& window) {
        VarSpec const out = sequence_context_op::infer(x, window);
        spec::dense("sequence_context: padding", w);
        spec::same_dtype("sequence_context: padding", w, x);
        VarSpec like = x;
        like.dims[0] = detail::rows_of_context(window).both();
        spec::same_dims("sequence_context: padding", w, like);
        return out;
    }

    template <class T, class D>
    static LoDTensor<T, D> run(D exec, LoDTensor<T, D> const& x, LoDTensor<T, D> const& w,
                               SequenceContextOptions const& window) {
        return sequence_context(exec, x, w.value(), window);
    }
};

}  // namespace rowan::inline v0
