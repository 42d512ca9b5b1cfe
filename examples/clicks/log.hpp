// clicks/log.hpp: logs of impressions in Criteo's format, read in batches.
#pragma once

#include <rowan/core/parallel.hpp>
#include <rowan/core/tensor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
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
#include <mutex>
#include <new>
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

/// What a message shows of a text of the input.
inline std::string shown(std::string_view text) {
    std::string part(text.substr(0, 40));
    for (char& c : part) c = c < ' ' || c > '~' ? '?' : c;
    return '"' + part + '"';
}

/// Reads the fields of a line, each of which ends at a tab, into example i of a batch.
class Line {
public:
    static constexpr std::size_t all_fields = 1 + numbers + categories;

    explicit Line(std::string_view text) : rest_(text) {
        if (rest_.ends_with('\r')) rest_.remove_suffix(1);
    }
    std::size_t fields() const { return 1 + static_cast<std::size_t>(std::ranges::count(rest_, '\t')); }

    /// Throws BadInput, which names the field, counted from 1. Of 39 fields, the label is missing; of 40, it may be empty
    /// if it is not `labelled`.
    void read(Batch& to, std::size_t i, std::size_t expected = all_fields, bool labelled = true) {
        if (std::size_t const n = fields(); n != expected)
            throw BadInput(std::to_string(n) + (n == 1 ? " field" : " fields") + ", expected " + std::to_string(expected));
        to.labels[i] = 0;
        if (expected == all_fields) {
            auto const text = next();
            if (text != "0" && text != "1" && (labelled || !text.empty())) fail(text, "a label, 0 or 1");
            to.labels[i] = text == "1" ? 1.0f : 0.0f;
        }
        for (std::size_t k = 0; k < numbers; ++k) {
            std::int64_t x = 0;
            auto const text = next();
            if (!text.empty() && !parsed(text, x, 10)) fail(text, "a whole number of 64 bits");
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
        throw BadInput("field " + std::to_string(field_) + ": " + shown(text) + " is not " + expected);
    }

    std::string_view rest_;
    std::size_t field_ = 0;
};

/// The bytes of a file, without compression by gzip if there is one. Zeros behind a member are padding.
class Bytes {
public:
    explicit Bytes(std::string path) : path_(std::move(path)), file_(path_ == "-" ? ::dup(0) : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
        struct stat about {};
        if (file_ < 0 || ::fstat(file_, &about) != 0) fail(std::strerror(errno));
        if (S_ISDIR(about.st_mode)) fail(std::strerror(EISDIR));
        regular_ = S_ISREG(about.st_mode);
    }
    Bytes(Bytes const&) = delete;
    ~Bytes() {
        if (gzip_) inflateEnd(&stream_);
        if (file_ >= 0) ::close(file_);
    }

    bool regular() const { return regular_; }  ///< whether it is a file, and no pipe

    /// The next bytes, as many as there are, up to some MiB; none at the end.
    std::string next() {
        for (;;) {
            std::string read(piece_size, '\0');
            ssize_t n = 0;
            while ((n = ::read(file_, read.data(), read.size())) < 0 && errno == EINTR) {}
            if (n < 0) fail(std::strerror(errno));
            read.resize(static_cast<std::size_t>(n));
            if (first_) {
                char second = 0;
                if (n == 1 && ::read(file_, &second, 1) == 1) read += second;  // of a pipe
                first_ = false;
                gzip_ = read.starts_with("\x1f\x8b");
                if (gzip_ && inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
            }
            if (!gzip_) return read;
            if (read.empty() && !whole_) fail("the end of the compressed file is missing");
            auto text = inflated(read);
            passed_ += read.size();
            if (!text.empty() || read.empty()) return text;
        }
    }

private:
    static constexpr std::size_t piece_size = std::size_t{1} << 20;

    [[noreturn]] void fail(char const* why) const { throw BadInput(path_ + " cannot be read: " + why); }

    std::string inflated(std::string& read) {
        std::string text;
        stream_.next_in = reinterpret_cast<Bytef*>(read.data());
        stream_.avail_in = static_cast<uInt>(read.size());
        while (stream_.avail_in != 0) {
            if (whole_) {
                unsigned char const next = *stream_.next_in;
                if (next == 0) {
                    ++stream_.next_in;
                    --stream_.avail_in;
                    continue;
                }
                if (next != 0x1f) fail_at(read, "has something else behind the compressed data");
                inflateReset(&stream_);  // another member begins
                whole_ = false;
            }
            std::size_t const before = text.size();
            text.resize(before + piece_size);
            stream_.next_out = reinterpret_cast<Bytef*>(text.data() + before);
            stream_.avail_out = static_cast<uInt>(piece_size);
            int const state = inflate(&stream_, Z_NO_FLUSH);
            text.resize(text.size() - stream_.avail_out);
            if (state == Z_STREAM_END)
                whole_ = true;
            else if (state != Z_OK && state != Z_BUF_ERROR)
                fail_at(read, "is damaged");
        }
        return text;
    }
    [[noreturn]] void fail_at(std::string const& read, char const* what) const {
        auto const at = std::to_string(passed_ + read.size() - stream_.avail_in);
        fail(std::string("the compressed file ").append(what).append(", at byte ").append(at).c_str());
    }

    std::string path_;
    int file_;
    bool regular_ = false, first_ = true, gzip_ = false, whole_ = false;  // whole_: at the end of a member
    std::uint64_t passed_ = 0;  // bytes of the compressed file before those that were read last
    z_stream stream_{};
};

/// Reads a log from its beginning to its end: a file, also one that gzip has compressed, or "-", the standard input.
/// Has some MiB of it in memory. The next bytes of a file are read while the program works on those before.
class LogReader {
public:
    explicit LogReader(std::string const& path) : path_(path), bytes_(path) {
        if (bytes_.regular()) begin_piece();
    }
    LogReader(LogReader const&) = delete;
    ~LogReader() {
        if (piece_.valid()) piece_.wait();
    }

    bool regular() const { return bytes_.regular(); }

    /// Reads the next `n` lines into `batch`, at the end of the log fewer. Returns whether there were any. Throws
    /// BadInput for the first line that is wrong.
    bool next(rowan::Cpu exec, Batch& batch, std::size_t n) {
        lines_.clear();
        std::size_t at = begin_;
        while (lines_.size() < n) {
            auto const end = text_.find('\n', at);
            if (end == std::string::npos) {
                if (text_.size() - at > longest_line) throw BadInput(path_ + ", line " + std::to_string(read_ + lines_.size() + 1) + " is no line of a log: it has no end");
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
                    Line(std::string_view(text_).substr(from, to - from)).read(batch, i);
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
    static constexpr std::size_t longest_line = std::size_t{1} << 20;

    void begin_piece() {
        piece_ = std::async(std::launch::async, [this] { return bytes_.next(); });
    }
    /// Appends a piece to text_, from which it removes what was read. Moves the position `at` and lines_ along.
    bool more(std::size_t& at) {
        auto const piece = ended_ ? std::string() : bytes_.regular() ? piece_.get() : bytes_.next();
        ended_ = piece.empty();
        if (ended_) return false;
        if (bytes_.regular()) begin_piece();
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
    Bytes bytes_;
    std::future<std::string> piece_;
    std::string text_;
    std::size_t begin_ = 0;                                    // in text_, of the lines not yet read
    std::vector<std::pair<std::size_t, std::size_t>> lines_;  // in text_, of a batch
    std::size_t read_ = 0;                                     // lines
    bool ended_ = false;
};

}  // namespace clicks
