// tests/io/table_file.cpp: tables that training changes in a file, and what killed programs leave.
#include <rowan/io/detail/table_store.hpp>
#include <rowan/io/table_file.hpp>

#include "checkpoint_files.hpp"
#include "forked.hpp"
#include "inputs.hpp"
#include "optimizers.hpp"
#include "reference.hpp"

#include <rowan/core/bfloat16.hpp>
#include <rowan/io/checkpoint_chain.hpp>
#include <rowan/sparse/adagrad.hpp>
#include <rowan/sparse/rowwise_adagrad.hpp>
#include <rowan/sparse/sgd.hpp>

#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <sched.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>
#include <thread>

namespace test_table_file {

namespace {

using namespace rowan;
using reference::same;
using test::Bytes, test::FaultyFiles, test::Folder, test::refusal;

constexpr std::size_t height = 60, width = 100;  // rows of 400 bytes, which cross pages
TableFileShape const shape{
    .height = height, .width = width, .states = {TableState::of<float>("moment"), TableState::of<float>("other", 3)}};

/// A step's gradient, of rows that repeat.
SelectedRows<float> gradient(std::uint64_t step) {
    inputs::Random random(step);
    std::vector<std::int64_t> rows(6);
    for (auto& row : rows) row = random.below(static_cast<std::int64_t>(height));
    return {static_cast<std::int64_t>(height), rows, inputs::wild<float>({rows.size(), width}, step + 1)};
}

void first_row(std::int64_t row, std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(row) + 0.25F * static_cast<float>(i);
}

/// What a file holds.
struct Contents {
    Tensor<float> rows = Tensor<float>::from_shape({height, width}), moment = Tensor<float>::zeros({height});

    Contents() {
        for (std::size_t row = 0; row < height; ++row)
            first_row(static_cast<std::int64_t>(row), std::span(rows.row(row).data(), width));
    }
    template <class Files>
    explicit Contents(TableFile<float, Files>& file)
        : rows(file.rows()), moment(file.template state<float>("moment")) {}

    void step(std::uint64_t n) { rowwise_adagrad(Cpu{1}, rows, moment, gradient(n)); }
    friend bool operator==(Contents const& a, Contents const& b) {
        return same(a.rows, b.rows) && same(a.moment, b.moment);
    }
};

Contents after(std::uint64_t steps) {
    Contents contents;
    for (std::uint64_t n = 0; n < steps; ++n) contents.step(n);
    return contents;
}

template <class Files = rowan::detail::PosixFiles>
void make(std::string const& path) {
    TableFile<float, Files>::create(path, shape, first_row);
}

/// Each save follows `of` steps.
template <class Files>
void train(TableFile<float, Files>& file, std::uint64_t saves, std::uint64_t of = 2) {
    for (; saves != 0; --saves) {
        for (std::uint64_t n = of * file.saves(), end = n + of; n < end; ++n)
            rowwise_adagrad(Cpu{1}, file, gradient(n));
        file.save();
    }
}

/// Copies a file and its journal, as a killed process would leave them.
void copy(std::string const& from, std::string const& to) {
    for (char const* const end : {"", ".journal"}) {
        std::filesystem::remove(to + end);
        if (std::filesystem::exists(from + end)) std::filesystem::copy_file(from + end, to + end);
    }
}

/// Waits for a child that f() runs in. Whether it was killed.
template <class F>
bool killed(F const& f) {
    ::pid_t const child = ::fork();
    if (child == 0) {
        ::alarm(20);
        try {
            f();
        } catch (std::exception const& e) {
            std::fprintf(stderr, "%s\n", e.what());
            ::_exit(1);
        }
        ::_exit(0);
    }
    int const status = forked::status(child);
    CHECK((WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL));
    return WIFSIGNALED(status);
}

/// System calls of which one kind is unlike the real one.
struct FullDisk : rowan::detail::PosixFiles {  // for the journal, after some writes
    inline static int writes = 0, syncs = 0;
    static ssize_t write(int file, void const* bytes, std::size_t n) {
        if (writes-- != 0) return ::write(file, bytes, n);
        return errno = ENOSPC, -1;
    }
    static int fsync(int file) { return ++syncs, ::fsync(file); }
};
struct NoLocks : rowan::detail::PosixFiles {
    static int flock(int, int) { return errno = ENOLCK, -1; }
};
struct ManyBlocks : rowan::detail::PosixFiles {  // a file system that counts blocks of its own
    static int fstat(int file, struct stat& about) {
        int const result = ::fstat(file, &about);
        return about.st_blocks = about.st_size / 512, result;
    }
};

/// Calls f(folder, fill) in a child with a file system of 256 KiB in memory, which fill() fills; f returns whether all
/// is right. Does nothing where the system does not permit that.
template <class F>
void on_small_disk(F const& f) {
    Folder const folder;
    ::pid_t const child = ::fork();
    if (child == 0) {
        ::alarm(20);
        if ((::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", (folder / "").c_str(), "tmpfs", 0, "size=256k") != 0)
            ::_exit(0);
        auto const fill = [&] {
            int const file = ::open((folder / "fill").c_str(), O_WRONLY | O_CREAT, 0600);
            std::array<char, 4096> const bytes{};
            while (::write(file, bytes.data(), bytes.size()) > 0) {
            }
            ::close(file);
        };
        bool right = false;
        try {
            right = f(folder, fill);
        } catch (std::exception const& e) {
            std::fprintf(stderr, "%s\n", e.what());
        }
        ::_exit(right ? 0 : 1);
    }
    CHECK(forked::status(child) == 0);
}

}  // namespace

TEST_CASE("a table in a file is trained like one in memory, and a file that is opened again has it",
          "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    auto moment = Tensor<float>::zeros({height, width});
    Contents want;
    {
        auto file = TableFile<float>::create(
            path, {.height = height, .width = width, .states = {TableState::of<float>("moment", width)}}, first_row);
        CHECK((file.height() == height && file.width() == width && file.saves() == 0 && file.states().size() == 1));
        CHECK(same(file.rows(), want.rows));
        for (std::uint64_t n = 0; n < 6; ++n) {
            auto const g = gradient(n);
            adagrad(file, g, {.learning_rate = 0.1});
            adagrad(want.rows, moment, g, {.learning_rate = 0.1});
            sgd(Cpu{2}, file, g, 0.5);
            sgd(want.rows, g, 0.5);
            auto const rule = [](auto gradients, auto row, auto sums) {
                for (std::size_t i = 0; i < row.size(); ++i) row[i] -= sums[i] += gradients[i];
            };
            update_rows(file, g, rule, file.state<float>("moment"));
            update_rows(g, rule, want.rows, moment);
            if (n == 3) file.save();
        }
        CHECK(same(file.rows(), want.rows));
        CHECK(same(gather(file.rows(), {3, 59, 3}), gather(want.rows, {3, 59, 3})));
        file.save();
        file.save();  // nothing changed
        CHECK(file.saves() == 2);
        file.release();
        file.prefetch({0, 59});
    }
    CHECK(folder.files() == 1);  // without a journal
    auto moved = TableFile<float>(path);
    auto const file = std::move(moved);
    CHECK((same(file.rows(), want.rows) && file.saves() == 2));
    CHECK(same(
        TableFile<float>(std::move(moved = TableFile<float>::create(folder / "other", shape))).state<float>("other"),
        Tensor<float>::zeros({height, 3})));
}

TEST_CASE("every optimizer has the bits of tensors in a file, by gradients and by views", "[io][table_file]") {
    Folder const folder;
    test::each_optimizer([&]<class O>(O, std::string const& name, typename O::options const& options) {
        if constexpr (!requires { O::changes_all_rows; }) {
            INFO(name);
            std::vector<TableState> states;
            bool const per_row = name == "rowwise_adagrad";
            for (auto const& state : test::state_names(typename O::states{}))
                states.push_back(per_row ? TableState::of<float>(state) : TableState::of<float>(state, width));
            auto file = TableFile<float>::create(folder / name, {.height = height, .width = width, .states = states}, first_row);
            auto want = Contents().rows;
            auto of = [&]<class... State>(rowan::state_list<State...>) {
                auto shape = want.shape();
                if (per_row) shape.resize(1);
                return std::array<Tensor<float>, 3>{Tensor<float>::zeros(shape), Tensor<float>::zeros(shape), Tensor<float>::zeros(shape)};
            }(typename O::states{});
            for (std::uint64_t n = 0; n < 4; ++n) {
                auto const g = gradient(n);
                if (n % 2 == 0) {
                    Optimizer<O>{}(Cpu{2}, file, g, options);
                } else {
                    auto view = file.view(g.rows());
                    Optimizer<O>{}(view, g.value(), options);
                }
                [&]<std::size_t... i>(std::index_sequence<i...>) { Optimizer<O>{}(want, of[i]..., g, options); }(std::make_index_sequence<O::states::size>{});
            }
            file.save();
            CHECK(same(file.rows(), want));
            std::size_t i = 0;
            for (auto const& state : test::state_names(typename O::states{})) CHECK(same(file.template state<float>(state), of[i++]));
        }
    });
}

TEST_CASE("rows of other types, and files without rows", "[io][table_file]") {
    Folder const folder;
    {
        auto file = TableFile<bfloat16>::create(
            folder / "b", {.height = 5, .width = 3, .states = {TableState::of<double>("moment")}});
        auto want = Tensor<bfloat16>::zeros({5, 3});
        auto moment = Tensor<double>::zeros({5});
        SelectedRows<float> const g(5, {4, 0, 4}, inputs::wild<float>({3, 3}, 1));
        rowwise_adagrad(file, g);
        rowwise_adagrad(want, moment, g);
        CHECK((same(file.rows(), want) && same(file.state<double>("moment"), moment)));
            auto narrow = TableFile<float>::create(folder / "n", {.height = 5, .width = 3, .states = {TableState::of<bfloat16>("moment")}});
        CHECK(refusal<TypeError>([&] { rowwise_adagrad(narrow, g); }) == "the state \"moment\" is bf16, expected f32");
        CHECK(refusal([&] { adagrad(TableFile<float>::create(folder / "s", {.height = 5, .width = 3}), g); }).ends_with(" has no state \"moment\""));
    }
    CHECK(refusal<TypeError>([&] { TableFile<float>(folder / "b"); }) == "the table is bf16, expected f32");
    auto empty = TableFile<float>::create(folder / "e", {.height = 0, .width = 3, .allocate = true});
    empty.change({});
    CHECK((empty.rows().size() == 0 && empty.saves() == 0));
}

TEST_CASE("sparse files take no space for rows that never changed, and others all of it", "[io][table_file]") {
    Folder const folder;
    struct stat about {};
    auto file = TableFile<float>::create(folder / "t", {.height = 1 << 20, .width = 64});
    file.change({0, (1 << 20) - 1});
    file.rows()[{(1 << 20) - 1, 63}] = 1;
    file.save();
    CHECK((::stat((folder / "t").c_str(), &about) == 0 && about.st_size > 1 << 28 && about.st_blocks * 512 < 1 << 20));
    TableFile<float>::create(folder / "u", {.height = 1 << 10, .width = 64, .allocate = true});
    CHECK((::stat((folder / "u").c_str(), &about) == 0 && about.st_blocks * 512 >= 1 << 18));
}

TEST_CASE("rows that are not saved are as before, also if only some were changed", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    make(path);
    {
        TableFile<float> file(path);
        train(file, 1);
        rowwise_adagrad(file, gradient(2));
        CHECK(Contents(file) == after(3));
    }
    TableFile<float> file(path);
    CHECK((Contents(file) == after(2) && file.saves() == 1));
    train(file, 1);
    CHECK(Contents(file) == after(4));
}

TEST_CASE("errors leave a table in a file as it was", "[io][table_file][bad_input]") {
    Folder const folder;
    auto const path = folder / "table";
    make(path);
    TableFile<float> file(path);
    auto moment = Tensor<float>::zeros({height});
    SelectedRows<float> const narrow(height, {1}, Tensor<float>::zeros({1, 2}));
    auto const g = gradient(0);
    CHECK(refusal<IoError>([&] { TableFile<float> second(path); }) ==
          "lock " + path + ": it is open, in this process or another");
    CHECK(refusal<IoError>([&] { make(path); }) == "create " + path + ": File exists");
    CHECK(refusal<IoError>([&] { make(folder / "no/table"); }) ==
          "create " + folder / "no/table" + ": No such file or directory");
    CHECK(refusal<IndexError>([&] { file.change({0, 60}); }) == "rows[1] = 60 is not in [0, 60)");
    CHECK(refusal<ShapeError>([&] { rowwise_adagrad(file, narrow); }) != "");
    CHECK(refusal<ValueError>([&] { sgd(file, g, NAN); }) != "");
    CHECK(refusal<ValueError>([&] { file.change(Cpu{-1}, {0}); }) != "");
    CHECK(refusal([&] {
              update_rows(
                  file, g, [](auto, auto, auto) {}, moment);
          }) == "a state is not one of the table: table.state<S>(name)");
    CHECK(refusal([&] { file.state<float>("x"); }) == path + " has no state \"x\"");
    CHECK(refusal<TypeError>([&] { file.state<double>("moment"); }) == "the state \"moment\" is f32, expected f64");
    CHECK(refusal<ShapeError>([&] { TableFile<float>::create(folder / "x", {.height = 1LL << 60, .width = 64}); }) !=
          "");
    CHECK(refusal([&] { TableFile<float>::create(folder / "x", {.states = {TableState::of<float>("")}}); }) ==
          "states[0] has no name");
    CHECK(refusal([&] {
              TableFile<float>::create(folder / "x",
                                       {.states = {TableState::of<float>("a"), TableState::of<float>("a")}});
          }) == "two states are named \"a\"");
    CHECK(refusal([&] {
              TableFile<float>::create(folder / "x", shape, [](auto row, auto) {
                  if (row == 9) throw Error("nine");
              });
          }) == "nine");
    CHECK((Contents(file) == Contents() && file.touched().rows().empty() && folder.files() == 1));
    file.rows() = Tensor<float>::zeros({height, width});
    CHECK(refusal([&] { sgd(file, g, 1); }) == "rows() of " + path + " is another tensor than that of the file");
}

TEST_CASE("damaged and shortened files of tables are refused, and unchanged", "[io][table_file][bad_input]") {
    Folder const folder;
    auto const path = folder / "table";
    make(path);
    {
        TableFile<float> file(path);
        train(file, 2);
    }
    Bytes const good = test::read(path);
    auto const want = after(4);
    auto const refused = [&](Bytes const& bytes) {
        test::write(path, bytes);
        bool const fails = refusal<FormatError>([&] {
                               TableFile<float> file(path);
                               CHECK((Contents(file) == want && file.saves() == 2));
                           }) != "";
        CHECK((!fails || test::read(path) == bytes));
        return fails;
    };
    CHECK_FALSE(refused(good));
    for (std::size_t const n :
         std::vector<std::size_t>{0, 1, 63, 4095, 4096, 8191, 8192, good.size() - 4096, good.size() - 1})
        CHECK(refused(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n))));
    Bytes longer = good;
    longer.resize(good.size() + 4096);
    CHECK(refused(longer));
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < 64; ++i) places.push_back(i);
    for (std::size_t i = 4096; i < 4096 + 104; ++i) places.push_back(i);  // the descriptions
    for (std::size_t const place : places) {
        CAPTURE(place);
        Bytes bytes = good;
        bytes[place] ^= std::byte{0x10};
        CHECK(refused(bytes));
    }
    Bytes bytes = good;
    bytes[1024] ^= std::byte{1}, bytes[2048] ^= std::byte{1};  // both generations
    CHECK(refused(bytes));
}

TEST_CASE("a killed process leaves the last save, whichever system call was its last", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    Contents const want[] = {after(0), after(2), after(4), after(6)};
    for (bool const power_safe : {false, true}) {
        std::size_t n = 1;
        for (bool more = true; more; ++n) {
            CAPTURE(power_safe, n);
            std::filesystem::remove(path), std::filesystem::remove(path + ".journal");
            more = killed([&] {
                FaultyFiles::state = {.fail = n, .kill = true};
                { TableFile<float, FaultyFiles>::create(path, shape, first_row); }
                TableFile<float, FaultyFiles> file(path, {.power_safe = power_safe});
                train(file, 3);
            });
            if (!std::filesystem::exists(path)) continue;
            TableFile<float> file(path);
            REQUIRE(file.saves() < 4);
            CHECK((more || file.saves() == 3));
            CHECK(Contents(file) == want[file.saves()]);
            train(file, 1);
            CHECK(Contents(file) == after(2 * file.saves()));
        }
        CHECK(n > (power_safe ? 38 : 30));
        CHECK(folder.files() == 1);  // a later call removes what was killed before it had a name
    }
}

namespace {

/// The number of a save, in a file that is replaced.
template <class Files>
void name_save(std::string const& path, std::uint64_t saves) {
    std::string const text = std::to_string(saves), next = path + ".new";
    int const file = Files::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(Files::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    Files::close(file);
    Files::rename(next.c_str(), path.c_str());
}
std::optional<std::uint64_t> named_save(std::string const& path) {
    if (!std::filesystem::exists(path)) return {};
    Bytes const bytes = test::read(path);
    return std::stoull(std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size()));
}

/// Trains to save 3, from the save that a file beside the table names. `previous` keeps the save before it.
template <class Files>
void train_pair(std::string const& path, std::string const& other, bool previous, bool power_safe) {
    auto const named = named_save(other);
    TableFileOptions const options{.power_safe = power_safe};
    auto file = named ? TableFile<float, Files>(path, options)
                      : TableFile<float, Files>::create_unsaved(path, shape, first_row, options);
    if (named) file.go_back(*named);
    if (!(Contents(file) == after(2 * named.value_or(0)))) throw Error("other rows");  // in a child, too
    std::uint64_t last = named.value_or(0);
    for (std::uint64_t save = named ? *named + 1 : 0; save <= 3; ++save) {
        for (std::uint64_t n = save == 0 ? 0 : 2 * save - 2; n < 2 * save; ++n) rowwise_adagrad(Cpu{1}, file, gradient(n));
        file.save_and_keep();
        if (file.saves() != save) throw Error("another number of the save");
        name_save<Files>(other, save);
        file.forget_saves_before(previous ? last : save);
        last = save;
    }
}

}  // namespace

TEST_CASE("a table and the file that names its saves are of one moment, whichever system call was the last", "[io][table_file]") {
    for (bool const previous : {false, true}) {
        bool more = true;
        for (std::size_t n = 1; more; ++n) {
            CAPTURE(previous, n);
            Folder const folder;
            auto const path = folder / "table", other = folder / "other";
            auto const run = [&](std::size_t at) {
                return killed([&] {
                    FaultyFiles::state = {.fail = at, .kill = true};
                    train_pair<FaultyFiles>(path, other, previous, n % 2 == 0);
                });
            };
            more = run(n);
            if (more) run(n % 13 + 1);  // and once more, soon after it is opened
            auto const named = named_save(other);
            if (previous && named && *named > 0) {  // the save before, too
                Folder const copies;
                for (auto const& entry : std::filesystem::directory_iterator(folder / ""))
                    std::filesystem::copy_file(entry.path(), copies / entry.path().filename().string());
                TableFile<float> file(copies / "table");
                file.go_back(*named - 1);
                CHECK(Contents(file) == after(2 * *named - 2));
            }
            train_pair<rowan::detail::PosixFiles>(path, other, previous, false);
            CHECK(folder.files() == (previous ? 3U : 2U) + std::filesystem::exists(other + ".new"));
            TableFile<float> file(path);
            CHECK((Contents(file) == after(6) && file.saves() == 3));
            REQUIRE(n < 400);
        }
    }
}

namespace {

TableFileShape const growing{.height = 3, .width = 2, .states = {TableState::of<double>("sum"), TableState::of<float>("wide", 5)}, .grows = true};

/// Rows and states by numbers; each save grows the table and changes rows of all ages.
struct Grown {
    static constexpr std::array<std::int64_t, 6> heights{3, 10, 65536, 65537, 140000, 140001};
    std::vector<std::array<double, 3>> rows;

    static Grown after(std::uint64_t saves) {
        Grown grown;
        grown.rows.resize(3);
        for (std::uint64_t save = 1; save <= saves; ++save) grown.step(save);
        return grown;
    }
    template <class Change>
    static void each(std::uint64_t save, Change const& change) {
        std::int64_t const height = heights[save];
        for (std::int64_t const row : {std::int64_t{0}, height / 2, height - 2, height - 1}) change(row, static_cast<double>(save) + static_cast<double>(row) / 8);
    }
    void step(std::uint64_t save) {
        rows.resize(static_cast<std::size_t>(heights[save]));
        each(save, [&](std::int64_t row, double x) { rows[static_cast<std::size_t>(row)] = {x, 2 * x, x + 1}; });
    }
    template <class Files>
    static void step(TableFile<float, Files>& file, std::uint64_t save) {
        file.grow(heights[save]);
        each(save, [&](std::int64_t row, double x) {
            file.change({row});
            file.rows()(row, 1) = static_cast<float>(x);
            file.template state<double>("sum")(row) = 2 * x;
            file.template state<float>("wide")(row, 4) = static_cast<float>(x + 1);
        });
    }
    template <class Files>
    bool is(TableFile<float, Files>& file) const {
        if (file.height() != static_cast<std::int64_t>(rows.size()) || file.rows().shape(0) != rows.size()) return false;
        auto const& sum = file.template state<double>("sum");
        auto const& wide = file.template state<float>("wide");
        if (sum.shape(0) != rows.size() || wide.shape(0) != rows.size()) return false;
        float const *x = file.rows().data(), *w = wide.data();
        double const* s = sum.data();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (x[2 * i] != 0 || x[2 * i + 1] != static_cast<float>(rows[i][0]) || s[i] != rows[i][1] || w[5 * i + 4] != static_cast<float>(rows[i][2])) return false;
        }
        return true;
    }
};

}  // namespace

TEST_CASE("a table that grows keeps its rows, its states and what was returned of them", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    {
        auto file = TableFile<float>::create(path, growing);
        auto const early = file.rows().share();
        auto& sum = file.state<double>("sum");
        for (std::uint64_t save = 1; save < 6; ++save) {
            Grown::step(file, save);
            CHECK(Grown::after(save).is(file));
            CHECK(file.touched().height() == file.height());
            save % 2 == 0 ? file.save() : file.save_and_keep();
        }
        CHECK((sum.shape(0) == 140001 && early.shape(0) == 3 && early(0, 1) == 5));
        file.grow(150000);
        CHECK(file.height() == 150000);
    }
    TableFile<float> file(path);
    CHECK(Grown::after(5).is(file));
    CHECK(file.rows().data() != nullptr);
    auto x = gather(file.rows(), {140000, 139999});
    CHECK((x(0, 1) == 5 + 140000.0F / 8 && x(1, 1) == 5 + 139999.0F / 8));
    CHECK(refusal<ShapeError>([&] { file.grow(5); }) == "height is 5, expected at least 140001");
    for (int const bits : {45, 52, 62}) CHECK_THROWS(file.grow(std::int64_t{1} << bits));
    CHECK((file.height() == 140001 && file.touched().height() == 140001));
    file.go_back(4);
    CHECK(Grown::after(4).is(file));
    CHECK(file.touched().height() == 140000);
    Grown::step(file, 5);
    file.save();
    CHECK(Grown::after(5).is(file));
    auto fixed = TableFile<float>::create(folder / "fixed", shape);
    CHECK(refusal([&] { fixed.grow(61); }).find("has a fixed height") != std::string::npos);
    CHECK(refusal<ShapeError>([&] { TableFile<float>::create(folder / "none", {.height = 3, .width = 0, .grows = true}); }) == "width is 0, expected 1 or more, of a table that grows");
    fixed.grow(60);
}

TEST_CASE("a table that grows and the file that names its saves are of one moment, whichever system call was the last", "[io][table_file]") {
    bool more = true;
    for (std::size_t n = 1; more; ++n) {
        CAPTURE(n);
        Folder const folder;
        auto const path = folder / "table", other = folder / "other";
        auto const run = [&]<class Files>(std::type_identity<Files>) {
            auto const named = named_save(other);
            auto file = named ? TableFile<float, Files>(path) : TableFile<float, Files>::create_unsaved(path, growing, nullptr);
            if (named) file.go_back(*named);
            if (!Grown::after(named.value_or(0)).is(file)) throw Error("other rows");
            for (std::uint64_t save = named ? *named + 1 : 0; save < 6; ++save) {
                if (save > 0) Grown::step(file, save);
                file.save_and_keep();
                name_save<Files>(other, save);
                file.forget_saves_before(save);
            }
        };
        auto const run_to = [&](std::size_t at) {
            return killed([&] {
                FaultyFiles::state = {.fail = at, .kill = true};
                run(std::type_identity<FaultyFiles>{});
            });
        };
        more = run_to(n);
        if (more) run_to(n % 17 + 1);
        run(std::type_identity<rowan::detail::PosixFiles>{});
        TableFile<float> file(path);
        CHECK((Grown::after(5).is(file) && file.saves() == 5));
        REQUIRE(n < 400);
    }
}

TEST_CASE("after a call that fails in a save that is kept, or on the way back, a file that is opened again has a save", "[io][table_file]") {
    for (std::size_t n = 1, failed = 1; failed != 0; ++n) {
        CAPTURE(n);
        Folder const folder;
        auto const path = folder / "table";
        {
            auto file = TableFile<float>::create(path, growing);
            for (std::uint64_t save = 1; save < 4; ++save) Grown::step(file, save), file.save_and_keep();
        }
        FaultyFiles::state = {.fail = n, .code = EIO};
        failed = refusal<IoError>([&] {
                     TableFile<float, FaultyFiles> file(path, {.power_safe = true});
                     Grown::step(file, 4);
                     file.save_and_keep();
                     file.go_back(3);
                     file.forget_saves_before(3);
                 }) != "";
        FaultyFiles::state = {};
        TableFile<float> file(path);
        REQUIRE((file.saves() == 3 || file.saves() == 4));
        CHECK(Grown::after(file.saves()).is(file));
        if (file.saves() == 4) {
            file.go_back(3);
            CHECK(Grown::after(3).is(file));
        }
        REQUIRE(n < 100);
    }
}

TEST_CASE("a new table does not take the place of another file", "[io][table_file][bad_input]") {
    Folder const folder;
    auto const path = folder / "table";
    auto const refused = [&] {
        return refusal<IoError>([&] { TableFile<float>::create_unsaved(path, shape, nullptr); }) == "create " + path + ": File exists";
    };
    test::write(path, Bytes(9000));
    CHECK((refused() && test::read(path) == Bytes(9000)));
    std::filesystem::remove(path);
    {
        auto first = TableFile<float>::create_unsaved(path, shape, first_row);
        first.save_and_keep();
        CHECK(refusal<IoError>([&] { TableFile<float>::create_unsaved(path, shape, nullptr); }).ends_with("it is open, in this process or another"));
    }
    {
        auto second = TableFile<float>::create_unsaved(path, shape, nullptr);  // which is given up
    }
    CHECK(Contents(*std::make_unique<TableFile<float>>(path)) == after(0));
    std::filesystem::create_symlink(path, folder / "link");
    CHECK(refusal<IoError>([&] { TableFile<float>::create_unsaved(folder / "link", shape, nullptr); }) == "create " + folder / "link" + ": File exists");
    {
        auto third = TableFile<float>::create_unsaved(path, shape, nullptr);
        third.change({3});
        third.rows()(3, 0) = 5;
        third.save_and_keep();
        third.forget_saves_before(0);
        CHECK(third.rows()(3, 0) == 5);
    }
    CHECK((refused() && TableFile<float>(path).rows()(3, 0) == 5));
}

TEST_CASE("a table goes back to a save that is kept, and to no other", "[io][table_file][bad_input]") {
    Folder const folder;
    auto const path = folder / "table";
    make(path);
    auto const train_and_keep = [](TableFile<float>& file) {
        rowwise_adagrad(file, gradient(file.saves()));
        file.save_and_keep();
    };
    {
        TableFile<float> file(path);
        for (int n = 0; n < 4; ++n) train_and_keep(file);
        CHECK(folder.files() == 3);  // two are kept
        for (std::uint64_t const save : {1U, 5U}) CHECK(refusal<FormatError>([&] { file.go_back(save); }).ends_with(path + ", whose last one is 4, and no journal leads back before 2"));
        file.change({1});
        file.rows()(1, 1) = 7;
        file.go_back(4);
        CHECK((Contents(file) == after(4) && !file.changed()));
    }
    Bytes const journal = test::read(path + ".journal.3");
    for (std::size_t const n : std::vector<std::size_t>{0, 40, 4128, journal.size() - 1}) {
        test::write(path + ".journal.3", Bytes(journal.begin(), journal.begin() + static_cast<std::ptrdiff_t>(n)));
        TableFile<float> file(path);
        CHECK(refusal<FormatError>([&] { file.go_back(2); }).find(".journal.3 has ") != std::string::npos);
        CHECK((Contents(file) == after(4) && file.saves() == 4));
    }
    test::write(path + ".journal.3", journal);
    {
        TableFile<float> file(path);
        file.go_back(2);
        CHECK((Contents(file) == after(2) && file.saves() == 2 && folder.files() == 2));
        train_and_keep(file);
        file.forget_saves_before(2);
        CHECK(folder.files() == 2);
        rowwise_adagrad(file, gradient(3));
        file.save();
        CHECK((Contents(file) == after(4) && folder.files() == 2));
        CHECK(refusal<FormatError>([&] { file.go_back(3); }).ends_with("whose last one is 4, and no journal leads back"));
        train_and_keep(file);
        file.forget_saves_before(99);
        CHECK(folder.files() == 1);
    }
    CHECK(folder.files() == 1);
    auto unsaved = TableFile<float>::create_unsaved(folder / "other", shape, first_row);
    CHECK(refusal([&] { unsaved.go_back(0); }).find("no save yet") != std::string::npos);
    unsaved.save_and_keep();
    CHECK(refusal<IoError>([&] { make(folder / "other"); }) == "create " + folder / "other" + ": File exists");  // it is open
    unsaved.go_back(0);
    { auto const closed = std::move(unsaved); }
    CHECK(refusal<IoError>([&] { make(folder / "other"); }) == "create " + folder / "other" + ": File exists");
}

TEST_CASE("a process killed while it restores a table, and again, leaves the last save", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table", trial = folder / "trial";
    make(path);
    TableFile<float> file(path);
    train(file, 1);
    rowwise_adagrad(file, gradient(2));
    for (std::size_t n = 1; n < 40; n += 3) {
        CAPTURE(n);
        copy(path, trial);
        for (int times = 0; times < 2; ++times) {
            killed([&] {
                FaultyFiles::state = {.fail = n, .kill = true};
                TableFile<float, FaultyFiles> again(trial);
            });
        }
        TableFile<float> again(trial);
        CHECK((Contents(again) == after(2) && again.saves() == 1));
    }
}

TEST_CASE("system calls that fail are errors, after which a file that is opened again has a save", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    make(path);
    Contents const start;
    for (std::size_t n = 1, failed = 1; failed != 0; ++n) {
        CAPTURE(n);
        failed = 0;
        std::uint64_t saves = 0;
        auto const good = [&](auto const& call) { failed += refusal<IoError>(call) != ""; };
        FaultyFiles::state = {.fail = n, .code = EIO};
        good([&] {
            TableFile<float, FaultyFiles> file(path, {.power_safe = true});
            saves = file.saves();
            auto const before = Contents(file);
            bool changed = false;
            good([&] { file.change({1, 40}), changed = true; });
            CHECK((changed || Contents(file) == before));
            if (!changed) good([&] { file.change({1, 40}), changed = true; });  // a write that failed is made again
            if (changed) file.rows().row(1)[0] = 1000 + static_cast<float>(saves), file.rows().row(40)[0] = 5;
            good([&] { file.save(), ++saves; });
        });
        FaultyFiles::state = {};
        TableFile<float> file(path);
        CHECK((file.saves() == saves || (failed != 0 && file.saves() == saves + 1)));
        CHECK(file.rows().row(1)[0] ==
              (file.saves() == 0 ? start.rows.row(1)[0] : 999 + static_cast<float>(file.saves())));
        REQUIRE(n < 100);
    }
}

TEST_CASE("a journal whose last records were not written whole restores the others", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table", trial = folder / "trial";
    make(path);
    TableFile<float> file(path);
    train(file, 1);
    rowwise_adagrad(file, gradient(2));
    auto const size = test::read(path + ".journal").size();
    Bytes const table = test::read(path);
    file.change({0, 10, 20, 30, 40, 50});  // the process is killed before they are in the journal
    Bytes const journal = test::read(path + ".journal");
    REQUIRE((size > 0 && journal.size() > size));
    for (std::size_t n = size; n <= journal.size(); n += 97) {
        for (bool const cut : {true, false}) {
            CAPTURE(n, cut);
            Bytes torn(journal.begin(), journal.begin() + static_cast<std::ptrdiff_t>(n));
            if (!cut) torn.resize(journal.size(), std::byte{0xAA});
            test::write(trial + ".journal", torn);
            test::write(trial, table);
            TableFile<float> again(trial);
            CHECK((Contents(again) == after(2) && again.saves() == 1));
        }
    }
    test::write(trial, table);
    std::filesystem::remove(trial + ".journal");
    CHECK_THROWS_AS(TableFile<float>(trial), FormatError);  // its rows are neither of this save nor of another
    CHECK(test::read(trial) == table);
    auto const before = test::read(path);
    file.save();
    copy(path, trial);
    train(file, 1);
    rowwise_adagrad(file, gradient(9));
    std::filesystem::copy_file(path + ".journal", trial + ".journal",
                               std::filesystem::copy_options::overwrite_existing);
    CHECK_THROWS_AS(TableFile<float>(trial), FormatError);  // the journal of a later save
}

TEST_CASE("a full disk is an error, and nothing has changed", "[io][table_file]") {
    Folder const folder;
    make(folder / "table");
    TableFile<float> file(folder / "table");
    ::rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    ::rlimit const small{5000, before.rlim_max};
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::string const text = refusal<IoError>([&] { rowwise_adagrad(file, gradient(0)); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK(text == "write " + folder / "table" + ".journal: File too large");
    CHECK((Contents(file) == Contents() && file.touched().rows().empty()));
    train(file, 1);
    CHECK(Contents(file) == after(2));
}

TEST_CASE("only with power_safe the journal is on the disk before rows change", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    make(path);
    for (bool const power_safe : {false, true}) {
        TableFile<float, FaultyFiles> file(path, {.power_safe = power_safe});
        auto const syncs = [&](std::string const& of) {
            return std::ranges::count_if(FaultyFiles::state.log,
                                         [&](auto const& call) { return call.name == "fsync" && call.path == of; });
        };
        FaultyFiles::state.log.clear();
        file.change({1, 2});
        file.change({1});
        CHECK((syncs(path + ".journal") == (power_safe ? 1 : 0) && syncs(path) == 0));
        file.save();
        CHECK(syncs(path) == 2);  // the rows, and then the number of the save
        FaultyFiles::state = {};
    }
    killed([&] {
        TableFile<float> file(path);
        file.change({1});
        ::kill(::getpid(), SIGKILL);
    });
    TableFile<float, FaultyFiles> file(path, {.power_safe = true});
    FaultyFiles::state.log.clear();
    file.change({1});  // into the journal that is there, but perhaps not yet on the disk
    CHECK(std::ranges::count_if(FaultyFiles::state.log, [&](auto const& call) {
              return call.name == "fsync" && call.path == folder / "";
          }) == 1);
    FaultyFiles::state = {};
}

TEST_CASE("the journal stays with its table", "[io][table_file]") {
    Folder const folder;
    std::filesystem::create_directory(folder / "a"), std::filesystem::create_directory(folder / "b");
    auto const path = folder / "a/table";
    make(path);
    std::filesystem::create_symlink(path, folder / "link");
    auto const die = [](auto& file) {
        rowwise_adagrad(Cpu{1}, file, gradient(2));
        ::kill(::getpid(), SIGKILL);
    };
    SECTION("if a forked child closes the table") {
        killed([&] {
            TableFile<float> file(path);
            train(file, 1);
            ::pid_t const child = ::fork();
            if (child == 0) {
                { auto const own = std::move(file); }
                ::_exit(0);
            }
            forked::status(child);
            die(file);
        });
    }
    SECTION("if the working folder changes") {
        killed([&] {
            std::filesystem::current_path(folder / "a");
            TableFile<float> file("table");
            train(file, 1);
            std::filesystem::current_path(folder / "b");
            die(file);
        });
    }
    SECTION("if the file is opened by a link") {
        killed([&] {
            TableFile<float> file(folder / "link");
            train(file, 1);
            die(file);
        });
    }
    SECTION("if somebody removes it while it is empty") {
        killed([&] {
            TableFile<float> file(path);
            train(file, 1);
            std::filesystem::remove(path + ".journal");
            die(file);
        });
    }
    TableFile<float> file(path);
    CHECK((Contents(file) == after(2) && file.path() == std::filesystem::canonical(path)));
    auto const other = TableFile<float>::create(folder / "b/../a/./other", {.height = 1});
    CHECK(other.path() == std::filesystem::canonical(folder / "a/other"));
}

TEST_CASE("a journal of another is neither used nor removed", "[io][table_file][bad_input]") {
    Folder const folder;
    auto const path = folder / "table", journal = path + ".journal";
    make(path);
    auto const table = test::read(path);
    auto const text = test::bytes_of("my diary");
    test::write(journal, text);
    CHECK_THROWS_AS(TableFile<float>(path), FormatError);
    CHECK((test::read(path) == table && std::ranges::equal(test::read(journal), text)));
    std::filesystem::remove(path);
    CHECK_THROWS_AS(make(path), FormatError);
    CHECK(folder.files() == 1);
    test::write(path, table), test::write(journal, Bytes(9000));  // a power failure: the file was not written
    {
        TableFile<float> file(path);
        CHECK(Contents(file) == Contents());
    }
    CHECK(folder.files() == 1);
    {
        auto old = std::make_unique<TableFile<float>>(path);
        train(*old, 1);
        std::filesystem::remove(path);
        CHECK(refusal<IoError>([&] { make(path); }) == "lock " + journal + ": it is open, in this process or another");
        std::filesystem::remove(journal), test::write(journal, text);
    }
    CHECK(std::ranges::equal(test::read(journal), text));  // the old table closed another file
    std::filesystem::remove(journal);
    make(path);
}

TEST_CASE("a journal has the rights of its table", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    make(path);
    for (::mode_t const mode : {0600U, 0666U}) {
        ::chmod(path.c_str(), mode);
        TableFile<float> file(path);
        file.change({1});
        struct stat about {};
        CHECK((::stat((path + ".journal").c_str(), &about) == 0 && (about.st_mode & 0777) == mode));
        file.save();
    }
}

TEST_CASE("pages that a failed change has written to the journal are written and waited for again",
          "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table", trial = folder / "trial";
    FullDisk::writes = -1;
    TableFile<float>::create(path, {.height = 600, .width = 1024});
    TableFile<float, FullDisk> file(path, {.power_safe = true});
    std::vector<std::int64_t> all(600);
    std::iota(all.begin(), all.end(), std::int64_t{0});
    FullDisk::writes = 1;
    CHECK_THROWS_AS(file.change(all), IoError);
    FullDisk::writes = -1, FullDisk::syncs = 0;
    file.change({3});
    CHECK(FullDisk::syncs == 1);
    file.rows().row(3)[0] = 1;
    copy(path, trial);
    CHECK(TableFile<float>(trial).rows().row(3)[0] == 0);
    copy(path, trial), std::filesystem::remove(trial + ".journal");
    CHECK_THROWS_AS(TableFile<float>(trial), FormatError);
}

TEST_CASE("a full disk is an error when a table is made, and when it is restored", "[io][table_file]") {
    on_small_disk([](Folder const& folder, auto const& fill) {
        fill();
        bool const refused =
            refusal<IoError>([&] { TableFile<float>::create(folder / "table", {.height = 40, .width = 1024}); }) != "";
        std::filesystem::remove(folder / "table");
        return refused && folder.files() == 1;
    });
    on_small_disk([](Folder const& folder, auto const& fill) {
        auto const path = folder / "table";
        auto file = TableFile<float>::create(path, {.height = 16, .width = 1024});
        file.change({3});
        file.rows().row(3)[0] = 1;
        {  // a copy without the pages of zeros
            copy(path, folder / "trial");
            std::filesystem::resize_file(folder / "trial", 8192);
            std::filesystem::resize_file(folder / "trial", std::filesystem::file_size(path));
        }
        fill();
        bool const refused = refusal<IoError>([&] { TableFile<float> again(folder / "trial"); }) != "";
        std::filesystem::remove(folder / "fill");
        return refused && TableFile<float>(folder / "trial").rows().row(3)[0] == 0;
    });
}

TEST_CASE("change reserves space although the file system counts blocks of its own", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    TableFile<float>::create(path, {.height = 16, .width = 1024});
    TableFile<float, ManyBlocks> file(path);
    file.change({5});
    struct stat about {};
    CHECK((::stat(path.c_str(), &about) == 0 && about.st_blocks * 512 >= 12'288));
}

TEST_CASE("a journal with a record of a later save changes nothing", "[io][table_file][bad_input]") {
    Folder const folder;
    auto const path = folder / "table", trial = folder / "trial";
    TableFile<float>::create(path, {.height = 4, .width = 1024});
    TableFile<float> file(path);
    file.change({0});
    file.rows().row(0)[0] = 1;
    copy(path, trial);
    file.save();
    file.change({1});
    Bytes both = test::read(trial + ".journal");
    Bytes const table = test::read(trial), later = test::read(path + ".journal");
    both.insert(both.end(), later.begin(), later.end());
    test::write(trial + ".journal", both);
    CHECK_THROWS_AS(TableFile<float>(trial), FormatError);
    CHECK(test::read(trial) == table);
}

TEST_CASE("a table that cannot be made leaves no file", "[io][table_file][bad_input]") {
    Folder const folder;
    bool more = true;
    for (std::size_t n = 1; more; ++n) {
        CAPTURE(n);
        FaultyFiles::state = {.fail = n, .ever_after = true};
        more = refusal<IoError>([&] { make<FaultyFiles>(folder / "table"); }) != "";
        FaultyFiles::state = {};
        REQUIRE((n < 40 && folder.files() == (more ? 0 : 1)));
    }
    CHECK(refusal<ShapeError>([&] { TableFile<float>::create(folder / "x", {.height = 1LL << 60, .width = 0}); }) ==
          "height is 1152921504606846976, expected at most 8192 if no row has elements");
    std::vector<TableState> states;
    for (int i = 0; i < 1001; ++i) states.push_back(TableState::of<float>(std::to_string(i)));
    CHECK(refusal([&] { TableFile<float>::create(folder / "x", {.height = 1, .states = states}); }) ==
          "there are 1001 states, more than 1000");
    CHECK(folder.files() == 1);
    states.pop_back();
    CHECK(TableFile<float>::create(folder / "x", {.height = 1, .states = states}).states().size() == 1000);
}

TEST_CASE("optimizers refuse a state that is not in the file any more", "[io][table_file][bad_input]") {
    Folder const folder;
    auto file = TableFile<float>::create(
        folder / "t", {.height = 60, .width = 100, .states = {TableState::of<float>("moment", 100)}});
    file.state<float>("moment") = Tensor<float>::zeros({60, 100});
    auto const want = "the state \"moment\" of " + folder / "t" + " is another tensor than that of the file";
    CHECK(refusal([&] { adagrad(file, gradient(0)); }) == want);
    CHECK(refusal([&] { rowwise_adagrad(file, gradient(0)); }) == want);
}

TEST_CASE("a table is opened on file systems without locks", "[io][table_file]") {
    Folder const folder;
    make<NoLocks>(folder / "table");
    TableFile<float, NoLocks> file(folder / "table");
    train(file, 1);
    CHECK(Contents(file) == after(2));
}

TEST_CASE("a table in a file has deltas for checkpoints", "[io][table_file]") {
    Folder const folder;
    make(folder / "table");
    TableFile<float> file(folder / "table");
    Checkpoint all;
    all.add("rows", file.rows());
    all.add("moment", file.state<float>("moment"));
    auto const id = save_checkpoint(all, folder / "0");
    train(file, 2);
    Checkpoint delta;
    delta.add("rows", file.touched().of(file.rows()));
    delta.add("moment", file.touched().of(file.state<float>("moment")));
    save_delta(delta, id, folder / "1");
    CHECK(file.touched().rows().size() < 24);
    file.touched().clear();
    CheckpointChain const chain({folder / "0", folder / "1"});
    CHECK(same(chain.load<Tensor<float>>("rows"), after(4).rows));
    CHECK(same(chain.load<Tensor<float>>("moment"), after(4).moment));
}

TEST_CASE("a process killed at any time leaves the last save", "[io][table_file]") {
    Folder const folder;
    auto const path = folder / "table";
    make(path);
    auto const* const asked = std::getenv("ROWAN_TEST_KILLS");
    int const kills = asked == nullptr ? 40 : std::atoi(asked);
    auto* const done =
        static_cast<std::uint64_t*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    inputs::Random random(static_cast<std::uint64_t>(kills));
    Contents want;
    std::uint64_t steps = 0, inside = 0;
    for (int k = 0; k < kills; ++k) {
        ::pid_t const child = ::fork();
        if (child == 0) {
            ::alarm(20);
            TableFile<float> file(path, {.power_safe = k % 4 == 0});
            for (;; *done = file.saves()) train(file, 1);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(12'000)));
        ::kill(child, SIGKILL);
        REQUIRE(WIFSIGNALED(forked::status(child)));
        inside += std::filesystem::exists(path + ".journal") && std::filesystem::file_size(path + ".journal") != 0;
        TableFile<float> file(path);
        REQUIRE((file.saves() == *done || file.saves() == *done + 1));
        *done = file.saves();
        for (; steps < 2 * file.saves(); ++steps) want.step(steps);
        REQUIRE(Contents(file) == want);
    }
    if (asked != nullptr) WARN(kills << " kills, " << steps / 2 << " saves; rows were restored after " << inside);
    CHECK((steps > 0 && inside > 0));
    ::munmap(done, 4096);
}

}  // namespace test_table_file
