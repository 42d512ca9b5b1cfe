// rowan/io/checkpoint_entry.hpp: CheckpointEntry, a variable of a checkpoint, whatever its element type.
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
#include <type_traits>
#include <utility>

namespace rowan::inline v0 {

/// What a checkpoint holds of one variable. Copies see the same elements.
struct CheckpointEntry {
    VarDesc desc;           ///< name, kind, number of the element type, dims; of a SelectedRows the first is the height
    std::string type_name;  ///< dtype<T>::name
    std::size_t element_size = 0;         ///< sizeof(T)
    Lod lod;                              ///< of a LOD_TENSOR
    Tensor<std::int64_t> rows;            ///< of a SELECTED_ROWS
    std::span<std::byte const> elements;  ///< all of them, row-major
    std::shared_ptr<void const> memory;   ///< keeps the elements alive, if it is there

    /// errors   FormatError if the parts do not fit together
    /// cost     O(levels); elements of bool and row numbers are read once
    void check() const;

    /// Are these elements, or some of them, such that a program may look at them? A bool is 0 or 1.
    /// errors   FormatError if not
    /// cost     one read of those of bool, none of others
    static void check_elements(detail::CheckpointRecord const& record, std::span<std::byte const> some,
                               std::uint64_t offset);
};

namespace detail {

/// How a V becomes an entry, and an entry a V. `type_of(V)` is what a file's record must say.
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

    /// errors   TypeError unless an entry of this description is of this element type and a V
    static void expect(VarDesc const& desc, std::string const& type_name, std::uint64_t element_size, bool kind,
                       char const* wanted) {
        auto const number = tensor_of(desc).data_type;
        bool const name = type_name == dtype<T>::name;
        if (kind && name && number == dtype<T>::wire && element_size == sizeof(T)) return;
        auto const more = [&](std::int64_t type, std::uint64_t size) {  // where the names do not tell
            return !name || !kind ? "" : " of type " + std::to_string(type) + " and " + std::to_string(size) + " bytes";
        };
        throw TypeError(
            desc.name, kind_text(desc, type_name) + more(number, element_size),
            std::string(wanted).append("<").append(dtype<T>::name).append(">") + more(dtype<T>::wire, sizeof(T)));
    }

    static Tensor<T> tensor(CheckpointEntry const& e) {
        typename Tensor<T>::shape_type shape;
        for (std::int64_t const dim : tensor_of(e.desc).dims) shape.push_back(static_cast<std::size_t>(dim));
        if (e.desc.type == VarType::SELECTED_ROWS) shape[0] = e.rows.size();
        auto* const first =
            const_cast<std::byte*>(e.elements.data());  // as with a span: a tensor's constness is not its elements'
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
        e.lod = x.lod();
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
        return SelectedRowsAccess::adopt(tensor_of(e.desc).dims[0], e.rows.share(), checkpoint_element<T>::tensor(e));
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

/// What a checkpoint takes and gives: Tensor, LoDTensor and SelectedRows, and their untyped form.
template <class V>
concept checkpointed = detail::checkpoint_value<V>::known;

}  // namespace rowan::inline v0

#include <rowan/io/checkpoint_entry_inl.hpp>
