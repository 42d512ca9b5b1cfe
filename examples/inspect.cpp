// Prints the contents of files of rowan, Paddle or NumPy: kind, element type, shape, levels, rows and a few values.
//
//     $ inspect model.rowan words.npy __params__
//     model.rowan: rowan checkpoint, 1 variable
//       LOD_TENSOR w: f32[3, 2], persistable: 1 2 3 4 5 6
//     words.npy: NumPy array
//       <i8 [3]: 7 8 9
//     __params__: 2 Paddle streams
//       LoDTensor f32[3, 2], lod [0 1 3]: 1 2 3 4 5 6
//       LoDTensor bool[2]: 1 0
#include <rowan/core/bfloat16.hpp>
#include <rowan/core/float16.hpp>
#include <rowan/io/checkpoint_file.hpp>
#include <rowan/io/describe_paddle.hpp>
#include <rowan/io/npy.hpp>
#include <rowan/io/paddle.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using rowan::Tensor;

std::size_t most = 8;  // number of values and rows to print
bool programs = false;  // whether to print programs

template <class T>
void print_some(std::span<T const> list) {
    for (std::size_t i = 0; i < std::min(list.size(), most); ++i) std::cout << (i == 0 ? "" : " ") << rowan::dtype<T>::widen(list[i]);
    if (list.size() > most) std::cout << " …";
}

template <class T>
void print_values(Tensor<T> const& tensor) {
    std::cout << (tensor.size() == 0 ? ": no elements" : ": ");
    print_some(std::span<T const>(tensor.data(), tensor.size()));
    std::cout << '\n';
}

/// Calls `show` with each element type until one throws no TypeError.
template <class Show>
void with_type(Show const& show) {
    auto const is = [&]<class T>(T) {
        try {
            show(T{});
            return true;
        } catch (rowan::TypeError const&) {
            return false;
        }
    };
    bool const known = is(float{}) || is(double{}) || is(std::int32_t{}) || is(std::int64_t{}) || is(std::uint8_t{}) || is(bool{}) ||
                       is(rowan::float16{}) || is(rowan::bfloat16{});
    if (!known) std::cout << ": of an element type that rowan has not\n";
}

template <class Dims>
std::string dims_text(Dims const& dims) {
    std::string text;
    for (auto const dim : dims) text += (text.empty() ? "[" : ", ") + std::to_string(dim);
    return text.empty() ? "[]" : text + "]";
}

void inspect_npy(std::string const& path) {
    auto const header = rowan::describe_npy(path);
    std::cout << path << ": NumPy array" << (header.fortran_order ? ", in Fortran's order" : "") << '\n';
    std::cout << "  " << header.type << ' ' << dims_text(header.shape);
    with_type([&]<class T>(T) { print_values(rowan::load_npy<T>(path)); });
}

void inspect_paddle(std::string const& path) {
    auto const streams = rowan::describe_paddle(path);
    std::cout << path << ": " << streams.size() << " Paddle stream" << (streams.size() == 1 ? "" : "s") << '\n';
    for (auto const& stream : streams) {
        std::cout << (stream.selected_rows ? "  SelectedRows " : "  LoDTensor ") << stream.tensor;
        if (!stream.lod.empty()) std::cout << ", lod";
        for (std::size_t level = 0; level < stream.lod.levels(); ++level) {
            std::cout << " [";
            print_some(stream.lod[level]);
            std::cout << ']';
        }
        if (stream.selected_rows) {
            std::cout << ", of height " << stream.height << ", rows ";
            print_some(std::span<std::int64_t const>(stream.rows));
        }
        with_type([&]<class T>(T) {
            if (stream.selected_rows) {
                print_values(rowan::load_paddle<rowan::SelectedRows<T>>(path, stream).value());
            } else {
                print_values(rowan::load_paddle<rowan::LoDTensor<T>>(path, stream).value());
            }
        });
    }
}

void inspect_checkpoint(std::string const& path) {
    rowan::CheckpointFile const file(path);
    std::cout << path << ": rowan checkpoint, " << file.size() << (file.size() == 1 ? " variable" : " variables") << '\n';
    if (auto const program = file.program()) {
        std::size_t operators = 0;
        for (auto const& block : program->blocks) operators += block.ops.size();
        std::cout << "  a program of " << operators << " operators\n";
        if (programs) std::cout << *program << '\n';
    }
    for (std::string const& name : file.names()) {
        auto const entry = file.map(name);
        std::cout << "  " << entry.desc;
        if (!entry.lod->empty()) std::cout << ", lod";
        for (std::size_t level = 0; level < entry.lod->levels(); ++level) {
            std::cout << " [";
            print_some((*entry.lod)[level]);
            std::cout << ']';
        }
        if (entry.desc.selected_rows_desc) {
            std::cout << ", rows ";
            print_some(std::span<std::int64_t const>(entry.rows->data(), entry.rows->size()));
        }
        with_type([&]<class T>(T) {
            if (entry.desc.selected_rows_desc) {
                print_values(file.map<rowan::SelectedRows<T>>(name).value());
            } else {
                print_values(file.map<rowan::LoDTensor<T>>(name).value());
            }
        });
    }
}

void inspect(std::string const& path) {
    std::array<char, 6> magic{};
    std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
    std::string_view const begin(magic.data(), magic.size());
    if (begin == "\x93NUMPY") {
        inspect_npy(path);
    } else if (begin == "\x89ROWAN") {
        inspect_checkpoint(path);
    } else {
        inspect_paddle(path);
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Prints what is in files that rowan, Paddle or NumPy wrote.", "inspect");
    std::vector<std::string> paths;
    app.add_option("file", paths, "what to look at")->required();
    app.add_option("--values", most, "how many values and rows to print of each tensor")->capture_default_str();
    app.add_flag("--program", programs, "print the programs of rowan's files");
    CLI11_PARSE(app, argc, argv);
    int bad = 0;
    for (std::string const& path : paths) {
        try {
            inspect(path);
        } catch (std::exception const& error) {
            std::cout.flush();
            std::cerr << path << ": " << error.what() << '\n';
            bad = 1;
        }
    }
    return bad;
}
