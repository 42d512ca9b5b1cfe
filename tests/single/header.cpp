// tests/single/header.cpp: the single header, compiled alone.
#include <rowan/rowan.hpp>
