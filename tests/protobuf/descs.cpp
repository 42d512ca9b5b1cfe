// tests/protobuf/descs.cpp: `write FOLDER` writes the bytes of every descriptor to a file KIND.NAME; `read FOLDER`
// reads such files and compares them with the descriptors.
#include "io/descs.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>

// The kinds, by their names in rowan.proto.
constexpr char const* kind_of(rowan::TensorDesc const&) { return "TensorDesc"; }
constexpr char const* kind_of(rowan::LodTensorDesc const&) { return "LodTensorDesc"; }
constexpr char const* kind_of(rowan::VarDesc const&) { return "VarDesc"; }
constexpr char const* kind_of(rowan::OpDesc const&) { return "OpDesc"; }
constexpr char const* kind_of(rowan::BlockDesc const&) { return "BlockDesc"; }
constexpr char const* kind_of(rowan::ProgramDesc const&) { return "ProgramDesc"; }

int main(int count, char** arguments) {
    if (count != 3) return 2;
    bool const write = std::string(arguments[1]) == "write";
    int bad = 0;
    descs::for_each([&](std::string const& name, auto const& desc) {
        using Desc = std::remove_cvref_t<decltype(desc)>;
        std::string const path = std::string(arguments[2]).append("/").append(kind_of(desc)).append(".").append(name);
        if (write) {
            auto const bytes = rowan::encode(desc);
            std::ofstream(path, std::ios::binary).write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
            return;
        }
        std::ifstream in(path, std::ios::binary);
        std::string const bytes{std::istreambuf_iterator<char>(in), {}};
        try {
            if (in && rowan::decode<Desc>(std::as_bytes(std::span(bytes))) == desc) return;
            std::cerr << path << " holds something else\n";
        } catch (rowan::Error const& e) {
            std::cerr << path << ": " << e.what() << '\n';
        }
        bad = 1;
    });
    return bad;
}
