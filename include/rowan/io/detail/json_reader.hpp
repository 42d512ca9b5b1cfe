// rowan/io/detail/json_reader.hpp: JsonReader, a strict reader of JSON without recursion.
#pragma once

#include <rowan/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace rowan::inline v0::detail {

/// A string in a text of less than 4 GiB.
struct JsonText {
    std::uint32_t at = 0, size = 0;
};

/// A position in an untrusted text of JSON: the caller states what comes next. Replaces the escapes of strings in
/// place, which makes no string longer.
class JsonReader {
protected:
    /// `offset`: the position of the text in the file, which error messages call `field`.
    JsonReader(std::string& text, std::uint64_t offset, char const* field)
        : text_(text), offset_(offset), field_(field) {}

    ROWAN_IF_CALLED [[noreturn]] void fail(std::string const& expected) const;
    [[noreturn]] void fail(std::size_t at, std::string const& reason) const {
        throw FormatError(offset_ + at, field_, reason);
    }
    std::string_view view(JsonText t) const { return std::string_view(text_).substr(t.at, t.size); }
    ROWAN_IF_CALLED void check_utf8() const;
    void end() {
        skip();
        if (at_ != text_.size()) fail("the end");
    }
    void skip() {
        constexpr std::string_view blanks = " \t\n\r";
        while (at_ < text_.size() && blanks.find(text_[at_]) != blanks.npos) ++at_;
    }
    bool accept(char c) {
        skip();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void take(char c) {
        if (!accept(c)) fail(std::string("'") + c + "'");
    }

    /// Calls member() for each member of an object, after its key.
    template <class Member>
    void object(Member const& member) {
        take('{');
        if (accept('}')) return;
        do {
            JsonText const key = string();
            take(':');
            member(key);
        } while (accept(','));
        if (!accept('}')) fail("',' or '}'");
    }
    /// Calls visit() with each integer of a list.
    template <class Visit>
    void list(Visit const& visit) {
        take('[');
        if (accept(']')) return;
        do visit(number());
        while (accept(','));
        if (!accept(']')) fail("',' or ']'");
    }

    JsonText string();
    std::int64_t number();
    void once(bool& seen, JsonText key) const {
        if (std::exchange(seen, true)) fail(key.at, "has the key \"" + std::string(view(key)) + "\" twice");
    }

    std::string& text_;
    std::size_t at_ = 0;

private:
    ROWAN_IF_CALLED void escape(std::size_t& to);
    ROWAN_IF_CALLED std::uint32_t code_unit();

    std::uint64_t offset_;
    char const* field_;
};

}  // namespace rowan::inline v0::detail

#include <rowan/io/detail/json_reader_inl.hpp>
