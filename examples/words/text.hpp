// words/text.hpp: reads a text and numbers its words.
#pragma once

#include "../gloss/text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace words {

using gloss::BadInput;

/// Sentences of word ids, one after the other: sentence i is ids[offsets[i]] up to ids[offsets[i + 1]].
struct Lines {
    std::vector<std::int32_t> ids;
    std::vector<std::size_t> offsets{0};

    std::size_t size() const { return offsets.size() - 1; }
    std::span<std::int32_t const> operator[](std::size_t i) const {
        return std::span(ids).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
    void close() {
        if (ids.size() != offsets.back()) offsets.push_back(ids.size());
    }
};

/// A text as it is read: words numbered as they come, how often each occurs in the lines that are learned, and the lines.
struct Tokens {
    std::vector<std::string> words;
    std::vector<std::int64_t> counts;
    Lines train, test;
};

/// Reads a text in UTF-8, without its empty lines. of_test(n) says of line n, counted from 1, whether it is kept for tests.
/// errors   BadInput if it cannot be read or is no UTF-8
template <class OfTest>
Tokens read_tokens(std::string const& file, OfTest const& of_test) {
    Tokens tokens;
    std::unordered_map<std::string, std::int32_t> numbers;
    gloss::for_each_line(file, "", [&](std::string_view line, std::uint64_t number, auto where) {
        if (auto const bad = gloss::invalid_utf8(line); bad != line.size())
            throw BadInput(where() + ": byte " + std::to_string(bad + 1) + " is not UTF-8");
        bool const is_test = of_test(number);
        Lines& lines = is_test ? tokens.test : tokens.train;
        gloss::for_each_word(line, [&](std::string const& word) {
            auto const [found, added] = numbers.try_emplace(word, static_cast<std::int32_t>(tokens.words.size()));
            if (added) {
                tokens.words.push_back(word);
                tokens.counts.push_back(0);
            }
            if (!is_test) ++tokens.counts[static_cast<std::size_t>(found->second)];
            lines.ids.push_back(found->second);
        });
        lines.close();
    });
    return tokens;
}

/// A text whose words are numbered by descending count in the lines that are learned.
struct Text {
    std::vector<std::string> words;
    std::vector<std::int64_t> counts;
    Lines train, test;
};

/// Leaves out words that occur less than min_count times, and lines without words; or, if `rare` is a word, it takes the
/// place of these, with the number 0, and no line is left out.
/// errors   BadInput, which names the file, if there are less than two words
inline Text numbered(std::string const& file, Tokens tokens, std::int64_t min_count, std::string const& rare = "") {
    std::vector<std::size_t> order;
    std::int64_t rest = 0;
    for (std::size_t i = 0; i < tokens.words.size(); ++i) {
        if (tokens.counts[i] >= min_count) {
            order.push_back(i);
        } else {
            rest += tokens.counts[i];
        }
    }
    if (order.size() < 2)
        throw BadInput(file + ": " + (order.empty() ? "no word occurs" : "only one word, \"" + tokens.words[order[0]] + "\", occurs") + " at least " +
                       std::to_string(min_count) + " times; two are needed");
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tokens.counts[a] > tokens.counts[b]; });
    Text text;
    if (!rare.empty()) {
        text.words.push_back(rare);
        text.counts.push_back(rest);
    }
    std::vector<std::int32_t> renumber(tokens.words.size(), rare.empty() ? -1 : 0);
    for (std::size_t const i : order) {
        renumber[i] = static_cast<std::int32_t>(text.words.size());
        text.words.push_back(std::move(tokens.words[i]));
        text.counts.push_back(tokens.counts[i]);
    }
    for (auto const& [from, to] : {std::pair{&tokens.train, &text.train}, std::pair{&tokens.test, &text.test}}) {
        for (std::size_t i = 0; i < from->size(); ++i) {
            for (std::int32_t const id : (*from)[i])
                if (std::int32_t const known = renumber[static_cast<std::size_t>(id)]; known >= 0) to->ids.push_back(known);
            to->close();
        }
    }
    return text;
}

}  // namespace words
