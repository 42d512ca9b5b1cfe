// tests/io/file.cpp: files that are written completely or not at all, readers that check bounds, and checksums.
#include <rowan/io/detail/byte_reader.hpp>
#include <rowan/io/detail/crc32c.hpp>
#include <rowan/io/detail/file.hpp>

#include "catch.hpp"
#include "files.hpp"

#include <rapidcheck.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <numeric>

namespace test_file {

namespace {

using namespace rowan;
using namespace rowan::detail;
using test::bytes_of, test::Bytes, test::FaultyFiles, test::Folder, test::slow_crc32c;

void save(std::string const& path, std::span<std::byte const> first, std::span<std::byte const> second) {
    AtomicFile<FaultyFiles> file(path);
    file.write(first);
    file.write(second);
    file.commit();
}

Bytes numbers(std::size_t n) {
    Bytes bytes(n);
    for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761U >> 13);
    return bytes;
}

}  // namespace

TEST_CASE("the checksum is CRC-32C", "[io][golden]") {
    CHECK(crc32c(bytes_of("123456789")) == 0xE3069283U);
    CHECK(crc32c({}) == 0);
    CHECK(crc32c(Bytes(32)) == 0x8A9136AAU);  // RFC 3720, B.4
    CHECK(crc32c(Bytes(32, std::byte{0xFF})) == 0x62A8AB43U);
    Bytes ascending(32);
    for (std::size_t i = 0; i < 32; ++i) ascending[i] = static_cast<std::byte>(i);
    CHECK(crc32c(ascending) == 0x46DD794EU);
}

TEST_CASE("all implementations of the checksum agree with the bitwise one, at every length and alignment", "[io]") {
    Bytes const bytes = numbers(40'000);
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 7, 8, 9, 255, 256, 511, 512, 513, 767, 768, 1023, 4096, 12'287, 12'288, 12'289, 24'575, 24'576, 36'871}) {
        for (std::size_t const first : std::vector<std::size_t>{0, 1, 5, 64}) {
            CAPTURE(n, first);
            auto const part = std::span(bytes).subspan(first, n);
            auto const want = slow_crc32c(part);
            CHECK(crc32c(part) == want);
            CHECK(~crc32c_portable(~0U, part.data(), n) == want);
#ifdef ROWAN_CRC32C_X86
            if (__builtin_cpu_supports("sse4.2")) CHECK(~crc32c_sse42(~0U, part.data(), n) == want);
#endif
        }
    }
}

TEST_CASE("a checksum is combined from those of parts, on any number of threads", "[io]") {
    for (std::size_t const n : std::vector<std::size_t>{0, 1, 262'143, 262'144, 262'145, 9'000'000}) {
        Bytes const bytes = numbers(n);
        for (int const threads : {1, 2, 3}) CHECK(crc32c(Cpu{threads}, bytes) == crc32c(bytes));
    }
    CHECK(rc::check([](std::vector<std::uint8_t> const& a, std::vector<std::uint8_t> const& b) {
        auto all = a;
        all.insert(all.end(), b.begin(), b.end());
        auto const sum = [](auto const& x) { return crc32c(std::as_bytes(std::span(x))); };
        RC_ASSERT(crc32c(std::as_bytes(std::span(b)), sum(a)) == sum(all));
        RC_ASSERT((crc32c_product(sum(a), crc32c_zeros(b.size())) ^ sum(b)) == sum(all));
    }));
    // More bytes than 2^61: the number of their bits exceeds 64 bits.
    CHECK(crc32c_zeros(std::uint64_t{1} << 62) == crc32c_product(crc32c_zeros(std::uint64_t{1} << 61), crc32c_zeros(std::uint64_t{1} << 61)));
}

TEST_CASE("bytes are read up to their end and never beyond", "[io][bad_input]") {
    Bytes const bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
    ByteReader reader(bytes, 100);
    CHECK(reader.number<std::uint16_t>("a") == 0x0201);
    CHECK((reader.position() == 102 && reader.left() == 3));
    CHECK_THROWS_WITH(reader.number<std::uint32_t>("b"), "byte 102: b needs 4 bytes, 3 are left");
    CHECK_THROWS_WITH(reader.bytes("c", ~std::uint64_t{0}), "byte 102: c needs 18446744073709551615 bytes, 3 are left");
    CHECK_THROWS_WITH(reader.expect_end("d"), "byte 102: d ends here, but 3 bytes follow");
    CHECK(reader.left() == 3);  // nothing was consumed
    CHECK(reader.bytes("c", 3)[2] == std::byte{5});
    CHECK_NOTHROW(reader.expect_end("d"));
    CHECK(reader.bytes("e", 0).empty());
}

TEST_CASE("a file is written whole, also with short writes and interruptions", "[io]") {
    Folder const folder;
    Bytes const bytes = numbers(1000);
    auto const path = folder / "x";
    write_file(path, bytes_of("old"));
    FaultyFiles::state = {.most = 7};
    save(path, std::span(bytes).first(300), std::span(bytes).subspan(300));
    CHECK(test::read(path) == bytes);
    std::size_t const calls = FaultyFiles::state.calls;
    for (std::size_t n = 1; n <= calls; ++n) {
        if (n == calls - 3) continue;  // rename, which is called once even if it fails
        FaultyFiles::state = {.fail = n, .code = EINTR, .most = 7};
        save(path, std::span(bytes).first(300), std::span(bytes).subspan(300));
        CHECK(test::read(path) == bytes);
    }
    CHECK(folder.files() == 1);
    write_file(folder / "empty", {});
    CHECK(test::read(folder / "empty").empty());
}

TEST_CASE("a write that fails at any call leaves the old or the new file and no other", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    auto const before = bytes_of("old"), after = bytes_of("new!");
    for (bool const ever_after : {false, true}) {
        for (std::size_t n = 1;; ++n) {
            CAPTURE(n, ever_after);
            write_file(path, before);
            FaultyFiles::state = {.fail = n, .ever_after = ever_after, .code = ENOSPC};
            bool threw = false;
            try {
                save(path, after.first(2), after.subspan(2));
            } catch (IoError const& e) {
                threw = true;
                CHECK(e.code() == ENOSPC);
                CHECK(std::string(e.what()).find(folder / "") != std::string::npos);
            }
            bool const flushes_folder = !FaultyFiles::state.log.empty() && test::read(path) == Bytes(after.begin(), after.end());
            if (threw && !flushes_folder) CHECK(test::read(path) == Bytes(before.begin(), before.end()));
            CHECK(folder.files() == 1);
            if (!threw) CHECK(test::read(path) == Bytes(after.begin(), after.end()));
            if (FaultyFiles::state.calls < n) {
                CHECK(n > 12);
                break;
            }
        }
    }
}

TEST_CASE("an unfinished file leaves no trace", "[io]") {
    Folder const folder;
    {
        AtomicFile<> file(folder / "x");
        file.write(bytes_of("half"));
        CHECK(folder.files() == 1);
        AtomicFile<> second(folder / "x");  // another name, and the first is locked
        CHECK(folder.files() == 2);
        file.commit();
        CHECK(folder.files() == 2);
    }
    CHECK(folder.files() == 1);
}

TEST_CASE("the next save removes what a killed save left, but no file that is being written", "[io]") {
    Folder const folder;
    test::write(folder / ".rowan-note", bytes_of("not a temporary file"));
    for (bool const makes_folder : {false, true}) {
        pid_t const child = ::fork();
        if (child == 0) {
            if (makes_folder) ::mkdir((folder / ".rowan-0123456789abcdef").c_str(), 0777);
            AtomicFile<> file(makes_folder ? folder / ".rowan-0123456789abcdef/x" : folder / "x");
            file.write(bytes_of("half"));
            ::kill(::getpid(), SIGKILL);
        }
        ::waitpid(child, nullptr, 0);
        CHECK(folder.files() == 2);
        AtomicFile<> live(folder / "y");
        CHECK(folder.files() == 2);
        write_file(folder / "x", bytes_of("new"));
        CHECK(folder.files() == 3);
        live.commit();
        std::filesystem::remove(folder / "x");
        std::filesystem::remove(folder / "y");
    }
    CHECK(folder.files() == 1);
}

TEST_CASE("a save keeps mode, owner and symbolic links; a new file has the mode that the umask leaves", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    auto const about = [](std::string const& name) {
        struct stat s {};
        REQUIRE(::stat(name.c_str(), &s) == 0);
        return s;
    };
    mode_t const before = ::umask(027);
    write_file(path, bytes_of("a"));
    CHECK((about(path).st_mode & 0777) == 0640);
    bool const changes_owner = ::geteuid() == 0;  // others may not
    for (mode_t const mode : {0600U, 0666U, 0755U}) {
        ::chmod(path.c_str(), mode);
        if (changes_owner) REQUIRE(::chown(path.c_str(), 12, 34) == 0);
        auto const old = about(path);
        write_file(path, bytes_of("b"));
        auto const now = about(path);
        CHECK((now.st_mode == old.st_mode && now.st_uid == old.st_uid && now.st_gid == old.st_gid));
        CHECK(now.st_ino != old.st_ino);
    }
    ::umask(before);

    std::filesystem::create_directory(folder / "deep");
    std::filesystem::create_symlink("../link", folder / "deep/link");
    std::filesystem::create_symlink(path, folder / "link");
    write_file(folder / "deep/link", bytes_of("through"));
    CHECK(test::read(path) == Bytes(bytes_of("through").begin(), bytes_of("through").end()));
    std::filesystem::remove(path);
    write_file(folder / "deep/link", bytes_of("new"));  // a link to nothing
    CHECK(test::read(path).size() == 3);
    CHECK((std::filesystem::is_symlink(folder / "link") && std::filesystem::is_symlink(folder / "deep/link")));
    std::filesystem::create_symlink("loop", folder / "loop");
    CHECK_THROWS_WITH(write_file(folder / "loop", {}), "create " + folder / "loop: Too many levels of symbolic links");
}

TEST_CASE("a path is the file's whole name or is refused, and only regular files are replaced", "[io]") {
    Folder const folder;
    std::string const longest = folder / std::string(255, 'x');
    write_file(longest, bytes_of("a"));
    CHECK(test::read(longest).size() == 1);
    CHECK_THROWS_WITH(write_file(longest + "x", {}), Catch::Matchers::Contains("File name too long"));

    std::string const zero = folder / std::string("a\0b", 3);
    std::string const where = folder / "a: the path has the byte 0 at position " + std::to_string(zero.size() - 2) + " of " + std::to_string(zero.size());
    CHECK_THROWS_WITH(write_file(zero, {}), "create " + where);
    CHECK_THROWS_WITH(InputFile(zero), "open " + where);
    ::mkfifo((folder / "pipe").c_str(), 0600);
    CHECK_THROWS_WITH(write_file(folder / "pipe", {}), "create " + folder / "pipe: not a regular file");
    CHECK_THROWS_WITH(write_file(folder / "", {}), "create " + folder / ": not a regular file");
    CHECK_THROWS_WITH(write_file("", {}), "create : the path is empty");
    CHECK_THROWS_WITH(write_file(folder / "new/", {}), Catch::Matchers::Contains("create "));
    CHECK(folder.files() == 2);
}

TEST_CASE("a file is flushed before it is renamed, and its folder after that", "[io]") {
    Folder const folder;
    FaultyFiles::state = {};
    save(folder / "x", bytes_of("a"), bytes_of("b"));
    std::string text;
    for (auto const& step : FaultyFiles::state.log) text += step.name + (step.path == folder / "" ? " folder, " : ", ");
    CHECK(text == "open, write, write, open folder, fsync, rename, fsync folder, close folder, close, ");
    write_file("rowan_here", bytes_of("c"));  // in the folder where the program runs
    CHECK(test::read("rowan_here").size() == 1);
    std::filesystem::remove("rowan_here");
}

TEST_CASE("if the system limits file sizes, the old file remains", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    Bytes const bytes = numbers(5000);
    write_file(path, bytes_of("old"));
    auto const handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    for (rlim_t const limit : {rlim_t{1}, rlim_t{511}, rlim_t{512}, rlim_t{4095}, rlim_t{4096}, rlim_t{4999}, rlim_t{5000}}) {
        rlimit small = old;
        small.rlim_cur = limit;
        ::setrlimit(RLIMIT_FSIZE, &small);
        int code = 0;
        try {
            write_file(path, bytes);
        } catch (IoError const& e) {
            code = e.code();
        }
        ::setrlimit(RLIMIT_FSIZE, &old);
        CAPTURE(limit);
        CHECK(code == (limit < 5000 ? EFBIG : 0));
        CHECK(test::read(path).size() == (limit < 5000 ? 3 : 5000));
        CHECK(folder.files() == 1);
    }
    std::signal(SIGXFSZ, handler);
}

TEST_CASE("a file is read also in small pieces, and only as far as it is one", "[io]") {
    Folder const folder;
    auto const path = folder / "x";
    Bytes const bytes = numbers(1000);
    write_file(path, bytes);
    InputFile const file(path);
    CHECK((file.size() == 1000 && file.path() == path));
    Bytes part(300);
    FaultyFiles::state = {.fail = 3, .code = EINTR, .most = 7};
    file.read<FaultyFiles>(200, part);
    CHECK(std::ranges::equal(part, std::span(bytes).subspan(200, 300)));
    FaultyFiles::state = {.fail = 3, .most = 7};
    CHECK_THROWS_WITH(file.read<FaultyFiles>(200, part), "read " + path + ": Input/output error");
    CHECK_THROWS_WITH(file.read(701, part), "read " + path + ": the file has become shorter");
    CHECK_NOTHROW(file.read(700, part));
    CHECK_THROWS_WITH(InputFile(folder / "none"), "open " + folder / "none: No such file or directory");
    CHECK_THROWS_WITH(InputFile(folder / ""), "open " + folder / ": not a regular file");
    ::mkfifo((folder / "pipe").c_str(), 0600);
    CHECK_THROWS_AS(InputFile(folder / "pipe"), IoError);  // without waiting for a writer
    CHECK_THROWS_AS(write_file(folder / "no/such", bytes), IoError);
}

}  // namespace test_file
