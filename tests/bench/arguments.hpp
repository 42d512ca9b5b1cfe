// tests/bench/arguments.hpp: the arguments of programs that time rows of one width; use.
#pragma once

#include <rowan/core/device.hpp>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bench {

struct Arguments {
    rowan::Cpu exec{2};
    std::size_t width = 64;
    bool tiny = false;  // a quick test
    std::string file;   // a file to make and read

    Arguments(int argc, char** argv) {
        for (int i = 1; i < argc; ++i) {
            std::string_view const word = argv[i];
            if (word == "--threads" && i + 1 < argc) exec.threads = std::atoi(argv[++i]);
            if (word == "--width" && i + 1 < argc) width = static_cast<std::size_t>(std::atoi(argv[++i]));
            if (word == "--file" && i + 1 < argc) file = argv[++i];
            if (word == "--tiny") tiny = true;
        }
    }
};

/// Prevents the compiler from removing the computation of `value`.
template <class T>
void use(T const& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

}  // namespace bench
