// The files that a list of files and folders stands for.
#ifndef TAMIS_FILE_FOLDER_H_
#define TAMIS_FILE_FOLDER_H_

#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tamis/cpp20.h"

namespace tamis {

// Returns the files of `given` as they are. A folder stands for all files below it, also behind
// links, whose names end in one of `extensions`, such as ".tamis", in small or capital letters.
// They come in the order of their names, and each folder counts once. Names that begin with a dot
// are left out. Throws Error(kIo) for a folder that cannot be read, and Error(kInvalidArgument) if
// it finds no file at all.
std::vector<std::filesystem::path> FilesOf(const std::vector<std::filesystem::path>& given,
                                           std::initializer_list<std::string_view> extensions);

}  // namespace tamis

#endif  // TAMIS_FILE_FOLDER_H_
