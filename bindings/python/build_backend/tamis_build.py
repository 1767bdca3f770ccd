"""scikit-build-core with support for a library outside of the package folder.

In the repository the sources of the library are two folders up. An sdist contains a copy of them
in library/, which exists here only while an sdist is built.
"""
import contextlib
import pathlib
import re
import shutil
import sys
import sysconfig

from scikit_build_core import build as _build
from scikit_build_core.build import (  # noqa: F401  hooks of PEP 517 and 660
    build_editable, get_requires_for_build_sdist)

_HERE = pathlib.Path(__file__).resolve().parent.parent
_COPY = _HERE / "library"
_PARTS = ["CMakeLists.txt", "bank", "cmake", "core", "formats", "join", "live", "parquet", "plan", "redis", "simd",
          "text"]


def _root():
    repository = _HERE.parent.parent
    return repository if (repository / "core/include/tamis").is_dir() else _COPY


def dynamic_metadata(field, settings=None):
    """Returns the version, which is in a header of the library."""
    if field != "version":
        raise ValueError(f"only the version is found here, not {field}")
    header = (_root() / "core/include/tamis/version.h").read_text()
    return re.search(r'TAMIS_VERSION_STRING "(.*)"', header)[1]


@contextlib.contextmanager
def _copies(parts, folder):
    """Copies parts of the repository to a folder, unless they exist there. Removes them later."""
    missing = [part for part in parts if not (folder / part).exists()]
    try:
        for part in missing:
            source, target = _root() / part, folder / part
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy2(source, target)
        yield
    finally:
        for part in missing:
            target = folder / part
            shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)


def _require_gil():
    """Ends the build for a Python without the lock that protects objects of the package."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("tamis does not support free-threaded Python yet: use a Python with the global "
                 "interpreter lock, such as python3.14 instead of python3.14t")


def get_requires_for_build_wheel(config_settings=None):
    _require_gil()
    return _build.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    _require_gil()
    return _build.get_requires_for_build_editable(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    with _copies(["LICENSE"], _HERE):
        return _build.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _copies(["LICENSE"], _HERE):
        return _build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    if _COPY.is_dir():
        return _build.build_sdist(sdist_directory, config_settings)
    try:
        with _copies(["LICENSE"], _HERE), _copies(_PARTS, _COPY):
            return _build.build_sdist(sdist_directory, config_settings)
    finally:
        shutil.rmtree(_COPY, ignore_errors=True)
