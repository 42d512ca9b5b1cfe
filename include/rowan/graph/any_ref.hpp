// rowan/graph/any_ref.hpp: references to objects whose type nets do not know, and KernelCall, made of them.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// Its address identifies the type V.
template <class V>
inline constexpr char type_tag = 0;

/// Throws a GraphError.
[[noreturn]] inline void wrong_type() {
    throw GraphError("the attributes of an operator, or its execution, are of another type than its kernel takes");
}

/// A reference to a constant object, or to none, that knows the type of the object.
class AnyRef {
public:
    AnyRef() = default;
    explicit operator bool() const noexcept { return object_ != nullptr; }
    /// Whether the object is a V.
    template <class V>
    bool is() const noexcept {
        return type_ == &type_tag<V>;
    }
    /// The object. Throws a GraphError if it is not a V.
    template <class V>
    V const& get() const {
        if (type_ != &type_tag<V>) wrong_type();
        return *static_cast<V const*>(object_);
    }

protected:
    template <class V>
    explicit AnyRef(V const& object) noexcept : object_(&object), type_(&type_tag<V>) {}

private:
    void const* object_ = nullptr;
    char const* type_ = nullptr;
};

}  // namespace detail

/// A reference to an execution, such as a Cpu, or to none. The execution must outlive it.
class AnyExec : public detail::AnyRef {
public:
    AnyExec() = default;  ///< refers to none
    /// Refers to `exec`.
    template <device D>
    AnyExec(D const& exec) noexcept : AnyRef(exec) {}
    /// A copy of the execution, or D{} if there is none.
    /// errors   GraphError if it is not a D
    /// cost     none
    template <device D>
    D or_default() const {
        return *this ? get<D>() : D{};
    }
};

/// A reference to the attributes of an operator, or to none. The attributes must outlive it.
class AttributesRef : public detail::AnyRef {
public:
    AttributesRef() = default;  ///< refers to none
    /// Refers to attributes of type A.
    template <class A>
    requires(!std::derived_from<A, detail::AnyRef>) explicit AttributesRef(A const& attributes) noexcept
        : AnyRef(attributes) {}
};

/// The attributes of an operator, which share their owner; may be none.
class Attributes : public AttributesRef {
public:
    Attributes() = default;  ///< none
    /// Owns attributes of type A.
    template <class A>
    Attributes(std::shared_ptr<A> owner) noexcept : AttributesRef(*owner), owner_(std::move(owner)) {}

private:
    std::shared_ptr<void const> owner_;
};

class Value;

/// The arguments of a kernel.
struct KernelCall {
    AnyExec exec;                     ///< where and how it runs
    std::span<Value* const> in;       ///< the inputs
    std::span<Value* const> out;      ///< receives the results
    AttributesRef attributes = {};    ///< of the type that the kernel takes
    std::ptrdiff_t levels_from = -1;  ///< results with as many rows as this input get its levels; -1: no levels
};

}  // namespace rowan::inline v0
