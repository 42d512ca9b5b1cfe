// tests/distributed/damaged.hpp: what ranks say of a save that some of them cannot load.
#pragma once

#include "catch.hpp"
#include "on_ranks.hpp"

#include <string>

namespace test {

/// Checks that load(comm) gives a text that begins with "damaged: " on all ranks, and with `text` in it on one or more.
template <class Load>
void check_damaged(int ranks, std::string const& text, Load const& load) {
    auto const right = on_ranks(ranks, [&](auto const& comm) {
        std::string const said = load(comm);
        return (said.starts_with("damaged: ") ? 1 : 0) + (said.find(text) != std::string::npos ? 2 : 0);
    });
    int own = 0;
    CAPTURE(text);
    for (int const r : right) {
        CHECK((r & 1) == 1);
        own += r / 2;
    }
    CHECK(own >= 1);
}

}  // namespace test
