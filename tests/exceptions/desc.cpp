// tests/exceptions/desc.cpp: a failed allocation in encode or decode throws std::bad_alloc, but not through nanopb.
#include "failing_new.hpp"

#include <rowan/io/desc.hpp>

#include "catch.hpp"
#include "io/descs.hpp"

#include <new>
#include <string>

namespace test_desc {

namespace {

/// A field with a length, whose tag and length are varints.
std::string field(int tag, std::string const& value) {
    std::string text(1, static_cast<char>(tag << 3 | 2));
    std::size_t size = value.size();
    for (; size >= 128; size >>= 7) text += static_cast<char>(size | 128);
    return text + static_cast<char>(size) + value;
}

std::string repeated(std::string const& text, std::size_t n) {
    std::string all;
    while (n-- != 0) all += text;
    return all;
}

}  // namespace

TEST_CASE("encode and decode leak nothing if any allocation fails", "[desc]") {
    auto const program = descs::program();
    auto const bytes = rowan::encode(program);
    for (bool const writes : {false, true}) {
        for (bool const ever_after : {false, true}) {
            std::ptrdiff_t const before = test::live_blocks();
            std::size_t failures = 0;
            for (std::size_t n = 1;; ++n) {
                bool failed = false, same = false;
                test::fail_allocation(n, ever_after);
                try {
                    same = writes ? rowan::encode(program) == bytes : rowan::decode<rowan::ProgramDesc>(bytes) == program;
                } catch (std::bad_alloc const&) {
                    failed = true;
                }
                test::fail_allocation(0);
                REQUIRE(failed != same);
                REQUIRE(test::live_blocks() == before);
                if (!failed) break;
                ++failures;
            }
            CHECK(failures > 20);
        }
    }
}

TEST_CASE("decoding uses at most 7 times the bytes and 1 MiB of memory, or refuses the bytes", "[desc]") {
    std::string const type = field(3, "f"), attribute = field(1, "x");
    std::string slots, variables;
    for (int i = 0; i < 26 * 26 * 26; ++i) {
        std::string const name{static_cast<char>('a' + i % 26), static_cast<char>('a' + i / 26 % 26), static_cast<char>('a' + i / 676)};
        slots += field(1, field(1, name) + field(2, ""));
        variables += field(3, field(1, name) + std::string("\x10\3", 2));  // of type STEP_SCOPES
    }
    auto const one = [&](std::string const& inner) { return field(4, type + inner); };
    for (bool const wide : {false, true}) {  // with as much memory as they want, these programs use more
        std::size_t refused = 0;
        for (std::string const& ops :
             {one(field(1, attribute + repeated(field(2, ""), 500'000))), one(field(4, attribute + std::string("\x10\5", 2) + repeated(field(8, ""), 500'000))),
              repeated(one(""), 200'000), one(field(4, attribute + std::string("\x10\xB", 2) + field(15, std::string(1'000'000, '\0')))),
              one(slots), variables + repeated(one(field(1, attribute)), 50'000), one(field(1, attribute + field(2, std::string(100'000, 'x'))))}) {
            auto const program = field(1, std::string("\x08\0\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1", 13) + ops);
            auto const bytes = std::as_bytes(std::span(program.data(), program.size()));
            auto const allowed = 7 * static_cast<std::ptrdiff_t>(bytes.size()) + (1 << 20);
            std::string why;
            test::watch_bytes();
            try {
                static_cast<void>(rowan::decode<rowan::ProgramDesc>(bytes, 0, wide ? 1 << 30 : 0));
            } catch (rowan::FormatError const& e) {
                why = e.what();
            }
            CAPTURE(bytes.size(), why);
            if (wide ? test::most_bytes() > allowed : why.find("bytes of memory") != std::string::npos) ++refused;
            if (!wide) CHECK(test::most_bytes() <= allowed);
        }
        CHECK(refused == 4);
    }
}

}  // namespace test_desc
