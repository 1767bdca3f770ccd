"""Tests Parquet files with filters of tamis in other programs: pyarrow and DuckDB, from PyPI.

Usage: run_clients.py FOLDER ENVIRONMENT PREFIX COMMAND arrow|none

FOLDER is for build outputs, ENVIRONMENT for a virtual environment that is kept for the next run.
PREFIX has the installed library. COMMAND is `tamis`; the last word states whether it was built with
Arrow. Status 77: the required packages are not available.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))
import run_tests  # noqa: E402


def pyarrow_folder(python):
    code = "import pyarrow; print(pyarrow.__path__[0])"
    return subprocess.run([python, "-c", code], check=True, capture_output=True,
                          text=True).stdout.strip()


def build(folder, prefix, pyarrow):
    """Builds the programs that decode values, because a tamis built without Arrow cannot."""
    subprocess.run(["cmake", "-S", HERE / "add_filters", "-B", folder, f"-Dtamis_ROOT={prefix}",
                    f"-DTAMIS_ROOT={ROOT}", f"-DTAMIS_PYARROW={pyarrow}",
                    "-DCMAKE_BUILD_TYPE=Release"], check=True)
    subprocess.run(["cmake", "--build", folder], check=True)
    return folder / "add_filters", folder / "key_column"


def main(folder, environment, prefix, command, has_arrow):
    folder = pathlib.Path(folder)
    if sys.version_info < (3, 11):
        run_tests.unavailable("it needs Python 3.11")
    python = run_tests.environment(pathlib.Path(environment))
    program, key_column = build(folder / "add_filters", prefix, pyarrow_folder(python))
    # A command built with Arrow does the same.
    programs = [str(program)] + ([f"{command} parquet add"] if has_arrow == "arrow" else [])
    sys.exit(subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE], cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TAMIS_COMMAND": command,
             "TAMIS_ADD_FILTERS": os.pathsep.join(programs), "TAMIS_KEY_COLUMN": str(key_column),
             "TAMIS_HAS_ARROW": has_arrow}, check=False).returncode)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
