// rowan/sequence/tensor_array.hpp: TensorArray<T, Device>, a growing list of tensors, such as the steps of a recurrent loop.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/height.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/arguments.hpp>
#include <rowan/detail/copy_rows.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/detail/pack_steps.hpp>
#include <rowan/sequence/detail/slot_kind.hpp>
#include <rowan/sequence/detail/stack_parts.hpp>
#include <rowan/sequence/detail/step_rows.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rowan::inline v0 {

/// How TensorArray::unpack cuts a batch.
struct UnpackOptions {
    std::size_t level = 0;       ///< the level whose sequences are cut into steps
    bool sort_by_length = true;  ///< longest sequence first, equal ones in input order; else all in input order
};

template <class T, class Device = Cpu>
struct Unpacked;

namespace detail {

/// How a device adds elements to others.
template <class D>
struct Accumulation;

template <>
struct Accumulation<Cpu> {
    template <class T>
    static void add(Cpu, std::size_t n, T const* from, T* to) {
        for_lanes<sum_t<T>>(add_lanes{}, n, from, to);
    }
};

struct TensorArrayAccess;

}  // namespace detail

/// Tensors at slots 0, 1, …, which may hold LoD. The first write fixes rank, trailing dims and number of levels; the first dim may vary
/// from slot to slot. A slot that was never written cannot be read. A copy is deep. On a device, a call without an execution that is given
/// a value runs where that was made: write, accumulate, scatter, split.
template <class T, class Device>
class TensorArray {
public:
    using value_type = T;
    using shape_type = typename Tensor<T, Device>::shape_type;

    TensorArray() = default;  ///< no slots

    TensorArray(TensorArray const&) = default;
    TensorArray(TensorArray&& other) noexcept : TensorArray() { swap(other); }
    TensorArray& operator=(TensorArray other) noexcept {
        swap(other);
        return *this;
    }
    ~TensorArray() = default;

    void swap(TensorArray& other) noexcept;

    /// An array whose slots are aliases of these. Slots that are written later differ.
    /// errors   std::bad_alloc
    /// cost     O(slots)
    TensorArray share() const;

    std::size_t size() const noexcept { return layout_ ? layout_->rows.size() - 1 : slots_.size(); }

    /// Was slot `index` written?
    bool written(std::size_t index) const noexcept { return index < size() && (layout_ || slots_[index].has_value()); }

    /// Slot `index`, an alias: what is written to its elements is seen in the array.
    /// errors   IndexError if there is no such slot or it was never written
    /// cost     O(1), no allocation
    LoDTensor<T, Device> read(std::size_t index) const;

    /// Puts a tensor into slot `index`; the array grows as needed. Shared, the slot is an alias of `value`: a change of the elements of
    /// either is seen in both. Else it is a copy, on Cpu in the slot's own memory where that has the right size.
    /// errors   ShapeError if rank, trailing dims or levels are not those of the first write; IndexError if index is beyond max_size()
    /// cost     O(1) shared, else one copy; of slots that lie in one block O(slots) once
    template <std::same_as<LoDTensor<T, Device>> L>  // so that braces make a Tensor
    void write(std::size_t index, L const& value, bool data_shared = true);
    void write(std::size_t index, Tensor<T, Device> const& value, bool data_shared = true);

    /// Adds to slot `index`, or writes a copy if it was never written: the adjoint of read, which may happen more than once.
    /// errors   ShapeError if value has not the shape of what is there; Error if it overlaps it without being the same
    /// cost     one read of both and one write; as write for the first
    template <std::same_as<LoDTensor<T, Device>> L>
    void accumulate(std::size_t index, L const& value);
    void accumulate(std::size_t index, Tensor<T, Device> const& value);

    /// Makes slot `index` one that was never written.
    /// errors   IndexError if there is no such slot or it was never written
    /// cost     O(1); of slots that lie in one block O(slots) once
    void erase(std::size_t index);

    /// More slots, never written, or fewer.
    /// errors   IndexError if that is more than max_size()
    /// cost     O(slots)
    void resize(std::size_t size);

    std::size_t max_size() const noexcept { return slots_.max_size(); }  ///< more slots than that are refused

    /// All slots as one tensor, along a new dim `axis`.
    /// shapes   n slots [...] -> [..., n, ...]
    /// errors   IndexError if a slot was never written or axis is not in [0, rank]; ShapeError if shapes differ
    /// cost     one read and one write of every element
    Tensor<T, Device> stack(std::size_t axis = 0) const { return stack(Device{}, axis); }
    Tensor<T, Device> stack(Device const& exec, std::size_t axis = 0) const;

    /// Some slots as one tensor, in the order of `indices`, which may repeat. Indices in the memory of a device are waited for, here and in
    /// the functions below.
    /// shapes   indices [k], slots [...] -> [k, ...]
    /// errors   ShapeError if indices are not a flat list, or slots differ in shape; IndexError if there is no such slot or it was never
    ///          written
    /// cost     one read and one write of every element
    Tensor<T, Device> gather(Ids<Device> indices) const { return gather(Device{}, indices); }
    Tensor<T, Device> gather(Device const& exec, Ids<Device> indices) const;

    /// The adjoint of gather: an array of `size` slots, slot i being the sum of the parts of out_grad whose index is i, formed in their
    /// order and blocks of 64, or zeros if there are none.
    /// shapes   indices [k], out_grad [k, ...] -> slots [...]
    /// errors   IndexError if an index is not in [0, size); ShapeError if indices and out_grad differ in number
    /// cost     one read of out_grad and one write of the slots; beside them O(indices + size)
    static TensorArray gather_grad(Ids<Device> indices, Tensor<T, Device> const& out_grad, std::size_t size);
    static TensorArray gather_grad(Device const& exec, Ids<Device> indices, Tensor<T, Device> const& out_grad,
                                   std::size_t size);

    /// Cuts a tensor along a dim: slot i is a copy of its i-th part, one rank lower. stack(axis) is the inverse.
    /// errors   IndexError if the tensor has no such dim
    /// cost     one read and one write of every element, to one block; 8 bytes for each slot
    static TensorArray unstack(Tensor<T, Device> const& tensor, std::size_t axis = 0);
    static TensorArray unstack(Device const& exec, Tensor<T, Device> const& tensor, std::size_t axis = 0);

    /// Writes copies of the parts of a tensor to the slots that `indices` name.
    /// shapes   indices [k], value [k, ...]
    /// errors   IndexError if an index is negative or repeats; ShapeError as in write
    /// cost     one read and one write of the value, to one block; a sort of the indices
    void scatter(Ids<Device> indices, Tensor<T, Device> const& value);

    /// All slots one after the other, along their first dim. LoD is left out.
    /// shapes   slots [n_i, ...] -> [Σ n_i, ...]
    /// errors   IndexError if a slot was never written; ShapeError for slots of rank 0 or more than 2^63 - 1 rows
    /// cost     one read and one write of every element; 8 bytes for each slot while it works
    Tensor<T, Device> concat() const { return concat(Device{}); }
    Tensor<T, Device> concat(Device const& exec) const;

    /// Cuts a tensor along its first dim: slot i gets a copy of the next lengths[i] rows. concat is the inverse.
    /// errors   LodError if a length is negative or they do not add up to the rows
    /// cost     one read and one write of every element, to one block; 8 bytes for each slot
    static TensorArray split(Tensor<T, Device> const& tensor, Ids<Device> lengths);

    /// Cuts the sequences of a level into steps: slot t holds element t of every sequence that has one, in the map's order, with the
    /// levels below. All slots lie in one block of memory. `pack(level, map)` is the exact inverse.
    /// errors   IndexError if input has no such level
    /// cost     O(rows), no matter how long the longest sequence is: one read and one write of every row
    static Unpacked<T, Device> unpack(LoDTensor<T, Device> const& input, UnpackOptions options = {});
    static Unpacked<T, Device> unpack(Device const& exec, LoDTensor<T, Device> const& input,
                                      UnpackOptions options = {});
    /// The same into *steps and *map.
    /// errors   Error if one of them is null
    /// cost     as above
    static void unpack(LoDTensor<T, Device> const& input, std::size_t level, bool sort_by_length, TensorArray* steps,
                       StepMap<Device>* map);

    /// The same by a map that exists, such as that of the batch whose gradient `input` is: the adjoint of pack.
    /// errors   ShapeError if the map belongs to other sequences
    /// cost     as above, but for the map
    static TensorArray unpack(LoDTensor<T, Device> const& input, StepMap<Device> const& map);
    static TensorArray unpack(Device const& exec, LoDTensor<T, Device> const& input, StepMap<Device> const& map);

    /// Puts steps together to sequences again, in the order of the batch that the map was made of. Levels 0..level are that batch's, those
    /// below come from the slots; slots of one row per live sequence give rows. What unpack gave remembers its sequences and their order;
    /// of slots that were written one by one only the sizes can be checked, so steps of other sequences of the same step sizes are taken.
    /// errors   ShapeError if level, number or sizes of steps are not the map's, or unpacked steps are of other sequences or another
    ///          order; IndexError if a slot was never written
    /// cost     O(rows): one read and one write of every row
    LoDTensor<T, Device> pack(std::size_t level, StepMap<Device> const& map) const;
    LoDTensor<T, Device> pack(Device const& exec, std::size_t level, StepMap<Device> const& map) const;

private:
    friend struct detail::TensorArrayAccess;

    // Slots of single rows of a block: the parts of a tensor of this shape along dim `axis`.
    static TensorArray from_parts(Tensor<T, Device> parts, shape_type const& shape, std::size_t axis);

    void check_written(std::size_t index) const;
    void check_all_written() const;

    // From one block to slots of their own, before one of them is replaced.
    void make_slots();

    Tensor<T, Device> stack_slots(Device const& exec, Ids<> const& indices, std::size_t axis) const;

    std::vector<std::optional<LoDTensor<T, Device>>> slots_;  // where no layout is
    Tensor<T, Device> packed_;                                // else the rows of all slots
    std::shared_ptr<detail::StepLayout const> layout_;
    detail::SlotKind<T> kind_;
    bool unstacked_ = false;  // the slots of the layout are single rows, with a dim less
};

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
    if (index >= max_size())
        throw IndexError("index", 0, static_cast<std::int64_t>(index), static_cast<std::int64_t>(max_size()));
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
    if (slot.shape() != value.shape())
        throw ShapeError("value.shape()", detail::shape_text(value.shape()), detail::shape_text(slot.shape()));
    if (!(slot.lod() == value.lod())) throw ShapeError("value.lod()", "another", "that of the slot");
    if (slot.value().data() != value.value().data()) {
        std::string name = "slots[";
        name.append(std::to_string(index)).append("]");
        detail::check_apart(name.c_str(), detail::bytes_of(slot.value()), "value", detail::bytes_of(value.value()));
    }
    detail::Accumulation<Device>::add(detail::exec_of(value.value()), value.value().size(), value.value().data(),
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
    if (size > max_size())
        throw IndexError("size", 0, static_cast<std::int64_t>(size), static_cast<std::int64_t>(max_size()));
    make_slots();
    slots_.resize(size);
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::stack(Device const& exec, std::size_t axis) const {
    std::vector<std::int64_t> all(size());
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return stack_slots(exec, all, axis);
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::gather(Device const& exec, Ids<Device> indices) const {
    detail::HostIds<Device> const on_host(exec, indices);
    detail::check_list("indices", on_host);
    detail::check_ids(detail::host_exec(exec), "indices", on_host, static_cast<std::int64_t>(size()));
    return stack_slots(exec, on_host, 0);
}

template <class T, class Device>
auto TensorArray<T, Device>::gather_grad(Ids<Device> indices, Tensor<T, Device> const& out_grad, std::size_t size) -> TensorArray {
    return gather_grad(Device{}, indices, out_grad, size);
}

template <class T, class Device>
auto TensorArray<T, Device>::gather_grad(Device const& exec, Ids<Device> indices, Tensor<T, Device> const& out_grad, std::size_t size) -> TensorArray {
    detail::HostIds<Device> const on_host(exec, indices);
    detail::check_list("indices", on_host);
    detail::check_height("out_grad", out_grad, static_cast<std::int64_t>(indices.size()));
    detail::check_ids(detail::host_exec(exec), "indices", on_host, Height(size));
    return from_parts(detail::sum_parts(exec, out_grad, on_host, size), out_grad.shape(), 0);
}

template <class T, class Device>
auto TensorArray<T, Device>::unstack(Tensor<T, Device> const& tensor, std::size_t axis) -> TensorArray {
    return unstack(Device{}, tensor, axis);
}

template <class T, class Device>
auto TensorArray<T, Device>::unstack(Device const& exec, Tensor<T, Device> const& tensor, std::size_t axis) -> TensorArray {
    auto const& shape = tensor.shape();
    if (axis >= shape.size())
        throw IndexError("axis", 0, static_cast<std::int64_t>(axis), static_cast<std::int64_t>(shape.size()));
    return from_parts(detail::unstack_parts(exec, tensor, axis), shape, axis);
}

template <class T, class Device>
void TensorArray<T, Device>::scatter(Ids<Device> indices, Tensor<T, Device> const& value) {
    Device const exec = detail::exec_of(value);
    detail::HostIds<Device> const on_host(exec, indices);
    Ids<> const& list = on_host;
    detail::check_list("indices", list);
    detail::check_height("value", value, static_cast<std::int64_t>(list.size()));
    detail::check_ids(
        Cpu{}, "indices", list,
        static_cast<std::int64_t>(std::min<std::size_t>(max_size(), std::numeric_limits<std::int64_t>::max())));
    std::vector<std::pair<std::int64_t, std::size_t>> sorted;
    for (std::size_t i = 0; i < list.size(); ++i) sorted.emplace_back(list[i], i);
    std::ranges::sort(sorted);
    std::size_t twice = list.size();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i].first == sorted[i - 1].first) twice = std::min(twice, sorted[i].second);
    }
    if (twice != list.size()) throw IndexError("indices", twice, list[twice], "stands there already");
    if (sorted.empty()) return;
    auto const parts = unstack(exec, value);
    kind_.check(parts.read(0));
    make_slots();
    if (auto const last = static_cast<std::size_t>(sorted.back().first); last >= slots_.size())
        slots_.resize(last + 1);  // the last that may throw
    for (std::size_t i = 0; i < list.size(); ++i) write(static_cast<std::size_t>(list[i]), parts.read(i));
}

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::concat(Device const& exec) const {
    check_all_written();
    if (kind_.known && kind_.shape.empty()) throw ShapeError("slot rank", "0", "at least 1");
    std::vector<std::int64_t> starts{0};
    for (std::size_t i = 0; i < size(); ++i)
        starts.push_back(
            detail::checked_add("rows of the slots", starts.back(), static_cast<std::int64_t>(read(i).shape()[0])));
    shape_type shape = kind_.known ? kind_.shape : shape_type{0};
    shape[0] = static_cast<std::size_t>(starts.back());
    auto all = detail::new_tensor<T>(exec, shape);
    std::size_t const width = all.row_size();
    detail::copy_blocks(
        exec, starts, width * sizeof(T), [&](std::size_t i) { return read(i).value().data(); },
        [&, to = all.data()](std::size_t i) { return to + static_cast<std::size_t>(starts[i]) * width; });
    return all;
}

template <class T, class Device>
auto TensorArray<T, Device>::split(Tensor<T, Device> const& tensor, Ids<Device> lengths) -> TensorArray {
    detail::HostIds<Device> const on_host(detail::exec_of(tensor), lengths);
    LoDTensor<T, Device> const cut(tensor.share(), Lod::from_lengths({static_cast<Ids<> const&>(on_host)}));
    TensorArray array;
    auto layout = std::make_shared<detail::StepLayout>();
    layout->rows.assign(cut.lod()[0].begin(), cut.lod()[0].end());
    array.layout_ = std::move(layout);
    array.packed_ = tensor;
    array.kind_.know(tensor.shape(), 0);
    return array;
}

template <class T, class Device>
Unpacked<T, Device> TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, UnpackOptions options) {
    return unpack(Device{}, input, options);
}

template <class T, class Device>
Unpacked<T, Device> TensorArray<T, Device>::unpack(Device const& exec, LoDTensor<T, Device> const& input, UnpackOptions options) {
    input.check();
    StepMap<Device> map(exec, input.lod(), options.level, options.sort_by_length);
    auto steps = unpack(exec, input, map);
    return {std::move(steps), std::move(map)};
}

template <class T, class Device>
void TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, std::size_t level, bool sort_by_length, TensorArray* steps, StepMap<Device>* map) {
    if (steps == nullptr || map == nullptr) throw Error(steps == nullptr ? "steps is null" : "map is null");
    auto [made, its_map] = unpack(input, {.level = level, .sort_by_length = sort_by_length});
    *steps = std::move(made);
    *map = std::move(its_map);
}

template <class T, class Device>
auto TensorArray<T, Device>::unpack(LoDTensor<T, Device> const& input, StepMap<Device> const& map) -> TensorArray {
    return unpack(Device{}, input, map);
}

template <class T, class Device>
auto TensorArray<T, Device>::unpack(Device const& exec, LoDTensor<T, Device> const& input, StepMap<Device> const& map) -> TensorArray {
    input.check();
    detail::check_map(input.lod(), map);
    TensorArray array;
    array.kind_.know(input.shape(), 0);
    array.layout_ = detail::unpack_rows(exec, input, map, array.packed_);
    array.kind_.levels = array.layout_->levels.size();
    return array;
}

template <class T, class Device>
LoDTensor<T, Device> TensorArray<T, Device>::pack(std::size_t level, StepMap<Device> const& map) const {
    return pack(Device{}, level, map);
}

template <class T, class Device>
LoDTensor<T, Device> TensorArray<T, Device>::pack(Device const& exec, std::size_t level, StepMap<Device> const& map) const {
    if (level != map.level())
        throw ShapeError("level", std::to_string(level), std::to_string(map.level()) + ", the map's");
    if (size() != map.steps())
        throw ShapeError("steps", std::to_string(size()), std::to_string(map.steps()) + ", the map's");
    check_all_written();
    bool const rows_in_block = layout_ && !unstacked_ && kind_.levels == 0;
    std::vector<LoDTensor<T, Device>> slots;
    if (!rows_in_block) slots.reserve(size());
    for (std::size_t t = 0; t < size(); ++t) {
        if (!rows_in_block) slots.push_back(read(t));
        std::size_t const found =
            rows_in_block ? static_cast<std::size_t>(layout_->rows[t + 1] - layout_->rows[t]) : slots[t].size();
        if (found == map.step_size(t)) continue;
        throw ShapeError("slots[" + std::to_string(t) + "].size()", std::to_string(found),
                         std::to_string(map.step_size(t)) + ", the map's");
    }
    if (layout_) detail::check_origin(*layout_, map);
    shape_type const shape = kind_.known ? kind_.shape : shape_type{0};
    if (rows_in_block) return detail::pack_block(exec, packed_, map);
    return detail::pack_steps<T>(exec, slots, map, shape, kind_.levels);
}

template <class T, class Device>
auto TensorArray<T, Device>::from_parts(Tensor<T, Device> parts, shape_type const& shape, std::size_t axis) -> TensorArray {
    TensorArray array;
    array.kind_.shape = shape;
    array.kind_.shape.erase(array.kind_.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    array.kind_.known = true;
    auto layout = std::make_shared<detail::StepLayout>();
    detail::checked_size("slots", std::array{parts.shape()[0] + 1}, sizeof(std::int64_t));
    layout->rows.resize(parts.shape()[0] + 1);
    std::iota(layout->rows.begin(), layout->rows.end(), std::int64_t{0});
    array.packed_ = std::move(parts);
    array.layout_ = std::move(layout);
    array.unstacked_ = true;
    return array;
}

template <class T, class Device>
void TensorArray<T, Device>::check_written(std::size_t index) const {
    if (index >= size())
        throw IndexError("index", 0, static_cast<std::int64_t>(index), static_cast<std::int64_t>(size()));
    if (!written(index)) throw IndexError("slots", index, "was never written");
}

template <class T, class Device>
void TensorArray<T, Device>::check_all_written() const {
    for (std::size_t i = 0; i < size(); ++i) check_written(i);
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

template <class T, class Device>
Tensor<T, Device> TensorArray<T, Device>::stack_slots(Device const& exec, Ids<> const& indices, std::size_t axis) const {
    shape_type shape = kind_.known ? kind_.shape : shape_type{};
    std::vector<T const*> data;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        auto const slot = read(static_cast<std::size_t>(indices[i]));
        if (i == 0) shape = slot.shape();
        if (slot.shape() != shape) {
            throw ShapeError("slots[" + std::to_string(indices[i]) + "].shape()", detail::shape_text(slot.shape()),
                             detail::shape_text(shape));
        }
        data.push_back(slot.value().data());
    }
    if (axis > shape.size())
        throw IndexError("axis", 0, static_cast<std::int64_t>(axis), static_cast<std::int64_t>(shape.size()) + 1);
    return detail::stack_parts<T>(exec, data, shape, axis);
}

namespace detail {

struct TensorArrayAccess {
    /// The same array on another device; copy(x) is one of a Tensor or LoDTensor.
    template <class To, class T, class D, class Copy>
    static TensorArray<T, To> copied(TensorArray<T, D> const& array, Copy const& copy) {
        TensorArray<T, To> result;
        result.slots_.resize(array.slots_.size());
        for (std::size_t i = 0; i < array.slots_.size(); ++i) {
            if (array.slots_[i]) result.slots_[i] = copy(*array.slots_[i]);
        }
        if (array.layout_) result.packed_ = copy(array.packed_);
        result.layout_ = array.layout_;
        result.kind_ = array.kind_;
        result.unstacked_ = array.unstacked_;
        return result;
    }
};

}  // namespace detail

/// What TensorArray::unpack gives.
template <class T, class Device>
struct Unpacked {
    TensorArray<T, Device> steps;  ///< slot t has the elements of step t
    StepMap<Device> map;           ///< what TensorArray::pack needs to put them together
};

ROWAN_TEMPLATE(class TensorArray<float>)
ROWAN_TEMPLATE(class TensorArray<double>)
ROWAN_TEMPLATE(class TensorArray<std::int64_t>)

}  // namespace rowan::inline v0
