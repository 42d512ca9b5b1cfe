// tests/sample.hpp: some of the cases of a product, which quick checks run, or all of them, which nightly ones run.
#pragma once

#include "inputs.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace test {

/// `n` of `all`, the same in every run, in their order; with ROWAN_NIGHTLY, all.
template <class Case>
std::vector<Case> sample(std::vector<Case> const& all, std::size_t n = 40) {
    if (std::getenv("ROWAN_NIGHTLY") != nullptr) return all;
    inputs::Random random(n);
    std::vector<Case> some;
    for (std::size_t i = 0; i < all.size(); ++i) {  // each with the same chance
        if (random.below(static_cast<std::int64_t>(all.size() - i)) < static_cast<std::int64_t>(n - some.size())) some.push_back(all[i]);
    }
    return some;
}

}  // namespace test
