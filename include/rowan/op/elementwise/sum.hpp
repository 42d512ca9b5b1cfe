// rowan/op/elementwise/sum.hpp: sum, the sum of any number of tensors and row-sparse gradients.
#pragma once

#include <rowan/op/detail/concat_split.hpp>
#include <rowan/op/detail/lists.hpp>
#include <rowan/op/detail/tensor_argument.hpp>
#include <rowan/op/elementwise/declared.hpp>
#include <rowan/op/elementwise/functions.hpp>
#include <rowan/op/operator.hpp>
#include <rowan/sparse/detail/summed_rows.hpp>
#include <rowan/sparse/gather.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <algorithm>
#include <span>

namespace rowan::inline v0 {

namespace detail {

/// Adds tensors and concatenates SelectedRows on a device. The Thrust specialization is in rowan/thrust/op/sum.hpp.
template <class D>
struct Summands {
    static_assert(has_backend<D>, "rowan: sum on a Thrust device needs #include <rowan/thrust/op/sum.hpp>");
};

template <>
struct Summands<Cpu> {
    template <class T>
    static void add(Cpu exec, std::vector<Tensor<T>> const& x, Tensor<T>& out) {
        for_ranges(exec, out.size(), 1, [&](std::size_t begin, std::size_t end) {
            each_lane<sum_t<T>>(end - begin, [&]<class V>(std::size_t i) ROWAN_INLINED {
                store(total_at<V>(x, begin + i), out.data() + begin + i);
            });
        });
    }

    /// out = the sum of dense tensors and of the rows of g, of which each element is narrowed once.
    template <class T>
    static void add(Cpu exec, std::vector<Tensor<T>> const& x, SelectedRows<T> const& g, Tensor<T>& out) {
        add(exec, x, out);
        if (g.value().size() == 0) return;
        RowPlan<> const plan(exec, g);
        std::size_t const width = out.row_size();
        RowSums<T>(exec, plan, g.value())
            .run([](std::size_t) {},
                 [&](std::size_t k, sum_t<T> const* sum) {
                     std::size_t const row = static_cast<std::size_t>(plan.rows()[k]) * width;
                     each_lane<sum_t<T>>(width, [&]<class V>(std::size_t i) ROWAN_INLINED {
                         store(plus(total_at<V>(x, row + i), load<V>(sum + i)), out.data() + row + i);
                     });
                 });
    }

    template <class T>
    static SelectedRows<T> join(Cpu, std::vector<SelectedRows<T>> const& x, std::size_t rows, Tensor<T> value) {
        Buffer<std::int64_t> all;
        all.reserve(rows);
        T* to = value.data();
        for (SelectedRows<T> const& g : x) {
            all.insert(all.end(), g.rows().begin(), g.rows().end());
            to = std::copy_n(g.value().data(), g.value().size(), to);
        }
        return SelectedRowsAccess::make(x[0].height(), all, std::move(value));
    }

    /// The rows of g with other values.
    template <class T>
    static SelectedRows<T> with_value(Cpu, SelectedRows<T> const& g, Tensor<T> value) {
        return {g.height(), g.rows(), std::move(value)};
    }

private:
    template <class V, class T>
    static V total_at(std::vector<Tensor<T>> const& x, std::size_t i) {
        V total = load<V>(x[0].data() + i);
        for (std::size_t k = 1; k < x.size(); ++k) total = plus(total, load<V>(x[k].data() + i));
        return total;
    }
};

/// Checks that all summands have one shape; `dense_name` and `sparse_name` are the names of the lists.
template <class T, class D>
void check_summands(char const* dense_name, std::vector<Tensor<T, D>> const& dense, char const* sparse_name,
                    std::vector<SelectedRows<T, D>> const& sparse) {
    check_some(dense.size() + sparse.size());
    for (std::size_t k = 0; k < sparse.size(); ++k) check_gradient(sparse_name, k, sparse[k]);
    auto const shape = dense.empty() ? sparse[0].shape() : dense[0].shape();
    auto const fits = [&](auto const& x) { return x.shape() == shape; };
    if (std::ranges::all_of(dense, fits) && std::ranges::all_of(sparse, fits)) return;
    std::vector<std::pair<std::string, std::string>> all;
    for (auto const& x : dense) all.emplace_back(part_name(dense_name, all.size()), shape_text(x.shape()));
    for (auto const& g : sparse)
        all.emplace_back(part_name(sparse_name, all.size() - dense.size()), shape_text(g.shape()));
    odd_shape(all);
}

}  // namespace detail

template <>
struct detail::function_of<sum_op> {
    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& x) {
        check_summands("x", x, "", std::vector<SelectedRows<T, D>>());
        for (auto const& summand : x) ElementLoops<D>::check(exec, summand);
        auto out = new_tensor<T>(exec, x[0].shape());
        Summands<D>::add(exec, x, out);
        return out;
    }

    template <class T, class D>
    static SelectedRows<T, D> run(D exec, std::vector<SelectedRows<T, D>> const& x) {
        ElementLoops<D>::check(exec);
        check_summands("", std::vector<Tensor<T, D>>(), "x", x);
        std::size_t rows = 0;
        for (SelectedRows<T, D> const& g : x) rows += g.rows().size();
        auto shape = x[0].value().shape();
        shape[0] = rows;
        return Summands<D>::join(exec, x, rows, new_tensor<T>(exec, shape));
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& dense,
                            std::vector<SelectedRows<T, D>> const& sparse) {
        if (dense.empty()) throw ShapeError("dense.size()", "0", "at least 1");
        check_summands("dense", dense, "sparse", sparse);
        if constexpr (rounds_terms<T>) {
            if (sparse.empty()) return sum(exec, dense);
            for (auto const& summand : dense) ElementLoops<D>::check(exec, summand);
            auto const rows = sum(exec, sparse);
            auto out = new_tensor<T>(exec, dense[0].shape());
            Summands<D>::add(exec, dense, rows, out);
            return out;
        } else {
            auto out = sum(exec, dense);
            for (SelectedRows<T, D> const& g : sparse) scatter_add(exec, out, g);
            return out;
        }
    }
};

struct sum_grad_op;

/// See sum. The result is dense if any input is dense.
struct sum_op : detail::declared<sum_op> {
    static constexpr unsigned row_inputs = ~0u;
    static constexpr Linearity linearity = Linearity::sum;
    using grad = grad_rule<sum_grad_op, uses<slot::x, grad_of<slot::out>>, makes<grad_of<slot::x>>>;

    static constexpr VarSpec infer(std::span<VarSpec const> x) {
        if (x.empty()) spec::the_rank_does_not_fit("sum: x", 0, "at least 1");
        VarSpec out = x[0];
        for (std::size_t k = 1; k < x.size(); ++k) {
            detail::with_part_name("sum: x", k, [&](char const* name) {
                spec::same_dtype(name, x[k], out);
                out.dims = spec::same_dims(name, x[k], out);
            });
            if (x[k].type == VarType::LOD_TENSOR && out.type != VarType::LOD_TENSOR) {
                out.type = VarType::LOD_TENSOR;
                out.lod_level = x[k].lod_level;
            }
        }
        return out;
    }

    /// Repeats the checks for x in the order of the caller, of which part i is row-sparse if is_sparse[i].
    template <class T, class D>
    static void check_list(std::vector<bool> const& is_sparse, std::vector<Tensor<T, D>> const& dense,
                           std::vector<SelectedRows<T, D>> const& sparse) {
        std::vector<std::pair<std::string, std::string>> shapes;
        detail::visit_list(is_sparse, dense, sparse, [&](std::size_t i, auto const& x) {
            if constexpr (requires { x.rows(); }) detail::check_gradient("x", i, x);
            shapes.emplace_back(detail::part_name("x", i), detail::shape_text(x.shape()));
        });
        detail::odd_shape(shapes);
    }

    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& x) {
        return sum(exec, x);
    }
    template <class T, class D>
    static SelectedRows<T, D> run(D exec, std::vector<SelectedRows<T, D>> const& x) {
        return sum(exec, x);
    }
    template <class T, class D>
    static Tensor<T, D> run(D exec, std::vector<Tensor<T, D>> const& x, std::vector<SelectedRows<T, D>> const& sparse) {
        return sum(exec, x, sparse);
    }
};

/// The gradient of a dense summand is an alias of the gradient of the sum; that of a row-sparse summand is its rows of
/// that gradient.
struct sum_grad_op : operator_of<slots<slot::x, grad_of<slot::out>>, slots<grad_of<slot::x>>> {
    static constexpr std::string_view name = "sum_grad";

    static std::vector<VarSpec> infer(std::span<VarSpec const> x, VarSpec const&) { return {x.begin(), x.end()}; }

    template <class T, class D>
    static std::vector<Tensor<T, D>> run(D, std::vector<Tensor<T, D>> const& x, Tensor<T, D> const& out_grad) {
        std::vector<Tensor<T, D>> grads;
        for (std::size_t i = 0; i < x.size(); ++i) grads.push_back(out_grad.share());
        return grads;
    }
    template <class T, class D>
    static std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>> run(
        D exec, std::vector<Tensor<T, D>> const& x, std::vector<SelectedRows<T, D>> const& sparse,
        Tensor<T, D> const& out_grad) {
        std::vector<SelectedRows<T, D>> grads;
        for (auto const& g : sparse)
            grads.push_back(detail::Summands<D>::with_value(exec, g, gather(exec, out_grad, g.rows())));
        return {run(exec, x, out_grad), std::move(grads)};
    }
};

}  // namespace rowan::inline v0
