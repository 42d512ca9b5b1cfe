// rowan/op/var_spec.hpp: VarSpec, the type and shape of a variable, known before its value.
#pragma once

#include <rowan/core/dtype.hpp>
#include <rowan/core/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <ostream>

namespace rowan::inline v0 {

/// A dim that is not known yet, such as the number of rows of the next batch.
inline constexpr std::int64_t UNK = -1;

/// The kinds of variables, with their values in descriptors.
enum class VarType : std::int32_t { LOD_TENSOR = 0, SELECTED_ROWS = 1, TENSOR_ARRAY = 2, STEP_SCOPES = 3, STRINGS = 4 };

/// Up to eight dims, each a count or UNK.
class Dims {
public:
    static constexpr std::size_t max_rank = 8;  ///< the maximum rank

    constexpr Dims() = default;  ///< rank 0
    /// errors   ShapeError if there are more than max_rank dims or one is neither a count nor UNK
    constexpr Dims(std::initializer_list<std::int64_t> dims) {
        for (std::int64_t const dim : dims) push_back(dim);
    }

    /// Appends a dim.
    /// errors   ShapeError if there are max_rank dims already, or dim is neither a count nor UNK
    constexpr void push_back(std::int64_t dim) {
        if (rank_ == max_rank) throw ShapeError("rank", "more", {"at most ", max_rank});
        if (dim < UNK) throw ShapeError({"dims[", rank_, "]"}, dim, "a count or UNK");
        dims_[rank_++] = dim;
    }

    constexpr std::size_t size() const noexcept { return rank_; }
    constexpr bool empty() const noexcept { return rank_ == 0; }
    constexpr std::int64_t operator[](std::size_t i) const noexcept { return dims_[i]; }
    constexpr std::int64_t& operator[](std::size_t i) noexcept { return dims_[i]; }
    constexpr std::int64_t const* begin() const noexcept { return dims_.data(); }
    constexpr std::int64_t const* end() const noexcept { return dims_.data() + rank_; }

    /// The product of the dims from `first` on, at most 2^63 - 1; UNK if one of them is UNK.
    constexpr std::int64_t product_from(std::size_t first) const noexcept {
        std::int64_t product = 1;
        for (std::size_t i = first; i < rank_; ++i) {
            if (dims_[i] == UNK) return UNK;
            if (__builtin_mul_overflow(product, dims_[i], &product)) product = std::numeric_limits<std::int64_t>::max();
        }
        return product;
    }

    friend constexpr bool operator==(Dims const&, Dims const&) = default;

    /// Prints the dims: [UNK, 640, 480]
    friend std::ostream& operator<<(std::ostream& out, Dims const& dims) {
        char const* comma = "[";
        for (std::int64_t const dim : dims) {
            out << comma;
            dim == UNK ? out << "UNK" : out << dim;
            comma = ", ";
        }
        return out << (dims.empty() ? "[]" : "]");
    }

private:
    std::array<std::int64_t, max_rank> dims_{};
    std::size_t rank_ = 0;
};

/// The kind, element type, dims and number of levels of a variable.
struct VarSpec {
    VarType type = VarType::LOD_TENSOR;              ///< the kind of variable
    std::int32_t dtype = rowan::dtype<float>::wire;  ///< dtype<T>::wire
    Dims dims;                                       ///< for a SelectedRows the dims of the dense tensor
    std::size_t lod_level = 0;                       ///< the number of levels; 0: the rows form no sequences

    friend constexpr bool operator==(VarSpec const&, VarSpec const&) = default;
};

/// Whether this is the number of one of rowan's integral element types, including bool.
constexpr bool is_integral(std::int32_t wire) noexcept {
    return wire == dtype<std::int32_t>::wire || wire == dtype<std::int64_t>::wire ||
           wire == dtype<std::uint8_t>::wire || wire == dtype<bool>::wire;
}

/// The spec of a Tensor or LoDTensor.
template <class T>
constexpr VarSpec tensor_spec(Dims dims, std::size_t lod_level = 0) {
    static_assert(detail::is_element<T>(), "rowan::tensor_spec<T>: specialize rowan::dtype<T> for this element type");
    return {.type = VarType::LOD_TENSOR, .dtype = dtype<T>::wire, .dims = dims, .lod_level = lod_level};
}
/// The spec of Strings: [n], with the levels of their sequences.
/// errors   ShapeError if the rank is not 1
constexpr VarSpec strings_spec(Dims dims, std::size_t lod_level = 0) {
    if (dims.size() != 1) throw ShapeError("the rank of strings", dims.size(), 1);
    return {.type = VarType::STRINGS, .dtype = dtype<std::uint8_t>::wire, .dims = dims, .lod_level = lod_level};
}
/// The spec of a SelectedRows.
template <class T>
constexpr VarSpec selected_rows_spec(Dims dims) {
    static_assert(detail::is_element<T>(),
                  "rowan::selected_rows_spec<T>: specialize rowan::dtype<T> for this element type");
    return {.type = VarType::SELECTED_ROWS, .dtype = dtype<T>::wire, .dims = dims, .lod_level = 0};
}

}  // namespace rowan::inline v0
