// tests/static/ngrams.cpp: the hashes of the gloss classifier's n-grams are those of fastText.
#include "../../examples/gloss/ngrams.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

/// Numbers in the order in which they come.
struct Found {
    std::array<std::uint64_t, 32> numbers{};
    std::size_t size = 0;

    constexpr void operator()(std::uint64_t number) { numbers[size++] = number; }

    template <std::size_t n>
    constexpr bool are(std::array<std::uint64_t, n> const& expected) const {
        for (std::size_t i = 0; i < n; ++i) {
            if (numbers[i] != expected[i]) return false;
        }
        return size == n;
    }
};

constexpr Found subwords(std::string_view word, std::size_t least, std::size_t most) {
    Found found;
    gloss::for_each_subword(word, least, most, [&](std::uint32_t hash) { found(hash); });
    return found;
}

template <std::size_t n>
constexpr Found runs(std::array<std::string_view, n> const& words, std::size_t most) {
    Found found;
    gloss::for_each_run_of_words(
        n, most, [&](std::size_t i) { return gloss::hash_of(words[i]); }, [&](std::uint64_t hash) { found(hash); });
    return found;
}

using Numbers = std::uint64_t;

// FNV-1a's own examples, and fastText's end of a line.
static_assert(gloss::hash_of("") == 0x811c9dc5 && gloss::hash_of("a") == 0xe40c292c &&
              gloss::hash_of("foobar") == 0xbf9cf968);
static_assert(gloss::hash_of("</s>") == 3617362777);

// Model.get_subwords of fasttext-wheel 0.9.2 with minn=2, maxn=4, bucket=1000003, without the number of its words.
constexpr std::array alpha{"<a",   "<al", "<alp", "al",   "alp", "alph", "lp", "lph",
                           "lpha", "ph",  "pha",  "pha>", "ha",  "ha>",  "a>"};
constexpr std::array<Numbers, 15> alpha_buckets{3467,   430168, 680486, 382103, 320644, 162136, 437529, 978110,
                                                511235, 864734, 7122,   398368, 468888, 498531, 613945};
constexpr bool in_alpha() {
    auto const found = subwords("<alpha>", 2, 4);
    if (found.size != alpha.size()) return false;
    for (std::size_t i = 0; i < found.size; ++i) {
        if (found.numbers[i] != gloss::hash_of(alpha[i]) || found.numbers[i] % 1000003 != alpha_buckets[i])
            return false;
    }
    return true;
}
static_assert(in_alpha());
static_assert(subwords("<x>", 2, 4).are(std::array<Numbers, 3>{1375123513, 241414917, 325260091}));

// Characters of several bytes, which are negative: 日本語.
static_assert(subwords("<\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E>", 2, 4)
                  .are(std::array<Numbers, 9>{745752687, 3018758587, 3574004581, 4164387409, 308035559, 3224928923,
                                              3724460575, 2567674355, 2023432255}));

// One character: neither mark alone.
static_assert(subwords("<ab>", 1, 1).are(std::array<Numbers, 2>{gloss::hash_of("a"), gloss::hash_of("b")}));
static_assert(subwords("<ab>", 5, 6).size == 0 && subwords("<ab>", 0, 0).size == 0);

// Runs of words, with hashes of both signs: the rows that Model.get_sentence_vector adds up.
constexpr std::array<std::string_view, 4> line{"alpha", "na\xC3\xAFve", "delta", "</s>"};
static_assert(runs(line, 3).are(std::array<Numbers, 5>{182130048286873204u, 1098419671239669085u, 18347622216645235178u,
                                                       9951562046053791879u, 208338726375467156u}));
static_assert(runs(line, 1).size == 0 && runs(std::array<std::string_view, 1>{"alpha"}, 5).size == 0);

}  // namespace
