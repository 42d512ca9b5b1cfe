# conanfile.py: rowan for Conan 2. The package is what CMake installs, and is found by the CMake config in it.
import os
import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout

# Only this header states the version and the oldest versions of dependencies.
HEADER = "include/rowan/version.hpp"
stated = dict(re.findall(r"#define ROWAN_(\w+) ([0-9.]+)\n", (pathlib.Path(__file__).parent / HEADER).read_text(encoding="utf-8")))


class Rowan(ConanFile):
    name = "rowan"
    version = "{VERSION_MAJOR}.{VERSION_MINOR}.{VERSION_PATCH}".format(**stated)
    description = "Row-sparse tensors and ragged sequences"
    license = "MIT"
    settings = "os", "compiler", "build_type", "arch"
    # header_only=False makes rowan::compiled. The others are CMake's options.
    # blas and nanopb are off because most programs need neither. Conan Center has nanopb 0.4.7, the oldest that rowan takes, and xtensor-blas
    # 0.20.0, which is too old for the newer xtensor that it has, and goes with xtensor 0.24 alone. MPI is the system's.
    options = {option: [True, False] for option in ("header_only", "openmp", "blas", "nanopb", "mpi", "cuda")}
    default_options = {"header_only": True, "openmp": True, "blas": False, "nanopb": False, "mpi": False, "cuda": False, "xtensor/*:xsimd": False}
    exports = HEADER  # beside the recipe
    exports_sources = "CMakeLists.txt", "LICENSE", "include/*"
    test_package_folder = "tests/consume/conan/test_package"

    def requirements(self):
        self.requires(f"xtensor/[>={stated['MIN_XTENSOR']} <0.28]")
        if self.options.blas:
            self.requires(f"xtensor-blas/[>={stated['MIN_XTENSOR_BLAS']} <0.24]")
        if self.options.nanopb:
            self.requires(f"nanopb/[>={stated['MIN_NANOPB']} <0.5]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("tests", "examples"):
            toolchain.cache_variables[f"ROWAN_{option.upper()}"] = False
        for option in ("openmp", "blas", "nanopb", "mpi", "cuda"):
            toolchain.cache_variables[f"ROWAN_{option.upper()}"] = bool(self.options.get_safe(option))
        toolchain.cache_variables["ROWAN_COMPILED"] = not self.options.header_only
        needs = ("blas", "BLAS"), ("blas", "LAPACK"), ("blas", "xtensor-blas"), ("nanopb", "nanopb"), ("mpi", "MPI")
        for option, package in needs:  # CMake would go on without
            if self.options.get_safe(option):
                toolchain.cache_variables[f"CMAKE_REQUIRE_FIND_PACKAGE_{package}"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_id(self):
        if self.info.options.header_only:
            self.info.settings.clear()  # the options decide which components there are

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "rowan")]
