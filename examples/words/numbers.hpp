// words/numbers.hpp: what the programs on texts share: random numbers, checked arguments, and errors.
#pragma once

#include "text.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>

namespace words {

/// Random numbers that are the same with every standard library: splitmix64 (Steele, Lea, Flood 2014).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t x = state_ += 0x9E3779B97F4A7C15u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        return x ^ (x >> 31);
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>((bits() >> 32) * n >> 32); }  ///< n at most 2^32
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }                           ///< in [0, 1)

private:
    std::uint64_t state_;
};

/// Accepts only numbers from `low` to `high`.
template <class Number>
CLI::Validator number(Number low, Number high) {
    auto const text = [](Number x) {
        char digits[64];
        std::snprintf(digits, sizeof digits, "%.15g", static_cast<double>(x));
        return std::string(digits);
    };
    return {[=, range = "from " + text(low) + " to " + text(high)](std::string const& given) {
                Number value{};
                auto const* const end = given.data() + given.size();
                auto const [stop, error] = std::from_chars(given.data(), end, value);
                bool const good = error == std::errc{} && stop == end && value >= low && value <= high;
                return good ? std::string() : "\"" + given + "\" is not a " + (std::is_integral_v<Number> ? "whole " : "") + "number " + range;
            },
            "", ""};
}

/// Parses the arguments and calls work(). Returns the exit status; a sentence on stderr says why it is not 0.
template <class Work>
int main_of(CLI::App& app, int argc, char** argv, Work const& work) {
    auto const complain = [&](char const* what) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), what);
    };
    try {
        app.parse(argc, argv);
        work();
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw std::runtime_error("stdout cannot be written");
        return 0;
    } catch (CLI::ParseError const& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help
        complain(error.what());
        return 2;
    } catch (BadInput const& error) {
        complain(error.what());
        return 2;
    } catch (std::exception const& error) {
        complain(error.what());
        return 1;
    }
}

}  // namespace words
