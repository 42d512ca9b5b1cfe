// rowan/sequence/detail/tensor_array_slots.hpp: the members of TensorArray that read and write slots.
#pragma once

#include <rowan/detail/arguments.hpp>
#include <rowan/detail/elementwise.hpp>
#include <rowan/sequence/tensor_array.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace rowan::inline v0 {

template <class T, class Device>
void TensorArray<T, Device>::swap(TensorArray& other) noexcept {
    slots_.swap(other.slots_);
    packed_.swap(other.packed_);
    layout_.swap(other.layout_);
    std::swap(kind_, other.kind_);
    std::swap(unstacked_, other.unstacked_);
}

template <class T, class Device>
auto TensorArray<T, Device>::share() const -> TensorArray {
    TensorArray alias;
    alias.slots_.reserve(slots_.size());
    for (auto const& slot : slots_) alias.slots_.push_back(slot ? std::optional(slot->share()) : std::nullopt);
    alias.packed_ = packed_.share();
    alias.layout_ = layout_;
    alias.kind_ = kind_;
    alias.unstacked_ = unstacked_;
    return alias;
}

template <class T, class Device>
LoDTensor<T, Device> TensorArray<T, Device>::read(std::size_t index) const {
    check_written(index);
    if (!layout_) return slots_[index]->share();
    auto const begin = static_cast<std::size_t>(layout_->rows[index]);
    auto const end = static_cast<std::size_t>(layout_->rows[index + 1]);
    auto rows = packed_.slice(begin, end);
    if (unstacked_) rows = rows.reshaped(kind_.shape);
    return {std::move(rows), detail::StepLayout::lod(layout_, index)};
}

template <class T, class Device>
template <std::same_as<LoDTensor<T, Device>> L>
void TensorArray<T, Device>::write(std::size_t index, L const& value, bool data_shared) {
    value.check();
    kind_.check(value);
    if (index >= max_size()) throw IndexError("index", index, max_size());
    make_slots();
    if (data_shared || index >= slots_.size() || !slots_[index]) {
        LoDTensor<T, Device> stored = data_shared ? value.share() : value;
        if (index >= slots_.size()) slots_.resize(index + 1);
        slots_[index] = std::move(stored);
    } else {
        *slots_[index] = value;
    }
    kind_.know(value.shape(), value.lod().levels());
}

template <class T, class Device>
void TensorArray<T, Device>::write(std::size_t index, Tensor<T, Device> const& value, bool data_shared) {
    write(index, LoDTensor<T, Device>(value.share()), data_shared);
}

template <class T, class Device>
template <std::same_as<LoDTensor<T, Device>> L>
void TensorArray<T, Device>::accumulate(std::size_t index, L const& value) {
    if (!written(index)) return write(index, value, false);
    auto slot = read(index);
    detail::check_usable(value.value().device(), value.value(), slot.value());
    detail::check_same_shape("value", value.value(), slot.value());
    if (!(slot.lod() == value.lod())) throw ShapeError("value.lod()", "another", "that of the slot");
    if (slot.value().data() != value.value().data()) {
        std::string const name = detail::element_name("slots", index);
        detail::check_apart(name.c_str(), detail::bytes_of(slot.value()), "value", detail::bytes_of(value.value()));
    }
    detail::Accumulation<Device>::add(value.value().device(), value.value().size(), value.value().data(),
                                      slot.value().data());
}

template <class T, class Device>
void TensorArray<T, Device>::accumulate(std::size_t index, Tensor<T, Device> const& value) {
    accumulate(index, LoDTensor<T, Device>(value.share()));
}

template <class T, class Device>
void TensorArray<T, Device>::erase(std::size_t index) {
    check_written(index);
    make_slots();
    slots_[index].reset();
}

template <class T, class Device>
void TensorArray<T, Device>::resize(std::size_t size) {
    if (size > max_size()) throw IndexError("size", size, max_size());
    make_slots();
    slots_.resize(size);
}

template <class T, class Device>
Device TensorArray<T, Device>::own_exec() const {
    if (layout_) return packed_.device();
    for (auto const& slot : slots_) {
        if (slot) return slot->device();
    }
    return Device{};
}

template <class T, class Device>
void TensorArray<T, Device>::check_written(std::size_t index) const {
    if (index >= size()) throw IndexError("index", index, size());
    if (!written(index)) throw IndexError("slots", index, "was never written");
}

template <class T, class Device>
void TensorArray<T, Device>::check_all_written() const {
    for (std::size_t i = 0; i < size(); ++i) check_written(i);
}

/// Throws unless a call on `exec` may use all slots.
template <class T, class Device>
void TensorArray<T, Device>::check_usable(Device const& exec) const {
    detail::check_usable(exec, packed_);
    for (auto const& slot : slots_) {
        if (slot) detail::check_usable(exec, slot->value());
    }
}

template <class T, class Device>
void TensorArray<T, Device>::make_slots() {
    if (!layout_) return;
    std::vector<std::optional<LoDTensor<T, Device>>> slots(size());
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = read(i);
    slots_ = std::move(slots);
    layout_ = nullptr;
    unstacked_ = false;
    packed_ = Tensor<T, Device>();
}

// After all definitions, which clang needs.
ROWAN_TEMPLATE(class TensorArray<float>)
ROWAN_TEMPLATE(class TensorArray<double>)
ROWAN_TEMPLATE(class TensorArray<std::int64_t>)

}  // namespace rowan::inline v0
