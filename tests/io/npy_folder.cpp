// tests/io/npy_folder.cpp: folders of tensors by name.
#include <rowan/io/npy_folder.hpp>

#include "io/damage.hpp"

#include <rowan/core/tensor.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace test_npy_folder {

namespace {

using damage::refusal;
using rowan::IoError, rowan::NpyFolder, rowan::save_npy_folder, rowan::Tensor;
using Names = std::vector<std::string>;

Tensor<float> const table{{1, 2}, {3, 4}};
Tensor<std::int64_t> const ids{7, 8, 9};

}  // namespace

TEST_CASE("a folder returns its tensors by name", "[npy]") {
    test::Folder const folder;
    save_npy_folder(folder / "model", {{"ids", ids}, {"embedding_0.w_0", table}});
    CHECK(folder.files() == 1);
    CHECK(test::read(folder / "model/ids.npy") == to_npy(ids));
    NpyFolder const model(folder / "model");
    CHECK(model.names() == Names{"embedding_0.w_0", "ids"});
    CHECK(model.load<float>("embedding_0.w_0") == table);
    CHECK(model.load<std::int64_t>("ids") == ids);
    CHECK(model.describe("ids").type == "<i8");
    CHECK_THROWS_AS(model.load<float>("ids"), rowan::TypeError);
    CHECK(refusal([&] { model.load<float>("table"); }) == folder / "model has no tensor \"table\"");
    CHECK(refusal([&] { model.load<float>("../model/ids"); }) == folder / "model has no tensor \"../model/ids\"");

    save_npy_folder(folder / "none", {});
    CHECK(NpyFolder(folder / "none").names().empty());
    save_npy_folder(folder / "none", {{"ids", ids}});  // no file is lost
    CHECK(NpyFolder(folder / "none").load<std::int64_t>("ids") == ids);
}

TEST_CASE("a folder is written whole or not at all", "[npy]") {
    test::Folder const folder;
    save_npy_folder(folder / "model", {{"ids", ids}});
    CHECK_THROWS_AS(save_npy_folder(folder / "model", {{"table", table}}), IoError);
    CHECK(NpyFolder(folder / "model").names() == Names{"ids"});
    CHECK(folder.files() == 1);
    CHECK_THROWS_AS(save_npy_folder(folder / "no/such/folder", {{"ids", ids}}), IoError);
    test::write(folder / "file", test::bytes_of("something"));
    CHECK_THROWS_AS(save_npy_folder(folder / "file", {{"ids", ids}}), IoError);
    CHECK(folder.files() == 2);

    auto const with = [&](std::string const& name) {
        return refusal([&] { save_npy_folder(folder / "new", {{"ids", ids}, {name, table}}); });
    };
    CHECK(with("") == "the name \"\" is empty");
    CHECK(with("a/b") == "the name \"a/b\" has a character that is not allowed in file names");
    CHECK(with({"a\0b", 3}) != "none");
    CHECK(with(std::string(201, 'a')).find("is longer than 200 bytes") != std::string::npos);
    CHECK(folder.files() == 2);
    CHECK(with(std::string(200, 'a')) == "none");
    save_npy_folder(folder / std::string(255, 'f') + "/", {{"ids", ids}});
    CHECK(folder.files() == 4);
    CHECK_THROWS_AS(save_npy_folder(std::string("a\0b", 3), {}), IoError);
    CHECK_THROWS_AS(NpyFolder(folder / std::string("model\0b", 7)), IoError);
}

TEST_CASE("a folder with other entries throws", "[npy]") {
    test::Folder const folder;
    std::string const model = folder / "model";
    save_npy_folder(model, {{"ids", ids}});
    auto const refused = [&] { return refusal([&] { NpyFolder{model}; }); };
    CHECK(refused() == "none");
    test::write(model + "/notes.txt", test::bytes_of("notes"));
    CHECK(refused() == "byte 0: " + model + "/notes.txt is not a .npy file");
    std::filesystem::remove(model + "/notes.txt");
    test::write(model + "/.npy", to_npy(ids));
    CHECK(refused() == "byte 0: " + model + "/.npy is not a .npy file");
    std::filesystem::remove(model + "/.npy");
    test::write(model + "/ids.npy", test::bytes_of("no array"));
    auto const ids_text = [&](auto const& f) { return refusal([&] { f(NpyFolder(model)); }).find(": " + model + "/ids.npy: ") != std::string::npos; };
    CHECK((ids_text([](auto const& m) { m.template load<std::int64_t>("ids"); }) && ids_text([](auto const& m) { m.describe("ids"); })));
    std::filesystem::create_directory(model + "/folder.npy");
    CHECK(refused() == "byte 0: " + model + "/folder.npy is not a .npy file");
    CHECK_THROWS_AS(NpyFolder(folder / "none"), IoError);
    CHECK_THROWS_AS(NpyFolder(model + "/ids.npy"), IoError);
}

}  // namespace test_npy_folder
