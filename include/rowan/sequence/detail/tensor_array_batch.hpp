// rowan/sequence/detail/tensor_array_batch.hpp: the members of TensorArray that make slots of a batch, and a batch of slots.
#pragma once

#include <rowan/core/height.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/row_blocks.hpp>
#include <rowan/sequence/detail/pack_steps.hpp>
#include <rowan/sequence/detail/stack_parts.hpp>
#include <rowan/sequence/tensor_array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

namespace detail {

/// The numbers [0, n).
ROWAN_IF_CALLED std::vector<std::int64_t> first_numbers(std::size_t n);

/// The greatest of indices, or -1 if there are none.
/// errors   IndexError if one repeats
ROWAN_IF_CALLED std::int64_t greatest_without_repeats(Ids<> const& indices);

/// The layout of steps without levels whose rows begin at these, with the total at the end.
ROWAN_IF_CALLED std::shared_ptr<StepLayout const> layout_of_rows(std::vector<std::int64_t> rows);
/// The layout of n steps of one row.
/// errors   ShapeError if there are too many
ROWAN_IF_CALLED std::shared_ptr<StepLayout const> layout_of_single_rows(std::size_t n);

/// Throws a ShapeError.
ROWAN_IF_CALLED [[noreturn]] void not_as_the_map(std::string const& field, std::size_t found, std::size_t of_map);

}  // namespace detail

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::stack(Device const& exec, std::size_t axis) const {
    return stack_slots(exec, detail::first_numbers(size()), axis);
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::gather(Device const& exec, Ids<Device> indices) const {
    detail::HostIds<Device> const on_host(exec, indices);
    detail::check_list("indices", on_host);
    detail::check_ids(detail::host_exec(exec), "indices", on_host, static_cast<std::int64_t>(size()));
    return stack_slots(exec, on_host, 0);
}

template <class T, class Device>
auto TensorArray<T, Device>::gather_grad(Ids<Device> indices, Tensor<T, Device> const& out_grad, std::size_t size)
    -> TensorArray {
    return gather_grad(out_grad.device(), indices, out_grad, size);
}

template <class T, class Device>
auto TensorArray<T, Device>::gather_grad(Device const& exec, Ids<Device> indices, Tensor<T, Device> const& out_grad,
                                         std::size_t size) -> TensorArray {
    detail::HostIds<Device> const on_host(exec, indices);
    detail::check_usable(exec, out_grad);
    detail::check_list("indices", on_host);
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(indices.size()));
    detail::check_ids(detail::host_exec(exec), "indices", on_host, Height(size));
    return from_parts(detail::sum_parts(exec, out_grad, on_host, size), out_grad.shape(), 0);
}

template <class T, class Device>
auto TensorArray<T, Device>::unstack(Tensor<T, Device> const& tensor, std::size_t axis) -> TensorArray {
    return unstack(tensor.device(), tensor, axis);
}

template <class T, class Device>
auto TensorArray<T, Device>::unstack(Device const& exec, Tensor<T, Device> const& tensor, std::size_t axis)
    -> TensorArray {
    detail::check_usable(exec, tensor);
    auto const& shape = tensor.shape();
    if (axis >= shape.size()) throw IndexError("axis", axis, shape.size());
    return from_parts(detail::unstack_parts(exec, tensor, axis), shape, axis);
}

template <class T, class Device>
void TensorArray<T, Device>::scatter(Ids<Device> indices, Tensor<T, Device> const& value) {
    Device const exec = value.device();
    detail::HostIds<Device> const on_host(exec, indices);
    Ids<> const& list = on_host;
    detail::check_list("indices", list);
    detail::check_height("value", value, static_cast<std::int64_t>(list.size()));
    detail::check_ids(
        Cpu{}, "indices", list,
        static_cast<std::int64_t>(std::min<std::size_t>(max_size(), std::numeric_limits<std::int64_t>::max())));
    auto const last = static_cast<std::size_t>(detail::greatest_without_repeats(list));
    if (list.size() == 0) return;
    auto const parts = unstack(exec, value);
    kind_.check(parts.read(0));
    make_slots();
    if (last >= slots_.size()) slots_.resize(last + 1);  // the last call that may throw
    for (std::size_t i = 0; i < list.size(); ++i) write(static_cast<std::size_t>(list[i]), parts.read(i));
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::concat(Device const& exec) const {
    check_all_written();
    if (kind_.known && kind_.shape.empty()) throw ShapeError("slot rank", "0", "at least 1");
    detail::RowBlocks rows("rows of the slots", size());
    check_usable(exec);
    for (std::size_t i = 0; i < size(); ++i) rows.add("slot", read(i).shape(), read(i).value().data());
    if (size() == 0) {
        shape_type shape = kind_.known ? kind_.shape : shape_type{0};
        shape[0] = 0;
        return detail::new_tensor<T>(exec, shape);
    }
    return rows.joined<T>(exec);
}

template <class T, class Device>
auto TensorArray<T, Device>::split(Tensor<T, Device> const& tensor, Ids<Device> lengths) -> TensorArray {
    detail::HostIds<Device> const on_host(tensor.device(), lengths);
    LoDTensor<T, Device> const cut(tensor.share(), Lod::from_lengths({static_cast<Ids<> const&>(on_host)}));
    TensorArray array;
    array.layout_ = detail::layout_of_rows({cut.lod()[0].begin(), cut.lod()[0].end()});
    array.packed_ = tensor;
    array.kind_.know(tensor.shape(), 0);
    return array;
}

template <class T, class Device>
Unpacked<T, Device> TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, UnpackOptions options) {
    return unpack(input.device(), input, options);
}

template <class T, class Device>
Unpacked<T, Device> TensorArray<T, Device>::unpack(Device const& exec, LoDTensor<T, Device> const& input,
                                                   UnpackOptions options) {
    input.check();
    StepMap<Device> map(exec, input.lod(), options.level, options.sort_by_length);
    auto steps = unpack(exec, input, map);
    return {std::move(steps), std::move(map)};
}

template <class T, class Device>
void TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, std::size_t level, bool sort_by_length,
                                    TensorArray* steps, StepMap<Device>* map) {
    if (steps == nullptr || map == nullptr) throw Error(steps == nullptr ? "steps is null" : "map is null");
    auto [made, its_map] = unpack(input, {.level = level, .sort_by_length = sort_by_length});
    *steps = std::move(made);
    *map = std::move(its_map);
}

template <class T, class Device>
auto TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, StepMap<Device> const& map) -> TensorArray {
    return unpack(input.device(), input, map);
}

template <class T, class Device>
auto TensorArray<T, Device>::unpack(Device const& exec, LoDTensor<T, Device> const& input, StepMap<Device> const& map)
    -> TensorArray {
    input.check();
    detail::check_usable(exec, input.value());
    detail::StepMapAccess::check_usable(exec, map);
    detail::check_map(input.lod(), map);
    TensorArray array;
    array.kind_.know(input.shape(), 0);
    array.layout_ = detail::unpack_rows(exec, input, map, array.packed_);
    array.kind_.levels = array.layout_->levels.size();
    return array;
}

template <class T, class Device>
LoDTensor<T, Device> TensorArray<T, Device>::pack(std::size_t level, StepMap<Device> const& map) const {
    return pack(own_exec(), level, map);
}

template <class T, class Device>
LoDTensor<T, Device> TensorArray<T, Device>::pack(Device const& exec, std::size_t level,
                                                  StepMap<Device> const& map) const {
    if (level != map.level()) detail::not_as_the_map("level", level, map.level());
    if (size() != map.steps()) detail::not_as_the_map("steps", size(), map.steps());
    check_all_written();
    check_usable(exec);
    detail::StepMapAccess::check_usable(exec, map);
    bool const rows_in_block = layout_ && !unstacked_ && kind_.levels == 0;
    std::vector<LoDTensor<T, Device>> slots;
    if (!rows_in_block) slots.reserve(size());
    for (std::size_t t = 0; t < size(); ++t) {
        if (!rows_in_block) slots.push_back(read(t));
        std::size_t const found =
            rows_in_block ? static_cast<std::size_t>(layout_->rows[t + 1] - layout_->rows[t]) : slots[t].size();
        if (found != map.step_size(t))
            detail::not_as_the_map(detail::element_name("slots", t) + ".size()", found, map.step_size(t));
    }
    if (layout_) detail::check_origin(*layout_, map);
    shape_type const shape = kind_.known ? kind_.shape : shape_type{0};
    if (rows_in_block) return detail::pack_block(exec, packed_, map);
    return detail::pack_steps<T>(exec, slots, map, shape, kind_.levels);
}

template <class T, class Device>
auto TensorArray<T, Device>::from_parts(Tensor<T, Device> parts, shape_type const& shape, std::size_t axis)
    -> TensorArray {
    TensorArray array;
    array.kind_.shape = shape;
    array.kind_.shape.erase(array.kind_.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    array.kind_.known = true;
    array.layout_ = detail::layout_of_single_rows(parts.shape()[0]);
    array.packed_ = std::move(parts);
    array.unstacked_ = true;
    return array;
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::stack_slots(Device const& exec, Ids<> const& indices,
                                                      std::size_t axis) const {
    check_usable(exec);
    shape_type shape = kind_.known ? kind_.shape : shape_type{};
    std::vector<T const*> data;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        auto const slot = read(static_cast<std::size_t>(indices[i]));
        if (i == 0) shape = slot.shape();
        if (slot.shape() != shape) {
            throw ShapeError({detail::element_name("slots", static_cast<std::size_t>(indices[i])), ".shape()"},
                             detail::shape_text(slot.shape()), detail::shape_text(shape));
        }
        data.push_back(slot.value().data());
    }
    if (axis > shape.size()) throw IndexError("axis", axis, shape.size() + 1);
    return detail::stack_parts<T>(exec, data, shape, axis);
}

}  // namespace rowan::inline v0
