// tests/thrust/operators.cpp: what every_operator.hpp does not ask of operators on devices: casts, numbers that fill a tensor, aliases, slices
// of any alignment, sums of very many rows, or that overflow, and lists on the host or the device.
#include <rowan/thrust/op.hpp>

#include "sequences.hpp"

#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

namespace test_operators {

using device::filled, device::refusal, device::same_bits, device::Shape;
using rowan::Cpu, rowan::Lod, rowan::LoDTensor, rowan::Pooling, rowan::SelectedRows, rowan::Tensor, rowan::to_device, rowan::ValueError;

template <class To, class From, class D>
void casts() {
    for (Shape const& shape : {Shape{0}, Shape{1}, Shape{63, 3}, Shape{4097}}) {
        auto const x = device::positive<From>(shape, 1);
        CHECK(same_bits(rowan::cast_op<To>::run(D{}, to_device<D>(x)), rowan::cast<To>(x)));
    }
}

TEMPLATE_TEST_CASE("casts on a device give the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    casts<float, std::int32_t, D>();
    casts<std::int64_t, float, D>();
    casts<std::uint8_t, double, D>();
    casts<bool, float, D>();
    casts<rowan::bfloat16, double, D>();
    casts<float, rowan::float16, D>();
    casts<std::int32_t, rowan::bfloat16, D>();
    CHECK(same_bits(rowan::cast<std::int32_t>(Tensor<float, D>{-1.5f, 2.9f, 0.0f, -2147483648.0f}), Tensor<std::int32_t>{-1, 2, 0, -2147483647 - 1}));
    CHECK(same_bits(rowan::cast_grad_op::run(D{}, Tensor<float, D>{1, 2}, Tensor<double, D>{3, 4}), Tensor<float>{3, 4}));
}

TEMPLATE_TEST_CASE("casts on a device throw like Cpu's, and throw errors of earlier calls", "[thrust][op][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto wide = Tensor<float>::full({5000}, 1.0f);
    wide.data()[4990] = 256.0f;
    wide.data()[4999] = -1.0f;
    Tensor<float> const nan{1, std::numeric_limits<float>::quiet_NaN()};
    CHECK(device::refused_alike([&] { rowan::cast<std::uint8_t>(wide); }, [&] { rowan::cast<std::uint8_t>(to_device<D>(wide)); }));
    CHECK(device::refused_alike([&] { rowan::cast<std::int64_t>(nan); }, [&] { rowan::cast<std::int64_t>(to_device<D>(nan)); }));
    Tensor<float, D> const x{{1, 2}, {3, 4}};
    static_cast<void>(rowan::lookup_table(x, Tensor<std::int64_t, D>{1, 2}));
    CHECK(refusal<rowan::IndexError>([&] { rowan::cast<std::int32_t>(x); }) == "ids[1] = 2 is not in [0, 2)");
    CHECK(same_bits(rowan::cast<std::int32_t>(x), Tensor<std::int32_t>{{1, 2}, {3, 4}}));
}

TEMPLATE_TEST_CASE("tensors are filled on a device, aliases are no copies, and merged rows remain merged", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    CHECK(same_bits(rowan::full<float>(D{}, {2, 3}, 4.0), Tensor<float>{{4, 4, 4}, {4, 4, 4}}));
    CHECK(same_bits((rowan::full<std::int32_t, D>({2}, -3.0)), Tensor<std::int32_t>{-3, -3}));
    CHECK(same_bits(rowan::full_op<bool>::run(D{}, {{2}, 1}), Tensor<bool>{true, true}));
    CHECK_THROWS_AS(rowan::full<float>(D{}, {rowan::UNK}, 1.0), rowan::ShapeError);
    CHECK_THROWS_AS(rowan::full<std::uint8_t>(D{}, {1}, 256.0), ValueError);
    Tensor<float, D> const x{{1, 2}, {3, 4}};
    CHECK(rowan::identity_op::run(D{}, x).data() == x.data());
    SelectedRows<float, D> const rows(4, {3, 1}, {{1}, {2}});
    CHECK(rowan::sum_op::run(D{}, std::vector{rowan::merge(rows)}).merged());
    CHECK(rowan::clip_op::run(D{}, rows, {-2, 3}).merged());
}

template <class T, class D>
void slices() {
    auto const x = filled<T>({9, 3}, 1), y = filled<T>({8, 3}, 2);
    auto const part = x.slice(1, 9);
    auto const part_on = to_device<D>(x).slice(1, 9), y_on = to_device<D>(y);
    CHECK(same_bits(rowan::add_op::run(D{}, part_on, y_on), rowan::add_op::run(Cpu{}, part, y)));
    CHECK(same_bits(rowan::relu_op::run(D{}, part_on), rowan::relu_op::run(Cpu{}, part)));
    CHECK(same_bits(rowan::relu_op::backward(D{}, y_on, part_on), rowan::relu_op::backward(Cpu{}, y, part)));
}

TEMPLATE_TEST_CASE("slices on a device may have any alignment", "[thrust][op]", ROWAN_TEST_DEVICES) {
    slices<float, TestType>();
    slices<double, TestType>();
    slices<rowan::bfloat16, TestType>();
    slices<std::int32_t, TestType>();
}

TEMPLATE_TEST_CASE("very many rows are summed on a device in blocks of blocks of blocks", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const x = device::some_batch<float>(Lod::from_lengths({{0, 262145, 3}}), 2, 1);
    auto const on = to_device(D{}, x);
    for (rowan::Pooling const pool : {rowan::Pooling::sum, rowan::Pooling::max}) CHECK(same_bits(sequence_pool(D{}, on, pool, 1), sequence_pool(x, pool, 1)));
    CHECK(same_bits(rowan::reduce_sum(on.value(), {.axes = {0}}), rowan::reduce_sum(x.value(), {.axes = {0}})));
    CHECK(same_bits(rowan::mse(on.value(), on.value()), rowan::mse(x.value(), x.value())));
}

TEMPLATE_TEST_CASE("lists of calls on a device are on the host or on the device", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    LoDTensor<std::int32_t, D> const x({3, 1, 4, 1, 5, 1}, Lod::from_lengths({{3, 1, 2}}));
    LoDTensor<std::int32_t> const rest({3, 4, 5}, Lod::from_lengths({{2, 0, 1}}));
    CHECK(same_bits(sequence_erase(x, {1}), rest));
    CHECK(same_bits(sequence_erase(x, to_device(D{}, Tensor<std::int64_t>{1, 7})), rest));
    Tensor<std::int32_t> const lengths{{2, 0}, {1, 3}};
    CHECK(same_bits(rowan::sequence_mask(to_device(D{}, lengths)), rowan::sequence_mask(lengths)));
    CHECK(same_bits(rowan::sequence_mask(D{}, {2, 0, 5}, 70), rowan::sequence_mask({2, 0, 5}, 70)));
    CHECK(same_bits(sequence_slice(x, {1, 0, 0}, {2, 0, 1}), LoDTensor<std::int32_t>({1, 4, 5}, Lod::from_lengths({{2, 0, 1}}))));
    CHECK(same_bits(sequence_concat(D{}, x, x), sequence_concat(to_host(x), to_host(x))));
    CHECK(same_bits(sequence_concat(D{}, std::vector<std::reference_wrapper<LoDTensor<std::int32_t, D> const>>{x, x}), sequence_concat(to_host(x), to_host(x))));
}

/// Compares what `of` makes of tensors on Cpu and on the device.
template <class D, class F, class... T>
void same_on_device(F const& of, T const&... x) {
    CHECK(same_bits(of(D{}, to_device<D>(x)...), of(Cpu{}, x...)));
}

TEMPLATE_TEST_CASE("sums and squares that overflow or vanish are formed again on a device with the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto x = Tensor<float>::from_shape({9, 21}), g = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = (static_cast<float>(i * 7919 % 1013) / 512 - 1) * (i < 63 ? 1e38F : i < 105 ? 1e-30F : 1.0F);
        g.data()[i] = static_cast<float>(i * 31 % 47) / 16 - 1;
    }
    auto const w = Tensor<float>::full({21}, 0.75F);
    rowan::LayerNormOptions const norm{.epsilon = 0};
    same_on_device<D>([&](auto e, auto const& a, auto const& b) { return rowan::layer_norm(e, a, b, b, norm); }, x, w);
    same_on_device<D>([&](auto e, auto const& a, auto const& b, auto const& c) { return rowan::layer_norm_op::backward(e, a, b, c, norm); }, x, w, g);
    same_on_device<D>([&](auto e, auto const& a, auto const& b) { return std::get<0>(rowan::layer_norm_param_grad_op::run(e, a, b, norm)); }, x, g);
    for (std::int64_t const axis : {0, 1}) same_on_device<D>([&](auto e, auto const& a) { return rowan::reduce_mean(e, a, {.axes = {axis}}); }, x);
    auto const large = Tensor<float>::full({3, 5000}, 1.5e19F), none = Tensor<float>::zeros({3, 5000}), most = Tensor<float>::full({3, 5000}, 3e38F);
    same_on_device<D>([](auto e, auto const& a, auto const& b) { return rowan::mse(e, a, b); }, large, none);
    same_on_device<D>([](auto e, auto const& a, auto const& b) { return rowan::huber(e, a, b); }, most, none);
    same_on_device<D>([](auto e, auto const& a) { return rowan::reduce_mean(e, a); }, most);
    same_on_device<D>([](auto e, auto const& a, auto const& b) { return rowan::cumprod_op::backward(e, a, b); }, Tensor<double>{0, 1e200, 1e200, 1e200}, Tensor<double>{1, 1, 1, 1});
    Lod const lod{{0, 3, 3, 7, 9}};
    Tensor<float> const weight{1e25F, 2e25F, 1e25F, 1e-30F, 2e-30F, 3e-30F, 1e-30F, 1, 2};
    Tensor<std::int64_t> const ids{0, 1, 2, 3, 8, 4, 5, 2, 7};
    for (Pooling const pool : {Pooling::mean, Pooling::sqrt}) {
        same_on_device<D>([&](auto e, auto const& a) { return rowan::sequence_pool(e, LoDTensor<float, decltype(e)>(a.share(), lod), pool).value(); }, x);
        same_on_device<D>([&](auto e, auto const& a, auto const& b, auto const& i) { return rowan::embedding_bag(e, a, LoDTensor<std::int64_t, decltype(e)>(i.share(), lod), b, {pool}).value(); }, x, weight, ids);
        same_on_device<D>([&](auto e, auto const& a, auto const& b, auto const& i) { return std::get<0>(rowan::embedding_bag_grad(e, a, LoDTensor<std::int64_t, decltype(e)>(i.share(), lod), b, a.slice(0, 4), {pool})).value(); }, x, weight, ids);
    }
    same_on_device<D>([](auto e, auto const& a) {
        auto p = rowan::full<float>(e, {9, 21}, 1.0), m = rowan::full<float>(e, {9}, 0.0);
        rowan::rowwise_adagrad(e, p, m, a, {.learning_rate = 1});
        return p;
    }, Tensor<float>::full({9, 21}, 1.5e19F));
    same_on_device<D>([](auto e, auto const& a, auto const& b) { return std::get<0>(rowan::batch_norm(e, a, b, b, b, b, {.epsilon = 0}, true)); }, Tensor<float>{{1, 1.5e19F, 1e-30F}, {3, -1.5e19F, -1e-30F}}, Tensor<float>{1, 1, 1});
}

}  // namespace test_operators
