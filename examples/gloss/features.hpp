// gloss/features.hpp: which rows of the table a sentence reads: those of its words, and of their n-grams.
#pragma once

#include "ngrams.hpp"
#include "text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gloss {

/// Which n-grams are read; by default none.
struct NGrams {
    std::size_t words = 1;            // the most words of a run
    std::size_t least = 0, most = 0;  // characters of an n-gram; most 0: none
    std::uint64_t buckets = 2'000'000;

    bool any() const { return words > 1 || most > 0; }
};

/// The rows of the sentences of a corpus. An n-gram is hashed to a bucket, as fastText does. Buckets that the training
/// part has get a row each, those of words first; all others would keep the row that they have at first, of zeros, and so
/// share one.
///     row 0                the words that the training part does not have
///     1 ... words - 1      its words
///     words ... rows - 2   its buckets
///     rows - 1             other buckets
/// A word that the training part does not have reads the rows of its n-grams of characters if there are such, else row 0.
class Features {
public:
    Features(Corpus const& corpus, NGrams const& ngrams)
        : corpus_(corpus), ngrams_(ngrams), known_(static_cast<std::int32_t>(corpus.words.size())),
          rows_(corpus.words.size()) {
        if (!ngrams.any()) return;
        row_of_.assign(ngrams.buckets, 0);
        std::vector<std::size_t> ends;  // of the buckets of the words
        std::vector<std::uint64_t> buckets;
        for (auto const* words : {&corpus.words, &corpus.others}) {
            for (std::string const& word : *words) {
                hashes_.push_back(hash_of(word));
                for_each_bucket(word, [&](std::uint64_t b) { buckets.push_back(b); });
                ends.push_back(buckets.size());
            }
        }
        auto const number = [&](std::uint64_t bucket) {
            if (row_of_[bucket] == 0) row_of_[bucket] = static_cast<std::int32_t>(rows_++);
        };
        for (std::size_t i = ends[0]; i < ends[corpus.words.size() - 1]; ++i) number(buckets[i]);
        for (std::size_t i = 0; i < corpus.train.size(); ++i) for_each_bucket(corpus.train[i], number);
        zeros_ = static_cast<std::int32_t>(rows_++);

        std::size_t begin = 0;
        for (std::size_t word = 0; word < ends.size() && ngrams.most > 0; ++word) {
            if (word != 0 && word < corpus.words.size()) lists_.push_back(static_cast<std::int32_t>(word));
            for (; begin < ends[word]; ++begin) lists_.push_back(row(buckets[begin]));
            offsets_.push_back(lists_.size());
        }
    }

    /// The number of rows of the table.
    std::size_t rows() const { return rows_; }

    /// Whether the training part has the word or n-gram of a row.
    bool knows(std::int32_t row) const { return row != 0 && row != zeros_; }

    /// Adds the rows of a sentence of the corpus.
    void add(std::span<std::int32_t const> words, std::int32_t label, Sentences& to) const {
        if (ngrams_.most > 0) {
            for (std::int32_t const word : words) {
                auto const at = static_cast<std::size_t>(word);
                to.words.insert(to.words.end(), list(offsets_[at]), list(offsets_[at + 1]));
            }
        } else {
            auto const begin = static_cast<std::ptrdiff_t>(to.words.size());
            to.words.insert(to.words.end(), words.begin(), words.end());
            std::replace_if(
                to.words.begin() + begin, to.words.end(), [known = known_](std::int32_t id) { return id >= known; }, 0);
        }
        if (ngrams_.words > 1) for_each_bucket(words, [&](std::uint64_t b) { to.words.push_back(row(b)); });
        to.end(label);
    }

    /// Adds the rows of another text.
    void add(std::string_view text, std::int32_t label, Sentences& to) const {
        std::vector<std::uint32_t> hashes;
        for_each_word(text, [&](std::string const& word) {
            hashes.push_back(hash_of(word));
            auto const found = corpus_.ids.find(word);
            bool const known = found != corpus_.ids.end() && found->second < known_;
            if (known || ngrams_.most == 0) to.words.push_back(known ? found->second : 0);
            if (ngrams_.most > 0) for_each_bucket(word, [&](std::uint64_t b) { to.words.push_back(row(b)); });
        });
        for_each_run_of_words(
            hashes.size(), ngrams_.words, [&](std::size_t i) { return hashes[i]; },
            [&](std::uint64_t hash) { to.words.push_back(row(hash % ngrams_.buckets)); });
        to.end(label);
    }

private:
    template <class F>
    void for_each_bucket(std::string const& word, F f) const {
        for_each_subword("<" + word + ">", ngrams_.least, ngrams_.most,
                         [&](std::uint32_t hash) { f(hash % ngrams_.buckets); });
    }
    template <class F>
    void for_each_bucket(std::span<std::int32_t const> words, F f) const {
        for_each_run_of_words(
            words.size(), ngrams_.words, [&](std::size_t i) { return hashes_[static_cast<std::size_t>(words[i])]; },
            [&](std::uint64_t hash) { f(hash % ngrams_.buckets); });
    }

    std::int32_t row(std::uint64_t bucket) const { return row_of_[bucket] == 0 ? zeros_ : row_of_[bucket]; }
    std::vector<std::int32_t>::const_iterator list(std::size_t at) const {
        return lists_.begin() + static_cast<std::ptrdiff_t>(at);
    }

    Corpus const& corpus_;
    NGrams ngrams_;
    std::int32_t known_;  // words from this number on are not in the training part
    std::size_t rows_;
    std::int32_t zeros_ = 0;             // the row of other buckets
    std::vector<std::int32_t> row_of_;   // of a bucket; 0: none
    std::vector<std::uint32_t> hashes_;  // of the corpus's words and of its others
    std::vector<std::int32_t> lists_;    // with n-grams of characters: all rows of these words
    std::vector<std::size_t> offsets_{0};
};

}  // namespace gloss
