// rowan/io/detail/buffered_reader_inl.hpp: definitions of rowan/io/detail/buffered_reader.hpp.
#pragma once

#include <rowan/io/detail/buffered_reader.hpp>

#if ROWAN_DEFINES_FUNCTIONS
#include <algorithm>
#include <cstring>

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void BufferedReader::read(char const* field, std::span<std::byte> to) {
    check_left(field, to.size(), left(), at_);
    while (!to.empty()) {
        if (at_ - begin_ >= window_.size()) {  // only of a file
            buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left(), 64 << 10)));
            window_ = {};
            file_->read(at_, buffer_);
            window_ = buffer_;
            begin_ = at_;
        }
        auto const from = window_.subspan(static_cast<std::size_t>(at_ - begin_));
        std::size_t const n = std::min(to.size(), from.size());
        std::memcpy(to.data(), from.data(), n);
        to = to.subspan(n);
        at_ += n;
    }
}

}  // namespace rowan::inline v0::detail

#endif
