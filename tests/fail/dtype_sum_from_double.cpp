// expect: rowan::dtype<T>::sum must be constructible from double
#include <rowan/core/tensor.hpp>

struct number {
    double x = 0;
    number() = default;
    friend number operator+(number a, number b) {
        a.x += b.x;
        return a;
    }
    friend number operator-(number a, number b) {
        a.x -= b.x;
        return a;
    }
    friend number operator*(number a, number b) {
        a.x *= b.x;
        return a;
    }
    friend number operator/(number a, number b) {
        a.x /= b.x;
        return a;
    }
};

template <>
struct rowan::dtype<number> {
    using sum = number;
    static constexpr std::string_view name = "number";
    static constexpr std::int32_t wire = 1000;
    static sum widen(number x) { return x; }
    static number narrow(sum x) { return x; }
};

rowan::Tensor<number> tensor;
