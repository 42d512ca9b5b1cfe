// tests/cuda/device.cu: streams, memory and repeated runs on a GPU.
#include <rowan/sequence.hpp>
#include <rowan/sparse.hpp>
#include <rowan/thrust.hpp>
#include <rowan/thrust/cuda.hpp>

#include "catch.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using rowan::Cuda, rowan::Tensor;

namespace {

struct Stream : Cuda {
    explicit Stream(unsigned flags) { cudaStreamCreateWithFlags(&stream, flags); }
    Stream(Stream const&) = delete;
    Stream& operator=(Stream const&) = delete;
    ~Stream() { cudaStreamDestroy(stream); }
    Cuda const& exec() const { return *this; }
};

Tensor<std::int64_t> ids(std::size_t n, std::int64_t height, unsigned hot) {
    std::mt19937_64 random(7);
    auto ids = Tensor<std::int64_t>::from_shape({n});
    for (std::size_t i = 0; i < n; ++i) {
        bool const one = random() % 100 < hot;
        ids.data()[i] = one ? 3 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(height));
    }
    return ids;
}

Tensor<float> numbers(Tensor<float>::shape_type const& shape) {
    std::mt19937 random(8);
    auto x = Tensor<float>::from_shape(shape);
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(random()) * 0x1p-32f - 0.5f;
    return x;
}

}  // namespace

TEST_CASE("a non-blocking stream returns the host's bits", "[cuda]") {
    Stream const s(cudaStreamNonBlocking);
    auto const rows = ids(100'000, 5000, 30);
    auto const value = numbers({rows.size(), 16});
    auto table = numbers({5000, 16});
    auto moment = Tensor<float>::full({5000, 16}, 0.1f);
    auto const there = rowan::to_device(s.exec(), table);
    auto param = there;
    auto state = rowan::to_device(s.exec(), moment);
    rowan::SelectedRows<float, Cuda> const g(s.exec(), 5000, rowan::to_device(s.exec(), rows), rowan::to_device(s.exec(), value));
    rowan::adagrad(s.exec(), param, state, g);
    rowan::adagrad(table, moment, rowan::SelectedRows<float>(5000, rows, value));
    CHECK(rowan::to_host(s.exec(), param) == table);
    CHECK(rowan::to_host(s.exec(), state) == moment);
}

TEST_CASE("a call on sequences without an execution runs on the stream of its first argument", "[cuda]") {
    Stream const s(cudaStreamNonBlocking);
    rowan::LoDTensor<float> const host(numbers({5, 2}), rowan::Lod{{0, 2, 5}});
    auto const x = rowan::to_device(s.exec(), host);
    auto const reversed = rowan::sequence_reverse(x);
    CHECK(reversed.value().device() == s.exec());
    CHECK(rowan::to_host(reversed) == rowan::sequence_reverse(host));
    auto const [steps, map] = rowan::TensorArray<float, Cuda>::unpack(x);
    CHECK(map.order().device() == s.exec());
    CHECK(steps.concat().device() == s.exec());
    auto const packed = steps.pack(0, map);
    CHECK(packed.value().device() == s.exec());
    CHECK(rowan::to_host(packed) == host);
    CHECK(rowan::merge_batches(std::vector{x.share(), packed.share()}).value().device() == s.exec());
}

TEST_CASE("a bad id is an error of its own stream only", "[cuda]") {
    Stream const s(cudaStreamNonBlocking), other(cudaStreamNonBlocking);
    auto const table = numbers({4, 2});
    auto a = rowan::to_device(s.exec(), table);
    auto b = rowan::to_device(other.exec(), table);
    auto const one = rowan::to_device(s.exec(), Tensor<float>{{1, 1}, {1, 1}});
    auto const here = rowan::to_device(other.exec(), Tensor<float>{{1, 1}, {1, 1}});
    rowan::scatter_add(s.exec(), a, rowan::to_device(s.exec(), Tensor<std::int64_t>{1, std::int64_t{1} << 40}), one);
    rowan::scatter_add(s.exec(), a, rowan::to_device(s.exec(), Tensor<std::int64_t>{0, 1}), one);  // does nothing
    rowan::scatter_add(other.exec(), b, rowan::to_device(other.exec(), Tensor<std::int64_t>{0, 0}), here);
    CHECK(rowan::to_host(other.exec(), b)(0, 0) == table(0, 0) + 2);
    CHECK_THROWS_AS(rowan::synchronize(s.exec()), rowan::IndexError);
    CHECK(rowan::to_host(s.exec(), a) == table);
    rowan::scatter_add(s.exec(), a, rowan::to_device(s.exec(), Tensor<std::int64_t>{0, 1}), one);
    CHECK(rowan::to_host(s.exec(), a)(0, 0) == table(0, 0) + 1);
}

TEST_CASE("a million lookups of one row have the same bits in 20 runs on three streams", "[cuda]") {
    Stream const streams[] = {Stream(cudaStreamDefault), Stream(cudaStreamNonBlocking), Stream(cudaStreamNonBlocking)};
    auto const rows = ids(1'000'000, 1000, 99);
    auto const value = numbers({rows.size(), 4});
    auto const sums = rowan::merge(rowan::SelectedRows<float>(1000, rows, value));
    std::vector<rowan::SelectedRows<float, Cuda>> gradients;
    for (auto const& s : streams)
        gradients.emplace_back(s.exec(), 1000, rowan::to_device(s.exec(), rows), rowan::to_device(s.exec(), value));
    std::vector<rowan::SelectedRows<float, Cuda>> merged;
    for (std::size_t run = 0; run < 20; ++run) merged.push_back(rowan::merge(streams[run % 3].exec(), gradients[run % 3]));
    for (auto const& m : merged) CHECK(rowan::to_host(m) == sums);
}

TEST_CASE("host memory may be overwritten as soon as it has been uploaded", "[cuda]") {
    Stream const s(cudaStreamNonBlocking), other(cudaStreamNonBlocking);
    std::vector<Tensor<float, Cuda>> there;
    std::vector<std::size_t> const sizes{1, 16'384, 16'385, 65'536, 65'537, 2'097'152, 2'097'153};  // 64 KiB, 256 KiB, 8 MiB
    for (bool const pinned : {false, true}) {
        for (std::size_t const n : sizes) {
            auto x = numbers({n});
            if (pinned) REQUIRE(cudaHostRegister(x.data(), n * sizeof(float), cudaHostRegisterDefault) == cudaSuccess);
            for (int k = 0; k < 6; ++k) there.push_back(rowan::to_device(k % 2 == 0 ? s.exec() : other.exec(), x));
            for (std::size_t i = 0; i < n; ++i) x.data()[i] = 7;
            if (pinned) REQUIRE(cudaHostUnregister(x.data()) == cudaSuccess);
        }
    }
    for (auto const& x : there) CHECK(rowan::to_host(x) == numbers({x.size()}));
}

TEST_CASE("an allocation that is too large throws a CudaError, and later calls work", "[cuda]") {
    auto const x = rowan::to_device(Cuda{}, numbers({8, 2}));
    std::string text;
    try {
        static_cast<void>(Tensor<double, Cuda>::from_shape({std::size_t{1} << 50}));
    } catch (rowan::CudaError const& error) {
        text = error.what();
    }
    CHECK(text.find("cudaErrorMemoryAllocation") != text.npos);
    CHECK(rowan::to_host(x) == numbers({8, 2}));
}

TEST_CASE("a stream of another GPU throws", "[cuda]") {
    int devices = 0;
    cudaGetDeviceCount(&devices);
    if (devices < 2) {
        WARN("there is one GPU");
        return;
    }
    cudaSetDevice(1);
    Cuda other;
    cudaStreamCreate(&other.stream);
    cudaSetDevice(0);
    CHECK_THROWS_AS(rowan::to_device(other, numbers({2, 2})), rowan::CudaError);
    CHECK_THROWS_AS(rowan::synchronize(other), rowan::CudaError);
    cudaSetDevice(1);
    auto const there = rowan::to_device(other, numbers({2, 2}));
    cudaSetDevice(0);
    CHECK_THROWS_AS(rowan::gather(there, {0}), rowan::CudaError);
}
