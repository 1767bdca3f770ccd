"""Builds the wheel of bindings/python against an installed library, and runs the tests beside this file.

Usage: run_tests.py FOLDER PREFIX COMMAND

FOLDER is for a virtual environment, which is kept for the next run. Status 77: the required packages
are not available.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PARTS = ["bindings/python", "CMakeLists.txt", "LICENSE", "bank", "cmake", "core", "formats", "join", "live",
         "parquet", "plan", "redis", "simd", "text"]
BUILD = ["scikit-build-core>=1.1", "nanobind==3.1.0", "ninja"]  # stubs vary with nanobind
TEST = ["pytest", "hypothesis", "numpy", "pyarrow", "polars", "pandas", "duckdb"]


def unavailable(why):
    print(f"the tests of the Python package are skipped: {why}")
    sys.exit(77)


def environment(folder):
    """Returns the interpreter of a virtual environment with all packages from PyPI."""
    python = folder / "bin/python"
    if not python.exists():
        try:
            venv.create(folder, with_pip=True, clear=True)
        except (subprocess.CalledProcessError, OSError) as error:
            unavailable(f"no virtual environment can be made here: {error}")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *BUILD, *TEST]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable("packages cannot be had from PyPI:\n" + done.stderr[-2000:])
    return python


def copy_of_sources(folder):
    """Copies the package and the library, because other tests use the repository at the same time."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in PARTS:
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target,
                            ignore=shutil.ignore_patterns("__pycache__", "build", "library"))
        else:
            shutil.copy2(ROOT / part, target)
    return folder / "bindings/python"


def check_sdist(python, package, folder):
    """Checks that the sdist contains all sources of the wheel, and that building it leaves no files behind."""
    code = ("import os, sys; sys.path.insert(0, 'build_backend'); import tamis_build; "
            f"print(tamis_build.build_sdist({str(folder)!r}))")
    subprocess.run([python, "-B", "-c", code], cwd=package, check=True)
    names = tarfile.open(max(folder.glob("*.tar.gz"))).getnames()
    inside = {name.partition("/")[2] for name in names}
    for needed in ("src/module.cc", "tamis/__init__.py", "tamis/py.typed", "tamis/__init__.pyi",
                   "library/CMakeLists.txt", "library/core/include/tamis/version.h",
                   "library/simd/split_block.cc", "library/text/units.cc",
                   "library/parquet/CMakeLists.txt", "library/redis/CMakeLists.txt", "LICENSE", "README.md"):
        assert needed in inside, f"the sdist has no {needed}"
    for part in re.search(r"set\(TAMIS_ALL_PARTS ([\w ]+)\)", (ROOT / "CMakeLists.txt").read_text())[1].split():
        assert f"library/{part}/src" in {name.rpartition("/")[0] for name in inside}, f"the sdist has no {part}"
    assert not (package / "library").exists() and not (package / "LICENSE").exists()


def check_free_threaded(python, package):
    """Checks that a build for a Python without the GIL ends with a message, before it compiles anything."""
    code = ("import sys, sysconfig; sys.path.insert(0, 'build_backend'); import tamis_build; "
            "sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1; tamis_build.get_requires_for_build_wheel()")
    done = subprocess.run([python, "-B", "-c", code], cwd=package, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("tamis does not support free-threaded"), done.stderr


def check_find_modules(python, package, folder, variables):
    """Checks that the find modules of the library take precedence over a CMAKE_MODULE_PATH of the user."""
    modules, build = folder / "modules", folder / "build_modules"
    modules.mkdir(exist_ok=True)
    for name in ("Hiredis", "xxHash"):
        (modules / f"Find{name}.cmake").write_text(f'message(FATAL_ERROR "the user\'s {name}")\n')
    shutil.rmtree(build, ignore_errors=True)
    done = subprocess.run(
        ["cmake", "-G", "Ninja", "-S", package, "-B", build, f"-DCMAKE_MODULE_PATH={modules}",
         f"-DPython_EXECUTABLE={python}"], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def main(folder, prefix, command):
    folder = pathlib.Path(folder)
    if sys.version_info < (3, 11):
        unavailable("it needs Python 3.11")
    if not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
        unavailable("there are no headers of Python (Debian: python3-dev)")
    python = environment(folder / "venv")
    package = copy_of_sources(folder / "source")
    check_sdist(python, package, folder)
    check_free_threaded(python, package)
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1",
                 "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    check_find_modules(python, package, folder, variables)
    wheels = folder / "wheels"
    subprocess.run(
        [python, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps",
         "--no-build-isolation", "-w", wheels, f"-Cbuild-dir={folder / 'build'}",
         "-Ccmake.define.TAMIS_PYTHON_INSTALLED=ON", f"-Ccmake.define.tamis_ROOT={prefix}",
         "-Ccmake.define.TAMIS_WERROR=ON",
         "-Ccmake.define.CMAKE_DISABLE_PRECOMPILE_HEADERS=ON",  # ccache could not store the objects
         "-Ccmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", package], env=variables, check=True)
    wheel = max(wheels.glob("tamis-*.whl"), key=lambda path: path.stat().st_mtime)
    print(f"{wheel.name}: {wheel.stat().st_size} bytes")
    assert wheel.stat().st_size < 4 << 20  # of which GPU code is about 1 MiB
    assert any(name.endswith("LICENSE") for name in zipfile.ZipFile(wheel).namelist())
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                    "--force-reinstall", wheel], check=True)
    sys.exit(subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE], cwd=folder,
        env={**variables, "TAMIS_COMMAND": command}, check=False).returncode)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
