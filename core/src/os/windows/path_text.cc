#include "core/src/os/path_text.h"

#include "core/src/os/windows/win32.h"

namespace tamis::os {

// Replaces unpaired surrogates by U+FFFD. The standard library would refuse them.
std::string TextOf(const std::filesystem::path& path) {
  const std::wstring& wide = path.native();
  const auto convert = [&](char* to, int room) {
    return WideCharToMultiByte(CP_UTF8, 0, wide.data(), static_cast<int>(wide.size()), to, room,
                               nullptr, nullptr);
  };
  std::string text(static_cast<size_t>(convert(nullptr, 0)), '\0');
  convert(text.data(), static_cast<int>(text.size()));
  return text;
}

}  // namespace tamis::os
