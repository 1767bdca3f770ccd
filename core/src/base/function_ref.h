// A reference to a callable, which must outlive the reference. Replaces std::function where the
// callable is not stored and nothing may be allocated.
#ifndef TAMIS_CORE_SRC_BASE_FUNCTION_REF_H_
#define TAMIS_CORE_SRC_BASE_FUNCTION_REF_H_

#include <concepts>
#include <type_traits>

namespace tamis::detail {

template <typename Signature>
class FunctionRef;

template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef>) FunctionRef(const F& function)
      : function_(&function), call_([](const void* called, Arguments... arguments) -> Result {
          return (*static_cast<const F*>(called))(static_cast<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(function_, static_cast<Arguments>(arguments)...);
  }

 private:
  const void* function_;
  Result (*call_)(const void* called, Arguments... arguments);
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BASE_FUNCTION_REF_H_
