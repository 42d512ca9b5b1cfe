// rowan/graph/detail/array_kernels.hpp: array_kernels, operators on TensorArrays in nets, and their gradients.
#pragma once

#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/sequence/tensor_array.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rowan::inline v0::detail {

inline void check_array(char const* field, VarSpec const& array) {
    if (array.type != VarType::TENSOR_ARRAY) spec::the_kinds_do_not_match(field, array.type, "a TensorArray");
}

/// The spec of an array whose slots have this spec.
inline VarSpec array_of(VarSpec slot) {
    slot.type = VarType::TENSOR_ARRAY;
    return slot;
}
inline VarSpec slot_of(char const* field, VarSpec array) {
    check_array(field, array);
    array.type = VarType::LOD_TENSOR;
    return array;
}

/// The index argument of an operator. Blocks if it is in device memory.
/// errors   ShapeError if `i` does not have one element; IndexError if the index is not in [0, slots)
template <class D>
std::size_t slot_index(void const* device, Value const& i, std::size_t slots) {
    auto const& index = i.get<LoDTensor<std::int64_t, D>>().value();
    if (index.size() != 1) throw ShapeError("index.size()", std::to_string(index.size()), "1");
    std::int64_t const k = first_element(*static_cast<D const*>(device), index);
    if (k < 0 || static_cast<std::size_t>(k) >= slots)
        throw IndexError("index", 0, k, static_cast<std::int64_t>(slots));
    return static_cast<std::size_t>(k);
}

inline constexpr std::array<std::string_view, 1> array_x{"array"}, array_out{"out"}, array_grad{"array@GRAD"};
inline constexpr std::array<std::string_view, 2> array_read_in{"array", "index"}, array_two{"array@GRAD", "x@GRAD"};
inline constexpr std::array<std::string_view, 3> array_write_in{"array", "index", "x"};
inline constexpr std::array<std::string_view, 2> array_read_grad_in{"index", "out@GRAD"};
inline constexpr std::array<std::string_view, 3> array_write_grad_in{"out@GRAD", "index", "x"};

inline bool no_rows_in_result(void const*, std::size_t) { return false; }
inline bool not_row_wise(void const*) { return false; }

/// The kernel of an operator that does not process rows independently.
constexpr op_kernel whole_op(std::string_view name, std::span<std::string_view const> in,
                             std::span<std::string_view const> out,
                             std::vector<VarSpec> (*infer)(std::span<VarSpec const>, void const*),
                             void (*run)(void const*, std::span<Value* const>, std::span<Value* const>, void const*,
                                         std::ptrdiff_t),
                             std::span<grad_kernel const> rules, bool in_place = false) {
    return {name, in, out, 0, false, &no_rows_in_result, &not_row_wise, infer, run, rules, in_place};
}

// Gradients are arrays in which an unwritten slot stands for zeros. An empty Value stands for an array of zeros.

// ---- the sum of arrays, and an empty value, which stands for zeros of any kind

inline std::vector<VarSpec> infer_first(std::span<VarSpec const> in, void const*) { return {in[0]}; }
inline void run_array_sum(void const*, std::span<Value* const> in, std::span<Value* const> out, void const*,
                          std::ptrdiff_t) {
    out[0]->clear();
    for (Value const* v : in) {
        if (!v->empty()) *out[0] = out[0]->empty() ? v->share() : out[0]->add_slots(*v);
    }
}
inline void run_nothing(void const*, std::span<Value* const>, std::span<Value* const> out, void const*,
                        std::ptrdiff_t) {
    out[0]->clear();
}
inline constexpr op_kernel array_sum_kernel =
    whole_op("array_sum", array_x, array_out, &infer_first, &run_array_sum, {});
inline constexpr op_kernel nothing_kernel = whole_op("nothing", array_x, array_out, &infer_first, &run_nothing, {});

template <class T, class D>
struct array_kernels {
    using Array = TensorArray<T, D>;
    using Slot = LoDTensor<T, D>;
    using In = std::span<Value* const>;
    using Specs = std::span<VarSpec const>;
    using Levels = std::ptrdiff_t;

    static Array const& array(Value const& v) {
        static Array const none;
        return v.empty() ? none : v.get<Array>();
    }
    static D const& exec(void const* device) { return *static_cast<D const*>(device); }
    static Slot zeros_like(void const* device, Slot const& x);

    // ---- -> array without slots

    static std::vector<VarSpec> infer_create(Specs, void const* attributes);
    static void run_create(void const*, In, In out, void const*, Levels) { out[0]->set(Array()); }
    static constexpr op_kernel create = whole_op("array_create", {}, array_out, &infer_create, &run_create, {});

    // ---- array, index -> slot

    static std::vector<VarSpec> infer_read(Specs in, void const*);
    static void run_read(void const* device, In in, In out, void const*, Levels);
    static std::vector<VarSpec> infer_read_grad(Specs in, void const*) { return {array_of(in[1])}; }
    static void run_read_grad(void const* device, In in, In out, void const*, Levels);
    static constexpr op_kernel read_grad =
        whole_op("array_read_grad", array_read_grad_in, array_grad, &infer_read_grad, &run_read_grad, {});
    static constexpr std::array read_reads{grad_slot{grad_slot::input, 1}, grad_slot{grad_slot::grad_of_output, 0}};
    static constexpr std::array writes_first{grad_slot{grad_slot::grad_of_input, 0}};
    static constexpr std::array read_rules{grad_kernel{&read_grad, read_reads, writes_first}};
    static constexpr op_kernel read =
        whole_op("array_read", array_read_in, array_out, &infer_read, &run_read, read_rules);

    // ---- array, index, x -> array with x in that slot

    static std::vector<VarSpec> infer_write(Specs in, void const*);
    static void run_write(void const* device, In in, In out, void const*, Levels);
    // The gradient of the input array is zero in the slot that was overwritten.
    static std::vector<VarSpec> infer_write_grad(Specs in, void const*) { return {in[0], in[2]}; }
    static void run_write_grad(void const* device, In in, In out, void const*, Levels);
    static constexpr op_kernel write_grad =
        whole_op("array_write_grad", array_write_grad_in, array_two, &infer_write_grad, &run_write_grad, {}, true);
    static constexpr std::array write_reads{grad_slot{grad_slot::grad_of_output, 0}, grad_slot{grad_slot::input, 1},
                                            grad_slot{grad_slot::input, 2}};
    static constexpr std::array write_writes{grad_slot{grad_slot::grad_of_input, 0},
                                             grad_slot{grad_slot::grad_of_input, 2}};
    static constexpr std::array write_rules{grad_kernel{&write_grad, write_reads, write_writes}};
    static constexpr op_kernel write =
        whole_op("array_write", array_write_in, array_out, &infer_write, &run_write, write_rules, true);

    // ---- array -> [slots, ...]

    static std::vector<VarSpec> infer_stack(Specs in, void const*);
    static void run_stack(void const* device, In in, In out, void const* attributes, Levels);
    static std::vector<VarSpec> infer_stack_grad(Specs in, void const*) { return {in[0]}; }
    static void run_stack_grad(void const* device, In in, In out, void const*, Levels);
    static constexpr std::array<std::string_view, 2> stack_grad_in{"array", "out@GRAD"};
    static constexpr op_kernel stack_grad =
        whole_op("array_stack_grad", stack_grad_in, array_grad, &infer_stack_grad, &run_stack_grad, {});
    static constexpr std::array stack_reads{grad_slot{grad_slot::input, 0}, grad_slot{grad_slot::grad_of_output, 0}};
    static constexpr std::array stack_rules{grad_kernel{&stack_grad, stack_reads, writes_first}};
    static constexpr op_kernel stack =
        whole_op("array_stack", array_x, array_out, &infer_stack, &run_stack, stack_rules);

    // ---- [slots, ...] -> array

    static std::vector<VarSpec> infer_unstack(Specs in, void const*);
    static void run_unstack(void const* device, In in, In out, void const*, Levels);
    static std::vector<VarSpec> infer_unstack_grad(Specs in, void const*) { return {in[0]}; }
    static void run_unstack_grad(void const* device, In in, In out, void const*, Levels);
    static constexpr op_kernel unstack_grad =
        whole_op("array_unstack_grad", stack_grad_in, array_grad, &infer_unstack_grad, &run_unstack_grad, {});
    static constexpr std::array unstack_rules{grad_kernel{&unstack_grad, stack_reads, writes_first}};
    static constexpr op_kernel unstack =
        whole_op("array_unstack", array_x, array_out, &infer_unstack, &run_unstack, unstack_rules);

    // ---- array -> [1], the number of slots

    static std::vector<VarSpec> infer_size(Specs in, void const*);
    static void run_size(void const* device, In in, In out, void const*, Levels);
    static constexpr op_kernel size = whole_op("array_size", array_x, array_out, &infer_size, &run_size, {});
};

template <class T, class D>
auto array_kernels<T, D>::zeros_like(void const* device, Slot const& x) -> Slot {
    return {Tensor<T, D>::zeros(exec(device), x.shape()), x.lod()};
}

template <class T, class D>
std::vector<VarSpec> array_kernels<T, D>::infer_create(Specs, void const* attributes) {
    return {array_of(*static_cast<VarSpec const*>(attributes))};
}

template <class T, class D>
std::vector<VarSpec> array_kernels<T, D>::infer_read(Specs in, void const*) {
    spec::same_dtype("array_read: index", in[1], tensor_spec<std::int64_t>({}));
    return {slot_of("array_read: array", in[0])};
}

template <class T, class D>
void array_kernels<T, D>::run_read(void const* device, In in, In out, void const*, Levels) {
    Array const& a = array(*in[0]);
    out[0]->set(a.read(slot_index<D>(device, *in[1], a.size())));
}

template <class T, class D>
void array_kernels<T, D>::run_read_grad(void const* device, In in, In out, void const*, Levels) {
    Array grad;
    grad.write(slot_index<D>(device, *in[0], grad.max_size()), in[1]->get<Slot>());
    out[0]->set(std::move(grad));
}

template <class T, class D>
std::vector<VarSpec> array_kernels<T, D>::infer_write(Specs in, void const*) {
    spec::same_dtype("array_write: index", in[1], tensor_spec<std::int64_t>({}));
    VarSpec const slot = slot_of("array_write: array", in[0]);
    spec::dense("array_write: x", in[2]);
    spec::same_dtype("array_write: x", in[2], slot);
    static_cast<void>(spec::same_dims("array_write: x", in[2], slot));
    if (in[2].lod_level != slot.lod_level)
        throw ShapeError("array_write: x.lod().levels()", std::to_string(in[2].lod_level),
                         std::to_string(slot.lod_level));
    return {in[0]};
}

template <class T, class D>
void array_kernels<T, D>::run_write(void const* device, In in, In out, void const*, Levels) {
    std::size_t const limit = array(*in[0]).max_size();
    std::size_t const i = slot_index<D>(device, *in[1], limit);
    if (in[0] != out[0]) *out[0] = in[0]->share();
    out[0]->get<Array>().write(i, in[2]->get<Slot>());
}

template <class T, class D>
void array_kernels<T, D>::run_write_grad(void const* device, In in, In out, void const*, Levels) {
    Slot const& x = in[2]->get<Slot>();
    std::size_t const i = slot_index<D>(device, *in[1], array(*in[0]).max_size());
    out[1]->set(array(*in[0]).written(i) ? array(*in[0]).read(i) : zeros_like(device, x));
    if (in[0] != out[0]) *out[0] = in[0]->share();
    if (array(*out[0]).written(i)) out[0]->get<Array>().erase(i);
}

template <class T, class D>
std::vector<VarSpec> array_kernels<T, D>::infer_stack(Specs in, void const*) {
    VarSpec const slot = slot_of("array_stack: array", in[0]);
    Dims dims{UNK};
    for (std::int64_t const dim : slot.dims) dims.push_back(dim);
    return {tensor_spec<T>(dims)};
}

template <class T, class D>
void array_kernels<T, D>::run_stack(void const* device, In in, In out, void const* attributes, Levels) {
    if (array(*in[0]).size() != 0) return out[0]->set(Slot(array(*in[0]).stack(exec(device))));
    typename Tensor<T, D>::shape_type shape{0};  // no slots: the other dims are those of the array's spec
    for (std::int64_t const dim : static_cast<VarSpec const*>(attributes)->dims)
        shape.push_back(static_cast<std::size_t>(std::max<std::int64_t>(dim, 0)));
    out[0]->set(Slot(Tensor<T, D>::zeros(exec(device), shape)));
}

template <class T, class D>
void array_kernels<T, D>::run_stack_grad(void const* device, In in, In out, void const*, Levels) {
    out[0]->set(Array::unstack(exec(device), in[1]->get<Slot>().value()));
}

template <class T, class D>
std::vector<VarSpec> array_kernels<T, D>::infer_unstack(Specs in, void const*) {
    spec::dense("array_unstack: x", in[0]);
    spec::has_rows("array_unstack: x", in[0]);
    Dims dims;
    for (std::size_t i = 1; i < in[0].dims.size(); ++i) dims.push_back(in[0].dims[i]);
    return {array_of(tensor_spec<T>(dims))};
}

template <class T, class D>
void array_kernels<T, D>::run_unstack(void const* device, In in, In out, void const*, Levels) {
    out[0]->set(Array::unstack(exec(device), in[0]->get<Slot>().value()));
}

template <class T, class D>
void array_kernels<T, D>::run_unstack_grad(void const* device, In in, In out, void const*, Levels) {
    Slot const& x = in[0]->get<Slot>();
    Array const& grad = array(*in[1]);
    Array filled = Array::unstack(exec(device), Tensor<T, D>::zeros(exec(device), x.shape()));
    for (std::size_t i = 0; i < grad.size(); ++i) {
        if (grad.written(i)) filled.write(i, grad.read(i));
    }
    out[0]->set(filled.size() == 0 ? zeros_like(device, x) : Slot(filled.stack(exec(device)), x.lod()));
}

template <class T, class D>
std::vector<VarSpec> array_kernels<T, D>::infer_size(Specs in, void const*) {
    check_array("array_size: array", in[0]);
    return {tensor_spec<std::int64_t>({1})};
}

template <class T, class D>
void array_kernels<T, D>::run_size(void const* device, In in, In out, void const*, Levels) {
    auto const size = static_cast<std::int64_t>(array(*in[0]).size());
    out[0]->set(LoDTensor<std::int64_t, D>(to_device(exec(device), Tensor<std::int64_t>{size})));
}

ROWAN_TEMPLATE(struct array_kernels<float, Cpu>)
ROWAN_TEMPLATE(struct array_kernels<double, Cpu>)
ROWAN_TEMPLATE(struct array_kernels<std::int64_t, Cpu>)

}  // namespace rowan::inline v0::detail
