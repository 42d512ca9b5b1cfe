// rowan/compiled/io.cpp: of the compiled library what needs nanopb: descriptors, checkpoints and models.
#include <rowan/rowan.hpp>

#include <rowan/compiled/define.hpp>
#include <rowan/io.hpp>
