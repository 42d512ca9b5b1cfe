// tests/core/error.cpp: the texts and members of errors.
#include <rowan/core/error.hpp>

#include "catch.hpp"

#include <cerrno>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace test_error {

TEST_CASE("every error is a rowan::Error, and that a std::runtime_error", "[error]") {
    CHECK(std::is_base_of_v<std::runtime_error, rowan::Error>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::IndexError>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::ShapeError>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::LodError>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::TypeError>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::FormatError>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::IoError>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::GraphError>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::ValueError>);
    CHECK(std::is_base_of_v<rowan::Error, rowan::CudaError>);
}

TEST_CASE("an IndexError names the argument, the position, the value and the bound", "[error]") {
    rowan::IndexError const e("rows", 1, 9, 4);
    CHECK(e.what() == std::string("rows[1] = 9 is not in [0, 4)"));
    CHECK((e.field() == "rows" && e.position() == 1 && e.value() == 9 && e.bound() == 4));
    CHECK(rowan::IndexError("index", 9, 3).what() == std::string("index = 9 is not in [0, 3)"));
    CHECK(rowan::IndexError("index", 0, ~std::size_t{0}, 3).what() == std::string("index[0] = 18446744073709551615 is not in [0, 3)"));
    CHECK(rowan::IndexError("ids", 0, -1, 3).what() == std::string("ids[0] = -1 is not in [0, 3)"));
}

TEST_CASE("a ShapeError names both sides", "[error]") {
    rowan::ShapeError const e("value.shape(0)", "3", "2");
    CHECK(e.what() == std::string("value.shape(0) is 3, expected 2"));
    CHECK((e.field() == "value.shape(0)" && e.actual() == "3" && e.expected() == "2"));
}

TEST_CASE("the other errors state place and cause", "[error]") {
    rowan::ValueError const value("learning_rate", std::numeric_limits<double>::quiet_NaN(), "a finite number");
    CHECK(value.what() == std::string("learning_rate is nan, expected a finite number"));
    CHECK((value.field() == "learning_rate" && value.value() != value.value()));
    CHECK(rowan::ValueError("k", std::numeric_limits<std::int64_t>::max(), "less").what() == std::string("k is 9223372036854775807, expected less"));

    rowan::LodError const lod(1, 2, 3, "is less than lod[1][1] = 5");
    CHECK(lod.what() == std::string("lod[1][2] = 3 is less than lod[1][1] = 5"));
    CHECK((lod.level() == 1 && lod.position() == 2 && lod.value() == 3));

    rowan::TypeError const type("table", "f32", "bf16");
    CHECK(type.what() == std::string("table is f32, expected bf16"));
    CHECK(type.field() == "table");

    rowan::FormatError const format(12, "dims", "is -3, which is negative");
    CHECK(format.what() == std::string("byte 12: dims is -3, which is negative"));
    CHECK((format.offset() == 12 && format.field() == "dims"));

    rowan::IoError const io("open", "model.rowan", "No such file or directory", ENOENT);
    CHECK(io.what() == std::string("open model.rowan: No such file or directory"));
    CHECK((io.path() == "model.rowan" && io.code() == ENOENT));
}

}  // namespace test_error
