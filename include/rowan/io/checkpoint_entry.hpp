// rowan/io/checkpoint_entry.hpp: CheckpointEntry, a variable of a checkpoint with a dynamic element type.
#pragma once

#include <rowan/io/detail/checkpoint_format.hpp>
#include <rowan/io/var_desc.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sparse/selected_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace rowan::inline v0 {

namespace detail {

/// A const T that uses memory only if it is set. Copies share it.
template <class T>
class Optional {
public:
    Optional() = default;
    Optional(T x) : value_(std::make_shared<T const>(std::move(x))) {}

    T const& operator*() const& noexcept { return value_ == nullptr ? none() : *value_; }
    T operator*() && { return **this; }
    T const* operator->() const noexcept { return &**this; }
    operator T const&() const noexcept { return **this; }

private:
    static T const& none() noexcept {
        static T const x;
        return x;
    }

    std::shared_ptr<T const> value_;
};

}  // namespace detail

/// One variable of a checkpoint. Copies share its elements, levels and row ids.
struct CheckpointEntry {
    VarDesc desc;                  ///< name, kind, element type, dims; the first dim of a SelectedRows is its height
    std::string type_name;         ///< dtype<T>::name
    std::size_t element_size = 0;  ///< sizeof(T)
    detail::Optional<Lod> lod;     ///< `*lod` has the levels of a LOD_TENSOR
    detail::Optional<Tensor<std::int64_t>> rows;  ///< `*rows` has the row ids of a SELECTED_ROWS
    std::span<std::byte const> elements;          ///< row-major
    std::shared_ptr<void const> memory;           ///< owner of the elements; may be null

    /// Checks that the parts are consistent.
    /// errors   FormatError if they are not
    /// cost     O(levels); bool elements and row ids are read once
    void check() const;

    /// Checks that `some` of the elements, which begin at `offset` in the file, are valid: a bool must be 0 or 1.
    /// errors   FormatError if one is not
    /// cost     one read of bool elements; other types are not read
    static void check_elements(detail::CheckpointRecord const& record, std::span<std::byte const> some,
                               std::uint64_t offset);
};

namespace detail {

/// Converts a V to an entry and an entry to a V; `expect` throws TypeError unless a description is that of a V.
template <class V>
struct checkpoint_value {
    static constexpr bool known = false;
};

template <class T>
struct checkpoint_element {
    static_assert(detail::is_element<T>(), "rowan::Checkpoint: specialize rowan::dtype<T> for this element type");
    static_assert(alignof(T) <= checkpoint_alignment, "rowan::Checkpoint: elements may be aligned to at most 64 bytes");
    static constexpr bool known = true;

    static CheckpointEntry entry(std::string name, VarType type, Tensor<T> const& value) {
        auto alias = std::make_shared<Tensor<T>>(value.share());
        CheckpointEntry e;
        e.desc.name = std::move(name);
        e.desc.type = type;
        e.desc.persistable = true;
        TensorDesc& tensor =
            type == VarType::SELECTED_ROWS ? e.desc.selected_rows_desc.emplace() : e.desc.lod_desc.emplace().tensor;
        tensor.data_type = dtype<T>::wire;
        for (std::size_t const dim : value.shape()) tensor.dims.push_back(static_cast<std::int64_t>(dim));
        e.type_name = dtype<T>::name;
        e.element_size = sizeof(T);
        e.elements = std::as_bytes(std::span(alias->data(), alias->size()));
        e.memory = std::move(alias);
        return e;
    }

    /// errors   TypeError unless the entry is a V (`kind`) with this element type
    static void expect(VarDesc const& desc, std::string const& type_name, std::uint64_t element_size, bool kind,
                       char const* wanted) {
        auto const number = tensor_of(desc).data_type;
        bool const name = type_name == dtype<T>::name;
        if (kind && name && number == dtype<T>::wire && element_size == sizeof(T)) return;
        auto const more = [&](std::int64_t type, std::uint64_t size) {  // if the names are equal
            return !name || !kind ? "" : " of type " + std::to_string(type) + " and " + std::to_string(size) + " bytes";
        };
        throw TypeError(desc.name, {kind_text(desc, type_name), more(number, element_size)},
                        {wanted, "<", dtype<T>::name, ">", more(dtype<T>::wire, sizeof(T))});
    }

    static Tensor<T> tensor(CheckpointEntry const& e) {
        typename Tensor<T>::shape_type shape;
        for (std::int64_t const dim : tensor_of(e.desc).dims) shape.push_back(static_cast<std::size_t>(dim));
        if (e.desc.type == VarType::SELECTED_ROWS) shape[0] = e.rows->size();
        auto* const first = const_cast<std::byte*>(e.elements.data());  // constness is not inherited, as with std::span
        if (e.memory == nullptr || reinterpret_cast<std::uintptr_t>(first) % alignof(T) != 0) {
            auto copy = Tensor<T>::from_shape(shape);
            if (copy.size() != 0) std::memcpy(copy.data(), first, e.elements.size());
            return copy;
        }
        Tensor<T> alias;
        alias.storage() = Storage<T>::of_others(std::shared_ptr<T>(e.memory, reinterpret_cast<T*>(first)),
                                                e.elements.size() / sizeof(T));
        alias.resize(shape);
        return alias;
    }
};

template <class T>
struct checkpoint_value<Tensor<T, Cpu>> : checkpoint_element<T> {
    using checkpoint_element<T>::entry, checkpoint_element<T>::expect;
    static CheckpointEntry entry(std::string name, Tensor<T> const& x) {
        return entry(std::move(name), VarType::LOD_TENSOR, x);
    }
    static void expect(VarDesc const& desc, std::string const& type_name, std::uint64_t element_size) {
        expect(desc, type_name, element_size, desc.type == VarType::LOD_TENSOR && levels_of(desc) == 0, "Tensor");
    }
    static Tensor<T> value(CheckpointEntry const& e) { return checkpoint_element<T>::tensor(e); }
};

template <class T>
struct checkpoint_value<LoDTensor<T, Cpu>> : checkpoint_element<T> {
    using checkpoint_element<T>::entry, checkpoint_element<T>::expect;
    static CheckpointEntry entry(std::string name, LoDTensor<T> const& x) {
        auto e = entry(std::move(name), VarType::LOD_TENSOR, x.value());
        e.desc.lod_desc->lod_level = static_cast<std::int32_t>(x.lod().levels());
        if (!x.lod().empty()) e.lod = x.lod();
        return e;
    }
    static void expect(VarDesc const& desc, std::string const& type_name, std::uint64_t element_size) {
        expect(desc, type_name, element_size, desc.type == VarType::LOD_TENSOR, "LoDTensor");
    }
    static LoDTensor<T> value(CheckpointEntry const& e) { return {checkpoint_element<T>::tensor(e), e.lod}; }
};

template <class T>
struct checkpoint_value<SelectedRows<T, Cpu>> : checkpoint_element<T> {
    using checkpoint_element<T>::entry, checkpoint_element<T>::expect;
    static CheckpointEntry entry(std::string name, SelectedRows<T> const& g) {
        SelectedRows<T>::check_value(g.value(), g.rows().size());
        auto e = entry(std::move(name), VarType::SELECTED_ROWS, g.value());
        e.desc.selected_rows_desc->dims[0] = g.height();
        e.rows = SelectedRowsAccess::rows(g);
        return e;
    }
    static void expect(VarDesc const& desc, std::string const& type_name, std::uint64_t element_size) {
        expect(desc, type_name, element_size, desc.type == VarType::SELECTED_ROWS, "SelectedRows");
    }
    static SelectedRows<T> value(CheckpointEntry const& e) {
        return SelectedRowsAccess::adopt(tensor_of(e.desc).dims[0], e.rows->share(), checkpoint_element<T>::tensor(e));
    }
};

template <>
struct checkpoint_value<CheckpointEntry> {
    static constexpr bool known = true;
    static CheckpointEntry entry(std::string name, CheckpointEntry e) {
        e.desc.name = std::move(name);
        return e;
    }
    static void expect(VarDesc const&, std::string const&, std::uint64_t) {}
    static CheckpointEntry value(CheckpointEntry e) { return e; }
};

}  // namespace detail

/// A type that a checkpoint stores: Tensor, LoDTensor, SelectedRows, or CheckpointEntry, their untyped form.
template <class V>
concept checkpointed = detail::checkpoint_value<V>::known;

}  // namespace rowan::inline v0

#include <rowan/io/checkpoint_entry_inl.hpp>
