// rowan/graph/detail/device_values.hpp: device functions that nets need besides operators.
#pragma once

#include <rowan/core/copy.hpp>
#include <rowan/detail/on_device.hpp>
#include <rowan/graph/any_ref.hpp>
#include <rowan/graph/value.hpp>
#include <rowan/sequence/lod_tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace rowan::inline v0::detail {

/// Runs f, which enqueues calls. If it throws, an error of an earlier call is thrown instead, if there is one.
template <class D, class F>
void in_order(D const& exec, F const& f) {
    try {
        f();
    } catch (...) {
        synchronize(exec);
        throw;
    }
}

/// The first element of a tensor, which must not be empty. Blocks if it is in device memory.
template <class T, class D>
T first_element(D const& exec, Tensor<T, D> const& x) {
    return to_host(exec, x).data()[0];
}

/// Transfers a tensor to the device of a net that runs on `any`. A tensor that is already there is left as it is, or
/// replaced by a copy if `own`; a RowStore of the host is always left as it is.
/// errors   TypeError if it is not a LoDTensor whose elements are of type T
template <class T, class D>
void bring(Value& value, AnyExec any, bool own);

/// The same for a SelectedRows.
/// errors   TypeError if it is not a SelectedRows whose elements are of type T
template <class T, class D>
void bring_rows(Value& value, AnyExec any, bool own);

/// These functions, for variables of nets.
template <class T, class D>
constexpr auto bring_to() {
    static_assert(can_hold<LoDTensor<T, D>>,
                  "rowan: the compiled library has no values of this element type on this device: #include "
                  "<rowan/own_operator.hpp>");
    return &bring<T, D>;
}
template <class T, class D>
constexpr auto bring_rows_to() {
    static_assert(can_hold<SelectedRows<T, D>>,
                  "rowan: the compiled library has no SelectedRows of this element type on this device: #include "
                  "<rowan/own_operator.hpp>");
    return &bring_rows<T, D>;
}

template <class D>
Cpu host_of(AnyExec exec) {
    return host_exec(exec.get<D>());
}
template <class D>
void synchronize_any(AnyExec exec) {
    synchronize(exec.get<D>());
}
template <class D>
void set_numbers(Value& value, AnyExec exec, std::span<std::int64_t const> numbers) {
    auto host = Tensor<std::int64_t>::from_shape({numbers.size()});
    std::ranges::copy(numbers, host.data());
    value.set(LoDTensor<std::int64_t, D>(to_device(exec.get<D>(), std::move(host))));
}

/// A reference to an execution, as AnyExec, with what nets need of its device besides operators.
class DeviceExec {
public:
    template <device D>
    DeviceExec(D const& exec) noexcept : exec_(exec), functions_(&functions<D>) {}
    operator AnyExec() const noexcept { return exec_; }

    /// The execution of the host's part of a call.
    Cpu host() const { return functions_->host(exec_); }
    friend void synchronize(DeviceExec const& exec) { exec.functions_->synchronize(exec.exec_); }
    /// Sets a tensor [n] of numbers.
    void set(Value& value, std::span<std::int64_t const> numbers) const { functions_->set(value, exec_, numbers); }

private:
    struct Functions {
        Cpu (*host)(AnyExec);
        void (*synchronize)(AnyExec);
        void (*set)(Value&, AnyExec, std::span<std::int64_t const>);
    };
    template <class D>
    static constexpr Functions functions{&host_of<D>, &synchronize_any<D>, &set_numbers<D>};

    AnyExec exec_;
    Functions const* functions_;
};

ROWAN_TEMPLATE(Cpu host_of<Cpu>(AnyExec))
ROWAN_TEMPLATE(void synchronize_any<Cpu>(AnyExec))
ROWAN_TEMPLATE(void set_numbers<Cpu>(Value&, AnyExec, std::span<std::int64_t const>))

}  // namespace rowan::inline v0::detail
