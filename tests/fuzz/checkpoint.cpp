// tests/fuzz/checkpoint.cpp: reads bytes as a checkpoint, unchanged and with valid checksums. A loaded checkpoint is
// saved, loaded and saved again.
#include <rowan/io/checkpoint_file.hpp>

#include "fuzz.hpp"

#include <sys/mman.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace rowan;
using Bytes = std::vector<std::byte>;

/// A file in memory, and its name.
class File {
public:
    explicit File(Bytes const& bytes) : file_(::memfd_create("checkpoint", 0)) {
        fuzz::require(::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "the file is written");
    }
    ~File() { ::close(file_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

/// A file system with `bytes` as its only file.
struct Memory {
    inline static Bytes bytes;

    static int open(char const*, int, mode_t) { return 0; }
    static ssize_t write(int, void const* from, std::size_t n) {
        auto const* const first = static_cast<std::byte const*>(from);
        bytes.insert(bytes.end(), first, first + n);
        return static_cast<ssize_t>(n);
    }
    static int fsync(int) { return 0; }
    static int close(int) { return 0; }
    static int rename(char const*, char const*) { return 0; }
    static int unlink(char const*) { return 0; }
    static int lstat(char const*, struct stat&) { return errno = ENOENT, -1; }
    static int fstat(int, struct stat& about) { return about.st_nlink = 1, 0; }
    static ssize_t readlink(char const*, char*, std::size_t) { return -1; }
    static int flock(int, int) { return 0; }
    static int fchown(int, uid_t, gid_t) { return 0; }
    static int fchmod(int, mode_t) { return 0; }
};

Bytes save(Checkpoint const& checkpoint, std::optional<std::uint64_t> base) {
    Memory::bytes.clear();
    detail::write_checkpoint<Memory>(Cpu{1}, checkpoint, base, "x");
    return Memory::bytes;
}

/// Loads the bytes and saves them again; empty if loading throws.
std::optional<Bytes> again(Bytes const& bytes) {
    File const file(bytes);
    try {
        CheckpointFile const f(Cpu{1}, file.path());
        static_cast<void>(f.describe());
        for (auto const& name : f.names()) {
            try {
                static_cast<void>(f.map<Tensor<float>>(name));
            } catch (TypeError const&) {
            }
            static_cast<void>(f.map(name));
        }
        Checkpoint all;
        if (f.base()) {  // a delta, which load_checkpoint refuses
            all.program = f.program();
            for (auto const& name : f.names()) all.add(name, f.load(name));
        } else {
            all = load_checkpoint(file.path());
        }
        f.verify();  // must accept the same files as loading
        return save(all, f.base());
    } catch (FormatError const&) {
        return std::nullopt;
    }
}

/// Writes valid checksums where the file is long enough.
void seal(Bytes& bytes) {
    detail::CheckpointHeader header;
    if (bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    auto const described = static_cast<std::size_t>(std::min<std::uint64_t>(header.descriptor_bytes, bytes.size() - sizeof header));
    try {
        auto const described_bytes = std::span<std::byte const>(bytes).subspan(sizeof header, described);
        detail::ByteReader reader(described_bytes, sizeof header);
        if ((header.flags & detail::CheckpointHeader::has_program) != 0) reader.bytes("", reader.number<std::uint32_t>(""));
        while (reader.left() != 0) {
            reader.number<std::uint32_t>("");
            reader.bytes("", reader.number<std::uint32_t>(""));
            reader.bytes("", reader.number<std::uint32_t>(""));
            reader.number<std::uint32_t>("");
            for (auto n = reader.number<std::uint32_t>(""); n != 0; --n) {
                auto const offset = reader.number<std::uint64_t>(""), size = reader.number<std::uint64_t>("");
                auto const place = reader.position();
                reader.number<std::uint32_t>("");
                if (offset > bytes.size() || size > bytes.size() - offset) continue;
                auto const sum = detail::crc32c(std::span(bytes).subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size)));
                std::memcpy(bytes.data() + place, &sum, sizeof sum);
            }
        }
    } catch (FormatError const&) {
    }
    header.descriptor_sum = detail::crc32c(std::span(bytes).subspan(sizeof header, described));
    header.sum = detail::crc32c(std::as_bytes(std::span(&header, 1)).first(60));
    std::memcpy(bytes.data(), &header, sizeof header);
}

void run(Bytes const& bytes) {
    auto const first = again(bytes);
    if (!first) return;
    fuzz::require(first->size() <= 2 * bytes.size(), "nothing is written that was not read");
    auto const second = again(*first);
    fuzz::require(second && *second == *first, "what is saved is loaded, and saved again as the same bytes");
}

}  // namespace

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const input = fuzz::bytes(data, size);
    Bytes bytes(input.begin(), input.end());
    run(bytes);
    seal(bytes);
    run(bytes);
    return 0;
}
