// gloss/ngrams.hpp: the n-grams of characters and of words, and their hashes, as fastText has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gloss {

/// The hash of a word or an n-gram of characters: FNV-1a of 32 bits, in which bytes are signed numbers.
constexpr std::uint32_t hash_of(std::string_view text) {
    std::uint32_t hash = 2166136261u;
    for (char const c : text) hash = (hash ^ static_cast<std::uint32_t>(static_cast<signed char>(c))) * 16777619u;
    return hash;
}

/// Calls f(hash) for each n-gram of `least` to `most` characters of a word in UTF-8, given as "<word>". The marks alone
/// are no n-grams.
template <class F>
constexpr void for_each_subword(std::string_view word, std::size_t least, std::size_t most, F f) {
    auto const continues = [&](std::size_t i) { return i < word.size() && (word[i] & 0xC0) == 0x80; };
    for (std::size_t begin = 0; begin < word.size(); ++begin) {
        if (continues(begin)) continue;
        std::size_t end = begin;
        for (std::size_t n = 1; n <= most && end < word.size(); ++n) {
            do ++end;
            while (continues(end));
            bool const mark = n == 1 && (begin == 0 || end == word.size());
            if (n >= least && !mark) f(hash_of(word.substr(begin, end - begin)));
        }
    }
}

/// Calls f(hash) for each run of 2 to `most` of `words` words; hash(i) is that of word i. The hash of a run has 64 bits.
template <class Hash, class F>
constexpr void for_each_run_of_words(std::size_t words, std::size_t most, Hash hash, F f) {
    auto const number = [&](std::size_t i) {  // fastText keeps hashes of words as signed numbers
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(hash(i))));
    };
    for (std::size_t begin = 0; begin < words; ++begin) {
        std::uint64_t run = number(begin);
        for (std::size_t i = begin + 1; i < std::min(words, begin + most); ++i) {
            run = run * 116049371u + number(i);
            f(run);
        }
    }
}

}  // namespace gloss
