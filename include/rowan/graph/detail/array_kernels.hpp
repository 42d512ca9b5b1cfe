// rowan/graph/detail/array_kernels.hpp: array_kernels, operators on TensorArrays in nets, and their gradients.
#pragma once

#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/detail/device_values.hpp>
#include <rowan/graph/op_kernel.hpp>
#include <rowan/op/infer.hpp>
#include <rowan/sequence/tensor_array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
std::size_t slot_index(AnyExec exec, Value const& i, std::size_t slots) {
    auto const& index = i.get<LoDTensor<std::int64_t, D>>().value();
    if (index.size() != 1) throw ShapeError("index.size()", index.size(), "1");
    std::int64_t const k = first_element(exec.get<D>(), index);
    if (k < 0 || static_cast<std::size_t>(k) >= slots) throw IndexError("index", k, static_cast<std::int64_t>(slots));
    return static_cast<std::size_t>(k);
}

/// An operator with an array as its input.
struct array_op : whole_op {
    using inputs = slots<slot::array>;
    using outputs = slots<slot::out>;
    static constexpr OpFamily family = OpFamily::array;
};

// Gradients are arrays in which an unwritten slot stands for zeros. An empty Value stands for an array of zeros.

/// An empty value, which stands for zeros of any kind.
struct nothing_op : array_op {
    static constexpr std::string_view name = "nothing";
    static std::vector<VarSpec> infer(Specs in, AttributesRef) { return {in[0]}; }
    static void run(KernelCall const& c) { c.out[0]->clear(); }
};

/// The sum of arrays.
struct array_sum_op : nothing_op {
    static constexpr std::string_view name = "array_sum";
    static void run(KernelCall const& c) {
        c.out[0]->clear();
        for (Value const* v : c.in) {
            if (!v->empty()) *c.out[0] = c.out[0]->empty() ? v->share() : c.out[0]->add_slots(*v);
        }
    }
};

/// The operators on a TensorArray<T, D>.
template <class T, class D>
struct array_kernels {
    using Array = TensorArray<T, D>;
    using Slot = LoDTensor<T, D>;

    static Array const& array(Value const* v) {
        static Array const none;
        return v->empty() ? none : v->get<Array>();
    }
    static Slot zeros_like(D const& exec, Slot const& x) { return {Tensor<T, D>::zeros(exec, x.shape()), x.lod()}; }

    /// An array without slots. The attributes are its VarSpec.
    struct create : array_op {
        static constexpr std::string_view name = "array_create";
        using inputs = slots<>;
        static std::vector<VarSpec> infer(Specs, AttributesRef attributes) {
            return {array_of(attributes.get<VarSpec>())};
        }
        static void run(KernelCall const& c) { c.out[0]->set(Array()); }
    };

    struct read_grad : whole_op {
        static constexpr std::string_view name = "array_read_grad";
        using inputs = slots<slot::index, grad_of<slot::out>>;
        using outputs = slots<grad_of<slot::array>>;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) { return {array_of(in[1])}; }
        static void run(KernelCall const& c) {
            Array grad;
            grad.write(slot_index<D>(c.exec, *c.in[0], grad.max_size()), c.in[1]->get<Slot>());
            c.out[0]->set(std::move(grad));
        }
    };

    /// A slot of the array.
    struct read : array_op {
        static constexpr std::string_view name = "array_read";
        using inputs = slots<slot::array, slot::index>;
        using grad = grad_rule<read_grad, uses<slot::index, grad_of<slot::out>>>;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            spec::same_dtype("array_read: index", in[1], tensor_spec<std::int64_t>({}));
            return {slot_of("array_read: array", in[0])};
        }
        static void run(KernelCall const& c) {
            Array const& a = array(c.in[0]);
            c.out[0]->set(a.read(slot_index<D>(c.exec, *c.in[1], a.size())));
        }
    };

    /// The gradient of the input array is zero in the slot that was overwritten.
    struct write_grad : whole_op {
        static constexpr std::string_view name = "array_write_grad";
        using inputs = slots<grad_of<slot::out>, slot::index, slot::x>;
        using outputs = slots<grad_of<slot::array>, grad_of<slot::x>>;
        static constexpr bool in_place = true;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) { return {in[0], in[2]}; }
        static void run(KernelCall const& c) {
            Array const& grad = array(c.in[0]);
            std::size_t const i = slot_index<D>(c.exec, *c.in[1], grad.max_size());
            bool const written = grad.written(i);
            c.out[1]->set(written ? grad.read(i) : zeros_like(c.exec.get<D>(), c.in[2]->get<Slot>()));
            if (c.in[0] != c.out[0]) *c.out[0] = c.in[0]->share();
            if (written) c.out[0]->get<Array>().erase(i);
        }
    };

    /// The array with x in a slot.
    struct write : array_op {
        static constexpr std::string_view name = "array_write";
        using inputs = slots<slot::array, slot::index, slot::x>;
        using grad = grad_rule<write_grad>;
        static constexpr bool in_place = true;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            spec::same_dtype("array_write: index", in[1], tensor_spec<std::int64_t>({}));
            VarSpec const slot = slot_of("array_write: array", in[0]);
            spec::dense("array_write: x", in[2]);
            spec::same_dtype("array_write: x", in[2], slot);
            static_cast<void>(spec::same_dims("array_write: x", in[2], slot));
            if (in[2].lod_level != slot.lod_level)
                throw ShapeError("array_write: x.lod().levels()", in[2].lod_level, slot.lod_level);
            return {in[0]};
        }
        static void run(KernelCall const& c) {
            std::size_t const i = slot_index<D>(c.exec, *c.in[1], array(c.in[0]).max_size());
            if (c.in[0] != c.out[0]) *c.out[0] = c.in[0]->share();
            c.out[0]->get<Array>().write(i, c.in[2]->get<Slot>());
        }
    };

    struct stack_grad : nothing_op {
        static constexpr std::string_view name = "array_stack_grad";
        using inputs = slots<slot::array, grad_of<slot::out>>;
        using outputs = slots<grad_of<slot::array>>;
        static void run(KernelCall const& c) {
            c.out[0]->set(Array::unstack(c.exec.get<D>(), c.in[1]->get<Slot>().value()));
        }
    };

    /// All slots as one tensor. The attributes are the VarSpec of the array.
    struct stack : array_op {
        static constexpr std::string_view name = "array_stack";
        using grad = grad_rule<stack_grad>;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            Dims dims{UNK};
            for (std::int64_t const dim : slot_of("array_stack: array", in[0]).dims) dims.push_back(dim);
            return {tensor_spec<T>(dims)};
        }
        static void run(KernelCall const& c) {
            D const& exec = c.exec.get<D>();
            if (array(c.in[0]).size() != 0) return c.out[0]->set(Slot(array(c.in[0]).stack(exec)));
            typename Tensor<T, D>::shape_type shape{0};  // no slots: the other dims are those of the array's spec
            for (std::int64_t const dim : c.attributes.get<VarSpec>().dims)
                shape.push_back(static_cast<std::size_t>(std::max<std::int64_t>(dim, 0)));
            c.out[0]->set(Slot(Tensor<T, D>::zeros(exec, shape)));
        }
    };

    struct unstack_grad : stack_grad {
        static constexpr std::string_view name = "array_unstack_grad";
        static void run(KernelCall const& c) {
            D const& exec = c.exec.get<D>();
            Slot const& x = c.in[0]->get<Slot>();
            Array const& grad = array(c.in[1]);
            Array filled = Array::unstack(exec, Tensor<T, D>::zeros(exec, x.shape()));
            for (std::size_t i = 0; i < grad.size(); ++i) {
                if (grad.written(i)) filled.write(i, grad.read(i));
            }
            c.out[0]->set(filled.size() == 0 ? zeros_like(exec, x) : Slot(filled.stack(exec), x.lod()));
        }
    };

    /// An array of the slots along the first dim of a tensor.
    struct unstack : array_op {
        static constexpr std::string_view name = "array_unstack";
        using grad = grad_rule<unstack_grad>;
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            spec::dense("array_unstack: x", in[0]);
            spec::has_rows("array_unstack: x", in[0]);
            Dims dims;
            for (std::size_t i = 1; i < in[0].dims.size(); ++i) dims.push_back(in[0].dims[i]);
            return {array_of(tensor_spec<T>(dims))};
        }
        static void run(KernelCall const& c) {
            c.out[0]->set(Array::unstack(c.exec.get<D>(), c.in[0]->get<Slot>().value()));
        }
    };

    /// The number of slots.
    struct size : array_op {
        static constexpr std::string_view name = "array_size";
        static std::vector<VarSpec> infer(Specs in, AttributesRef) {
            check_array("array_size: array", in[0]);
            return {tensor_spec<std::int64_t>({1})};
        }
        static void run(KernelCall const& c) {
            auto const slots = static_cast<std::int64_t>(array(c.in[0]).size());
            c.out[0]->set(LoDTensor<std::int64_t, D>(to_device(c.exec.get<D>(), Tensor<std::int64_t>{slots})));
        }
    };
};

ROWAN_TEMPLATE(struct array_kernels<float, Cpu>)
ROWAN_TEMPLATE(struct array_kernels<double, Cpu>)
ROWAN_TEMPLATE(struct array_kernels<std::int64_t, Cpu>)

}  // namespace rowan::inline v0::detail
