// rowan/graph/detail/held_values.hpp: what Value does with the values that it holds.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/graph/detail/joined_rows.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/batches.hpp>
#include <rowan/sequence/detail/take_sequences.hpp>
#include <rowan/sparse/detail/stored_type.hpp>
#include <rowan/sparse/row_store.hpp>

namespace rowan::inline v0 {

template <class T, class D>
VarSpec Value::Holder<LoDTensor<T, D>>::spec() const {
    VarSpec spec{.type = VarType::LOD_TENSOR, .dtype = dtype<T>::wire, .dims = {}, .lod_level = value.lod().levels()};
    for (std::size_t const dim : value.value().shape()) spec.dims.push_back(static_cast<std::int64_t>(dim));
    return spec;
}

template <class T>
VarSpec Value::Holder<RowStore<T>>::spec() const {
    return {.type = VarType::LOD_TENSOR,
            .dtype = dtype<T>::wire,
            .dims = {value.height(), static_cast<std::int64_t>(value.width())},
            .lod_level = 0};
}

template <class T>
auto Value::Holder<RowStore<T>>::elements() const -> Elements {
    auto stored = detail::stored_type<T>(value.format(), value.width(), value.height());
    Tensor<std::uint8_t> bytes = value.bytes().share();
    return {.dtype = stored.dtype,
            .type = std::move(stored.name),
            .element_size = stored.element_size,
            .dims = std::move(stored.dims),
            .bytes = detail::host_bytes(bytes)};
}

template <class T, class D>
VarSpec Value::Holder<SelectedRows<T, D>>::spec() const {
    VarSpec spec{.type = VarType::SELECTED_ROWS, .dtype = dtype<T>::wire, .dims = {}, .lod_level = 0};
    for (std::size_t const dim : value.shape()) spec.dims.push_back(static_cast<std::int64_t>(dim));
    return spec;
}

template <class T, class D>
std::vector<std::int64_t> Value::Holder<SelectedRows<T, D>>::row_numbers() const {
    auto const host = to_host(value);
    return {host.rows().begin(), host.rows().end()};
}

template <class T, class D>
Value Value::Holder<SelectedRows<T, D>>::with_rows(std::span<std::int64_t const> rows) const {
    typename Tensor<T>::shape_type shape(value.value().shape().begin(), value.value().shape().end());
    shape[0] = rows.size();
    return of(SelectedRows<T>(value.height(), rows, Tensor<T>::from_shape(shape)));
}

template <class T, class D>
std::size_t Value::Holder<LoDTensor<T, D>>::rows() const {
    detail::check_rows("value", value.value());
    return value.value().shape(0);
}

template <class T, class D>
auto Value::Holder<LoDTensor<T, D>>::elements() const -> Elements {
    Tensor<T, D> alias = value.value().share();
    return {.dtype = dtype<T>::wire,
            .type = std::string(dtype<T>::name),
            .element_size = sizeof(T),
            .dims = {alias.shape().begin(), alias.shape().end()},
            .bytes = detail::host_bytes(alias)};
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::on_host() const {
    return of(LoDTensor<T>(to_host(value.value()), value.lod()));
}

template <class T, class D>
void Value::Holder<LoDTensor<T, D>>::write(std::function<void(std::span<std::byte>)> const& f) {
    if (auto const bytes = detail::host_bytes(value.value()); !bytes.empty()) return f(bytes);
    auto host = Tensor<T>::from_shape(value.shape());
    f(detail::host_bytes(host));
    value.value() = to_device(value.value().device(), std::move(host));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::slice(std::size_t begin, std::size_t end) const {
    return of(value.slice(begin, end));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::gather(AnyExec exec, std::span<std::int64_t const> from) const {
    if (!value.lod().empty()) return of(detail::take_sequences(exec.get<D>(), value, {from.begin(), from.end()}));
    return of(V(detail::picked_rows(exec.get<D>(), value.value(), from)));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::concat(AnyExec exec, std::span<Value* const> values) const {
    if (!value.lod().empty()) {
        std::vector<V> batches;
        for (Value* const v : values) batches.push_back(v->template get<V>().share());
        return of(merge_batches(exec.get<D>(), batches));
    }
    return of(V(detail::joined_rows<T>(exec.get<D>(), values.size(), tensors(values))));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::scatter(AnyExec exec, std::span<Value* const> values,
                                              std::span<std::span<std::int64_t const> const> to) const {
    if (!value.lod().empty()) {
        Value const all = concat(exec, values);
        return all.gather(exec, detail::sources_of(to, all.count()));
    }
    return of(V(detail::scattered_rows<T>(exec.get<D>(), values.size(), tensors(values), to)));
}

template <class V>
requires(!std::is_reference_v<V>) void Value::set(V&& value) {
    if (!is<V>()) {
        holder_ = std::make_unique<Holder<V>>(std::move(value));
    } else {
        static_cast<Holder<V>&>(*holder_).value = std::move(value);
    }
}

template <class V>
Value Value::Holder<V>::add_slots(Value const& other) const {
    if constexpr (requires(V & v) { v.accumulate(0, v.read(0)); }) {
        V const& summands = other.get<V>();
        V total = value.share();
        for (std::size_t i = 0; i < summands.size(); ++i) {
            if (!summands.written(i)) continue;
            if (!total.written(i)) {
                total.write(i, summands.read(i));
                continue;
            }
            auto const before = total.read(i);
            auto sum = before;  // a deep copy: aliases of the slot must not change
            total.write(i, sum);
            total.accumulate(i, summands.read(i));
        }
        return of(std::move(total));
    } else {
        return Base::add_slots(other);
    }
}

ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<float>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<float>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<double>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<double>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<std::int32_t>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<std::int32_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<std::int64_t>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<std::int64_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<bool>>)
ROWAN_TEMPLATE(void Value::set(LoDTensor<bool>&&))

}  // namespace rowan::inline v0
