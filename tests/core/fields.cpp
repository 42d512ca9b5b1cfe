// tests/core/fields.cpp
#include <rowan/core/fields.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace test_fields {

namespace {

struct Narrow {
    double rate = 0.5;
    ROWAN_OPTIONS(Narrow, rate)
};
struct Wide {
    double a = 1, rate = 2;
    bool flag = false;
    std::int64_t b = 3;
    ROWAN_OPTIONS(Wide, a, rate, flag, b)
};
struct Listed {
    float rate = 7;
    bool flag = true;
    static constexpr auto fields = std::tuple{rowan::field{"rate", &Listed::rate}, rowan::field{"flag", &Listed::flag}};
};
struct Many {
    int a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9, a10 = 10, a11 = 11, a12 = 12;
    ROWAN_OPTIONS(Many, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)
};
struct None {};

template <class A>
std::string listed() {
    A const a{};
    std::string all;
    rowan::each_field<A>([&](auto const& f) { all.append(f.name).append("=").append(std::to_string(static_cast<int>(a.*f.member))).append(" "); });
    return all;
}

}  // namespace

TEST_CASE("ROWAN_OPTIONS lists members by their names, in the order given", "[core]") {
    static_assert(rowan::has_fields<Narrow> && rowan::has_fields<Wide> && rowan::has_fields<Listed> && !rowan::has_fields<None>);
    CHECK(listed<Narrow>() == "rate=0 ");
    CHECK(listed<Wide>() == "a=1 rate=2 flag=0 b=3 ");
    CHECK(listed<Listed>() == "rate=7 flag=1 ");
    CHECK(listed<Many>() == "a1=1 a2=2 a3=3 a4=4 a5=5 a6=6 a7=7 a8=8 a9=9 a10=10 a11=11 a12=12 ");
}

TEST_CASE("with_fields_of takes members of one name and type, and leaves the other ones", "[core]") {
    auto const wide = rowan::detail::with_fields_of(Narrow{.rate = 0.25}, Wide{.b = 9});
    CHECK((wide.a == 1 && wide.rate == 0.25 && !wide.flag && wide.b == 9));
    CHECK(rowan::detail::with_fields_of<Narrow>(Wide{.rate = 6}).rate == 6);
    auto const other = rowan::detail::with_fields_of<Wide>(Listed{});  // its rate is a float
    CHECK((other.rate == 2 && other.flag));
}

}  // namespace test_fields
