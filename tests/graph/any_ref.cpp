// tests/graph/any_ref.cpp
#include <rowan/graph/any_ref.hpp>

#include "catch.hpp"

#include <bit>
#include <memory>

namespace test_any_ref {

using namespace rowan;

TEST_CASE("a reference to an execution returns it, or a default if there is none", "[graph]") {
    Cpu const exec{.threads = 3};
    CHECK(AnyExec(exec).get<Cpu>() == exec);
    CHECK(AnyExec(exec).or_default<Cpu>() == exec);
    CHECK(AnyExec().or_default<Cpu>() == Cpu{});
    CHECK_FALSE(AnyExec());
    CHECK_THROWS_AS(AnyExec().get<Cpu>(), GraphError);
}

TEST_CASE("attributes are returned as their own type only, and live as long as a copy", "[graph]") {
    auto owner = std::make_shared<double const>(0.5);
    Attributes attributes(owner);
    std::weak_ptr<double const> const watch = owner;
    owner.reset();
    CHECK(attributes.get<double>() == 0.5);
    CHECK_THROWS_AS(attributes.get<float>(), GraphError);
    CHECK_FALSE(watch.expired());
    attributes = {};
    CHECK(watch.expired());
}

namespace {
struct Hidden {};
}  // namespace
struct Small {};

TEST_CASE("types are told apart by their names, as two libraries with hidden symbols need", "[graph]") {
    using rowan::detail::is_tag_of, rowan::detail::type_tag, rowan::detail::TypeTag;
    TypeTag const others = type_tag<Small>;  // as the other library has it
    REQUIRE(is_tag_of<Small>(&type_tag<Small>));
    REQUIRE(is_tag_of<Small>(&others));
    REQUIRE_FALSE(is_tag_of<double>(&others));
    struct {
        void const* object;
        TypeTag const* type;
    } const of_other_library{&others, &others};
    auto const ref = std::bit_cast<AttributesRef>(of_other_library);
    REQUIRE((ref.is<Small>() && !ref.is<double>()));
    REQUIRE_FALSE(is_tag_of<Small>(nullptr));
    TypeTag const grown{others.type, others.size + 1};  // of another version
    REQUIRE_FALSE(is_tag_of<Small>(&grown));
    TypeTag const without_rtti{nullptr, others.size};
    REQUIRE_FALSE(is_tag_of<Small>(&without_rtti));
    TypeTag const another_file = type_tag<Hidden>;
    REQUIRE(is_tag_of<Hidden>(&type_tag<Hidden>));
    REQUIRE_FALSE(is_tag_of<Hidden>(&another_file));
}

}  // namespace test_any_ref
