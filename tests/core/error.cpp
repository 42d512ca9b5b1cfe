// tests/core/error.cpp: the texts and members of errors.
#include <rowan/core/error.hpp>

#include "catch.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
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

TEST_CASE("an ErrorText joins characters and whole numbers of all types", "[error]") {
    using rowan::ErrorText;
    std::string const field = "w", with_zero("a\0b", 3);
    CHECK(ErrorText("all of it").text() == "all of it");
    CHECK(ErrorText(field).text() == "w");
    CHECK(ErrorText(std::string_view("height").substr(0, 1)).text() == "h");
    CHECK(ErrorText(std::string_view()).text().empty());
    CHECK(ErrorText({}).text().empty());
    CHECK(ErrorText(0).text() == "0");
    CHECK(ErrorText({field, ".shape(", std::size_t{1}, ")"}).text() == "w.shape(1)");
    CHECK(ErrorText({with_zero, std::string_view(), ""}).text() == with_zero);
    CHECK(ErrorText({std::numeric_limits<std::int64_t>::min(), " ", std::numeric_limits<std::uint64_t>::max()}).text() == "-9223372036854775808 18446744073709551615");
    CHECK(ErrorText({std::int8_t{-1}, " ", std::uint8_t{65}, " ", true, " ", 0}).text() == "-1 65 1 0");
    CHECK_FALSE(std::is_constructible_v<ErrorText, char>);
    CHECK_FALSE(std::is_constructible_v<ErrorText, double>);

    rowan::ShapeError const e({field, ".shape(", 0, ")"}, 3, {"at least ", 4U});
    CHECK(e.what() == std::string("w.shape(0) is 3, expected at least 4"));
    CHECK((e.field() == "w.shape(0)" && e.actual() == "3" && e.expected() == "at least 4"));
    CHECK(rowan::Error({"part ", 1, " of ", 2}).what() == std::string("part 1 of 2"));
    CHECK(rowan::GraphError({"no ", field}).what() == std::string("no w"));
    CHECK(rowan::IndexError({"x[", 2, "]"}, 0, 7, {"is more than ", 5}).what() == std::string("x[2][0] = 7 is more than 5"));
    CHECK(rowan::FormatError(3, {"dims[", 0, "]"}, {"is ", -1}).what() == std::string("byte 3: dims[0] is -1"));
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
