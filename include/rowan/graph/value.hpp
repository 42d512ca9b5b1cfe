// rowan/graph/value.hpp: Value, what a variable holds at run time.
#pragma once

#include <rowan/core/allocator.hpp>
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/detail/kind_text.hpp>
#include <rowan/op/var_spec.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/strings.hpp>
#include <rowan/sparse/selected_rows.hpp>

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

namespace detail {

/// Complete where Value can hold objects of any type, see held_values.hpp.
template <class V>
struct CanHoldValues;

class RowBlocks;
struct RowFunctions;

template <class V, class... Known>
inline constexpr bool is_one_of = (std::is_same_v<V, Known> || ...);

/// Whether the compiled library has what Value does with a V.
template <class V>
inline constexpr bool is_compiled_value = false;
template <class T>
inline constexpr bool is_compiled_value<LoDTensor<T>> =
    is_one_of<T, float, double, std::int64_t, std::int32_t, std::uint8_t, bool, bfloat16, float16>;
template <>
inline constexpr bool is_compiled_value<Strings> = true;
template <class T>
inline constexpr bool is_compiled_value<SelectedRows<T>> = is_compiled_value<LoDTensor<T>>;
template <class T>
inline constexpr bool is_compiled_value<RowStore<T>> = is_one_of<T, float, double>;
template <class T>
inline constexpr bool is_compiled_value<TensorArray<T>> = is_one_of<T, float, double, std::int64_t>;

/// Whether that is so, or can be made here.
template <class V>
inline constexpr bool can_hold = is_compiled_value<V> || requires {
    CanHoldValues<V>{};
};

}  // namespace detail

/// A type-erased holder of a LoDTensor, a SelectedRows, a TensorArray, a RowStore, Strings or any other movable object;
/// may be empty.
class Value {
public:
    Value() = default;  ///< empty

    bool empty() const noexcept { return holder_ == nullptr; }

    /// Whether it holds a V.
    template <class V>
    bool is() const noexcept {
        return !empty() && detail::is_tag_of<V>(holder_->type);
    }

    /// The held V.
    /// errors   TypeError if it does not hold a V
    /// cost     O(1)
    template <class V>
    V& get() & {
        return holder<V>().value;
    }
    template <class V>
    V const& get() const& {
        return holder<V>().value;
    }
    template <class V>
    V get() && {
        return std::move(holder<V>().value);
    }

    /// Replaces the held object by `value`, which is moved from.
    /// errors   std::bad_alloc; those of moving a V
    /// cost     no allocation if it already holds a V
    template <class V>
    requires(!std::is_reference_v<V>) void set(V&& value) {
        static_assert(detail::can_hold<V>,
                      "rowan: the compiled library has no values of this type: for an element type or a device of "
                      "your own, #include <rowan/own_operator.hpp>");
        hold(std::move(value));
    }

    /// An alias: a Value that refers to the same elements; empty if this is empty.
    /// errors   TypeError if the held type has no share()
    /// cost     that of its share(): O(1) for a LoDTensor, O(slots) for a TensorArray
    Value share() const {
        if (empty()) return {};
        Value alias;
        alias.holder_ = holder_->share();
        return alias;
    }

    /// A deep copy of a LoDTensor or a SelectedRows; empty if this is empty.
    /// errors   TypeError for any other type
    /// cost     one read and one write of the elements
    Value copy() const {
        if (empty()) return {};
        Value copy;
        copy.holder_ = holder_->copy();
        return copy;
    }

    /// The slot-wise sum of two TensorArrays. A slot that only one of them has is an alias.
    /// errors   TypeError for any other type; ShapeError if slots differ in shape
    /// cost     one copy and one addition for each slot that both have, O(1) for the others
    Value add_slots(Value const& other) const { return held().add_slots(other); }

    /// The kind, element type, dims and number of levels of a LoDTensor, a SelectedRows or Strings. A RowStore has those
    /// of the tensor of its rows.
    /// errors   TypeError for any other type
    /// cost     O(1)
    VarSpec spec() const { return held().spec(); }

    /// The row numbers of a SelectedRows, on the host.
    /// errors   TypeError for any other type
    /// cost     O(rows); on a device one blocking copy of the SelectedRows
    std::vector<std::int64_t> row_numbers() const { return held().row_numbers(); }
    /// Row number i of a SelectedRows that has more than i rows.
    /// errors   TypeError for any other type
    /// cost     O(1); on a device as row_numbers
    std::int64_t row_number(std::size_t i) const { return held().row_number(i); }
    /// An alias of the value of a SelectedRows.
    /// errors   TypeError for any other type
    /// cost     O(1)
    Value row_values() const { return held().row_values(); }
    /// A SelectedRows on the host of the height, row shape and element type of this one, with other rows and
    /// uninitialized values.
    /// errors   TypeError for any other type; IndexError if a row is not in [0, height)
    /// cost     O(rows), two allocations
    Value with_rows(std::span<std::int64_t const> rows) const { return held().with_rows(rows); }

    // The members below need a LoDTensor, of any element type, or, where they know no rows, Strings, and throw a TypeError
    // for anything else. The parts of a LoDTensor are the sequences of its first level, or its rows if it has no levels.

    std::size_t rows() const { return held().rows(); }  ///< the first dim of the tensor
    Lod const& lod() const& { return held().lod(); }    ///< the levels; empty if the rows form no sequences
    Lod lod() && { return held().lod(); }
    /// The number of parts.
    /// errors   TypeError if it is not a LoDTensor; ShapeError if it has rank 0 and no levels
    /// cost     O(1)
    std::size_t count() const { return lod().empty() ? rows() : lod().sequences(0); }
    /// An alias with other levels.
    /// errors   TypeError if it is not a LoDTensor; LodError if the last level does not end with its number of rows;
    ///          ShapeError if it has rank 0 and `lod` is not empty
    /// cost     O(1)
    Value with_lod(Lod lod) const { return held().with_lod(std::move(lod)); }
    /// An alias of parts [begin, end).
    /// errors   TypeError if it is not a LoDTensor; IndexError unless begin <= end <= count()
    /// cost     O(1), and a copy of the levels if there are any
    ROWAN_IF_CALLED Value slice(std::size_t begin, std::size_t end) const;
    /// Part i of the result is a copy of part from[i].
    /// requires   from[i] in [0, count()), which is not checked
    /// errors   TypeError if it is not a LoDTensor
    /// cost     one read and one write of every row of the result
    ROWAN_IF_CALLED Value gather(AnyExec exec, std::span<std::int64_t const> from) const;
    /// The parts of all values, concatenated.
    /// errors   ShapeError if there are no values, or their trailing dims or numbers of levels are incompatible
    /// cost     one read and one write of every row
    ROWAN_IF_CALLED static Value concat(AnyExec exec, std::span<Value* const> values);
    /// Part i of values[k] becomes part to[k][i] of the result.
    /// requires   `to` contains the index of every part of the result exactly once, which is not checked
    /// errors   ShapeError if there are no values, or their trailing dims or numbers of levels are incompatible
    /// cost     one read and one write of every row; two of each with levels
    ROWAN_IF_CALLED static Value scatter(AnyExec exec, std::span<Value* const> values,
                                         std::span<std::span<std::int64_t const> const> to);

    /// The element type, dims and bytes of a LoDTensor.
    struct Elements {
        std::int32_t dtype;              ///< dtype<T>::wire
        std::string type;                ///< dtype<T>::name
        std::size_t element_size;        ///< in bytes
        std::vector<std::int64_t> dims;  ///< of the tensor
        std::span<std::byte> bytes;      ///< all elements, writable; empty for a value in device memory
    };
    /// Describes the elements of a LoDTensor, or the stored rows of a RowStore, which are not writable.
    /// errors   TypeError for any other type; Error for a RowStore whose rows are not in memory
    /// cost     O(1)
    Elements elements() { return held().elements(); }

    /// The value in host memory, also of a SelectedRows: an alias if it is already there, else a copy.
    /// errors   TypeError for any other type
    /// cost     O(1) on the host, else one blocking copy
    Value on_host() const { return held().on_host(); }
    /// Calls f to write the bytes of all elements, in host or device memory. The bytes passed to it may be
    /// uninitialized.
    /// errors   TypeError if it is not a LoDTensor; those of f
    /// cost     that of f; on a device also a host buffer and one copy
    void write(std::function<void(std::span<std::byte>)> const& f) { held().write(f); }

    /// Destroys the held object and frees its memory.
    void clear() noexcept { holder_.reset(); }

    /// The held type as text: "LoDTensor<f32>", or "nothing" if empty.
    std::string kind() const { return empty() ? std::string("nothing") : holder_->name(); }

private:
    template <class V>
    void hold(V&& value);

    template <class V>
    static Value of(V&& value) {
        Value v;
        v.set(std::move(value));
        return v;
    }

    /// The elements of a LoDTensor, of any type, on a device of which `device` has the functions.
    struct Rows {
        using Shape = Tensor<float>::shape_type;
        Shape shape;
        std::size_t bytes;  // of a row
        void* data;
        detail::RowFunctions const* device;
    };
    ROWAN_IF_CALLED static detail::RowBlocks blocks_of(AnyExec exec, std::span<Value* const> values);

    struct Base {
        explicit Base(detail::TypeTag const* identity) : type(identity) {}
        virtual ~Base() = default;
        // Allocates like tensors: from the thread's MemoryPool if there is one.
        static void* operator new(std::size_t bytes) { return Allocator<std::byte>().allocate(bytes); }
        static void operator delete(void* block, std::size_t bytes) noexcept {
            Allocator<std::byte>().deallocate(static_cast<std::byte*>(block), bytes);
        }
        virtual std::unique_ptr<Base> share() const = 0;
        virtual std::unique_ptr<Base> copy() const { no_rows(); }
        virtual std::string name() const = 0;
        virtual Value add_slots(Value const&) const { throw TypeError("the value", name(), "a TensorArray"); }
        virtual VarSpec spec() const { no_rows(); }
        virtual std::vector<std::int64_t> row_numbers() const { no_selected_rows(); }
        virtual std::int64_t row_number(std::size_t) const { no_selected_rows(); }
        virtual Value row_values() const { no_selected_rows(); }
        virtual Value with_rows(std::span<std::int64_t const>) const { no_selected_rows(); }
        virtual std::size_t rows() const { no_rows(); }
        virtual Lod const& lod() const { no_rows(); }
        virtual Value with_lod(Lod) const { no_rows(); }
        virtual Rows tensor(AnyExec) const { no_rows(); }
        virtual Value alike(AnyExec, Rows::Shape const&, Lod) const { no_rows(); }
        virtual Value part(std::size_t, std::size_t, Lod) const { no_rows(); }
        virtual Elements elements() const { no_rows(); }
        virtual Value on_host() const { no_rows(); }
        virtual void write(std::function<void(std::span<std::byte>)> const&) { no_rows(); }
        [[noreturn]] void no_rows() const { throw TypeError("the value", name(), "a LoDTensor"); }
        [[noreturn]] void no_selected_rows() const { throw TypeError("the value", name(), "a SelectedRows"); }
        detail::TypeTag const* type;
    };

    // A value; what else depends on its type is in held_values.hpp.
    template <class V>
    struct Held : Base {
        explicit Held(V&& v) : Base(&detail::type_tag<V>), value(std::move(v)) {}
        V value;
    };
    template <class V>
    struct Holder;

    template <class V>
    Held<V>& holder() const {
        if (!is<V>()) is_no(&detail::kind_name<V>::text);
        return static_cast<Held<V>&>(*holder_);
    }

    [[noreturn, gnu::noinline]] void is_no(std::string (*expected)()) const {
        throw TypeError("the value", kind(), expected());
    }

    Base& held() const {
        if (empty()) throw TypeError("the value", kind(), "a tensor");
        return *holder_;
    }

    std::unique_ptr<Base> holder_;
};

}  // namespace rowan::inline v0

#if !ROWAN_DECLARES_OPERATORS
#include <rowan/graph/detail/held_values.hpp>
#endif
