"""scikit-build-core with support for a library outside of the package folder.

In the repository the sources of the library are two folders up. An sdist contains a copy of them
in library/, which exists here only while an sdist is built.
"""
import contextlib
import pathlib
import re
import shutil

from scikit_build_core import build as _build
from scikit_build_core.build import (  # noqa: F401  hooks of PEP 517 and 660
    build_editable, get_requires_for_build_editable, get_requires_for_build_sdist,
    get_requires_for_build_wheel)

_HERE = pathlib.Path(__file__).resolve().parent.parent
_COPY = _HERE / "library"
_PARTS = ["CMakeLists.txt", "bank", "cmake", "core", "formats", "live", "parquet", "plan", "redis", "simd"]


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
