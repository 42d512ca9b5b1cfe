// tests/thrust/tensor_array.cpp: slots on a device: write, read, stack, split and concat.
#include "sequences.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_tensor_array {

using device::refused_alike, device::same_bits;
using rowan::Lod, rowan::LoDTensor, rowan::Tensor, rowan::TensorArray, rowan::to_device, rowan::to_host;

namespace {

template <class D>
TensorArray<float, D> array_of_three() {
    TensorArray<float, D> array;
    array.write(0, Tensor<float, D>{{1, 2}, {3, 4}});
    array.write(1, Tensor<float, D>{{5, 6}});
    array.write(2, Tensor<float, D>{{7, 8}, {9, 10}});
    return array;
}

template <class T, class F>
void for_shapes(F const& f) {
    for (device::Shape const& shape : std::vector<device::Shape>{{5}, {0}, {3, 2}, {4, 0}, {4, 2, 3}, {3, 5, 4, 2}, {65, 16}}) {
        f(device::filled<T>(shape, static_cast<unsigned>(shape.size())));
    }
}

}  // namespace

TEMPLATE_TEST_CASE("slots on a device are written, shared, copied and read", "[thrust][tensor_array]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    TensorArray<float, D> array;
    Tensor<float, D> value{{1, 2}};
    array.write(2, value);
    array.write(0, value, false);
    CHECK((array.size() == 3 && array.written(0) && !array.written(1) && array.written(2)));
    CHECK(array.read(2).value().data() == value.data());
    CHECK(array.read(0).value().data() != value.data());
    CHECK(same_bits(array.read(0).value(), Tensor<float>{{1, 2}}));
    auto const share = array.share();
    CHECK(share.read(0).value().data() == array.read(0).value().data());
    auto const copy = array;
    CHECK(copy.read(0).value().data() != array.read(0).value().data());
    CHECK(same_bits(copy, to_host(array)));
    array.erase(0);
    CHECK((!array.written(0) && share.written(0)));
    array.resize(1);
    CHECK(array.size() == 1);
    array.write(0, LoDTensor<float, D>(Tensor<float, D>{{1, 2}}));
    CHECK(same_bits(array.concat(), Tensor<float>{{1, 2}}));
}

TEMPLATE_TEST_CASE("an array is copied to a device and back, with written and unwritten slots", "[thrust][tensor_array]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    TensorArray<double> host;
    host.write(3, Tensor<double>{{1, 2}});
    host.write(1, Tensor<double>{{3, 4}, {5, 6}});
    CHECK(same_bits(to_device(D{}, host), host));
    CHECK(same_bits(to_device<D>(TensorArray<double>()), TensorArray<double>()));
    auto const parts = TensorArray<double>::unstack(Tensor<double>{{1, 2}, {3, 4}}, 1);
    CHECK(same_bits(to_device(D{}, parts), parts));
    for (auto const& lod : device::some_lods()) {
        auto const steps = TensorArray<float>::unpack(device::some_batch<float>(lod, 3, 1)).steps;
        CHECK(same_bits(to_device(D{}, steps), steps));
    }
}

TEMPLATE_TEST_CASE("accumulate adds to slots on a device", "[thrust][tensor_array]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    TensorArray<rowan::bfloat16, D> array;
    TensorArray<rowan::bfloat16> host;
    for (unsigned k = 0; k < 4; ++k) {
        auto const value = device::filled<rowan::bfloat16>({7, 3}, k);
        array.accumulate(1, to_device(D{}, value));
        host.accumulate(1, value);
    }
    array.accumulate(1, array.read(1));
    host.accumulate(1, host.read(1));
    CHECK(same_bits(array, host));
    CHECK_THROWS_AS(array.accumulate(1, Tensor<rowan::bfloat16, D>::zeros({6, 3})), rowan::ShapeError);
}

TEMPLATE_TEST_CASE("stack and unstack on a device, along every dim", "[thrust][tensor_array]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    CHECK(same_bits(TensorArray<float, D>::unstack(Tensor<float, D>{{1, 2, 3}, {4, 5, 6}}, 1).read(1).value(), Tensor<float>{2, 5}));
    auto const check = []<class T>(T) {
        for_shapes<T>([](Tensor<T> const& host) {
            for (std::size_t axis = 0; axis < host.dimension(); ++axis) {
                auto const parts = TensorArray<T, D>::unstack(D{}, to_device(D{}, host), axis);
                CHECK(same_bits(parts, TensorArray<T>::unstack(host, axis)));
                CHECK(same_bits(parts.stack(D{}, axis), host));
            }
        });
    };
    check(float());
    check(double());
    check(rowan::bfloat16());
    CHECK(to_host(TensorArray<float, D>().stack()).size() == 0);
}

TEMPLATE_TEST_CASE("concat and split on a device", "[thrust][tensor_array]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const array = array_of_three<D>();
    Tensor<float> const all{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}};
    CHECK(same_bits(array.concat(), all));
    CHECK(same_bits(TensorArray<float, D>::split(to_device(D{}, all), {2, 1, 2}), to_host(array)));
    CHECK(same_bits(TensorArray<float, D>::split(to_device(D{}, all), to_device(D{}, Tensor<std::int32_t>{2, 1, 2})), to_host(array)));
    CHECK_THROWS_AS((TensorArray<float, D>::split(to_device(D{}, all), {2, 1})), rowan::LodError);
    CHECK(TensorArray<float, D>().concat().size() == 0);
}

TEMPLATE_TEST_CASE("gather and gather_grad of slots on a device", "[thrust][tensor_array]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto const check = []<class T>(T) {
        for (std::size_t const n : {0U, 1U, 63U, 64U, 65U, 4097U}) {
            for (std::size_t const width : {0U, 1U, 3U, 4U, 16U}) {
                auto const ids = device::some_ids(n, 5, 60, 7);
                auto const grad = device::filled<T>({n, width}, 3);
                auto const host = TensorArray<T>::gather_grad(ids, grad, 7);
                CHECK(same_bits(TensorArray<T, D>::gather_grad(D{}, ids, to_device(D{}, grad), 7), host));
                auto const on_device = to_device(D{}, host);
                if (n == 0) continue;  // without indices the shape is unknown
                CHECK(same_bits(on_device.gather(D{}, ids), host.gather(ids)));
                auto where = Tensor<std::int64_t>::from_shape({n});
                std::copy(ids.begin(), ids.end(), where.data());
                CHECK(same_bits(on_device.gather(to_device(D{}, where)), host.gather(ids)));
            }
        }
    };
    check(float());
    check(double());
    check(rowan::bfloat16());
}

TEMPLATE_TEST_CASE("parts of a tensor are written to slots on a device", "[thrust][tensor_array]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    TensorArray<float, D> array;
    array.scatter({3, 0}, Tensor<float, D>{{1, 2}, {3, 4}});
    CHECK((array.size() == 4 && !array.written(1)));
    CHECK(same_bits(array.read(3).value(), Tensor<float>{1, 2}));
    CHECK(same_bits(array.read(0).value(), Tensor<float>{3, 4}));
    CHECK_THROWS_AS(array.scatter({1, 1}, Tensor<float, D>{{1, 2}, {3, 4}}), rowan::IndexError);
    CHECK((array.size() == 4 && !array.written(1)));
}

TEMPLATE_TEST_CASE("arrays on a device throw like the host's", "[thrust][tensor_array][bad_input]", ROWAN_TEST_DEVICES) {
    using D = TestType;
    auto array = array_of_three<D>();
    auto host = to_host(array);
    CHECK(refused_alike([&] { host.read(3); }, [&] { array.read(3); }));
    CHECK(refused_alike([&] { host.stack(); }, [&] { array.stack(); }));
    CHECK(refused_alike([&] { host.gather({0, 3}); }, [&] { array.gather({0, 3}); }));
    CHECK(refused_alike([&] { host.write(1, Tensor<float>{{1}}); }, [&] { array.write(1, Tensor<float, D>{{1}}); }));
    CHECK(refused_alike([&] { TensorArray<float>::unstack(Tensor<float>{1}, 1); }, [&] { TensorArray<float, D>::unstack(Tensor<float, D>{1}, 1); }));
    CHECK(refused_alike([&] { TensorArray<float>::gather_grad({2}, Tensor<float>{{1}}, 2); }, [&] { TensorArray<float, D>::gather_grad({2}, Tensor<float, D>{{1}}, 2); }));
    array.erase(1);
    host.erase(1);
    CHECK(refused_alike([&] { host.concat(); }, [&] { array.concat(); }));
    CHECK(same_bits(array, host));
}

}  // namespace test_tensor_array
