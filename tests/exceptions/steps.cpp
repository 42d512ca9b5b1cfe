// tests/exceptions/steps.cpp: the verbs of a recurrent loop allocate nothing once warm.
#include <rowan/sequence.hpp>

#include "catch.hpp"
#include "failing_new.hpp"

#include <cstddef>
#include <new>
#include <vector>

using rowan::Lod, rowan::LoDTensor, rowan::Tensor, rowan::TensorArray;

namespace {

LoDTensor<float> batch() {
    auto value = Tensor<float>::from_shape({20, 3});
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = static_cast<float>(i);
    return {value, Lod{{0, 2, 5}, {0, 3, 9, 11, 17, 20}}};
}

// Every allocation from here on fails.
class NoMemory {
public:
    NoMemory() { test::fail_allocation(1, true); }
    NoMemory(NoMemory const&) = delete;
    NoMemory& operator=(NoMemory const&) = delete;
    ~NoMemory() { test::fail_allocation(0, false); }
};

}  // namespace

TEST_CASE("read, shrink and write allocate nothing once warm", "[exceptions][tensor_array]") {
    if (!test::allocation_can_fail()) {
        WARN("SKIPPED exceptions: this sanitizer has its own operator new");
        return;
    }
    auto const x = batch();
    for (std::size_t level : std::vector<std::size_t>{0, 1}) {
        auto const [steps, map] = TensorArray<float>::unpack(x, {.level = level});
        TensorArray<float> copies, shared;
        for (std::size_t t = 0; t < steps.size(); ++t) {
            copies.write(t, steps.read(t), false);
            shared.write(t, steps.read(t));
        }
        Tensor<float> const state = Tensor<float>::zeros({map.sequences(), 2});
        std::size_t rows = 0;
        bool failed = false;
        {
            NoMemory const none;
            try {
                for (std::size_t t = 0; t < steps.size(); ++t) {
                    auto const step = steps.read(t);
                    shared.write(t, step);
                    copies.write(t, step, false);
                    rows += shrink(state, map, t).shape()[0] + copies.read(t).size();
                    rows += shrink(steps.read(0), map, t).size();
                }
            } catch (std::bad_alloc const&) {
                failed = true;
            }
        }
        CHECK_FALSE(failed);
        CHECK(rows == 3 * map.elements().size());
    }
}
