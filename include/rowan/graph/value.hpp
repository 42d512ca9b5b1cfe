// rowan/graph/value.hpp: Value, what a variable holds at run time.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/graph/detail/joined_rows.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/sequence/batches.hpp>
#include <rowan/sequence/detail/pick_sequences.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// A LoDTensor, a SelectedRows, a TensorArray or any other movable object, or nothing.
class Value {
public:
    Value() = default;  ///< nothing

    bool empty() const noexcept { return holder_ == nullptr; }

    /// Is a V held?
    template <class V>
    bool is() const noexcept {
        return !empty() && holder_->type == &type_of<V>;
    }

    /// What is held.
    /// errors   TypeError if that is no V
    /// cost     O(1)
    template <class V>
    V& get() {
        if (!is<V>()) throw TypeError("the value", kind(), detail::kind_name<V>::text());
        return static_cast<Holder<V>&>(*holder_).value;
    }
    template <class V>
    V const& get() const {
        return const_cast<Value&>(*this).get<V>();
    }

    /// Takes `value`, in the place of what was held.
    /// errors   std::bad_alloc, and what moving a V throws
    /// cost     no allocation where a V was held before
    template <class V>
    requires(!std::is_reference_v<V>) void set(V&& value);

    /// An alias: a value that sees the same elements.
    /// errors   TypeError if what is held cannot be shared
    /// cost     that of what is held: O(1) for a LoDTensor, O(slots) for a TensorArray
    Value share() const {
        if (empty()) return {};
        Value alias;
        alias.holder_ = holder_->share();
        return alias;
    }

    /// A deep copy of a LoDTensor, or of nothing.
    /// errors   TypeError for anything else
    /// cost     one read and one write of what is held
    Value copy() const {
        if (empty()) return {};
        Value copy;
        copy.holder_ = holder_->copy();
        return copy;
    }

    /// The sum of two TensorArrays, slot by slot: what only one of them has is an alias.
    /// errors   TypeError for anything else; ShapeError if slots differ in shape
    /// cost     one copy and one addition of each slot that both have, O(1) for others
    Value add_slots(Value const& other) const { return held().add_slots(other); }

    // Of a LoDTensor, whatever its element type: its parts are the sequences of its first level, or its rows where it has no levels. All
    // throw a TypeError for anything else. `device` is what operators run on.

    std::size_t rows() const { return held().rows(); }  ///< of its tensor
    Lod const& lod() const { return held().lod(); }     ///< none where rows form no sequences
    /// The number of parts.
    /// errors   TypeError if that is no LoDTensor; ShapeError if it has rank 0
    /// cost     O(1)
    std::size_t count() const { return lod().empty() ? rows() : lod().sequences(0); }
    /// An alias with other levels.
    /// errors   TypeError if that is no LoDTensor; LodError if the last level does not end with its rows
    /// cost     O(1)
    Value with_lod(Lod lod) const { return held().with_lod(std::move(lod)); }
    /// An alias of parts [begin, end).
    /// errors   TypeError if that is no LoDTensor; IndexError unless begin <= end <= count()
    /// cost     O(1), of sequences a copy of their levels
    Value slice(std::size_t begin, std::size_t end) const { return held().slice(begin, end); }
    /// Part i of the result is part from[i].
    /// requires   from[i] in [0, count()), which is not checked
    /// errors   TypeError if that is no LoDTensor
    /// cost     one read and one write of every row of the result
    Value gather(void const* device, std::span<std::int64_t const> from) const { return held().gather(device, from); }
    /// The parts of all, one after the other.
    /// errors   ShapeError if there are none, or they do not fit together
    /// cost     one read and one write of every row
    static Value concat(void const* device, std::span<Value* const> values) {
        if (values.empty()) throw ShapeError("values", "0", "at least 1");
        return values[0]->held().concat(device, values);
    }
    /// Part i of values[k] becomes part to[k][i] of the result, all of which must be filled.
    /// errors   ShapeError if there are none, or they do not fit together
    /// cost     one read and one write of every row
    static Value scatter(void const* device, std::span<Value* const> values,
                         std::span<std::span<std::int64_t const> const> to) {
        if (values.empty()) throw ShapeError("values", "0", "at least 1");
        return values[0]->held().scatter(device, values, to);
    }

    /// Number, name and size of the element type, the dims, and the bytes, which may be written; none of a value in the memory of a device.
    struct Elements {
        std::int32_t dtype;              ///< dtype<T>::wire
        std::string_view type;           ///< dtype<T>::name
        std::size_t element_size;        ///< in bytes
        std::vector<std::int64_t> dims;  ///< of the tensor
        std::span<std::byte> bytes;      ///< of all elements
    };
    /// Those of a LoDTensor.
    /// errors   TypeError for anything else
    /// cost     O(1)
    Elements elements() { return held().elements(); }

    /// The value in the memory of the host: an alias if it is there, else a copy.
    /// errors   TypeError if that is no LoDTensor
    /// cost     O(1) on the host, else one copy, which is waited for
    Value on_host() const { return held().on_host(); }
    /// Calls f to write the bytes of all elements, wherever they are; what they were is not known to it.
    /// errors   TypeError if that is no LoDTensor; what f throws
    /// cost     that of f; on a device room on the host and one copy
    void write(std::function<void(std::span<std::byte>)> const& f) { const_cast<Base&>(held()).write(f); }

    /// Lets go of what is held, and of its memory.
    void clear() noexcept { holder_.reset(); }

    /// "LoDTensor<f32>", "nothing"
    std::string kind() const { return empty() ? std::string("nothing") : holder_->name(); }

private:
    template <class V>
    static constexpr char type_of = 0;  // its address is the type's identity

    template <class V>
    static Value of(V&& value) {
        Value v;
        v.set(std::move(value));
        return v;
    }

    struct Base {
        explicit Base(char const* identity) : type(identity) {}
        virtual ~Base() = default;
        // From the pool that tensors come from, where there is one.
        static void* operator new(std::size_t bytes) { return Allocator<std::byte>().allocate(bytes); }
        static void operator delete(void* block, std::size_t bytes) noexcept {
            Allocator<std::byte>().deallocate(static_cast<std::byte*>(block), bytes);
        }
        virtual std::unique_ptr<Base> share() const = 0;
        virtual std::unique_ptr<Base> copy() const { no_rows(); }
        virtual std::string name() const = 0;
        virtual Value add_slots(Value const&) const { throw TypeError("the value", name(), "a TensorArray"); }
        virtual std::size_t rows() const { no_rows(); }
        virtual Lod const& lod() const { no_rows(); }
        virtual Value with_lod(Lod) const { no_rows(); }
        virtual Value slice(std::size_t, std::size_t) const { no_rows(); }
        virtual Value gather(void const*, std::span<std::int64_t const>) const { no_rows(); }
        virtual Value concat(void const*, std::span<Value* const>) const { no_rows(); }
        virtual Value scatter(void const*, std::span<Value* const>,
                              std::span<std::span<std::int64_t const> const>) const {
            no_rows();
        }
        virtual Elements elements() const { no_rows(); }
        virtual Value on_host() const { no_rows(); }
        virtual void write(std::function<void(std::span<std::byte>)> const&) { no_rows(); }
        [[noreturn]] void no_rows() const { throw TypeError("the value", name(), "a LoDTensor"); }
        char const* type;
    };

    template <class V>
    static std::unique_ptr<Base> share_of(V const& value) {
        if constexpr (requires { V(value.share()); }) {
            return std::make_unique<Holder<V>>(value.share());
        } else {
            throw TypeError("the value", detail::kind_name<V>::text(), "one that can be shared");
        }
    }

    template <class V>
    struct Holder final : Base {
        explicit Holder(V&& v) : Base(&type_of<V>), value(std::move(v)) {}
        std::unique_ptr<Base> share() const override { return share_of(value); }
        std::string name() const override { return detail::kind_name<V>::text(); }
        Value add_slots(Value const& other) const override;
        V value;
    };

    template <class T, class D>
    struct Holder<LoDTensor<T, D>> final : Base {
        using V = LoDTensor<T, D>;
        explicit Holder(V&& v) : Base(&type_of<V>), value(std::move(v)) {}
        std::unique_ptr<Base> share() const override { return std::make_unique<Holder>(value.share()); }
        std::unique_ptr<Base> copy() const override { return std::make_unique<Holder>(V(value)); }
        std::string name() const override { return detail::kind_name<V>::text(); }

        std::size_t rows() const override;
        Lod const& lod() const override { return value.lod(); }
        Elements elements() const override;
        Value on_host() const override;
        void write(std::function<void(std::span<std::byte>)> const& f) override;
        static std::span<std::byte> bytes_of(Tensor<T>& x);

        Value with_lod(Lod lod) const override { return of(V(value.value().share(), std::move(lod))); }
        Value slice(std::size_t begin, std::size_t end) const override;
        Value gather(void const* device, std::span<std::int64_t const> from) const override;
        Value concat(void const* device, std::span<Value* const> values) const override;
        Value scatter(void const* device, std::span<Value* const> values,
                      std::span<std::span<std::int64_t const> const> to) const override;

        static auto tensors(std::span<Value* const> values) {
            return [values](std::size_t k) -> Tensor<T, D> const& { return values[k]->template get<V>().value(); };
        }

        V value;
    };

    Base const& held() const {
        if (empty()) throw TypeError("the value", kind(), "a tensor");
        return *holder_;
    }

    std::unique_ptr<Base> holder_;
};

template <class T, class D>
std::size_t Value::Holder<LoDTensor<T, D>>::rows() const {
    detail::check_rows("value", value.value());
    return value.value().shape(0);
}

template <class T, class D>
auto Value::Holder<LoDTensor<T, D>>::elements() const -> Elements {
    Tensor<T, D> alias = value.value().share();
    std::span<std::byte> bytes;
    if constexpr (detail::is_cpu<D>) bytes = bytes_of(alias);
    return {dtype<T>::wire, dtype<T>::name, sizeof(T), {alias.shape().begin(), alias.shape().end()}, bytes};
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::on_host() const {
    if constexpr (detail::is_cpu<D>) {
        return of(value.share());
    } else {
        return of(LoDTensor<T>(to_host(value.value()), value.lod()));
    }
}

template <class T, class D>
void Value::Holder<LoDTensor<T, D>>::write(std::function<void(std::span<std::byte>)> const& f) {
    if constexpr (detail::is_cpu<D>) {
        f(bytes_of(value.value()));
    } else {
        auto host = Tensor<T>::from_shape(value.shape());
        f(bytes_of(host));
        value.value() = detail::placed(value.value().device(), std::move(host));
    }
}

template <class T, class D>
std::span<std::byte> Value::Holder<LoDTensor<T, D>>::bytes_of(Tensor<T>& x) {
    return std::as_writable_bytes(std::span(x.data(), x.size()));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::slice(std::size_t begin, std::size_t end) const {
    return of(detail::part_of(value, begin, end));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::gather(void const* device, std::span<std::int64_t const> from) const {
    D const& exec = *static_cast<D const*>(device);
    if (!value.lod().empty())
        return of(detail::pick_sequences(exec, value, from.size(), [&](std::size_t i) { return from[i]; }));
    return of(V(detail::picked_rows(exec, value.value(), from)));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::concat(void const* device, std::span<Value* const> values) const {
    if (!value.lod().empty()) {
        std::vector<V> batches;
        for (Value* const v : values) batches.push_back(v->template get<V>().share());
        return of(merge_batches(*static_cast<D const*>(device), batches));
    }
    return of(V(detail::joined_rows<T>(*static_cast<D const*>(device), values.size(), tensors(values))));
}

template <class T, class D>
Value Value::Holder<LoDTensor<T, D>>::scatter(void const* device, std::span<Value* const> values, std::span<std::span<std::int64_t const> const> to) const {
    if (!value.lod().empty()) {
        Value const all = concat(device, values);
        std::vector<std::int64_t> from(all.count());
        std::int64_t i = 0;
        for (auto const& targets : to) {
            for (std::int64_t const target : targets) from[static_cast<std::size_t>(target)] = i++;
        }
        return all.gather(device, from);
    }
    return of(V(detail::scattered_rows<T>(*static_cast<D const*>(device), values.size(), tensors(values), to)));
}


template <class V>
requires(!std::is_reference_v<V>) void Value::set(V&& value) {
    if (holder_ == nullptr || holder_->type != &type_of<V>) {
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
            auto sum = before;  // what the slot shares stays as it is
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
