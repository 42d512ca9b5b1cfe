// rowan/graph/value.hpp: Value, what a variable holds at run time.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// "LoDTensor<f32>", for messages.
template <class V>
struct kind_name {
    static std::string text() { return "of a type of the user's"; }
};
template <class T, class D>
struct kind_name<LoDTensor<T, D>> {
    static std::string text() { return std::string("LoDTensor<").append(dtype<T>::name).append(">"); }
};
template <class T, class D>
struct kind_name<SelectedRows<T, D>> {
    static std::string text() { return std::string("SelectedRows<").append(dtype<T>::name).append(">"); }
};
template <class T, class D>
struct kind_name<TensorArray<T, D>> {
    static std::string text() { return std::string("TensorArray<").append(dtype<T>::name).append(">"); }
};

}  // namespace detail

/// A LoDTensor, a SelectedRows, a TensorArray or any other movable object, or nothing.
class Value {
public:
    Value() = default;

    bool empty() const noexcept { return holder_ == nullptr || !holder_->full; }

    template <class V>
    bool is() const noexcept {
        return !empty() && holder_->type == &type_of<V>;
    }

    /// What is held.
    /// errors   TypeError if that is no V
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
    /// cost     no allocation where a V was held before
    template <class V>
    requires(!std::is_reference_v<V>) void set(V&& value) {
        if (holder_ == nullptr || holder_->type != &type_of<V>) {
            holder_ = std::make_unique<Holder<V>>(std::move(value));
        } else {
            static_cast<Holder<V>&>(*holder_).value = std::move(value);
        }
        holder_->full = true;
    }

    /// An alias: a value that sees the same elements.
    /// errors   TypeError if what is held cannot be shared
    Value share() const {
        if (empty()) return {};
        Value alias;
        alias.holder_ = holder_->share();
        return alias;
    }

    /// Lets go of what is held, and of its memory.
    void clear() noexcept {
        if (!empty()) holder_->clear();
    }

    /// "LoDTensor<f32>", "nothing"
    std::string kind() const { return empty() ? std::string("nothing") : holder_->name(); }

private:
    template <class V>
    static constexpr char type_of = 0;  // its address is the type's identity

    struct Base {
        explicit Base(char const* identity) : type(identity) {}
        virtual ~Base() = default;
        virtual void clear() noexcept = 0;
        virtual std::unique_ptr<Base> share() const = 0;
        virtual std::string name() const = 0;
        char const* type;
        bool full = true;
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
        void clear() noexcept override {
            value = V();
            full = false;
        }
        std::unique_ptr<Base> share() const override { return share_of(value); }
        std::string name() const override { return detail::kind_name<V>::text(); }
        V value;
    };
    template <class V>
    requires(!std::default_initializable<V>) struct Holder<V> final : Base {
        explicit Holder(V&& v) : Base(&type_of<V>), value(std::move(v)) {}
        void clear() noexcept override { full = false; }
        std::unique_ptr<Base> share() const override { return share_of(value); }
        std::string name() const override { return detail::kind_name<V>::text(); }
        V value;
    };

    std::unique_ptr<Base> holder_;
};

}  // namespace rowan::inline v0
