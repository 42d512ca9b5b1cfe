// rowan/sequence/tensor_array.hpp: TensorArray<T, Device>, a growing list of tensors, such as steps of a recurrence.
#pragma once

#include <rowan/core/error.hpp>
#include <rowan/core/ids.hpp>
#include <rowan/core/tensor.hpp>
#include <rowan/detail/lanes.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/sequence/detail/slot_kind.hpp>
#include <rowan/sequence/detail/step_rows.hpp>
#include <rowan/sequence/lod_tensor.hpp>
#include <rowan/sequence/step_map.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace rowan::inline v0 {

/// Options of TensorArray::unpack.
struct UnpackOptions {
    std::size_t level = 0;       ///< the level whose sequences are split into steps
    bool sort_by_length = true;  ///< descending length, a stable sort; false: input order
};

template <class T, class Device = Cpu>
struct Unpacked;

namespace detail {

/// Device-specific implementation of to += from.
template <class D>
struct Accumulation {
    static_assert(has_backend<D>,
                  "rowan: TensorArray on a Thrust device needs #include <rowan/thrust/sequence/tensor_array.hpp>");
};

template <>
struct Accumulation<Cpu> {
    template <class T>
    static void add(Cpu, std::size_t n, T const* from, T* to) {
        for_lanes<sum_t<T>>(add_lanes{}, n, from, to);
    }
};

struct TensorArrayAccess;

}  // namespace detail

/// A list of tensors in slots 0, 1, …, with or without LoD. The first write fixes rank, trailing dims and number of
/// levels; the first dim may vary from slot to slot. A slot that was never written cannot be read. A copy is deep. On a
/// device, functions without an execution argument run on the device or stream of their value or, without a value, of
/// the first slot.
template <class T, class Device>
class TensorArray {
public:
    using value_type = T;
    using shape_type = typename Tensor<T, Device>::shape_type;

    TensorArray() = default;  ///< no slots

    TensorArray(TensorArray const&) = default;
    TensorArray(TensorArray&& other) noexcept : TensorArray() { swap(other); }
    TensorArray& operator=(TensorArray const& other) { return *this = TensorArray(other); }
    TensorArray& operator=(TensorArray&& other) noexcept {
        TensorArray moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~TensorArray() = default;

    void swap(TensorArray& other) noexcept;

    /// An array whose slots are aliases of these. A later write to a slot affects only the array that is written to.
    /// errors   std::bad_alloc
    /// cost     O(slots)
    TensorArray share() const;

    std::size_t size() const noexcept { return layout_ ? layout_->rows.size() - 1 : slots_.size(); }

    /// True if slot `index` was written.
    bool written(std::size_t index) const noexcept { return index < size() && (layout_ || slots_[index].has_value()); }

    /// An alias of slot `index`: changes of its elements are visible in the array.
    /// errors   IndexError if index is not in [0, size()) or the slot was never written
    /// cost     O(1), no allocation
    LoDTensor<T, Device> read(std::size_t index) const;

    /// Stores `value` in slot `index`; the array grows as needed. If data_shared, the slot is an alias of `value`:
    /// changes of the elements are visible in both. Otherwise it is a copy, which on Cpu reuses the slot's memory if
    /// the shape is the same and nothing else aliases it.
    /// errors   ShapeError if rank, trailing dims or number of levels are not those of the first write; IndexError if
    ///          index >= max_size()
    /// cost     O(1) if data_shared, else one copy; O(slots) once if the slots are in one block
    template <std::same_as<LoDTensor<T, Device>> L>  // so that a braced list makes a Tensor
    void write(std::size_t index, L const& value, bool data_shared = true);
    void write(std::size_t index, Tensor<T, Device> const& value, bool data_shared = true);

    /// Adds `value` to slot `index` in place, or writes a copy if the slot was never written: the adjoint of one or
    /// more reads.
    /// errors   ShapeError if value has another shape or Lod than the slot; Error if it overlaps the slot without being
    ///          the same memory
    /// cost     one read of both and one write; as write if the slot was never written
    template <std::same_as<LoDTensor<T, Device>> L>
    void accumulate(std::size_t index, L const& value);
    void accumulate(std::size_t index, Tensor<T, Device> const& value);

    /// Resets slot `index` to never written.
    /// errors   IndexError if index is not in [0, size()) or the slot was never written
    /// cost     O(1); O(slots) once if the slots are in one block
    void erase(std::size_t index);

    /// Changes the number of slots. New slots are not written.
    /// errors   IndexError if size > max_size()
    /// cost     O(slots)
    void resize(std::size_t size);

    std::size_t max_size() const noexcept { return slots_.max_size(); }  ///< the maximum number of slots

    /// Stacks all slots along a new dim `axis`.
    /// shapes   n slots [...] -> [..., n, ...]
    /// errors   IndexError if a slot was never written or axis is not in [0, rank]; ShapeError if shapes differ
    /// cost     one read and one write of every element
    Tensor<T, Device> stack(std::size_t axis = 0) const { return stack(own_exec(), axis); }
    Tensor<T, Device> stack(Device const& exec, std::size_t axis = 0) const;

    /// Stacks the slots `indices`, which may repeat, in their order along a new first dim. Here and in the functions
    /// below, indices in device memory are copied to the host, which synchronizes.
    /// shapes   indices [k], slots [...] -> [k, ...]
    /// errors   ShapeError if indices are not a flat list or slots differ in shape; IndexError if an index is not in
    ///          [0, size()) or its slot was never written
    /// cost     one read and one write of every element
    Tensor<T, Device> gather(Ids<Device> indices) const { return gather(own_exec(), indices); }
    Tensor<T, Device> gather(Device const& exec, Ids<Device> indices) const;

    /// The adjoint of gather: an array of `size` slots, where slot i is the sum of out_grad[k] over all k with
    /// indices[k] == i, in input order and blocks of 64, or zeros if there are none.
    /// shapes   indices [k], out_grad [k, ...] -> slots [...]
    /// errors   IndexError if an index is not in [0, size); ShapeError if indices are not a flat list or not as many as
    ///          out_grad has rows
    /// cost     one read of out_grad and one write of the slots; also O(indices + size) time and memory
    static TensorArray gather_grad(Ids<Device> indices, Tensor<T, Device> const& out_grad, std::size_t size);
    static TensorArray gather_grad(Device const& exec, Ids<Device> indices, Tensor<T, Device> const& out_grad,
                                   std::size_t size);

    /// Splits a tensor along a dim: slot i is a copy of part i, without that dim. stack(axis) is the inverse.
    /// errors   IndexError if axis is not in [0, rank)
    /// cost     one read and one write of every element, to one block; 8 bytes per slot
    static TensorArray unstack(Tensor<T, Device> const& tensor, std::size_t axis = 0);
    static TensorArray unstack(Device const& exec, Tensor<T, Device> const& tensor, std::size_t axis = 0);

    /// Writes a copy of part k of `value` along its first dim to slot indices[k], for all k.
    /// shapes   indices [k], value [k, ...]
    /// errors   IndexError if an index is not in [0, max_size()) or repeats; ShapeError if indices are not a flat list
    ///          or not as many as value has rows, and as in write
    /// cost     one read and one write of the value, to one block; a sort of the indices
    void scatter(Ids<Device> indices, Tensor<T, Device> const& value);

    /// Concatenates all slots along their first dim. LoD is dropped.
    /// shapes   slots [n_i, ...] -> [Σ n_i, ...]
    /// errors   IndexError if a slot was never written; ShapeError if slots have rank 0 or more than 2^63 - 1 rows in
    ///          total
    /// cost     one read and one write of every element; temporarily 8 bytes per slot
    Tensor<T, Device> concat() const { return concat(own_exec()); }
    Tensor<T, Device> concat(Device const& exec) const;

    /// Splits a tensor along its first dim: slot i is a copy of the next lengths[i] rows. concat is the inverse.
    /// errors   LodError if a length is negative or lengths do not add up to the rows; ShapeError if the tensor has
    ///          rank 0 or lengths are not a flat list
    /// cost     one read and one write of every element, to one block; 8 bytes per slot
    static TensorArray split(Tensor<T, Device> const& tensor, Ids<Device> lengths);

    /// Splits the sequences of a level into steps: slot t holds element t of every sequence longer than t, in the map's
    /// order, with the levels below. All slots are in one block of memory. `pack(level, map)` is the exact inverse.
    /// errors   IndexError if input has no such level; ShapeError if the level has more than 2^31 - 1 sequences
    /// cost     O(rows), independent of the length of the longest sequence: one read and one write of every row
    static Unpacked<T, Device> unpack(LoDTensor<T, Device> const& input, UnpackOptions options = {});
    static Unpacked<T, Device> unpack(Device const& exec, LoDTensor<T, Device> const& input,
                                      UnpackOptions options = {});
    /// Splits the sequences of a level into steps, as the unpack that returns them, and writes these to *steps and the
    /// map to *map.
    /// errors   Error if steps or map is null; those of the unpack that returns them
    /// cost     O(rows): one read and one write of every row
    static void unpack(LoDTensor<T, Device> const& input, std::size_t level, bool sort_by_length, TensorArray* steps,
                       StepMap<Device>* map);

    /// Splits the sequences of a level into steps, by a map that exists. This is the adjoint of pack if `input` is the
    /// gradient of the packed batch.
    /// errors   ShapeError if the map belongs to other sequences
    /// cost     O(rows): one read and one write of every row
    static TensorArray unpack(LoDTensor<T, Device> const& input, StepMap<Device> const& map);
    static TensorArray unpack(Device const& exec, LoDTensor<T, Device> const& input, StepMap<Device> const& map);

    /// Reassembles steps into sequences, in the order of the batch that the map was made from. Levels 0 … level are
    /// those of that batch, lower levels come from the slots; if slots have no levels, each of their rows is an
    /// element. The result of unpack records its sequences and their order until a slot is replaced; otherwise only
    /// sizes are checked, so steps of other sequences with the same step sizes are accepted.
    /// errors   ShapeError if level, number or sizes of steps are not the map's, or unpacked steps are of other
    ///          sequences or another order; IndexError if a slot was never written
    /// cost     O(rows): one read and one write of every row
    LoDTensor<T, Device> pack(std::size_t level, StepMap<Device> const& map) const;
    LoDTensor<T, Device> pack(Device const& exec, std::size_t level, StepMap<Device> const& map) const;

private:
    friend struct detail::TensorArrayAccess;

    // Makes an array of the parts of a tensor of this shape along dim `axis`; row i of `parts` becomes slot i.
    static TensorArray from_parts(Tensor<T, Device> parts, shape_type const& shape, std::size_t axis);

    // Where a call without an execution runs.
    Device own_exec() const;

    void check_written(std::size_t index) const;
    void check_all_written() const;
    void check_usable(Device const& exec) const;

    // Converts slots in one block to individual aliases, before one of them is replaced.
    void make_slots();

    Tensor<T, Device> stack_slots(Device const& exec, Ids<> const& indices, std::size_t axis) const;

    std::vector<std::optional<LoDTensor<T, Device>>> slots_;  // used if there is no layout_
    Tensor<T, Device> packed_;                                // else the rows of all slots
    std::shared_ptr<detail::StepLayout const> layout_;
    detail::SlotKind<T> kind_;
    bool unstacked_ = false;  // each slot is one row of packed_, reshaped to kind_.shape
};

namespace detail {

struct TensorArrayAccess {
    /// Copies an array to another device; copy(x) copies a Tensor or LoDTensor.
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

/// The result of TensorArray::unpack.
template <class T, class Device>
struct Unpacked {
    TensorArray<T, Device> steps;  ///< slot t holds the elements of step t
    StepMap<Device> map;           ///< the map that TensorArray::pack needs
};

}  // namespace rowan::inline v0

#include <rowan/sequence/detail/tensor_array_batch.hpp>
#include <rowan/sequence/detail/tensor_array_slots.hpp>
#include <rowan/sequence/tensor_array_inl.hpp>
