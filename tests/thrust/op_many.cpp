// tests/thrust/op_many.cpp: sum, concat, split, cast, dropout, comparisons, clip and lookup_table on devices.
#include <rowan/thrust/op.hpp>

#include "devices.hpp"

#include <limits>
#include <tuple>
#include <vector>

namespace op_many {

using device::filled, device::gradient, device::late_refusal, device::positive, device::refusal, device::same_bits, device::Shape;
using rowan::Cpu, rowan::SelectedRows, rowan::Tensor, rowan::to_device, rowan::to_host;

template <class D, class X>
auto all_on(std::vector<X> const& x) {
    std::vector<decltype(to_device<D>(x[0]))> on;
    for (X const& part : x) on.push_back(to_device<D>(part));
    return on;
}
template <class A, class B>
bool all_same(std::vector<A> const& a, std::vector<B> const& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!same_bits(a[i], b[i])) return false;
    }
    return true;
}

template <class T, class D>
void sums() {
    for (std::size_t const count : {1u, 2u, 7u, 8u, 9u, 16u, 17u}) {
        for (Shape const& shape : {Shape{0}, Shape{3}, Shape{65, 3}, Shape{4097}}) {
            std::vector<Tensor<T>> x;
            for (unsigned i = 0; i < count; ++i) x.push_back(filled<T>(shape, i));
            CHECK(same_bits(rowan::sum_op::run(D{}, all_on<D>(x)), rowan::sum(Cpu{}, x)));
        }
    }
    std::vector<Tensor<T>> const dense{filled<T>({40, 3}, 1), filled<T>({40, 3}, 2)};
    // float: each row once, since scatter_add has another order of summation on the host
    SelectedRows<T> const once(40, {7, 3, 39}, filled<T>({3, 3}, 3));
    std::vector<SelectedRows<T>> const sparse{gradient<T>(65, 40, 3, 50, 4), once, gradient<T>(0, 40, 3, 0, 5)};
    CHECK(same_bits(rowan::sum_op::run(D{}, all_on<D>(sparse)), rowan::sum(Cpu{}, sparse)));
    std::vector<SelectedRows<T>> const unique{once};
    CHECK(same_bits(rowan::sum_op::run(D{}, all_on<D>(dense), all_on<D>(unique)), rowan::sum(Cpu{}, dense, unique)));
    if constexpr (!std::is_same_v<T, typename rowan::dtype<T>::sum>)
        CHECK(same_bits(rowan::sum_op::run(D{}, all_on<D>(dense), all_on<D>(sparse)), rowan::sum(Cpu{}, dense, sparse)));
    CHECK(rowan::sum_op::run(D{}, all_on<D>(std::vector{rowan::merge(once)})).merged());
    CHECK(same_bits(rowan::to_dense_op::run(D{}, to_device<D>(once)), rowan::to_dense(once)));

    auto const g = filled<T>({40, 3}, 6);
    auto const [dense_on, sparse_on] = rowan::sum_grad_op::run(D{}, all_on<D>(dense), all_on<D>(sparse), to_device<D>(g));
    auto const [dense_want, sparse_want] = rowan::sum_grad_op::run(Cpu{}, dense, sparse, g);
    CHECK(all_same(dense_on, dense_want));
    CHECK(all_same(sparse_on, sparse_want));
}

template <class T, class D>
void pieces() {
    for (auto const& [shapes, axis] : {std::tuple<std::vector<Shape>, std::int64_t>{{{3}, {0}, {5}}, 0}, {{{2, 3}, {2, 1}, {2, 4}}, 1}, {{{2, 3, 4}, {2, 3, 8}}, -1}, {{{3, 2}, {1, 2}}, 0}, {{{0, 2}, {0, 3}}, 1}, {{{5, 65, 3}, {5, 1, 3}, {5, 0, 3}}, 1}, {{{7, 3}}, 0}}) {
        std::vector<Tensor<T>> x;
        unsigned seed = 1;
        for (Shape const& shape : shapes) x.push_back(filled<T>(shape, seed++));
        auto const want = rowan::concat(x, axis);
        auto const on = all_on<D>(x);
        std::vector<rowan::LoDTensor<T, D>> const batches(on.begin(), on.end());
        auto const joined = rowan::concat_op::run(D{}, batches, {axis});
        auto const& got = joined.value();
        CHECK(same_bits(got, want));
        auto const grads = rowan::concat_op::backward(D{}, batches, joined, {axis});
        for (std::size_t k = 0; k < x.size(); ++k) CHECK(same_bits(grads[k].value(), x[k]));
        std::vector<std::int64_t> sections;
        for (Shape const& shape : shapes) sections.push_back(static_cast<std::int64_t>(shape[axis < 0 ? shape.size() - 1 : static_cast<std::size_t>(axis)]));
        auto const parts = rowan::split_op::run(D{}, got, {sections, axis});
        CHECK(all_same(parts, x));
        CHECK(same_bits(rowan::split_op::backward(D{}, parts, {sections, axis}), want));
    }
}

template <class To, class From, class D>
void casts() {
    for (Shape const& shape : {Shape{0}, Shape{1}, Shape{63, 3}, Shape{4097}}) {
        auto const x = positive<From>(shape, 1);
        CHECK(same_bits(rowan::cast_op<To>::run(D{}, to_device<D>(x)), rowan::cast<To>(x)));
    }
}

template <class T, class D>
void drops() {
    for (Shape const& shape : {Shape{0}, Shape{1}, Shape{65, 3}, Shape{4097}}) {
        auto const x = filled<T>(shape, 1), g = filled<T>(shape, 2);
        auto const [want, mask_want] = rowan::dropout(x, 0.3, 77);
        for (auto const& [out, mask] : {rowan::dropout(to_device<D>(x), 0.3, 77), rowan::dropout_op::run(D{}, to_device<D>(x), Tensor<std::int64_t, D>{77}, {0.3})}) {
            CHECK(same_bits(out, want));
            CHECK(same_bits(mask, mask_want));
            CHECK(same_bits(rowan::dropout_op::backward(D{}, mask, Tensor<std::int64_t, D>{77}, to_device<D>(g), {0.3}), rowan::dropout_grad(mask_want, g, 0.3)));
        }
        auto const none = Tensor<std::int64_t, D>::from_shape({0});
        auto const [same, ones] = rowan::dropout_op::run(D{}, to_device<D>(x), none, {0.3});
        CHECK(same_bits(same, x));
        CHECK(same_bits(ones, Tensor<std::uint8_t>::full(shape, 1)));
        CHECK(same_bits(rowan::dropout_op::backward(D{}, ones, none, to_device<D>(g), {0.3}), g));
    }
}

template <class Op, class T, class D>
void comparison() {
    auto x = filled<T>({65, 3}, 1);
    auto y = filled<T>({65, 3}, 2);
    for (std::size_t i = 0; i < y.size(); i += 2) y.data()[i] = x.data()[i];
    x.data()[4] = y.data()[5] = rowan::dtype<T>::narrow(0);
    if constexpr (!std::integral<T>) x.data()[6] = y.data()[6] = rowan::dtype<T>::narrow(std::numeric_limits<float>::quiet_NaN());
    CHECK(same_bits(Op::run(D{}, to_device<D>(x), to_device<D>(y)), Op::run(Cpu{}, x, y)));
    CHECK(same_bits(rowan::isfinite(to_device<D>(x)), rowan::isfinite(x)));
    CHECK(same_bits(rowan::isinf(to_device<D>(x)), rowan::isinf(x)));
}

template <class T, class D>
void comparisons() {
    comparison<rowan::less_op, T, D>();
    comparison<rowan::less_equal_op, T, D>();
    comparison<rowan::greater_op, T, D>();
    comparison<rowan::greater_equal_op, T, D>();
    comparison<rowan::equal_op, T, D>();
    comparison<rowan::logical_and_op, T, D>();
    comparison<rowan::logical_or_op, T, D>();
}

template <class T, class D>
void clips() {
    for (Shape const& shape : {Shape{0}, Shape{65, 3}, Shape{4097}}) {
        auto const x = filled<T>(shape, 1), g = filled<T>(shape, 2);
        rowan::ClipOptions const options{-2, 3};
        CHECK(same_bits(rowan::clip_op::run(D{}, to_device<D>(x), options), rowan::clip(Cpu{}, x, options)));
        CHECK(same_bits(rowan::gradient_operator<rowan::clip_op>::run(D{}, to_device<D>(x), to_device<D>(g), options), rowan::clip_op::backward(Cpu{}, x, g, options)));
        for (double const norm : {0.5, 1e9}) CHECK(same_bits(rowan::clip_by_norm_op::run(D{}, to_device<D>(x), {norm}), rowan::clip_by_norm(Cpu{}, x, {norm})));
    }
    auto const g = gradient<T>(300, 40, 3, 50, 3);
    auto const clipped = rowan::clip_op::run(D{}, to_device<D>(g), {-2, 3});
    CHECK(same_bits(clipped, rowan::clip(Cpu{}, g, {-2, 3})));
    CHECK(clipped.merged());
    CHECK(same_bits(rowan::clip_by_norm_op::run(D{}, to_device<D>(g), {0.5}), rowan::clip_by_norm(Cpu{}, g, {0.5})));
    std::vector<Tensor<T>> const dense{filled<T>({5, 3}, 4), filled<T>({65}, 5)};
    std::vector<SelectedRows<T>> const sparse{g};
    auto const [dense_on, sparse_on] = rowan::clip_by_global_norm_op::run(D{}, all_on<D>(dense), all_on<D>(sparse), {0.5});
    auto const [dense_want, sparse_want] = rowan::clip_by_global_norm(Cpu{}, dense, sparse, {0.5});
    CHECK(all_same(dense_on, dense_want));
    CHECK(all_same(sparse_on, sparse_want));
}

template <class T, class I, class D>
void lookups() {
    for (std::size_t const width : {0u, 1u, 3u, 16u}) {
        auto const table = filled<T>({40, width}, 1);
        auto ids = Tensor<I>::from_shape({13, 5});
        auto const rows = device::some_ids(65, 40, 50, 2);
        for (std::size_t i = 0; i < 65; ++i) ids.data()[i] = static_cast<I>(rows[i]);
        auto const g = filled<T>({13, 5, width}, 3);
        for (rowan::LookupOptions const& options : {rowan::LookupOptions{}, rowan::LookupOptions{20}}) {
            auto const table_on = to_device<D>(table);
            auto const ids_on = to_device<D>(ids);
            CHECK(same_bits(rowan::lookup_table_op::run(D{}, table_on, ids_on, options), rowan::lookup_table(table, ids, options)));
            CHECK(same_bits(rowan::lookup_table_grad_op::run(D{}, table_on, ids_on, to_device<D>(g), options), rowan::lookup_table_grad_op::run(Cpu{}, table, ids, g, options)));
        }
    }
}

TEMPLATE_TEST_CASE("sums of many tensors and gradients on a device have the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    sums<float, TestType>();
    sums<double, TestType>();
    sums<rowan::bfloat16, TestType>();
    sums<std::int32_t, TestType>();
}

TEMPLATE_TEST_CASE("concat and split on a device equal Cpu's", "[thrust][op]", ROWAN_TEST_DEVICES) {
    pieces<float, TestType>();
    pieces<double, TestType>();
    pieces<rowan::bfloat16, TestType>();
    pieces<std::uint8_t, TestType>();
}

TEMPLATE_TEST_CASE("casts on a device give the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    casts<float, std::int32_t, TestType>();
    casts<std::int64_t, float, TestType>();
    casts<std::uint8_t, double, TestType>();
    casts<bool, float, TestType>();
    casts<rowan::bfloat16, double, TestType>();
    casts<float, rowan::float16, TestType>();
    casts<std::int32_t, rowan::bfloat16, TestType>();
    using D = TestType;
    CHECK(same_bits(rowan::cast<std::int32_t>(Tensor<float, D>{-1.5f, 2.9f, 0.0f, -2147483648.0f}), Tensor<std::int32_t>{-1, 2, 0, -2147483647 - 1}));
    Tensor<float, D> const x{1, 2};
    CHECK(same_bits(rowan::cast_grad_op::run(D{}, x, Tensor<double, D>{3, 4}), Tensor<float>{3, 4}));
}

TEMPLATE_TEST_CASE("dropout on a device drops the same elements as Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    drops<float, TestType>();
    drops<double, TestType>();
    drops<rowan::bfloat16, TestType>();
}

TEMPLATE_TEST_CASE("comparisons on a device hold where they hold on Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    comparisons<float, TestType>();
    comparisons<rowan::bfloat16, TestType>();
    comparisons<std::int64_t, TestType>();
    using D = TestType;
    CHECK(same_bits(rowan::logical_not_op::run(D{}, Tensor<bool, D>{true, false}), Tensor<bool>{false, true}));
    for (std::size_t const n : {0u, 1u, 64u, 65u, 4096u, 4097u}) {
        auto x = Tensor<bool>::full({n}, false);
        CHECK(same_bits(rowan::any_op::run(D{}, to_device<D>(x)), Tensor<bool>{false}));
        if (n == 0) continue;
        x.data()[n - 1] = true;
        CHECK(same_bits(rowan::any_op::run(D{}, to_device<D>(x)), Tensor<bool>{true}));
    }
}

TEMPLATE_TEST_CASE("clipping on a device has the bits of Cpu", "[thrust][op]", ROWAN_TEST_DEVICES) {
    clips<float, TestType>();
    clips<double, TestType>();
    clips<rowan::bfloat16, TestType>();
}

TEMPLATE_TEST_CASE("lookup_table on a device equals Cpu's", "[thrust][op]", ROWAN_TEST_DEVICES) {
    lookups<float, std::int64_t, TestType>();
    lookups<double, std::int32_t, TestType>();
    lookups<rowan::bfloat16, std::int64_t, TestType>();
}

TEMPLATE_TEST_CASE("operators of many tensors on a device throw like Cpu's", "[thrust][op][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    using rowan::IndexError, rowan::ShapeError, rowan::ValueError;
    D const exec{};
    Tensor<float, D> const x{{1, 2}, {3, 4}}, y{{1, 2, 3}};
    using Many = std::vector<Tensor<float, D>>;
    CHECK_THROWS_AS(rowan::sum(exec, Many{}), ShapeError);
    CHECK_THROWS_AS(rowan::sum(exec, Many{x, y}), ShapeError);
    CHECK_THROWS_AS(rowan::sum(exec, std::vector{SelectedRows<float, D>(2, {0}, Tensor<float, D>{{1, 2}}), SelectedRows<float, D>(3, {0}, Tensor<float, D>{{1, 2}})}), ShapeError);
    CHECK_THROWS_AS(rowan::concat(Many{x, y}, 0), ShapeError);
    CHECK_THROWS_AS(rowan::concat(Many{x, x}, 2), rowan::IndexError);
    CHECK_THROWS_AS(rowan::split(x, {1, 2}, 0), ShapeError);
    CHECK_THROWS_AS(rowan::dropout(x, 1.5, 1), ValueError);
    CHECK_THROWS_AS(rowan::less_op::run(exec, x, y), ShapeError);
    CHECK_THROWS_AS(rowan::clip(exec, x, {1, 0}), ValueError);
    CHECK_THROWS_AS(rowan::clip_by_norm(exec, x, {-1}), ValueError);
    CHECK_THROWS_AS(rowan::lookup_table(x, Tensor<std::int64_t, D>{0}, {2}), IndexError);

    auto wide = Tensor<float>::full({5000}, 1.0f);
    wide.data()[4990] = 256.0f;
    wide.data()[4999] = -1.0f;
    CHECK(refusal<ValueError>([&] { rowan::cast<std::uint8_t>(to_device<D>(wide)); }) == refusal<ValueError>([&] { rowan::cast<std::uint8_t>(wide); }));
    Tensor<float> const nan{1, std::numeric_limits<float>::quiet_NaN()};
    CHECK(refusal<ValueError>([&] { rowan::cast<std::int64_t>(to_device<D>(nan)); }) == refusal<ValueError>([&] { rowan::cast<std::int64_t>(nan); }));

    static_cast<void>(rowan::lookup_table(x, Tensor<std::int64_t, D>{1, 2}, {0}));
    CHECK(late_refusal(exec) == "ids[1] = 2 is not in [0, 2)");
    static_cast<void>(rowan::lookup_table(x, Tensor<std::int64_t, D>{1, 2}));
    CHECK(refusal<IndexError>([&] { rowan::cast<std::int32_t>(x); }) == "ids[1] = 2 is not in [0, 2)");
    CHECK(same_bits(rowan::cast<std::int32_t>(x), Tensor<std::int32_t>{{1, 2}, {3, 4}}));
}

}  // namespace op_many
