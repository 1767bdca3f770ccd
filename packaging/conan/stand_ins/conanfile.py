"""Packages with the names and targets of Conan Center, made of Debian's libraries. With them the recipe of tamis can be
tried without Conan Center.

Usage: conan create packaging/conan/stand_ins --name (highway|nlohmann_json|xxhash) --version VERSION
"""
import glob
import os

from conan import ConanFile
from conan.tools.files import copy

HEADERS = {"highway": "hwy/*", "nlohmann_json": "nlohmann/*", "xxhash": "xxh*.h"}
LIBRARIES = {"highway": "libhwy.so*", "nlohmann_json": "none", "xxhash": "libxxhash.so*"}


class StandIn(ConanFile):
    settings = "os", "compiler", "build_type", "arch"

    def package(self):
        copy(self, HEADERS[self.name], "/usr/include", os.path.join(self.package_folder, "include"))
        for library in glob.glob(f"/usr/lib/*/{LIBRARIES[self.name]}"):
            copy(self, os.path.basename(library), os.path.dirname(library), os.path.join(self.package_folder, "lib"))

    def package_info(self):
        if self.name == "highway":
            self.cpp_info.components["hwy"].libs = ["hwy"]
            self.cpp_info.components["hwy"].defines = ["HWY_SHARED_DEFINE"]
        elif self.name == "xxhash":
            self.cpp_info.set_property("cmake_file_name", "xxHash")
            self.cpp_info.components["libxxhash"].set_property("cmake_target_name", "xxHash::xxhash")
            self.cpp_info.components["libxxhash"].libs = ["xxhash"]
        else:
            self.cpp_info.libdirs = []
            self.cpp_info.set_property("cmake_target_name", "nlohmann_json::nlohmann_json")
