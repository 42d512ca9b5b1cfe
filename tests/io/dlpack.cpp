// tests/io/dlpack.cpp: tensors shared with other libraries, and invalid tensors of theirs.
#include <rowan/io/dlpack.hpp>

#include "catch.hpp"
#include "inputs.hpp"
#include "io/damage.hpp"

#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace test_dlpack {

namespace {

using damage::refusal;
using inputs::Shape;
using rowan::bfloat16, rowan::copy_dlpack, rowan::float16, rowan::from_dlpack, rowan::Tensor, rowan::to_dlpack;
using rowan::dlpack::DLManagedTensor, rowan::dlpack::DLManagedTensorVersioned;

static_assert(offsetof(DLManagedTensor, manager_ctx) == 48 && offsetof(DLManagedTensorVersioned, manager_ctx) == 8);
static_assert(offsetof(DLManagedTensorVersioned, flags) == 24 && offsetof(DLManagedTensorVersioned, dl_tensor) == 32);
static_assert(offsetof(rowan::dlpack::DLTensor, shape) == 24 && offsetof(rowan::dlpack::DLTensor, byte_offset) == 40);

// The structs as DLPack's own header has them: the device's type is an enum.
namespace theirs {
enum DLDeviceType { kDLCPU = 1, kDLCUDA = 2 };
struct DLDevice {
    DLDeviceType device_type;
    std::int32_t device_id;
};
struct DLTensor {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    rowan::dlpack::DLDataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(DLManagedTensor* self);
};
}  // namespace theirs

/// A producer of [[0, 1, 2], [3, 4, 5]] with an offset of one element. Counts calls of its deleter.
struct Producer {
    std::array<float, 8> data{-1, 0, 1, 2, 3, 4, 5, -1};
    std::array<std::int64_t, 8> shape{2, 3}, strides{3, 1};
    int deleted = 0;
    DLManagedTensorVersioned managed{{1, 0}, this, [](DLManagedTensorVersioned* m) { ++static_cast<Producer*>(m->manager_ctx)->deleted; }, 0,
                                     {data.data(), {1, 0}, 2, {2, 32, 1}, shape.data(), strides.data(), 4}};
    Producer() = default;
    Producer(Producer const&) = delete;
    rowan::dlpack::DLTensor& tensor() { return managed.dl_tensor; }
};

/// The error text for a producer after `change`; both functions must not take ownership of it.
template <class T = float, class Change>
std::string refused(Change const& change) {
    Producer producer;
    change(producer);
    auto const said = refusal([&] { from_dlpack<T>(&producer.managed); });
    CHECK(producer.deleted == (said == "none" ? 1 : 0));
    return said;
}

Tensor<float> const zero_to_five{{0, 1, 2}, {3, 4, 5}};

}  // namespace

TEMPLATE_TEST_CASE("shared tensors come back, with both kinds of struct and every type of DLPack", "[dlpack]", float, double, std::int32_t,
                   std::int64_t, std::uint8_t, bool, float16, bfloat16) {
    for (Shape const& shape : {Shape{}, Shape{0}, Shape{3}, Shape{2, 0, 3}, Shape{2, 3, 4}, Shape(8, 1)}) {
        auto const tensor = inputs::wild<TestType>(shape, 1);
        auto const versioned = from_dlpack<TestType>(to_dlpack(tensor));
        auto const legacy = from_dlpack<TestType>(to_dlpack<DLManagedTensor>(tensor));
        for (auto const* t : {&versioned, &legacy}) {
            CHECK(t->shape() == tensor.shape());
            CHECK((t->data() == tensor.data() || tensor.size() == 0));
        }
        auto* const m = to_dlpack(tensor);
        CHECK(copy_dlpack<TestType>(m).shape() == tensor.shape());
        m->deleter(m);
    }
}

TEST_CASE("a consumer gets the fields that DLPack asks for", "[dlpack][golden]") {
    auto const tensor = Tensor<float16>::zeros({4, 1, 3}).slice(1, 3);
    auto* const m = to_dlpack(tensor);
    CHECK((m->version.major == 1 && m->version.minor == 0 && m->flags == 0));
    auto const& t = m->dl_tensor;
    CHECK((t.data == tensor.data() && t.byte_offset == 0));
    CHECK((t.device.device_type == 1 && t.device.device_id == 0));
    CHECK((t.dtype.code == 2 && t.dtype.bits == 16 && t.dtype.lanes == 1));
    CHECK(t.ndim == 3);
    CHECK((t.shape[0] == 2 && t.shape[1] == 1 && t.shape[2] == 3));
    CHECK((t.strides[0] == 3 && t.strides[1] == 3 && t.strides[2] == 1));
    m->deleter(m);
    auto const codes = [](auto const& tensor) {
        auto* const m = to_dlpack<DLManagedTensor>(tensor);
        auto const type = m->dl_tensor.dtype;
        m->deleter(m);
        return std::array{int{type.code}, int{type.bits}};
    };
    CHECK(codes(Tensor<float>()) == std::array{2, 32});
    CHECK(codes(Tensor<double>()) == std::array{2, 64});
    CHECK(codes(Tensor<std::int32_t>()) == std::array{0, 32});
    CHECK(codes(Tensor<std::int64_t>()) == std::array{0, 64});
    CHECK(codes(Tensor<std::uint8_t>()) == std::array{1, 8});
    CHECK(codes(Tensor<bool>()) == std::array{6, 8});
    CHECK(codes(Tensor<bfloat16>()) == std::array{4, 16});
}

TEST_CASE("a consumer's tensor outlives ours, and sees writes in place but no assigned value", "[dlpack]") {
    auto tensor = std::make_unique<Tensor<float>>(zero_to_five);
    auto* const m = to_dlpack(*tensor);
    auto* const seen = static_cast<float*>(m->dl_tensor.data);
    *tensor += 1;
    CHECK(seen[5] == 6);
    seen[0] = 9;
    CHECK((*tensor)(0, 0) == 9);
    *tensor = zero_to_five;
    CHECK(seen[5] == 6);
    CHECK(tensor->data() != seen);
    *tensor = Tensor<float>(zero_to_five);
    tensor.reset();
    CHECK((seen[0] == 9 && seen[5] == 6));
    m->deleter(m);
}

TEST_CASE("a producer's elements are not copied, and are released with the last alias", "[dlpack]") {
    Producer producer;
    {
        Tensor<float> rows;
        {
            auto tensor = from_dlpack<float>(&producer.managed);
            CHECK(tensor == zero_to_five);
            CHECK(tensor.data() == producer.data.data() + 1);
            tensor *= 2;
            CHECK(producer.data[6] == 10);
            rows = tensor.slice(1, 2);
        }
        CHECK(producer.deleted == 0);
        CHECK(rows == Tensor<float>{{6, 8, 10}});
    }
    CHECK(producer.deleted == 1);
}

TEST_CASE("assignment never writes to a producer's memory", "[dlpack][alias]") {
    auto const unchanged = [](auto assign) {
        Producer producer;
        auto const before = producer.data;
        auto tensor = from_dlpack<float>(&producer.managed);
        assign(tensor);
        CHECK(producer.deleted == 1);
        return producer.data == before;
    };
    CHECK(unchanged([](auto& t) { t = zero_to_five + 1; }));
    CHECK(unchanged([](auto& t) { Tensor<float> const ones = Tensor<float>::full({2, 3}, 1); t = ones; }));
    CHECK(unchanged([](auto& t) { t.resize(Shape{1, 2}); t(0, 0) = 7; }));
    CHECK(unchanged([](auto& t) {
        t = t.slice(0, 1);  // now the only alias
        Tensor<float> const ones{{1, 1, 1}};
        t = ones;
    }));
}

TEST_CASE("structs of DLPack's own header are accepted", "[dlpack]") {
    auto* const m = to_dlpack<theirs::DLManagedTensor>(zero_to_five);
    CHECK(m->dl_tensor.device.device_type == theirs::kDLCPU);
    CHECK(from_dlpack<float>(m).data() == zero_to_five.data());
    auto* const other = to_dlpack<theirs::DLManagedTensor>(zero_to_five);
    other->dl_tensor.device.device_type = theirs::kDLCUDA;
    CHECK(refusal([&] { from_dlpack<float>(other); }) == "the tensor's device is 2, expected 1, the CPU");
    other->deleter(other);
}

TEST_CASE("strides may be anything where they do not matter, and missing", "[dlpack]") {
    CHECK(refused([](Producer& p) { p.tensor().strides = nullptr; }) == "none");
    CHECK(refused([](Producer& p) { p.shape = {1, 3}, p.strides = {99, 1}; }) == "none");
    CHECK(refused([](Producer& p) { p.shape = {2, 0}, p.strides = {-7, 5}; }) == "none");
    CHECK(refused([](Producer& p) { p.managed.deleter = [](auto*) {}, ++p.deleted; }) == "none");
    Producer without;
    without.managed.deleter = nullptr;
    CHECK(from_dlpack<float>(&without.managed) == zero_to_five);
    Producer empty;
    empty.shape = {0, 3};
    empty.tensor().data = nullptr;
    CHECK(from_dlpack<float>(&empty.managed).shape() == Shape{0, 3});
    CHECK(empty.deleted == 1);
    Producer one;
    one.tensor().ndim = 0;
    one.tensor().shape = one.tensor().strides = nullptr;
    CHECK(from_dlpack<float>(&one.managed) == Tensor<float>::full({}, 0));
}

TEST_CASE("invalid tensors throw and remain the caller's", "[dlpack]") {
    CHECK(refused([](Producer&) {}) == "none");
    CHECK(refused([](Producer& p) { p.managed.version = {1, 7}; }) == "none");
    CHECK(refused([](Producer& p) { p.managed.version = {2, 0}; }) == "byte 0: the version of DLPack is 2.0, supported is 1");
    CHECK(refused([](Producer& p) { p.tensor().device = {2, 0}; }) == "the tensor's device is 2, expected 1, the CPU");
    CHECK(refused([](Producer& p) { p.tensor().dtype = {2, 64, 1}; }) == "the tensor's element type is float64, expected float32");
    CHECK(refused([](Producer& p) { p.tensor().dtype = {2, 32, 4}; }) == "the tensor's element type is float32, 4 lanes, expected float32");
    CHECK(refused([](Producer& p) { p.tensor().dtype = {3, 32, 1}; }) == "the tensor's element type is type 3, bits 32, expected float32");
    CHECK(refused([](Producer& p) { p.tensor().dtype = {200, 32, 1}; }) == "the tensor's element type is type 200, bits 32, expected float32");
    CHECK(refused<std::int32_t>([](Producer&) {}) == "the tensor's element type is float32, expected int32");
    CHECK(refused<bfloat16>([](Producer& p) { p.tensor().dtype = {2, 16, 1}; }) == "the tensor's element type is float16, expected bfloat16");
    CHECK(refused<bool>([](Producer& p) { p.tensor().dtype = {1, 8, 1}; }) == "the tensor's element type is uint8, expected bool8");
    CHECK(refused([](Producer& p) { p.tensor().ndim = -1; }) == "ndim is -1, expected in [0, 8]");
    CHECK(refused([](Producer& p) { p.tensor().ndim = 9; }) == "ndim is 9, expected in [0, 8]");
    CHECK(refused([](Producer& p) { p.tensor().shape = nullptr; }) == "shape is null, expected 2 dims");
    CHECK(refused([](Producer& p) { p.shape = {2, -3}; }) == "shape[1] is -3, expected at least 0");
    CHECK(refused([](Producer& p) { p.shape = {1LL << 32, 1LL << 32}; }) ==
          "dlpack shape is [4294967296, 4294967296], expected at most 2^63 - 1 bytes in all");
    CHECK(refused([](Producer& p) { p.tensor().data = nullptr; }) == "data is null, but the tensor has elements");
    CHECK(refused([](Producer& p) { p.tensor().byte_offset = 2; }) == "data + byte_offset is not a multiple of 4, the alignment of f32");
    CHECK(refused([](Producer& p) { p.managed.flags = 1; }) == "the tensor is read-only: use copy_dlpack");
    CHECK(refused([](Producer& p) { p.managed.flags = 2; }) == "none");  // a copy, made for us
    CHECK(refused([](Producer& p) { p.strides = {1, 2}; }) == "strides[1] is 2, expected 1, as in row-major order: use copy_dlpack");
    CHECK(refused([](Producer& p) { p.strides = {4, 1}; }) == "strides[0] is 4, expected 3, as in row-major order: use copy_dlpack");
    CHECK(refusal([] { from_dlpack<float>(static_cast<DLManagedTensor*>(nullptr)); }) == "from_dlpack: managed is null");
    CHECK(refusal([] { copy_dlpack<float>(static_cast<DLManagedTensor*>(nullptr)); }) == "copy_dlpack: managed is null");
}

TEST_CASE("strided and read-only tensors are copied", "[dlpack]") {
    auto const copied = [](auto change) {
        Producer producer;
        change(producer);
        auto copy = copy_dlpack<float>(&producer.managed);
        CHECK(producer.deleted == 0);
        CHECK(copy.data() != producer.data.data() + 1);
        return copy;
    };
    CHECK(copied([](Producer& p) { p.managed.flags = 1; }) == zero_to_five);
    CHECK(copied([](Producer& p) { p.tensor().strides = nullptr; }) == zero_to_five);
    CHECK(copied([](Producer& p) { p.strides = {1, 2}; }) == Tensor<float>{{0, 2, 4}, {1, 3, 5}});
    CHECK(copied([](Producer& p) { p.strides = {0, 1}; }) == Tensor<float>{{0, 1, 2}, {0, 1, 2}});
    CHECK(copied([](Producer& p) { p.strides = {-3, -1}, p.tensor().byte_offset = 24; }) == Tensor<float>{{5, 4, 3}, {2, 1, 0}});
    CHECK(copied([](Producer& p) { p.tensor().ndim = 3, p.shape = {2, 1, 2}, p.strides = {3, 77, 2}; }) == Tensor<float>{{{0, 2}}, {{3, 5}}});
    CHECK(copied([](Producer& p) { p.shape = {0, 3}; }).shape() == Shape{0, 3});
    Producer producer;
    CHECK_THROWS_AS(copy_dlpack<double>(&producer.managed), rowan::TypeError);
}

}  // namespace test_dlpack
