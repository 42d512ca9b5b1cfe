// clicks/log.hpp: logs of impressions in Criteo's format, read in batches.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clicks {

/// What a user can mend: an argument, or a line of a log.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr std::size_t numbers = 13, categories = 26;
/// An example is 27 vectors to the model: one made of the numbers, and one for each category.
inline constexpr std::size_t vectors = 1 + categories;

/// The key of a value of category `column`: values of different columns have different keys, and so has a field that
/// is empty, or a value that is too rare to have a row.
constexpr std::int64_t key_of(std::size_t column, std::uint32_t value) {
    return static_cast<std::int64_t>(column) << 33 | static_cast<std::int64_t>(value);
}
constexpr std::int64_t empty_key(std::size_t column) { return key_of(column, 0) | std::int64_t{1} << 32; }
constexpr std::int64_t rare_key(std::size_t column) { return empty_key(column) | 1; }
/// The key in the place of the numbers' vector, so that this vector and the rows of keys can lie side by side.
inline constexpr std::int64_t numbers_key = key_of(categories, 0);

/// log(1 + x), of x below 0 as of 0.
inline float logarithm(std::int64_t x) {
    static std::vector<float> const small = [] {
        std::vector<float> values(4096);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::log1p(static_cast<float>(i));
        return values;
    }();
    if (x < 0) return 0.0f;
    return x < std::ssize(small) ? small[static_cast<std::size_t>(x)] : std::log1p(static_cast<float>(x));
}

/// Some lines of a log.
struct Batch {
    std::vector<float> labels;       ///< 1 for a click, 0 for none
    std::vector<float> numbers;      ///< [size, 13]: logarithm(x); -1 for an empty field
    std::vector<std::int64_t> keys;  ///< [size, 27]: numbers_key, then those of the categories

    std::size_t size() const { return labels.size(); }
    void resize(std::size_t n) {
        labels.resize(n);
        numbers.resize(n * clicks::numbers);
        keys.resize(n * vectors);
    }
};

/// Reads the fields of a line, which ends at a tab, into example i of a batch.
class Line {
public:
    explicit Line(std::string_view text) : rest_(text) {
        if (rest_.ends_with('\r')) rest_.remove_suffix(1);
    }

    /// Throws BadInput, which names the field, counted from 1. Without a label, it may be missing in the line.
    void read(Batch& to, std::size_t i, bool labelled) {
        auto const fields = 1 + static_cast<std::size_t>(std::ranges::count(rest_, '\t'));
        std::size_t const all = 1 + numbers + categories;
        if (fields != all && (labelled || fields != all - 1))
            throw BadInput(std::to_string(fields) + " fields, expected " + std::to_string(all));
        to.labels[i] = 0;
        if (fields == all) {
            auto const text = next();
            if (text != "0" && text != "1" && labelled) fail(text, "a label, 0 or 1");
            to.labels[i] = text == "1" ? 1.0f : 0.0f;
        }
        for (std::size_t k = 0; k < numbers; ++k) {
            std::int64_t x = 0;
            auto const text = next();
            if (!text.empty() && !parsed(text, x, 10)) fail(text, "a whole number");
            to.numbers[i * numbers + k] = text.empty() ? -1.0f : logarithm(x);
        }
        to.keys[i * vectors] = numbers_key;
        for (std::size_t k = 0; k < categories; ++k) {
            std::uint32_t x = 0;
            auto const text = next();
            if (!text.empty() && !parsed(text, x, 16)) fail(text, "a hexadecimal number of at most 8 digits");
            to.keys[i * vectors + 1 + k] = text.empty() ? empty_key(k) : key_of(k, x);
        }
    }

private:
    std::string_view next() {
        auto const end = std::min(rest_.find('\t'), rest_.size());
        auto const text = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++field_;
        return text;
    }
    template <class X>
    static bool parsed(std::string_view text, X& x, int base) {
        auto const* const end = text.data() + text.size();
        auto const [stop, error] = std::from_chars(text.data(), end, x, base);
        return error == std::errc{} && stop == end;
    }
    [[noreturn]] void fail(std::string_view text, char const* expected) const {
        throw BadInput("field " + std::to_string(field_) + ": \"" + std::string(text.substr(0, 40)) + "\" is not " + expected);
    }

    std::string_view rest_;
    std::size_t field_ = 0;
};

struct CloseFile {
    void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, CloseFile>;

/// Reads a log from its beginning to its end: a file, also one that gzip has compressed, or "-", the standard input.
/// Has some MiB of it in memory, of which the next are read while the program works on those before.
class LogReader {
public:
    explicit LogReader(std::string path) : path_(std::move(path)), file_(open(path_)) { begin_piece(); }
    LogReader(LogReader const&) = delete;
    ~LogReader() {
        if (piece_.valid()) piece_.wait();
    }

    /// Reads the next `n` lines into `batch`, at the end of the log fewer. Returns whether there were any. Throws
    /// BadInput for the first line that is wrong.
    bool next(rowan::Cpu exec, Batch& batch, std::size_t n) {
        lines_.clear();
        std::size_t at = begin_;
        while (lines_.size() < n) {
            auto const end = text_.find('\n', at);
            if (end == std::string::npos) {
                if (text_.size() - at > piece_size) throw BadInput(path_ + ", line " + std::to_string(read_ + lines_.size() + 1) + " is no line of a log: it has no end");
                if (more(at)) continue;
                if (at < text_.size()) lines_.emplace_back(at, text_.size());  // a line without an end
                at = text_.size();
                break;
            }
            lines_.emplace_back(at, end);
            at = end + 1;
        }
        begin_ = at;
        batch.resize(lines_.size());
        std::mutex mutex;
        std::optional<std::pair<std::size_t, std::string>> first_bad;
        rowan::parallel_for(exec, lines_.size(), 64, [&](std::size_t i, std::size_t last) {
            try {
                for (; i < last; ++i) {
                    auto const [from, to] = lines_[i];
                    Line(std::string_view(text_).substr(from, to - from)).read(batch, i, true);
                }
            } catch (BadInput const& bad) {
                std::lock_guard const lock(mutex);
                if (!first_bad || i < first_bad->first) first_bad.emplace(i, bad.what());
            }
        });
        if (first_bad) throw BadInput(path_ + ", line " + std::to_string(read_ + first_bad->first + 1) + ": " + first_bad->second);
        read_ += lines_.size();
        return !lines_.empty();
    }

private:
    static constexpr std::size_t piece_size = std::size_t{4} << 20;
    static File open(std::string const& path) {
        File file(path == "-" ? gzdopen(::dup(0), "rb") : gzopen(path.c_str(), "rb"));
        if (!file) throw BadInput(path + " cannot be read");
        gzbuffer(file.get(), 1 << 18);
        return file;
    }

    void begin_piece() {
        piece_ = std::async(std::launch::async, [this] {
            std::string piece(piece_size, '\0');
            int const n = gzread(file_.get(), piece.data(), static_cast<unsigned>(piece.size()));
            int error = Z_OK;
            char const* const text = gzerror(file_.get(), &error);
            if (n < 0 || (error != Z_OK && error != Z_STREAM_END))
                throw BadInput(path_ + " cannot be read: " + (error == Z_ERRNO ? std::strerror(errno) : text));
            piece.resize(static_cast<std::size_t>(n));
            return piece;
        });
    }
    /// Appends a piece to text_, from which it removes what was read. Moves the position `at` and lines_ along.
    bool more(std::size_t& at) {
        if (!piece_.valid()) return false;
        auto const piece = piece_.get();
        if (piece.empty()) return false;
        begin_piece();
        text_.erase(0, begin_);
        at -= begin_;
        for (auto& [from, to] : lines_) {
            from -= begin_;
            to -= begin_;
        }
        begin_ = 0;
        text_ += piece;
        return true;
    }

    std::string path_;
    File file_;
    std::future<std::string> piece_;
    std::string text_;
    std::size_t begin_ = 0;                                    // in text_, of the lines not yet read
    std::vector<std::pair<std::size_t, std::size_t>> lines_;  // in text_, of a batch
    std::size_t read_ = 0;                                     // lines
};

}  // namespace clicks
