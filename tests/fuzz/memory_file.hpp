// tests/fuzz/memory_file.hpp: a file in memory with given bytes, for functions that take a path.
#pragma once

#include "fuzz.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <span>
#include <string>

namespace fuzz {

class MemoryFile {
public:
    explicit MemoryFile(std::span<std::byte const> bytes) : file_(::memfd_create("fuzz", 0)) {
        require(::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
                "the file is written");
    }
    MemoryFile(MemoryFile const&) = delete;
    ~MemoryFile() { ::close(file_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

}  // namespace fuzz
