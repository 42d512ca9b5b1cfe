// tests/exceptions/desc.cpp: a failed allocation in encode or decode throws std::bad_alloc, but not through nanopb.
#include "failing_new.hpp"

#include <rowan/io/desc.hpp>

#include "catch.hpp"
#include "io/descs.hpp"

#include <new>

namespace test_desc {

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

}  // namespace test_desc
