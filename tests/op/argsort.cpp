// tests/op/argsort.cpp: positions in the order of elements, against std::stable_sort.
#include <rowan/op/reduce/argsort.hpp>

#include "any_threads.hpp"
#include "inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace test_argsort {

using rowan::argsort_op, rowan::bfloat16, rowan::Cpu, rowan::Tensor, rowan::tensor_spec, rowan::UNK;
using Ids = Tensor<std::int64_t>;

static_assert(argsort_op::infer(tensor_spec<float>({UNK, 3}, 1)) == tensor_spec<std::int64_t>({UNK, 3}, 1));

TEST_CASE("argsort equals NumPy's stable one, with NaN last, or first if descending", "[op][golden]") {
    Tensor<float> const x{{3, NAN, -0.0F, 0, -INFINITY, NAN, 3, INFINITY}};
    CHECK((rowan::argsort(x) == Ids{{4, 2, 3, 0, 6, 7, 1, 5}}));  // NumPy: argsort(x, kind="stable")
    CHECK((rowan::argsort(x, {.descending = true}) == Ids{{1, 5, 7, 0, 6, 2, 3, 4}}));  // PyTorch: argsort(x, descending=True, stable=True)
    CHECK((rowan::argsort(x, {.axis = 0}) == Ids::zeros({1, 8})));
    CHECK((rowan::argsort(Tensor<std::int64_t>{INT64_MAX, INT64_MIN, 0, INT64_MIN}) == Ids{1, 3, 2, 0}));
    CHECK((rowan::argsort(Tensor<std::uint8_t>{255, 0, 128}) == Ids{1, 2, 0}));
    CHECK((rowan::argsort(Tensor<bool>{true, false, true}, {.descending = true}) == Ids{0, 2, 1}));
    CHECK((rowan::argsort(Tensor<bfloat16>{bfloat16(2.F), bfloat16(NAN), bfloat16(1.F)}) == Ids{2, 0, 1}));
    CHECK((rowan::argsort(Tensor<double>{5}) == Ids{0}));
    CHECK(rowan::argsort(Tensor<float>::from_shape({0, 3})).shape() == Ids::shape_type{0, 3});
    CHECK(rowan::argsort(Tensor<float>::from_shape({3, 0})).shape() == Ids::shape_type{3, 0});
}

TEST_CASE("argsort equals a stable sort of each lane, for any number of elements", "[op]") {
    inputs::Random random(3);
    for (std::size_t const n : {1u, 2u, 15u, 16u, 17u, 31u, 32u, 33u, 48u, 63u, 64u, 65u, 127u, 257u, 1000u, 4099u}) {
        for (std::size_t const inner : {1u, 3u}) {
            for (std::int64_t const kinds : {2, 40, 1'000'000}) {
                auto x = Tensor<float>::from_shape({2, n, inner});
                for (float& v : x) v = random.below(50) == 0 ? NAN : static_cast<float>(random.below(kinds));
                for (bool const descending : {false, true}) {
                    auto const got = rowan::argsort(x, {.axis = 1, .descending = descending});
                    bool same = true;
                    for (std::size_t lane = 0; lane < 2 * inner; ++lane) {
                        auto const at = [&](auto const& t, std::size_t i) { return t(lane / inner, i, lane % inner); };
                        std::vector<std::size_t> want(n);
                        std::iota(want.begin(), want.end(), std::size_t{0});
                        std::stable_sort(want.begin(), want.end(), [&](std::size_t i, std::size_t j) {
                            float const a = at(x, descending ? j : i), b = at(x, descending ? i : j);
                            return a < b || (std::isnan(b) && !std::isnan(a));
                        });
                        for (std::size_t i = 0; i < n; ++i) same = same && at(got, i) == static_cast<std::int64_t>(want[i]);
                    }
                    CAPTURE(n, inner, kinds, descending);
                    CHECK(same);
                }
            }
        }
    }
}

TEST_CASE("argsort has the same bits on any number of threads", "[op]") {
    auto const x = inputs::wild<float>({rowan::detail::serial_below + 77}, 3);
    test::check_any_threads([&](Cpu exec) { return rowan::argsort(exec, x); });
    auto const y = inputs::wild<bfloat16>({700, 130, 8}, 4);
    test::check_any_threads([&](Cpu exec) { return rowan::argsort(exec, y, {.axis = 1}); });
}

}  // namespace test_argsort
