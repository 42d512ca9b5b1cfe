// tests/op/activations_range.cpp: activations and their slopes at all numbers of 16 and 32 bits.
#include "curves.hpp"

#include <rowan/core/parallel.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

namespace test_activations_range {

using rowan::Cpu, rowan::Tensor;

/// All numbers of a 16-bit type.
template <class T>
Tensor<T> all_of() {
    auto x = Tensor<T>::from_shape({65'536});
    for (std::uint32_t i = 0; i < 65'536; ++i) x(i) = T::from_bits(static_cast<std::uint16_t>(i));
    return x;
}

TEST_CASE("activations and their slopes are right at all numbers of 16 bits", "[op][golden]") {
    test::check_curves<double>(all_of<rowan::bfloat16>());
    test::check_curves<double>(all_of<rowan::float16>());
}

TEST_CASE("activations and their slopes are right at powers of ten, zeros, subnormal numbers, infinities and NaN", "[op][golden]") {
    auto const ends = []<class T>(T, int least, int most) {
        using limits = std::numeric_limits<T>;
        std::vector<T> x{0, limits::min(), limits::denorm_min(), limits::max(), limits::infinity(), limits::quiet_NaN()};
        for (int e = least; e <= most; ++e) x.push_back(static_cast<T>(std::pow(10.0L, e)));
        for (int i = 1; i < 1600; ++i) x.push_back(static_cast<T>(i) / 2);
        for (std::size_t i = 0, n = x.size(); i < n; ++i) x.push_back(-x[i]);
        auto all = Tensor<T>::from_shape({x.size()});
        std::copy(x.begin(), x.end(), all.data());
        return all;
    };
    test::check_curves<double>(ends(float{}, -45, 38));
    test::check_curves<long double>(ends(double{}, -323, 308));
}

// tests/run.sh floats runs it, optimised: some minutes.
TEST_CASE("activations of all floats are those of doubles, up to rounding", "[.floats]") {
    constexpr std::size_t n = std::size_t{1} << 16;
    test::each_curve<double>([&]<class Op>(Op, auto const& given, auto const&, auto const&, double ulps, double off) {
        using Grad = rowan::gradient_operator<Op>;
        rowan::attributes_of<Op> const options(given);
        std::atomic<std::uint64_t> bad_value{0}, bad_slope{0};
        rowan::parallel_for(Cpu{}, std::size_t{1} << 16, 1, [&](std::size_t begin, std::size_t end) {
            auto x = Tensor<float>::from_shape({n}), ones = x;
            auto wide = Tensor<double>::from_shape({n}), wide_ones = wide;
            std::fill_n(ones.data(), n, 1.F);
            std::fill_n(wide_ones.data(), n, 1.0);
            for (; begin < end; ++begin) {
                for (std::size_t i = 0; i < n; ++i) {
                    x(i) = std::bit_cast<float>(static_cast<std::uint32_t>(begin * n + i));
                    wide(i) = static_cast<double>(x(i));
                }
                constexpr bool of_x = Grad::inputs::template has<rowan::slot::x>;
                auto const y = Op::run(Cpu{1}, x, options);
                auto const want = Op::run(Cpu{1}, wide, options);
                auto const g = Grad::run(Cpu{1}, of_x ? x : y, ones, options);
                auto const slope = Grad::run(Cpu{1}, of_x ? wide : want, wide_ones, options);
                std::uint64_t values = 0, slopes = 0;
                constexpr double epsilon = 0x1p-23, least = 0x1p-126;
                for (std::size_t i = 0; i < n; ++i) {
                    double const is = static_cast<double>(y(i)), size = std::abs(want(i));
                    bool const same = is == want(i) || (std::isnan(is) && std::isnan(want(i)));
                    values += !same && !(std::abs(is - want(i)) <= ulps * epsilon * std::max(size, least));
                    double const tilt = static_cast<double>(g(i));
                    bool const same_slope = std::isnan(tilt) && std::isnan(slope(i));
                    slopes += !same_slope && !(std::abs(tilt - slope(i)) <= off * epsilon);
                }
                bad_value += values;
                bad_slope += slopes;
            }
        });
        INFO(Op::name);
        CHECK(bad_value == 0);
        CHECK(bad_slope == 0);
    });
}

}  // namespace test_activations_range
