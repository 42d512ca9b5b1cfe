// rowan/graph/detail/held_values.hpp: what Value does with the values that it holds.
#pragma once

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/detail/joined_rows.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/tensor_array.hpp>
#include <rowan/sparse/detail/stored_type.hpp>
#include <rowan/sparse/row_store.hpp>
#include <rowan/sparse/selected_rows.hpp>

namespace rowan::inline v0 {

namespace detail {

template <class V>
struct CanHoldValues {};

}  // namespace detail

template <class V>
struct Value::Holder final : Held<V> {
    using Held<V>::Held;
    std::unique_ptr<Base> share() const override {
        if constexpr (requires { V(this->value.share()); }) {
            return std::make_unique<Holder>(this->value.share());
        } else {
            throw TypeError("the value", detail::kind_name<V>::text(), "one that can be shared");
        }
    }
    std::string name() const override { return detail::kind_name<V>::text(); }
    Value add_slots(Value const& other) const override;
};

template <class T, class D>
struct Value::Holder<SelectedRows<T, D>> final : Held<SelectedRows<T, D>> {
    using V = SelectedRows<T, D>;
    using Held<V>::Held, Held<V>::value;
    std::unique_ptr<Base> share() const override { return std::make_unique<Holder>(value.share()); }
    std::unique_ptr<Base> copy() const override { return std::make_unique<Holder>(V(value)); }
    std::string name() const override { return detail::kind_name<V>::text(); }
    VarSpec spec() const override;
    std::vector<std::int64_t> row_numbers() const override;
    std::int64_t row_number(std::size_t i) const override { return to_host(value).rows()[i]; }
    Value row_values() const override { return of(LoDTensor<T, D>(value.value().share())); }
    Value with_rows(std::span<std::int64_t const> rows) const override;
    Value on_host() const override { return of(to_host(value)); }
};

template <std::same_as<Strings> V>
struct Value::Holder<V> final : Held<V> {
    using Held<V>::Held, Held<V>::value;
    std::unique_ptr<Base> share() const override { return std::make_unique<Holder>(value.share()); }
    std::unique_ptr<Base> copy() const override { return std::make_unique<Holder>(value.share()); }
    std::string name() const override { return detail::kind_name<V>::text(); }
    VarSpec spec() const override {
        return {.type = VarType::STRINGS,
                .dtype = dtype<std::uint8_t>::wire,
                .dims = {static_cast<std::int64_t>(value.size())},
                .lod_level = value.levels().levels() - 1};
    }
    Value on_host() const override { return of(value.share()); }
    // The parts are sequences of strings, or strings; the rows are bytes.
    std::size_t rows() const override { return value.bytes().size(); }
    Lod const& lod() const override { return value.levels(); }
    Value part(std::size_t begin, std::size_t end, Lod lod) const override {
        return of(value.part(begin, end, std::move(lod)));
    }
};

template <class T>
struct Value::Holder<RowStore<T>> final : Held<RowStore<T>> {
    using V = RowStore<T>;
    using Held<V>::Held, Held<V>::value;
    std::unique_ptr<Base> share() const override { return std::make_unique<Holder>(value.share()); }
    std::string name() const override { return detail::kind_name<V>::text(); }
    VarSpec spec() const override;
    Elements elements() const override;
    Value on_host() const override { return of(value.share()); }
    Lod const& lod() const override { return none; }
    Lod none = {};
};

template <class T, class D>
struct Value::Holder<LoDTensor<T, D>> final : Held<LoDTensor<T, D>> {
    using V = LoDTensor<T, D>;
    using Held<V>::Held, Held<V>::value;
    std::unique_ptr<Base> share() const override { return std::make_unique<Holder>(value.share()); }
    std::unique_ptr<Base> copy() const override { return std::make_unique<Holder>(V(value)); }
    std::string name() const override { return detail::kind_name<V>::text(); }

    VarSpec spec() const override;
    std::size_t rows() const override;
    Lod const& lod() const override { return value.lod(); }
    Elements elements() const override;
    Value on_host() const override;
    void write(std::function<void(std::span<std::byte>)> const& f) override;

    Value with_lod(Lod lod) const override { return of(V(value.value().share(), std::move(lod))); }
    Rows tensor(AnyExec exec) const override;
    Value alike(AnyExec exec, Rows::Shape const& shape, Lod lod) const override {
        return of(V(detail::new_tensor<T>(exec.get<D>(), shape), std::move(lod)));
    }
    Value part(std::size_t begin, std::size_t end, Lod lod) const override {
        return of(V(value.value().slice(begin, end), std::move(lod)));
    }
};

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
auto Value::Holder<LoDTensor<T, D>>::tensor(AnyExec exec) const -> Rows {
    auto const& x = value.value();
    detail::check_usable(exec.get<D>(), x);
    return {{x.shape().begin(), x.shape().end()},
            x.row_size() * sizeof(T),
            const_cast<T*>(x.data()),
            &detail::row_functions<D>};
}

template <class V>
void Value::hold(V&& value) {
    if (!is<V>()) {
        holder_ = std::make_unique<Holder<V>>(std::move(value));
    } else {
        static_cast<Held<V>&>(*holder_).value = std::move(value);
    }
}

template <class V>
Value Value::Holder<V>::add_slots(Value const& other) const {
    if constexpr (requires(V & v) { v.accumulate(0, v.read(0)); }) {
        V const& summands = other.get<V>();
        V total = this->value.share();
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
        return Held<V>::add_slots(other);
    }
}

ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<float>>)
ROWAN_TEMPLATE(void Value::hold(LoDTensor<float>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<float>>)
ROWAN_TEMPLATE(void Value::hold(SelectedRows<float>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<double>>)
ROWAN_TEMPLATE(void Value::hold(LoDTensor<double>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<double>>)
ROWAN_TEMPLATE(void Value::hold(SelectedRows<double>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<std::int64_t>>)
ROWAN_TEMPLATE(void Value::hold(LoDTensor<std::int64_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<std::int64_t>>)
ROWAN_TEMPLATE(void Value::hold(SelectedRows<std::int64_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<std::int32_t>>)
ROWAN_TEMPLATE(void Value::hold(LoDTensor<std::int32_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<std::int32_t>>)
ROWAN_TEMPLATE(void Value::hold(SelectedRows<std::int32_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<std::uint8_t>>)
ROWAN_TEMPLATE(void Value::hold(LoDTensor<std::uint8_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<std::uint8_t>>)
ROWAN_TEMPLATE(void Value::hold(SelectedRows<std::uint8_t>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<bool>>)
ROWAN_TEMPLATE(void Value::hold(LoDTensor<bool>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<bool>>)
ROWAN_TEMPLATE(void Value::hold(SelectedRows<bool>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<bfloat16>>)
ROWAN_TEMPLATE(void Value::hold(LoDTensor<bfloat16>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<bfloat16>>)
ROWAN_TEMPLATE(void Value::hold(SelectedRows<bfloat16>&&))
ROWAN_TEMPLATE(struct Value::Holder<LoDTensor<float16>>)
ROWAN_TEMPLATE(void Value::hold(LoDTensor<float16>&&))
ROWAN_TEMPLATE(struct Value::Holder<SelectedRows<float16>>)
ROWAN_TEMPLATE(void Value::hold(SelectedRows<float16>&&))
ROWAN_TEMPLATE(void Value::hold(Strings&&))
ROWAN_TEMPLATE(struct Value::Holder<RowStore<float>>)
ROWAN_TEMPLATE(void Value::hold(RowStore<float>&&))
ROWAN_TEMPLATE(struct Value::Holder<RowStore<double>>)
ROWAN_TEMPLATE(void Value::hold(RowStore<double>&&))
ROWAN_TEMPLATE(struct Value::Holder<TensorArray<float>>)
ROWAN_TEMPLATE(void Value::hold(TensorArray<float>&&))
ROWAN_TEMPLATE(struct Value::Holder<TensorArray<double>>)
ROWAN_TEMPLATE(void Value::hold(TensorArray<double>&&))
ROWAN_TEMPLATE(struct Value::Holder<TensorArray<std::int64_t>>)
ROWAN_TEMPLATE(void Value::hold(TensorArray<std::int64_t>&&))

namespace detail {

/// A copy made by a call on `exec`, whichever execution made x.
template <class T, class D>
Tensor<T, D> copy_made_by(D const& exec, Tensor<T, D> const& x) {
    if (!(x.device() == exec)) synchronize(x.device());
    return ElementLoops<D>::copy(exec, x);
}

template <class T, class D>
void bring(Value& value, AnyExec any, bool own) {
    D const exec = any.or_default<D>();
    if (value.is<LoDTensor<T, D>>()) {
        auto& there = value.get<LoDTensor<T, D>>();
        if (own) value.set(LoDTensor<T, D>(copy_made_by(exec, there.value()), there.lod()));
        return;
    }
    if (std::is_same_v<D, Cpu> && value.is<RowStore<T>>()) return;
    value = value.on_host();
    auto const& host = value.get<LoDTensor<T>>();
    value.set(LoDTensor<T, D>(to_device(exec, host.value().share()), host.lod()));
}

template <class T, class D>
void bring_rows(Value& value, AnyExec any, bool own) {
    D const exec = any.or_default<D>();
    if (value.is<SelectedRows<T, D>>()) {
        auto& there = value.get<SelectedRows<T, D>>();
        if (!own) return;
        if (!(there.device() == exec)) synchronize(there.device());
        value.set(SelectedRows<T, D>(there));
        return;
    }
    value = value.on_host();
    value.set(to_device(exec, value.get<SelectedRows<T>>()));
}

ROWAN_TEMPLATE(void bring<float, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring_rows<float, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<double, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring_rows<double, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<std::int64_t, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring_rows<std::int64_t, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<std::int32_t, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring_rows<std::int32_t, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<std::uint8_t, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring_rows<std::uint8_t, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<bool, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring_rows<bool, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<bfloat16, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring_rows<bfloat16, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring<float16, Cpu>(Value&, AnyExec, bool))
ROWAN_TEMPLATE(void bring_rows<float16, Cpu>(Value&, AnyExec, bool))

}  // namespace detail

}  // namespace rowan::inline v0
