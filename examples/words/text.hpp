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

/// A text whose lines are sentences, without the words that are too rare. Words are numbered by descending count.
struct Text {
    std::vector<std::string> words;
    std::vector<std::int64_t> counts;  // in the lines that are learned
    Lines train, test;
};

/// Reads a text in UTF-8. Of every `hold_out` lines one is kept for tests; 0: none.
/// errors   BadInput if it cannot be read, is no UTF-8, or has less than two words that occur min_count times
inline Text read_text(std::string const& file, std::int64_t min_count, std::uint64_t hold_out) {
    struct Seen {
        std::string word;
        std::int64_t count;
        std::int32_t first;
    };
    Lines train, test;
    std::vector<Seen> seen;
    std::unordered_map<std::string, std::int32_t> numbers;
    gloss::for_each_line(file, "", [&](std::string_view line, std::uint64_t number, auto where) {
        if (auto const bad = gloss::invalid_utf8(line); bad != line.size())
            throw BadInput(where() + ": byte " + std::to_string(bad + 1) + " is not UTF-8");
        bool const is_test = hold_out != 0 && number % hold_out == 0;
        Lines& lines = is_test ? test : train;
        gloss::for_each_word(line, [&](std::string const& word) {
            auto const id = numbers.try_emplace(word, static_cast<std::int32_t>(seen.size())).first->second;
            if (static_cast<std::size_t>(id) == seen.size()) seen.push_back({word, 0, id});
            if (!is_test) ++seen[static_cast<std::size_t>(id)].count;
            lines.ids.push_back(id);
        });
        lines.close();
    });

    std::erase_if(seen, [&](Seen const& s) { return s.count < min_count; });
    if (seen.size() < 2)
        throw BadInput(file + ": " + (seen.empty() ? "no word occurs" : "only one word, \"" + seen[0].word + "\", occurs") + " at least " +
                       std::to_string(min_count) + " times; two are needed");
    std::stable_sort(seen.begin(), seen.end(), [](Seen const& a, Seen const& b) { return a.count > b.count; });
    std::vector<std::int32_t> renumber(numbers.size(), -1);
    Text text;
    for (Seen& s : seen) {
        renumber[static_cast<std::size_t>(s.first)] = static_cast<std::int32_t>(text.words.size());
        text.words.push_back(std::move(s.word));
        text.counts.push_back(s.count);
    }
    for (auto const& [from, to] : {std::pair{&train, &text.train}, std::pair{&test, &text.test}}) {
        for (std::size_t i = 0; i < from->size(); ++i) {
            for (std::int32_t const id : (*from)[i])
                if (std::int32_t const known = renumber[static_cast<std::size_t>(id)]; known >= 0) to->ids.push_back(known);
            to->close();
        }
    }
    return text;
}

}  // namespace words
