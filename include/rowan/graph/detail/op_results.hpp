// rowan/graph/detail/op_results.hpp: how the results of a kernel become values.
#pragma once

#include <rowan/core/tensor.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/op/detail/input_types.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

template <class R>
struct result_types {
    using type = type_list<R>;
};
template <>
struct result_types<void> {
    using type = type_list<>;
};
template <class... R>
struct result_types<std::tuple<R...>> {
    using type = type_list<R...>;
};

/// Stores results in `out`. Tensors with as many rows as `lod` get these levels.
struct Results {
    std::span<Value*const> in, out;
    Lod const* lod = nullptr;

    template <class T, class D>
    [[gnu::noinline]] void store(std::size_t i, Tensor<T, D>&& x) const {
        bool const rows = lod != nullptr && x.dimension() != 0 && static_cast<std::int64_t>(x.shape(0)) == lod->rows();
        out[i]->set(LoDTensor<T, D>(std::move(x), rows ? *lod : Lod()));
    }
    template <class V>
    void store(std::size_t i, V&& x) const {
        out[i]->set(std::move(x));
    }

    template <class R>
    void store_all(R&& result) const {
        store(0, std::move(result));
    }
    template <class... R>
    void store_all(std::tuple<R...>&& results) const {
        std::apply([&, i = std::size_t{0}](R&... r) mutable { (store(i++, std::move(r)), ...); }, results);
    }
    template <class V>
    void store_all(std::vector<V>&& results) const {
        for (std::size_t i = 0; i < out.size(); ++i) store(i, std::move(results[i]));
    }
    /// Those of a list, then another one.
    template <class V, class Last>
    void store_all(std::tuple<std::vector<V>, Last>&& results) const {
        std::size_t const many = out.size() - 1;
        for (std::size_t i = 0; i < many; ++i) store(i, std::move(std::get<0>(results)[i]));
        store(many, std::move(std::get<1>(results)));
    }
    /// Results of an operator with as many inputs: result i is dense or row-sparse like input i.
    template <class T, class D>
    void store_all(std::tuple<std::vector<Tensor<T, D>>, std::vector<SelectedRows<T, D>>>&& results) const {
        std::size_t dense = 0, sparse = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (in[i]->template is<SelectedRows<T, D>>()) {
                store(i, std::move(std::get<1>(results)[sparse++]));
            } else {
                store(i, std::move(std::get<0>(results)[dense++]));
            }
        }
    }
};

}  // namespace rowan::inline v0::detail
