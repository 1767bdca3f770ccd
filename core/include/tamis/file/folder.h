// The files below folders.
#ifndef TAMIS_FILE_FOLDER_H_
#define TAMIS_FILE_FOLDER_H_

#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tamis/cpp20.h"

namespace tamis {

// Returns the files in `given`. A folder in `given` stands for all files below it whose names end
// in one of `extensions`, such as ".tamis", in lower or upper case. Links are followed. Files of a
// folder are in the order of their names. A folder that can be reached in two ways is read once.
// Names that begin with a dot are left out. Throws Error(kIo) for a folder that cannot be read, and
// Error(kInvalidArgument) if the result would be empty.
std::vector<std::filesystem::path> FilesOf(const std::vector<std::filesystem::path>& given,
                                           std::initializer_list<std::string_view> extensions);

}  // namespace tamis

#endif  // TAMIS_FILE_FOLDER_H_
