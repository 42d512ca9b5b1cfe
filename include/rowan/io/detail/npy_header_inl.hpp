// rowan/io/detail/npy_header_inl.hpp: definitions of rowan/io/detail/npy_header.hpp.
#pragma once

#include <rowan/io/detail/npy_header.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/file_reader.hpp>

#include <array>
#include <charconv>
#include <limits>
#include <system_error>

namespace rowan::inline v0::detail {

/// Parses only the Python that NumPy writes: a dictionary of a string, a bool and a tuple of integers.
class NpyParser {
public:
    NpyParser(std::string_view text, std::uint64_t offset) : text_(text), offset_(offset) {}

    NpyHeader header();

private:
    std::uint64_t position() {
        skip();
        return offset_ + at_;
    }
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    [[noreturn]] void fail(std::string const& expected) const;
    static void once(bool& seen, std::string const& key, std::uint64_t at);
    bool accept(char c);
    void take(char c);
    bool accept(std::string_view word);
    std::string string();
    bool boolean();
    std::vector<std::size_t> tuple();

    std::string_view text_;
    std::uint64_t offset_;  // position of the text in the file
    std::size_t at_ = 0;
};

ROWAN_FUNCTION ROWAN_RARE NpyHeader NpyParser::header() {
    NpyHeader header;
    std::array<bool, 3> seen{};
    take('{');
    while (!accept('}')) {
        std::uint64_t const at = position();
        std::string const key = string();
        take(':');
        if (key == "descr") {
            once(seen[0], key, at);
            if (skip(); at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
                throw FormatError(position(), "the header", "describes a structured type, expected one such as '<f4'");
            }
            header.type = string();
        } else if (key == "fortran_order") {
            once(seen[1], key, at);
            header.fortran_order = boolean();
        } else if (key == "shape") {
            once(seen[2], key, at);
            header.shape = tuple();
        } else {
            throw FormatError(at, "the header", {"has a key '", key, "', which is unknown"});
        }
        if (!accept(',')) {
            take('}');
            break;
        }
    }
    skip();
    if (at_ + 1 != text_.size() || text_[at_] != '\n') fail("the newline that ends the header");
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!seen[i])
            throw FormatError(offset_, "the header",
                              {"lacks ", std::array{"'descr'", "'fortran_order'", "'shape'"}[i]});
    }
    return header;
}

ROWAN_FUNCTION ROWAN_RARE void NpyParser::fail(std::string const& expected) const {
    std::string found = "its end";
    if (at_ < text_.size()) {
        char const c = text_[at_];
        bool const printable = c >= ' ' && c <= '~';
        found = printable ? std::string("'") + c + "'" : "byte " + std::to_string(static_cast<unsigned char>(c));
    }
    throw FormatError(offset_ + at_, "the header", {"has ", found, ", expected ", expected});
}

ROWAN_FUNCTION ROWAN_RARE void NpyParser::once(bool& seen, std::string const& key, std::uint64_t at) {
    if (seen) throw FormatError(at, "the header", {"has the key '", key, "' twice"});
    seen = true;
}

ROWAN_FUNCTION ROWAN_RARE bool NpyParser::accept(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
}

ROWAN_FUNCTION ROWAN_RARE void NpyParser::take(char c) {
    if (!accept(c)) fail(std::string("'") + c + "'");
}

ROWAN_FUNCTION ROWAN_RARE bool NpyParser::accept(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
}

ROWAN_FUNCTION ROWAN_RARE std::string NpyParser::string() {
    char const quote = accept('"') ? '"' : '\'';
    if (quote == '\'' && !accept('\'')) fail("a string");
    std::size_t const end = text_.find(quote, at_);
    if (end == text_.npos) fail("a string that ends");
    std::string const word(text_.substr(at_, end - at_));
    at_ = end + 1;
    return word;
}

ROWAN_FUNCTION ROWAN_RARE bool NpyParser::boolean() {
    skip();
    if (accept("True")) return true;
    if (!accept("False")) fail("True or False");
    return false;
}

ROWAN_FUNCTION ROWAN_RARE std::vector<std::size_t> NpyParser::tuple() {
    std::vector<std::size_t> dims;
    take('(');
    while (!accept(')')) {
        skip();
        std::size_t dim = 0;
        auto const [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
        if (code != std::errc() || dim > std::numeric_limits<std::ptrdiff_t>::max()) fail("a dim in [0, 2^63 - 1]");
        auto const length = static_cast<std::size_t>(end - text_.data()) - at_;
        if (text_[at_] == '0' && length > 1) fail("a dim without a leading zero");
        at_ += length;
        accept("L");  // Python 2 writes it after a long integer
        dims.push_back(dim);
        if (!accept(',')) {
            if (dims.size() == 1) fail("','");  // in Python, (3) is a number
            take(')');
            break;
        }
    }
    return dims;
}

ROWAN_CALLED_FUNCTION ROWAN_RARE NpyHeader parse_npy_header(std::string_view text, std::uint64_t offset) {
    return NpyParser(text, offset).header();
}

template <class Reader>
NpyHeader read_npy_header(Reader& in) {
    std::array<char, 6> magic;
    in.read("the magic number", std::as_writable_bytes(std::span(magic)));
    if (std::string_view(magic.data(), magic.size()) != npy_magic)
        throw FormatError(0, "the magic number", "is not that of a .npy file");
    auto const major = in.template number<std::uint8_t>("the version");
    auto const minor = in.template number<std::uint8_t>("the version");
    if (major < 1 || major > 3 || minor != 0) {
        throw FormatError(6, "the version", {"is ", major, ".", minor, ", supported are 1.0, 2.0 and 3.0"});
    }
    std::uint32_t const length = major == 1 ? in.template number<std::uint16_t>("the header's length")
                                            : in.template number<std::uint32_t>("the header's length");
    if (length > npy_header_limit) {
        throw FormatError(8, "the header's length", {"is ", length, ", more than ", npy_header_limit});
    }
    std::uint64_t const begin = in.position();
    if (length > in.left()) {
        throw FormatError(8, "the header's length", {"is ", length, ", but ", in.left(), " bytes follow"});
    }
    std::string text(length, '\0');
    in.read("the header", std::as_writable_bytes(std::span(text)));
    return parse_npy_header(text, begin);
}

ROWAN_TEMPLATE(NpyHeader read_npy_header(ByteReader&))
ROWAN_TEMPLATE(NpyHeader read_npy_header(FileReader&))

ROWAN_CALLED_FUNCTION ROWAN_RARE std::string npy_header_text(std::string_view type,
                                                             std::span<std::size_t const> shape) {
    std::string dims;
    for (std::size_t i = 0; i < shape.size(); ++i) dims += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    if (shape.size() == 1) dims += ',';
    std::string text = std::string("{'descr': '").append(type).append("', 'fortran_order': False, 'shape': (");
    text.append(dims).append("), }");
    if (shape.size() != 0) text.append(21 - std::to_string(shape[0]).size(), ' ');
    std::size_t const before = npy_magic.size() + 4;
    text.append(64 - (before + text.size() + 1) % 64, ' ').append("\n");
    std::string bytes(npy_magic);
    bytes.append({'\1', '\0', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)});
    return bytes + text;
}

}  // namespace rowan::inline v0::detail

#endif
