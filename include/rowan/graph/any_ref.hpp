// rowan/graph/any_ref.hpp: references to objects whose type nets do not know, and KernelCall, made of them.
#pragma once

#include <rowan/core/device.hpp>
#include <rowan/core/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <typeinfo>
#include <utility>

namespace rowan::inline v0 {

struct no_attributes;

namespace detail {

/// Identifies a type. A library of the process that hides its symbols has tags of its own for the same types, so that
/// tags with other addresses are compared by the types' names, as exceptions are. Types of one name and of different
/// sizes, as in two versions of a library, are different. Without RTTI, tags are compared by their addresses alone.
struct TypeTag {
    std::type_info const* type;
    std::size_t size;
};
#ifdef __cpp_rtti
template <class V>
inline constexpr TypeTag type_tag{&typeid(V), sizeof(V)};
#else
template <class V>
inline constexpr TypeTag type_tag{nullptr, sizeof(V)};
#endif

/// Whether the tags are of one type by its name. A name in an anonymous namespace is another type's in each file, which
/// clang's std::type_info does not know.
[[gnu::noinline]] inline bool same_name(TypeTag const& a, TypeTag const& b) noexcept {
    return a.size == b.size && a.type != nullptr && b.type != nullptr && *a.type == *b.type &&
           std::strstr(a.type->name(), "_GLOBAL__N_") == nullptr;
}

/// Whether the tag, which may be nullptr, is that of V.
template <class V>
bool is_tag_of(TypeTag const* tag) noexcept {
    return tag == &type_tag<V> || (tag != nullptr && same_name(*tag, type_tag<V>));
}

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
        return is_tag_of<V>(type_);
    }
    /// The object. Throws a GraphError if it is not a V.
    template <class V>
    V const& get() const {
        if (!is_tag_of<V>(type_)) wrong_type();
        return *static_cast<V const*>(object_);
    }

protected:
    template <class V>
    explicit AnyRef(V const& object) noexcept : object_(&object), type_(&type_tag<V>) {}

private:
    void const* object_ = nullptr;
    TypeTag const* type_ = nullptr;
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

class Attributes;

namespace detail {

/// Attributes as operators own them. Those of operators that have none are made by a function of their own, which
/// every layer calls.
template <class A>
Attributes owned(A attributes);
Attributes owned(no_attributes none);

/// Owns an object of any type, by a std::shared_ptr whose code is the same for all types.
[[gnu::noinline]] inline std::shared_ptr<void const> owner_of(void const* object, void (*destroy)(void const*)) {
    return {object, destroy};
}

}  // namespace detail

/// The attributes of an operator, which share their owner; may be none.
class Attributes : public AttributesRef {
public:
    Attributes() = default;  ///< none
    /// Owns attributes of type A.
    template <class A>
    Attributes(std::shared_ptr<A> owner) noexcept : AttributesRef(*owner), owner_(std::move(owner)) {}

private:
    template <class A>
    friend Attributes detail::owned(A attributes);

    Attributes(AttributesRef const& attributes, std::shared_ptr<void const> owner) noexcept
        : AttributesRef(attributes), owner_(std::move(owner)) {}

    std::shared_ptr<void const> owner_;
};

namespace detail {

template <class A>
Attributes owned(A attributes) {
    auto const* const made = new A(std::move(attributes));
    return {AttributesRef(*made), owner_of(made, [](void const* a) { delete static_cast<A const*>(a); })};
}

}  // namespace detail

class Value;

/// The arguments of a kernel.
struct KernelCall {
    AnyExec exec;                     ///< where and how it runs
    std::span<Value* const> in;       ///< the inputs
    std::span<Value* const> out;      ///< receives the results
    AttributesRef attributes = {};    ///< of the type that the kernel takes
    std::ptrdiff_t levels_from = -1;  ///< results with as many rows as this input get its levels; -1: no levels
    bool only_checks = false;         ///< of a kernel with checks_first: it checks the inputs and changes nothing
};

}  // namespace rowan::inline v0
