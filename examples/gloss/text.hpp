// gloss/text.hpp: reads labelled sentences, WordNet's or a file's, and numbers their words.
#pragma once

#include <utf8.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gloss {

/// Invalid input; the text is a sentence that names file and line.
class BadInput : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Labelled, concatenated sentences of word ids: sentence i is words[offsets[i]] up to words[offsets[i + 1]].
struct Sentences {
    std::vector<std::int32_t> words;
    std::vector<std::size_t> offsets{0};
    std::vector<std::int32_t> labels;

    std::size_t size() const { return labels.size(); }
    std::span<std::int32_t const> operator[](std::size_t i) const {
        return std::span(words).subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
    void add(std::span<std::int32_t const> sentence, std::int32_t label) {
        words.insert(words.end(), sentence.begin(), sentence.end());
        end(label);
    }
    /// Makes a sentence of the words behind the last one.
    void end(std::int32_t label) {
        offsets.push_back(words.size());
        labels.push_back(label);
    }
    void clear() {
        words.clear();
        offsets.resize(1);
        labels.clear();
    }
};

/// A text in two parts, its classes and its vocabulary: words of the training part by descending count, from 1 on, and
/// behind these the words that only the test part has.
struct Corpus {
    Sentences train;
    Sentences test;
    std::vector<std::string> classes;
    std::vector<std::string> words;
    std::vector<std::string> others;
    std::unordered_map<std::string, std::int32_t> ids;
};

/// The position of the first byte that is not UTF-8 (RFC 3629), or the size of the text.
inline std::size_t invalid_utf8(std::string_view text) {
    return static_cast<std::size_t>(utf8::find_invalid(text.begin(), text.end()) - text.begin());
}

/// Calls f(word) for each maximal run of letters, in lower case, and each of digits. Characters outside ASCII are
/// letters, save spaces, dashes and quotation marks (U+00A0 and U+2000 to U+203F).
template <class F>
void for_each_word(std::string_view text, F f) {
    enum Kind { none, letter, digit };
    std::string word;
    Kind last = none;
    auto const close = [&] {
        if (!word.empty()) f(word);
        word.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        Kind kind = none;
        if (c >= 'a' && c <= 'z') {
            kind = letter;
        } else if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c - 'A' + 'a');
            kind = letter;
        } else if (c >= '0' && c <= '9') {
            kind = digit;
        } else if (text.substr(i, 2) == "\xE2\x80") {
            i += 2;
        } else if (text.substr(i, 2) == "\xC2\xA0") {
            i += 1;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            kind = letter;
        }
        if (kind != last) close();
        if (kind != none) word += c;
        last = kind;
    }
    close();
}

/// Whether the sentence with this key belongs to the test part, about one in ten. The high bits of the product decide,
/// as its low bits are those of the key.
inline bool held_out(std::uint64_t key) {
    std::uint64_t const hash = (key * 2654435761u) & 0xFFFFFFFFu;
    return (hash * 10) >> 32 == 0;
}

/// Collects sentences in one pass. Words are numbered as they come; finish() renumbers them by count.
class CorpusBuilder {
public:
    void add(std::string_view text, std::int32_t label, bool test) {
        sentence_.clear();
        for_each_word(text, [&](std::string const& word) {
            auto const id = numbers_.try_emplace(word, static_cast<std::int32_t>(seen_.size())).first->second;
            if (static_cast<std::size_t>(id) == seen_.size()) seen_.push_back({.count = 0, .first = 0, .id = id});
            Seen& seen = seen_[static_cast<std::size_t>(id)];
            if (!test && seen.count++ == 0) seen.first = train_words_++;
            sentence_.push_back(id);
        });
        (test ? corpus_.test : corpus_.train).add(sentence_, label);
    }

    /// errors   BadInput, which names the `source`, if there is nothing to learn or to test
    Corpus finish(std::string const& source, std::vector<std::string> classes) && {
        auto const lines = corpus_.train.size() + corpus_.test.size();
        if (lines == 0) throw BadInput(source + " is empty");
        if (classes.size() < 2) {
            throw BadInput(source + ": every line has the label \"" + classes[0] + "\"; a classifier needs two");
        }
        for (bool const test : {false, true}) {
            if ((test ? corpus_.test : corpus_.train).size() == 0) {
                throw BadInput(source + ": none of its " + std::to_string(lines) + " lines falls into the " +
                               (test ? "test" : "training") + " part; more lines are needed");
            }
        }
        if (train_words_ == 0) throw BadInput(source + ": its training part has no words");
        corpus_.classes = std::move(classes);

        std::sort(seen_.begin(), seen_.end(), [](Seen const& a, Seen const& b) {
            return a.count != b.count ? a.count > b.count : a.count != 0 ? a.first < b.first : a.id < b.id;
        });
        std::vector<std::int32_t> renumber(numbers_.size(), 0);
        for (std::size_t rank = 0; rank < seen_.size(); ++rank) {
            renumber[static_cast<std::size_t>(seen_[rank].id)] = static_cast<std::int32_t>(rank + 1);
        }
        for (Sentences* part : {&corpus_.train, &corpus_.test}) {
            for (std::int32_t& word : part->words) word = renumber[static_cast<std::size_t>(word)];
        }
        std::size_t const known = static_cast<std::size_t>(train_words_) + 1;
        corpus_.words.resize(known);
        corpus_.words[0] = "(unknown)";
        corpus_.others.resize(seen_.size() + 1 - known);
        for (auto& [word, number] : numbers_) {
            number = renumber[static_cast<std::size_t>(number)];
            auto const id = static_cast<std::size_t>(number);
            (id < known ? corpus_.words[id] : corpus_.others[id - known]) = word;
        }
        corpus_.ids = std::move(numbers_);
        return std::move(corpus_);
    }

private:
    struct Seen {
        std::int64_t count;  // in the training part
        std::int64_t first;  // when it was first seen there
        std::int32_t id;
    };

    Corpus corpus_;
    std::unordered_map<std::string, std::int32_t> numbers_;
    std::vector<Seen> seen_;
    std::int64_t train_words_ = 0;
    std::vector<std::int32_t> sentence_;
};

/// Calls f(line, number, where) for every line of a file; `where()` is "file, line 3", for messages.
/// errors   BadInput if the file cannot be read; its text ends with `hint`
template <class F>
void for_each_line(std::string const& file, std::string const& hint, F f) {
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    auto const refuse = [&] {
        throw BadInput(file + " cannot be read: " + std::strerror(errno != 0 ? errno : EIO) + hint);
    };
    if (!in) refuse();
    std::string line;
    for (std::uint64_t number = 1; std::getline(in, line); ++number) {
        f(std::string_view(line), number, [&] { return file + ", line " + std::to_string(number); });
    }
    if (in.bad()) refuse();
}

/// Takes a number and the space after it from the front of `text`; returns -1 if they are not there.
inline std::int64_t take_number(std::string_view& text) {
    std::int64_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (error != std::errc{} || !text.starts_with(' ')) return -1;
    text.remove_prefix(1);
    return number;
}

/// WordNet's glosses: the class of a gloss is its lexicographer file.
/// errors   BadInput
inline Corpus read_wordnet(std::string const& folder) {
    static constexpr std::array classes{"adj.all",          "adj.pert",           "adv.all",
                                        "noun.Tops",        "noun.act",           "noun.animal",
                                        "noun.artifact",    "noun.attribute",     "noun.body",
                                        "noun.cognition",   "noun.communication", "noun.event",
                                        "noun.feeling",     "noun.food",          "noun.group",
                                        "noun.location",    "noun.motive",        "noun.object",
                                        "noun.person",      "noun.phenomenon",    "noun.plant",
                                        "noun.possession",  "noun.process",       "noun.quantity",
                                        "noun.relation",    "noun.shape",         "noun.state",
                                        "noun.substance",   "noun.time",          "verb.body",
                                        "verb.change",      "verb.cognition",     "verb.communication",
                                        "verb.competition", "verb.consumption",   "verb.contact",
                                        "verb.creation",    "verb.emotion",       "verb.motion",
                                        "verb.perception",  "verb.possession",    "verb.social",
                                        "verb.stative",     "verb.weather",       "adj.ppl"};
    CorpusBuilder corpus;
    std::uint64_t part = 0;
    for (char const* name : {"data.noun", "data.verb", "data.adj", "data.adv"}) {
        auto const hint = "; Debian's package wordnet-base has it";
        for_each_line(folder + "/" + name, hint, [&](std::string_view line, std::uint64_t, auto where) {
            if (line.starts_with("  ")) return;  // the licence
            // 00019128 03 n 01 natural_object 0 ... | an object occurring naturally; not made by man
            auto const bar = line.find('|');
            auto head = line.substr(0, bar);
            auto const offset = take_number(head);
            auto const label = take_number(head);
            if (bar == line.npos || offset < 0 || label < 0 || label >= std::ssize(classes)) {
                throw BadInput(where() + ": not a line of WordNet, `offset file-number ... | gloss`");
            }
            auto const key = 4 * static_cast<std::uint64_t>(offset) + part;
            corpus.add(line.substr(bar + 1), static_cast<std::int32_t>(label), held_out(key));
        });
        ++part;
    }
    return std::move(corpus).finish(folder, {classes.begin(), classes.end()});
}

/// A file of lines `label<TAB>text` in UTF-8. held_out(n) selects line n for the test; classes are numbered in order.
/// errors   BadInput
inline Corpus read_labelled(std::string const& file) {
    if (file.empty()) throw BadInput("the file's name is empty");
    CorpusBuilder corpus;
    std::vector<std::string> classes;
    std::unordered_map<std::string, std::int32_t> numbers;
    for_each_line(file, "", [&](std::string_view line, std::uint64_t number, auto where) {
        if (auto const bad = invalid_utf8(line); bad != line.size()) {
            throw BadInput(where() + ": byte " + std::to_string(bad + 1) + " is not UTF-8");
        }
        if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);  // a byte order mark
        if (line.ends_with('\r')) line.remove_suffix(1);
        auto const tab = line.find('\t');
        if (tab == line.npos) throw BadInput(where() + ": no tab between label and text");
        if (tab == 0) throw BadInput(where() + ": no label before the tab");
        std::string const label(line.substr(0, tab));
        auto const [known, added] = numbers.try_emplace(label, static_cast<std::int32_t>(classes.size()));
        if (added) classes.push_back(label);
        corpus.add(line.substr(tab + 1), known->second, held_out(number));
    });
    return std::move(corpus).finish(file, std::move(classes));
}

}  // namespace gloss
