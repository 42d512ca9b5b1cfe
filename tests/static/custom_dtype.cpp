// tests/static/custom_dtype.cpp: every public template, instantiated for a custom 16-bit element type.
#include <rowan/io/npy.hpp>
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct mine {
    std::uint16_t bits;
};

template <>
struct rowan::dtype<mine> {
    using sum = float;
    static constexpr std::string_view name = "mine";
    static constexpr std::int32_t wire = 1000;
    static sum widen(mine x) { return static_cast<float>(x.bits); }
    static mine narrow(sum x) { return {static_cast<std::uint16_t>(x)}; }
};

static_assert(rowan::element<mine> && sizeof(mine) == 2);

template struct rowan::Allocator<mine>;
template class rowan::Tensor<mine>;
template class rowan::SelectedRows<mine>;

using rowan::Cpu, rowan::Ids, rowan::RowPlan, rowan::SelectedRows, rowan::Tensor;
using T = Tensor<mine>;
using G = SelectedRows<mine>;
using P = RowPlan<>;

template T rowan::load_npy(std::string const&);
template T rowan::from_npy(std::span<std::byte const>);
template std::vector<std::byte> rowan::to_npy(T const&);
template void rowan::save_npy(std::string const&, T const&);
template T rowan::gather(Cpu const&, T const&, Ids<>);
template T rowan::gather(T const&, Ids<>);
template void rowan::gather_into(Cpu const&, T const&, Ids<>, T&);
template void rowan::gather_into(T const&, Ids<>, T&);
template G rowan::lookup_table_grad(Cpu const&, Ids<>, T, rowan::Height, std::optional<std::int64_t>);
template G rowan::lookup_table_grad(Ids<>, T, rowan::Height, std::optional<std::int64_t>);
template void rowan::scatter_add(Cpu const&, T&, Ids<>, T const&);
template void rowan::scatter_add(T&, Ids<>, T const&);
template void rowan::scatter_add(Cpu const&, T&, G const&);
template void rowan::scatter_add(T&, G const&);
template G rowan::merge(Cpu const&, G const&);
template G rowan::merge(G const&);
template G rowan::merge(Cpu const&, P const&, T const&);
template G rowan::merge(P const&, T const&);
template void rowan::merge_into(Cpu const&, G const&, G&);
template void rowan::merge_into(G const&, G&);
template void rowan::merge_into(Cpu const&, P const&, T const&, G&);
template void rowan::merge_into(P const&, T const&, G&);
template G rowan::add(Cpu const&, G const&, G const&);
template G rowan::add(G const&, G const&);
template T rowan::add(Cpu const&, T const&, G const&);
template T rowan::add(T const&, G const&);
template T rowan::add(Cpu const&, G const&, T const&);
template T rowan::add(G const&, T const&);
template rowan::TouchedRows rowan::TouchedRows::between(T const&, T const&);
template G rowan::TouchedRows::of(T const&) const;
template G rowan::scale(Cpu const&, G const&, double);
template G rowan::scale(G const&, double);
template T rowan::to_dense(Cpu const&, G const&);
template T rowan::to_dense(G const&);
template G rowan::from_dense(Cpu const&, T const&, double);
template G rowan::from_dense(T const&, double);
template G rowan::retain(Cpu const&, G const&, Ids<>);
template G rowan::retain(G const&, Ids<>);
template std::vector<G> rowan::split(Cpu const&, G const&, Ids<>);
template std::vector<G> rowan::split(G const&, Ids<>);
template float rowan::squared_norm(Cpu const&, G const&);
template float rowan::squared_norm(G const&);
template float rowan::squared_norm(Cpu const&, P const&, T const&);
template float rowan::squared_norm(P const&, T const&);

using rule = void (*)(std::span<float const>, std::span<mine>, std::span<mine>);
template void rowan::update_rows(Cpu const&, G const&, rule const&, T&, T&);
template void rowan::update_rows(G const&, rule const&, T&, T&);
template void rowan::update_rows(Cpu const&, T const&, rule const&, T&, T&);
template void rowan::update_rows(T const&, rule const&, T&, T&);
template void rowan::update_rows(Cpu const&, P const&, T const&, rule const&, T&, T&);
template void rowan::update_rows(P const&, T const&, rule const&, T&, T&);

// Optimizers: a gradient of rows, a dense one, a plan; with and without an execution.
void every_optimizer(T& p, T& s, T& u, T& v, rowan::Tensor<std::int64_t>& last, G const& g, T const& dense, P const& plan) {
    auto const each = [&](auto const&... first) {
        rowan::sgd(first..., p, g, 0.5);
        rowan::sgd(first..., p, dense, 0.5);
        rowan::sgd(first..., plan, p, dense, 0.5);
        rowan::sgd(first..., p, g, rowan::SgdOptions{});
        rowan::sgd(first..., plan, p, dense, rowan::SgdOptions{});
        rowan::adagrad(first..., p, s, g);
        rowan::adagrad(first..., p, s, dense);
        rowan::adagrad(first..., plan, p, s, dense);
        rowan::rowwise_adagrad(first..., p, s, g);
        rowan::rowwise_adagrad(first..., p, s, dense);
        rowan::rowwise_adagrad(first..., plan, p, s, dense);
        rowan::rowwise_rmsprop(first..., p, s, last, g);
        rowan::rowwise_rmsprop(first..., p, s, last, dense);
        rowan::rowwise_rmsprop(first..., plan, p, s, last, dense);
        rowan::momentum(first..., p, s, g);
        rowan::momentum(first..., p, s, dense);
        rowan::momentum(first..., plan, p, s, dense);
        rowan::adam(first..., p, s, u, g);
        rowan::adam(first..., p, s, u, dense);
        rowan::adam(first..., plan, p, s, u, dense);
        rowan::adamax(first..., p, s, u, g);
        rowan::adamax(first..., p, s, u, dense);
        rowan::adamax(first..., plan, p, s, u, dense);
        rowan::adadelta(first..., p, s, u, g);
        rowan::adadelta(first..., p, s, u, dense);
        rowan::adadelta(first..., plan, p, s, u, dense);
        rowan::lamb(first..., p, s, u, g);
        rowan::lamb(first..., p, s, u, dense);
        rowan::lamb(first..., plan, p, s, u, dense);
        rowan::rmsprop(first..., p, s, u, g);
        rowan::rmsprop(first..., p, s, u, dense);
        rowan::rmsprop(first..., plan, p, s, u, dense);
        rowan::rmsprop(first..., p, s, u, v, g);
        rowan::rmsprop(first..., p, s, u, v, dense);
        rowan::rmsprop(first..., plan, p, s, u, v, dense);
        rowan::ftrl(first..., p, s, u, g);
        rowan::ftrl(first..., p, s, u, dense);
        rowan::ftrl(first..., plan, p, s, u, dense);
    };
    each();
    each(Cpu{});
}
