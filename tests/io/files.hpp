// tests/io/files.hpp: a folder for a test's files, and system calls that can fail, be interrupted or short, with a log.
#pragma once

#include <rowan/io/detail/file.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace test {

using Bytes = std::vector<std::byte>;

/// A temporary folder of one test.
class Folder {
public:
    Folder() {
        char name[] = "/tmp/rowan_XXXXXX";
        path_ = ::mkdtemp(name);
    }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }

    std::string operator/(std::string const& name) const { return path_ + "/" + name; }
    std::size_t files() const {
        auto const all = std::filesystem::directory_iterator(path_);
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }

private:
    std::string path_;
};

inline Bytes read(std::string const& path) {
    auto const bytes = rowan::detail::read_file(path);
    return {bytes.begin(), bytes.end()};
}

inline void write(std::string const& path, std::span<std::byte const> bytes) { rowan::detail::write_file(path, bytes); }

inline std::span<std::byte const> bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

/// A system call: its name, the path, and the bytes written.
struct Operation {
    std::string name, path, to;
    Bytes bytes;
};

/// System calls that can fail on request. `unlink` never fails, so that files can be removed.
struct Faults {
    std::size_t fail = 0;     // the n-th call from now on fails, counted from 1; 0: none
    bool ever_after = false;  // and all later ones
    bool kill = false;        // it kills the process instead
    int code = EIO;
    std::size_t most = 1 << 30;  // the largest number of bytes per write or read
    std::size_t calls = 0;
    std::vector<Operation> log{};
    std::map<int, std::string> open{};
};

struct FaultyFiles {
    inline static Faults state;

    static int open(char const* path, int flags, mode_t mode) {
        if (refused()) return -1;
        int const file = ::open(path, flags, mode);
        state.open[file] = path;
        return done("open", path), file;
    }
    static ssize_t write(int file, void const* bytes, std::size_t n) {
        if (refused()) return -1;
        ssize_t const written = ::write(file, bytes, std::min(n, state.most));
        auto const* const first = static_cast<std::byte const*>(bytes);
        if (written > 0) state.log.push_back({"write", state.open[file], "", {first, first + written}});
        return written;
    }
    static ssize_t pread(int file, void* to, std::size_t n, off_t offset) {
        if (refused()) return -1;
        return ::pread(file, to, std::min(n, state.most), offset);
    }
    static int fsync(int file) { return refused() ? -1 : (done("fsync", state.open[file]), ::fsync(file)); }
    static int close(int file) {
        bool const fails = refused();
        int const code = errno;
        done("close", state.open[file]);
        ::close(file);
        errno = code;
        return fails ? -1 : 0;
    }
    static int rename(char const* from, char const* to) {
        if (refused()) return -1;
        state.log.push_back({"rename", from, to, {}});
        return ::rename(from, to);
    }
    static int lstat(char const* path, struct stat& about) { return refused() ? -1 : ::lstat(path, &about); }
    static int fstat(int file, struct stat& about) { return refused() ? -1 : ::fstat(file, &about); }
    static ssize_t readlink(char const* path, char* to, std::size_t n) { return refused() ? -1 : ::readlink(path, to, n); }
    static int flock(int file, int operation) { return refused() ? -1 : ::flock(file, operation); }
    static int fchown(int file, uid_t owner, gid_t group) { return refused() ? -1 : ::fchown(file, owner, group); }
    static int fchmod(int file, mode_t mode) { return refused() ? -1 : ::fchmod(file, mode); }
    static int unlink(char const* path) { return done("unlink", path), ::unlink(path); }

private:
    static bool refused() {
        ++state.calls;
        if (state.fail == 0 || state.calls < state.fail || (state.calls > state.fail && !state.ever_after)) return false;
        if (state.kill) static_cast<void>(std::raise(SIGKILL));
        errno = state.code;
        return true;
    }
    static void done(char const* name, std::string const& path) { state.log.push_back({name, path, "", {}}); }
};

// The definition of CRC-32C, bit by bit.
inline std::uint32_t slow_crc32c(std::span<std::byte const> bytes) {
    std::uint32_t state = ~0U;
    for (std::byte const b : bytes) {
        state ^= std::to_integer<std::uint32_t>(b);
        for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ ((state & 1) != 0 ? 0x82F63B78U : 0);
    }
    return ~state;
}

}  // namespace test
