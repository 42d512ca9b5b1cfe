// tests/core/tensor_alias.cpp: writes to a Tensor that its aliases see, and those that they do not.
#include <rowan/core/tensor.hpp>

#include "catch.hpp"
#include "xtensor.hpp"

namespace test_tensor_alias {

using rowan::Tensor;
using Shape = Tensor<float>::shape_type;

TEST_CASE("a copy is deep", "[tensor]") {
    Tensor<float> const t{1, 2};
    Tensor<float> copy = t;
    copy(0) = 9;
    CHECK(t(0) == 1);
    copy = t;
    copy(1) = 9;
    CHECK(t(1) == 2);
}

TEST_CASE("share and slice and reshaped see the same elements and keep them alive", "[tensor]") {
    Tensor<float> rows;
    {
        Tensor<float> t{{1, 2}, {3, 4}, {5, 6}};
        rows = t.slice(1, 3);
        t.share()(2, 1) = 60;
        t.reshaped({6})(2) = 30;
        CHECK(rows.data() == t.data() + 2);
    }
    CHECK((rows == Tensor<float>{{30, 4}, {5, 60}}));
    CHECK((rows.slice(1, 2) == Tensor<float>{{5, 60}}));
    CHECK(rows.slice(1, 1).shape() == Shape{0, 2});
    CHECK(rows.slice(2, 2).shape() == Shape{0, 2});
    CHECK(rows.reshaped({2, 1, 2}).shape() == Shape{2, 1, 2});
}

TEST_CASE("assignment replaces the contents and does not change aliases", "[tensor][alias]") {
    Tensor<float> const two{8, 9};
    auto const unchanged = [&](auto assign) {
        Tensor<float> t{1, 2};
        Tensor<float> const alias = t.share();
        assign(t);
        return alias == Tensor<float>{1, 2};
    };
    CHECK(unchanged([&](auto& t) { t = two; }));
    CHECK(unchanged([&](auto& t) { t = Tensor<float>(two); }));
    CHECK(unchanged([&](auto& t) { t = two + 1; }));
    CHECK(unchanged([&](auto& t) { t = t + 1; }));
    CHECK(unchanged([&](auto& t) { t = {3, 4}; }));
    CHECK(unchanged([&](auto& t) { t = Tensor<float>(); }));
    CHECK(unchanged([&](auto& t) { t.resize(Shape{3}); }));
}

TEST_CASE("compound assignment, element access and noalias write in place", "[tensor][alias]") {
    Tensor<float> const two{8, 9};
    auto const alias_after = [&](auto write) {
        Tensor<float> t{1, 2, 3};
        Tensor<float> alias = t.slice(0, 2);
        write(alias);
        return Tensor<float>(t);
    };
    CHECK((alias_after([&](auto& t) { t += two; }) == Tensor<float>{9, 11, 3}));
    CHECK((alias_after([&](auto& t) { t -= two * 1; }) == Tensor<float>{-7, -7, 3}));
    CHECK((alias_after([&](auto& t) { t *= t; }) == Tensor<float>{1, 4, 3}));
    CHECK((alias_after([&](auto& t) { t /= 2; }) == Tensor<float>{0.5F, 1, 3}));
    CHECK((alias_after([&](auto& t) { t(0) = 5; }) == Tensor<float>{5, 2, 3}));
    CHECK((alias_after([&](auto& t) { t.fill(4); }) == Tensor<float>{4, 4, 3}));
    CHECK((alias_after([&](auto& t) { t.row(1)[0] = 7; }) == Tensor<float>{1, 7, 3}));
    CHECK((alias_after([&](auto& t) { xt::noalias(t) = two + 1; }) == Tensor<float>{9, 10, 3}));
    CHECK((alias_after([&](auto& t) { xt::view(t, xt::range(0, 1)) = 6; }) == Tensor<float>{6, 2, 3}));
}

}  // namespace test_tensor_alias
