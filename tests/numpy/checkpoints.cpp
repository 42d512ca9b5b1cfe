// tests/numpy/checkpoints.cpp FOLDER: writes checkpoints of all kinds and types, and prints their expected contents.
#include <rowan/io/checkpoint_chain.hpp>

#include "io/checkpoint_files.hpp"

#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>

namespace {

using namespace rowan;

std::string hex(std::span<std::byte const> bytes) {
    std::string text;
    for (std::byte const b : bytes) text += detail::hex_text(static_cast<std::uint8_t>(b));
    return text;
}

template <class List>
std::string text(List const& list) {
    std::string text = "[";
    for (auto const x : list) text.append(text.size() == 1 ? "" : ", ").append(std::to_string(x));
    return text + "]";
}

void print(std::string const& name, Checkpoint const& c, std::string const& base) {
    std::printf("%s %s %s\n", name.c_str(), base.c_str(), c.program ? hex(encode(*c.program)).c_str() : "-");
    for (auto const& [key, e] : c.entries()) {
        std::string lod = "[";
        for (std::size_t l = 0; l < e.lod->levels(); ++l) lod.append(l == 0 ? "" : ", ").append(text((*e.lod)[l]));
        auto const rows = e.desc.type == VarType::SELECTED_ROWS ? text(*e.rows) : "-";
        std::printf("%s %s %s %s] %s %s\n", key.c_str(), e.type_name.c_str(), text(detail::tensor_of(e.desc).dims).c_str(), lod.c_str(), rows.c_str(),
                    hex(e.elements).c_str());
    }
}

template <class T>
void add_all(Checkpoint& c) {
    std::string const name(dtype<T>::name);
    auto value = Tensor<T>::from_shape({3, 2});
    for (std::size_t i = 0; i < value.size() * sizeof(T); ++i)
        reinterpret_cast<unsigned char*>(value.data())[i] = static_cast<unsigned char>(std::is_same_v<T, bool> ? i % 2 : 37 * i + 1);
    c.add(name + " tensor", value);
    c.add(name + " number", value.slice(1, 2).reshaped({1, 1, 1, 2}));
    c.add(name + " none", Tensor<T>::from_shape({0, 4}));
    c.add(name + " rank 0", Tensor<T>::zeros({}));
    c.add(name + " sequences", LoDTensor<T>(value, Lod{{0, 1, 3}, {0, 0, 2, 3}}));
    c.add(name + " rows", SelectedRows<T>(std::numeric_limits<std::int64_t>::max(), {7, std::int64_t{1} << 40, 7}, value));
}

}  // namespace

int main(int, char** arguments) {
    std::string const folder = arguments[1];
    std::filesystem::create_directories(folder);
    Checkpoint all, changes;
    all.program.emplace().blocks.emplace_back().vars.push_back(test::dense("w", {UNK, 640, 480}));
    add_all<float>(all), add_all<double>(all), add_all<std::int32_t>(all), add_all<std::int64_t>(all), add_all<std::uint8_t>(all);
    add_all<bool>(all), add_all<float16>(all), add_all<bfloat16>(all), add_all<test::own>(all);
    changes.add("f32 tensor", SelectedRows<float>(3, {1}, {{5, 6}}));
    save_checkpoint(Checkpoint(), folder + "/a");
    print("a", Checkpoint(), "-");
    auto const id = save_checkpoint(all, folder + "/b");
    print("b", all, "-");
    save_delta(changes, id, folder + "/c");
    print("c", changes, std::to_string(id));
    save_checkpoint(test::three_values(), folder + "/d");
    print("d", test::three_values(), "-");
}
