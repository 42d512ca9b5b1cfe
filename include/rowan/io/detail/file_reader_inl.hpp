// rowan/io/detail/file_reader_inl.hpp: definitions of rowan/io/detail/file_reader.hpp.
#pragma once

#include <rowan/io/detail/file_reader.hpp>

#if ROWAN_DEFINES_FUNCTIONS

namespace rowan::inline v0::detail {

ROWAN_FUNCTION void FileReader::read(char const* field, std::span<std::byte> to) {
    check_left(field, to.size(), left(), at_);
    file_->read(at_, to);
    at_ += to.size();
}

}  // namespace rowan::inline v0::detail

#endif
