#include "catch.hpp"

#include <rowan/core/copy.hpp>

#include <utility>

namespace test_copy {

using rowan::Cpu;
using rowan::Tensor;

TEST_CASE("on the host, to_device returns the tensor and to_host an alias") {
    Tensor<float> x{{1, 2}, {3, 4}};
    float const* const data = x.data();
    auto there = rowan::to_device(Cpu{}, std::move(x));
    CHECK(there.data() == data);
    CHECK(rowan::to_host(there).data() == data);
    CHECK(rowan::to_host(there.device(), there).data() == data);
    rowan::synchronize(there.device());
    CHECK(there == Tensor<float>{{1, 2}, {3, 4}});
}

TEST_CASE("tensors on the host are made with an execution, as on devices") {
    Cpu const exec{.threads = 2};
    CHECK(Tensor<int>::zeros(exec, {2}) == Tensor<int>{0, 0});
    CHECK(Tensor<int>::full(exec, {2}, 7) == Tensor<int>{7, 7});
    CHECK(Tensor<int>::from_shape(exec, {3, 0}).shape(1) == 0);
    CHECK(Tensor<int>{1}.device() == Cpu{});
    CHECK_FALSE(exec == Cpu{});
}

}  // namespace test_copy
