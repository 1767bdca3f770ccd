// Copies text for callers.
#ifndef TAMIS_BINDINGS_C_SRC_TEXT_H_
#define TAMIS_BINDINGS_C_SRC_TEXT_H_

#include <string>

namespace tamis::c {

// Returns a copy that tamis_text_free frees. Throws std::bad_alloc.
char* NewText(const std::string& text);

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_TEXT_H_
