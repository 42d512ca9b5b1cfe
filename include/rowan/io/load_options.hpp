// rowan/io/load_options.hpp: LoadOptions, how load_model and load_parameters read a file.
#pragma once

#include <rowan/graph/limits.hpp>
#include <rowan/graph/scope.hpp>
#include <rowan/train/parameters.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rowan::inline v0 {

class CheckpointFile;

/// How to read a file.
struct LoadOptions {
    /// Maps the parameters of a net on the host instead of reading them; their checksums are not verified: see
    /// CheckpointFile::map.
    bool map = false;
    /// For load_model of a net from an untrusted source: becomes the `limits` of the scope, which every run observes.
    ///     auto const model = load_model(path, {.limits = {.iterations = 100'000, .bytes = 1 << 30}});
    Limits limits = {};
    /// For tables that stay in the file: opens a parameter, or returns an empty value for one to be loaded. See
    /// row_stores.
    std::function<Value(CheckpointFile const& file, std::string const& name)> open = {};
};

namespace detail {

/// A net and its parameters, with outputs of any types.
struct LoadedNet {
    std::unique_ptr<Scope> scope;
    std::vector<Variable*> outputs;
    Parameters parameters;
};

}  // namespace detail

}  // namespace rowan::inline v0
