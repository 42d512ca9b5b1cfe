// tests/distributed/own_files.hpp: loads of a save by ranks of which each has its files alone.
#pragma once

#include "catch.hpp"
#include "on_ranks.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace test {

/// Checks that load(comm, folder) gives "1" on all of `sizes` ranks, for the table t that `from` ranks have saved in the
/// folder `at`, where each rank has the index and its own files.
template <class Load>
void check_own_files(std::string const& at, int from, std::vector<int> const& sizes, Load const& load) {
    for (int const to : sizes) {
        auto const right = on_ranks(to, [&](auto const& comm) {
            auto const own = std::string(at).append("/of ").append(std::to_string(comm.rank()));
            rowan::together(comm, [&] {
                std::filesystem::create_directory(own);
                std::filesystem::copy(at + "/t", own);
                for (int r = comm.rank(); r < from; r += comm.size())
                    std::filesystem::copy(std::string(at).append("/t-1.").append(std::to_string(r)).append(".rows"), own);
            });
            std::string const text = load(comm, own);
            std::filesystem::remove_all(own);
            return text == "1" ? 1 : 0;
        });
        CAPTURE(from, to);
        for (int const r : right) CHECK(r == 1);
    }
}

}  // namespace test
