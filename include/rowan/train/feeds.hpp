// rowan/train/feeds.hpp: Feeds, the values of a batch by name.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/strings.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

/// The value of one variable: a Tensor, a LoDTensor, a SelectedRows, Strings, or what one of these can be made of. Copies
/// share its elements.
class Feed {
public:
    /// A tensor, moved or copied in.
    template <class T, class Device>
    Feed(Tensor<T, Device> value);
    /// Rows with levels, moved or copied in.
    /// errors   std::bad_alloc
    /// cost     one allocation, plus a copy of the tensor unless it is moved in
    template <class T, class Device>
    Feed(LoDTensor<T, Device> value);
    /// A table of which only some rows exist.
    /// errors   std::bad_alloc
    /// cost     one allocation, plus a copy unless it is moved in
    template <class T, class Device>
    Feed(SelectedRows<T, Device> value);
    /// Strings, moved or copied in.
    /// errors   std::bad_alloc
    /// cost     one allocation, plus a copy unless they are moved in
    ROWAN_IF_CALLED Feed(Strings value);
    /// An alias of a value, such as one of `Parameters`.
    /// errors   TypeError if the value cannot be shared
    /// cost     O(1), two allocations
    ROWAN_IF_CALLED Feed(Value const& value);
    /// An xtensor expression, evaluated; a range of elements, such as a std::vector or a std::span; one element; or a list
    /// of strings, or of lists of strings.
    ///     {{"x", p + 1}, {"label", std::vector<std::int64_t>{2, 0}}, {"rate", 0.5f}}
    /// shapes   an expression [...] -> [...], a range of n elements -> [n], an element -> [1]
    /// errors   as Tensor::from_shape; the exceptions of the expression or the range
    /// cost     one allocation and one write of the elements, plus that of the expression or the range
    template <class X>
    requires(!std::same_as<std::remove_cvref_t<X>, Feed> && !std::same_as<std::remove_cvref_t<X>, Value>) Feed(X&& x)
        : Feed(tensor_of(x)) {}

    /// Returns an alias of the value.
    /// errors   std::bad_alloc
    /// cost     O(1), one allocation
    ROWAN_IF_CALLED Value value() const;

private:
    template <class X>
    static auto tensor_of(X& x);
    template <class X>
    static auto numbers_of(X& x);
    ROWAN_IF_CALLED static std::shared_ptr<Value> empty();

    std::shared_ptr<Value> value_;
};

template <class T, class Device>
Feed::Feed(Tensor<T, Device> value) : Feed(LoDTensor<T, Device>(std::move(value))) {}
template <class T, class Device>
Feed::Feed(LoDTensor<T, Device> value) : value_(empty()) {
    value_->set(std::move(value));
}
template <class T, class Device>
Feed::Feed(SelectedRows<T, Device> value) : value_(empty()) {
    value_->set(std::move(value));
}

template <class X>
auto Feed::tensor_of(X& x) {
    if constexpr (detail::string_levels<std::remove_cv_t<X>>() != 0) {
        return Strings(x);
    } else {
        return numbers_of(x);
    }
}

template <class X>
auto Feed::numbers_of(X& x) {
    constexpr bool expression = xt::is_xexpression<std::remove_cv_t<X>>::value;
    using Of = decltype([] {
        if constexpr (expression) {
            return std::type_identity<typename X::value_type>{};
        } else if constexpr (std::ranges::input_range<X&>) {
            return std::type_identity<std::ranges::range_value_t<X&>>{};
        } else {
            return std::type_identity<X>{};
        }
    }());
    using Element = std::remove_cv_t<typename Of::type>;
    using T = std::conditional_t<std::is_same_v<Element, long long>, std::int64_t, Element>;
    static_assert(element<T>,
                  "rowan::Feed: a batch takes tensors, xtensor expressions, flat ranges and numbers, of element types "
                  "with a rowan::dtype<T>: convert the elements, or use LoDTensor::from_nested for nested ranges");
    if constexpr (!element<T>) {
        return Tensor<float>();
    } else if constexpr (expression || detail::numbers_for<X, T>) {
        return Tensor<T>(x);
    } else if constexpr (std::ranges::input_range<X&>) {
        detail::Buffer<T> elements;
        for (auto&& e : x) elements.push_back(static_cast<T>(e));
        return Tensor<T>(elements);
    } else {
        return Tensor<T>::full({1}, static_cast<T>(x));
    }
}

/// A batch: values by variable name, such as {{"words", words}, {"label", labels}}. Iterates in the order of the names
/// over pairs of a name and a Feed.
class Feeds : private std::map<std::string, Feed, std::less<>> {
    using Map = std::map<std::string, Feed, std::less<>>;

public:
    using Map::begin, Map::end, Map::find, Map::contains, Map::size, Map::empty, Map::erase, Map::insert_or_assign;
    using Map::value_type, Map::iterator, Map::const_iterator;

    Feeds();  ///< no values
    Feeds(Feeds const&);
    Feeds(Feeds&&) noexcept;
    Feeds& operator=(Feeds const&);
    Feeds& operator=(Feeds&&) noexcept;
    ~Feeds();

    /// The values of a batch.
    /// errors   GraphError if two have the same name
    /// cost     O(values · log values)
    Feeds(std::initializer_list<value_type> values);

    // A mistake, which does not compile.
    template <class T, class Device, class... Rest>
    Feeds(Tensor<T, Device> const&, Rest const&...) {
        static_assert(!element<T>, R"(rowan::Feeds: the values of a batch have names: {{"x", x}, {"label", label}})");
    }

    /// The value of that name.
    /// errors   std::out_of_range if there is none
    /// cost     O(log values)
    ROWAN_IF_CALLED Feed& at(std::string const& name) &;
    ROWAN_IF_CALLED Feed const& at(std::string const& name) const&;
    ROWAN_IF_CALLED Feed at(std::string const& name) &&;

    /// Adds a value; insert_or_assign replaces one.
    /// errors   GraphError if there is a value of that name
    /// cost     O(log values)
    void insert(value_type const& value);
    ROWAN_IF_CALLED void emplace(std::string name, Feed value);  ///< Adds a value, as insert.
};

ROWAN_TEMPLATE(Feed::Feed(Tensor<float>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<double>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<std::int32_t>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<std::int64_t>))
ROWAN_TEMPLATE(Feed::Feed(Tensor<bool>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<float>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<double>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<std::int32_t>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<std::int64_t>))
ROWAN_TEMPLATE(Feed::Feed(LoDTensor<bool>))

}  // namespace rowan::inline v0

#include <rowan/train/feeds_inl.hpp>
