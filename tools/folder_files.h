// The files that files and folders on a command line stand for.
#ifndef TAMIS_TOOLS_FOLDER_FILES_H_
#define TAMIS_TOOLS_FOLDER_FILES_H_

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::tools {

// Files as they are given, and of each folder all below it whose names end in one of `extensions`,
// such as ".tamis", in small letters or large, in the order of their names, also those to which
// links lead, each folder once; those whose names, or whose folders', begin with a dot are left
// out. Throws Error(kIo) for a folder that cannot be read, and Error(kInvalidArgument) if there is
// no file at all.
std::vector<std::filesystem::path> FilesOf(const std::vector<std::string>& given,
                                           std::initializer_list<std::string_view> extensions);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_FOLDER_FILES_H_
