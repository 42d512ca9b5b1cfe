// tests/thrust/watched_calls.hpp: calls of functions on the watched device, each with all its tensors.
#pragma once

#include "sequences.hpp"
#include "watched.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace watched_calls {

using device::Watched;
using rowan::Lod, rowan::LoDTensor, rowan::SelectedRows, rowan::StepMap, rowan::Tensor, rowan::TensorArray;

/// Makes the tensors of a call; one of them may belong to another device.
class Tensors {
public:
    explicit Tensors(std::size_t moved) : moved_(moved) {}
    Tensors(Tensors const&) = delete;
    Tensors& operator=(Tensors const&) = delete;

    template <class T>
    Tensor<T, Watched> operator()(Tensor<T> const& host) {
        auto made = next([&] { return rowan::to_device(Watched{}, host); });
        keep(host, made);
        return made;
    }
    template <class T>
    LoDTensor<T, Watched> operator()(LoDTensor<T> const& host) {
        return {(*this)(host.value()), host.lod()};
    }
    /// Row numbers and values.
    template <class T>
    SelectedRows<T, Watched> operator()(SelectedRows<T> const& host) {
        auto made = next([&] { return rowan::to_device(Watched{}, host); });
        keep(host.value(), made.value());
        return made;
    }
    template <class... A>
    StepMap<Watched> map(A const&... a) {
        return next([&] { return StepMap<Watched>(a...); });
    }
    /// What f makes.
    template <class F>
    auto next(F const& f) {
        device::watched::Current const one(made_++ == moved_ ? 1 : 0);
        return f();
    }

    std::size_t made() const { return made_; }
    /// Whether no element has changed.
    bool same() const {
        for (auto const& f : same_) {
            if (!f()) return false;
        }
        return true;
    }

private:
    template <class T>
    void keep(Tensor<T> const& host, Tensor<T, Watched> const& made) {
        same_.push_back([host, alias = made.share()] {
            device::watched::Current const one(alias.place());
            return device::same_bits(alias, host);
        });
    }

    std::size_t moved_, made_ = 0;
    std::vector<std::function<bool()>> same_;
};

/// A list without copies.
template <class X, class... More>
std::vector<X> list_of(X first, More... more) {
    std::vector<X> all;
    all.push_back(std::move(first));
    (all.push_back(std::move(more)), ...);
    return all;
}

struct Call {
    std::string name;
    bool waits;
    std::function<void(Tensors&)> run;
};

/// Requires that the call refuses each of its tensors if it belongs to another device, and waits if it is said to.
inline void watch(Call const& call) {
    INFO(call.name);
    Tensors all(static_cast<std::size_t>(-1));
    device::watched::waits = 0;
    call.run(all);
    CHECK((device::watched::waits > 0) == call.waits);
    for (std::size_t moved = 0; moved < all.made(); ++moved) {
        CAPTURE(moved);
        Tensors one(moved);
        CHECK(device::refusal<rowan::CudaError>([&] { call.run(one); }) == "the tensor belongs to device 1, and the current one is 0");
        CHECK(one.same());
        CHECK(device::late_refusal(Watched{}) == "nothing was thrown");
    }
}

}  // namespace watched_calls
