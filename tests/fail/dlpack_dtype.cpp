// expect: DLPack has no such element type
#include <rowan/io/dlpack.hpp>

#include "number.hpp"

auto* share(rowan::Tensor<number> const& tensor) { return rowan::to_dlpack(tensor); }
