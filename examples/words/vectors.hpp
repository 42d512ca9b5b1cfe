// words/vectors.hpp: vectors of words, in files of word2vec's formats, and the words that are most similar to others.
#pragma once

#include "text.hpp"

#include <rowan/core/tensor.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace words {

static_assert(std::endian::native == std::endian::little, "word2vec's binary files have little-endian numbers");

/// A row for each word.
struct Vectors {
    std::vector<std::string> words;
    rowan::Tensor<float> rows;
};

/// Writes word2vec's format: a line `words numbers-per-word`, then for each word its name, a space, its numbers and an end
/// of line. The numbers are text, or with `binary` floats.
/// errors   BadInput if the file cannot be written
inline void save(Vectors const& vectors, std::string const& file, bool binary) {
    std::ofstream out(file, std::ios::binary);
    out << vectors.words.size() << ' ' << vectors.rows.shape(1) << '\n';
    for (std::size_t i = 0; i < vectors.words.size(); ++i) {
        out << vectors.words[i];
        auto const row = vectors.rows.row(i);
        if (binary) {
            out << ' ';
            out.write(reinterpret_cast<char const*>(row.data()), static_cast<std::streamsize>(row.size() * sizeof(float)));
        } else {
            for (float const x : row) {
                char digits[32];
                out << ' ' << std::string_view(digits, std::to_chars(digits, std::end(digits), x).ptr);
            }
        }
        out << '\n';
    }
    if (!out.flush()) throw BadInput(file + " cannot be written");
}

/// Reads such a file, of either kind: binary is what is no text. As gensim does: lines may end with spaces or a carriage
/// return, numbers round to 0 or infinity where floats end, and of a word that comes again the first vector counts, with
/// one warning on stderr.
/// errors   BadInput, which names the word and what is wrong, such as a number that is not finite
inline Vectors load(std::string const& file, bool binary) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream read;
    if (in.peek() != std::ifstream::traits_type::eof()) read << in.rdbuf();
    if (!in) throw BadInput(file + " cannot be read, or is empty");
    std::string const all = std::move(read).str();
    std::string_view rest = all;
    auto const number = [&](auto& x) {
        auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), x);
        bool known = error == std::errc{};
        if constexpr (std::is_same_v<decltype(x), float&>) {
            if (error == std::errc::result_out_of_range) {  // which leaves x as it was
                x = std::strtof(std::string(rest.data(), end).c_str(), nullptr);
                known = true;
            }
        }
        if (!known) return false;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return true;
    };
    auto const skip = [&](char c) {
        if (!rest.starts_with(c)) return false;
        rest.remove_prefix(1);
        return true;
    };
    auto const end_of_line = [&] {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r"), rest.size()));
        return skip('\n');
    };
    std::size_t n = 0, width = 0;
    if (!number(n) || !skip(' ') || !number(width) || !end_of_line() || width == 0)
        throw BadInput(file + ", line 1: not `words numbers-per-word`, as word2vec writes");
    std::size_t const least = 2 + (width > rest.size() ? 0 : binary ? width * sizeof(float) : 2 * width);  // bytes of a word
    if (width > rest.size() || n > (rest.size() + 1) / least)
        throw BadInput(file + ": " + std::to_string(rest.size()) + " bytes are too few for " + std::to_string(n) + " words of " + std::to_string(width) +
                       " numbers");
    Vectors made{{}, rowan::Tensor<float>::from_shape({n, width})};
    std::unordered_set<std::string> seen;
    std::string again;  // the first word that comes again
    for (std::size_t i = 0; i < n; ++i) {
        auto const where = [&] { return file + ", word " + std::to_string(i + 1) + " of " + std::to_string(n); };
        auto const space = rest.find(' ');
        if (space == rest.npos || space == 0 || rest.substr(0, space).find('\n') != rest.npos) throw BadInput(where() + ": no word and space");
        std::string word(rest.substr(0, space));
        rest.remove_prefix(space);
        auto const row = made.rows.row(made.words.size());
        if (binary) {
            rest.remove_prefix(1);
            std::size_t const bytes = width * sizeof(float);
            if (rest.size() < bytes) throw BadInput(where() + ": the file ends within its numbers");
            std::memcpy(row.data(), rest.data(), bytes);
            rest.remove_prefix(bytes);
            skip('\n');
        } else {
            for (std::size_t k = 0; k < width; ++k)
                if (!skip(' ') || !number(row[k])) throw BadInput(where() + ": number " + std::to_string(k + 1) + " is missing");
            if (!end_of_line() && !rest.empty()) throw BadInput(where() + ": more than " + std::to_string(width) + " numbers");
        }
        for (float const x : row)
            if (!std::isfinite(x)) throw BadInput(where() + ": a number is not finite");
        if (seen.insert(word).second)
            made.words.push_back(std::move(word));
        else if (again.empty())
            again = std::move(word);
    }
    if (!rest.empty()) throw BadInput(file + ": " + std::to_string(rest.size()) + " bytes behind the last word");
    if (made.words.size() == n) return made;
    std::fprintf(stderr, "%s: %zu words come again, the first is %s; the first vector of each counts\n", file.c_str(), n - made.words.size(), again.c_str());
    auto kept = rowan::Tensor<float>::from_shape({made.words.size(), width});
    std::copy_n(made.rows.data(), kept.size(), kept.data());
    return {std::move(made.words), std::move(kept)};
}

/// The words whose vectors have the greatest cosines with others.
class Neighbours {
public:
    explicit Neighbours(Vectors const& vectors) : words_(vectors.words), rows_(vectors.rows) {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            numbers_.emplace(words_[i], i);
            auto const row = rows_.row(i);
            double const length = std::sqrt(std::accumulate(row.begin(), row.end(), 0.0, [](double sum, float x) { return sum + static_cast<double>(x) * static_cast<double>(x); }));
            for (float& x : row) x = length > 0.0 ? static_cast<float>(static_cast<double>(x) / length) : 0.0F;
        }
    }

    /// The n words that are nearest to a sum of vectors, but those that it is made of: pairs of a cosine and a word.
    /// errors   BadInput if a word is not known
    std::vector<std::pair<double, std::string>> of(std::span<std::pair<double, std::string> const> sum, std::size_t n) const {
        std::vector<double> mean(rows_.shape(1));
        std::vector<std::size_t> given;
        for (auto const& [factor, word] : sum) {
            auto const found = numbers_.find(word);
            if (found == numbers_.end()) throw BadInput("\"" + word + "\" is not a word that the vectors have");
            given.push_back(found->second);
            auto const row = rows_.row(given.back());
            for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += factor * static_cast<double>(row[k]);
        }
        double const length = std::sqrt(std::inner_product(mean.begin(), mean.end(), mean.begin(), 0.0));
        std::vector<std::pair<double, std::size_t>> all;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if (std::find(given.begin(), given.end(), i) != given.end()) continue;
            auto const row = rows_.row(i);
            double const dot = std::inner_product(row.begin(), row.end(), mean.begin(), 0.0);
            all.emplace_back(length > 0.0 ? -dot / length : 0.0, i);
        }
        n = std::min(n, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end());
        std::vector<std::pair<double, std::string>> nearest;
        for (auto const& [cosine, i] : std::span(all).first(n)) nearest.emplace_back(-cosine, words_[i]);
        return nearest;
    }

private:
    std::vector<std::string> words_;
    rowan::Tensor<float> rows_;  // of length 1
    std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace words
