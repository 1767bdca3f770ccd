// Text for callers.
#ifndef TAMIS_BINDINGS_C_SRC_TEXT_H_
#define TAMIS_BINDINGS_C_SRC_TEXT_H_

#include <string>

namespace tamis::c {

// A copy for tamis_text_free. Throws std::bad_alloc.
char* NewText(const std::string& text);

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_TEXT_H_
