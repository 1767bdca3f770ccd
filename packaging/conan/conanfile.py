import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.scm import Version

SOURCES = ("CMakeLists.txt", "LICENSE", "bank/*", "bindings/c/*", "cmake/*", "core/*", "cuda/*", "formats/*", "join/*",
           "live/*", "parquet/*", "plan/*", "simd/*")


class Tamis(ConanFile):
    name = "tamis"
    package_type = "library"
    license = "Apache-2.0"
    description = "Approximate-membership filters for batches of millions of keys"
    topics = ("bloom-filter", "cuckoo-filter", "simd")
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], "simd": [True, False], "kernels": ["all", "split_block"],
               "parts": ["all", "none"], "parquet": [True, False], "c_library": [True, False]}
    default_options = {"shared": False, "fPIC": True, "simd": True, "kernels": "all", "parts": "all", "parquet": False,
                       "c_library": False}
    implements = ["auto_shared_fpic"]

    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root(), "core/include/tamis/version.h"))
        self.version = re.search(r'TAMIS_VERSION_STRING "(.*)"', header)[1]

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, self._root(), self.export_sources_folder)

    def requirements(self):
        self.requires("xxhash/[>=0.8.1 <1]")
        self.requires("nlohmann_json/[>=3.10 <4]")
        if self.options.simd:
            self.requires("highway/[>=1.0.3 <2]")

    def validate(self):
        check_min_cppstd(self, 20)
        compiler, version = str(self.settings.compiler), Version(self.settings.compiler.version)
        least = {"gcc": 12, "clang": 14}.get(compiler)
        if compiler == "msvc" or least and version < least:
            raise ConanInvalidConfiguration("tamis needs g++ 12 or clang 14, or newer")
        if self.options.c_library and self.options.parts == "none":
            raise ConanInvalidConfiguration("c_library needs all parts")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        dependencies = CMakeDeps(self)
        # The names that cmake/FindHighway.cmake looks for.
        dependencies.set_property("highway", "cmake_file_name", "hwy")
        dependencies.set_property("highway::hwy", "cmake_target_name", "hwy::hwy")
        dependencies.generate()
        toolchain = CMakeToolchain(self)
        for part in ("BENCH", "PYTHON", "TESTS", "TOOLS"):
            toolchain.cache_variables[f"TAMIS_BUILD_{part}"] = False
        toolchain.cache_variables["TAMIS_BUILD_C"] = bool(self.options.c_library)
        toolchain.cache_variables["TAMIS_CUDA"] = "OFF"
        toolchain.cache_variables["TAMIS_PARQUET"] = bool(self.options.parquet)
        toolchain.cache_variables["TAMIS_REDIS"] = "OFF"
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True
        if self.options.kernels != "all":
            toolchain.cache_variables["TAMIS_KERNELS"] = str(self.options.kernels)
        if self.options.parts == "none":
            toolchain.cache_variables["TAMIS_PARTS"] = ""
        toolchain.cache_variables["TAMIS_SIMD"] = bool(self.options.simd)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "tamis")
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "tamis::tamis")
        core.set_property("pkg_config_name", "tamis")
        core.libs = ["tamis"]
        core.requires = ["xxhash::libxxhash", "nlohmann_json::nlohmann_json"]
        if self.options.simd:
            core.requires.append("highway::hwy")
        if self.settings.os in ("Linux", "FreeBSD"):
            core.system_libs = ["m", "pthread"]
        if self.options.parquet:
            parquet = self.cpp_info.components["parquet"]
            parquet.set_property("cmake_target_name", "tamis::parquet")
            parquet.libs = ["tamis_parquet"]
            parquet.requires = ["core"]
        if self.options.c_library:
            c = self.cpp_info.components["c"]
            c.set_property("cmake_target_name", "tamis::c")
            c.set_property("pkg_config_name", "tamis_c")
            c.libs = ["tamis_c"]
