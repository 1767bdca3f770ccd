"""Runs the README and all docstrings, and compares the stubs with the generated ones."""
import doctest
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import tamis
import tamis.join
import tamis.live
import tamis.parquet
import tamis.text

try:
    import tamis.redis
except ImportError:  # built without hiredis
    MODULES = [tamis, tamis.join, tamis.live, tamis.parquet, tamis.text]
else:
    MODULES = [tamis, tamis.join, tamis.live, tamis.parquet, tamis.text, tamis.redis]
PACKAGE = pathlib.Path(os.environ.get("TAMIS_PYTHON_DIR",
                                      pathlib.Path(__file__).parents[2] / "bindings/python"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def documented():
    for module in MODULES:
        yield module.__name__, module
        for name in module.__all__:
            item = getattr(module, name)
            yield f"{module.__name__}.{name}", item
            if inspect.isclass(item):
                for attribute, value in vars(item).items():
                    yield f"{module.__name__}.{name}.{attribute}", value


@pytest.mark.parametrize("name, item", list(documented()), ids=lambda x: x if isinstance(x, str) else "")
def test_docstrings(name, item, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = getattr(item, "__doc__", None)
    if not isinstance(text, str) or ">>>" not in text:
        return
    test = doctest.DocTestParser().get_doctest(text, {"tamis": tamis}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test)
    assert runner.failures == 0


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failures, tests = doctest.testfile(str(PACKAGE / "README.md"), module_relative=False,
                                       optionflags=FLAGS)
    assert failures == 0 and tests > 20


def test_stubs_are_current():
    done = subprocess.run([sys.executable, PACKAGE / "make_stubs.py", "--check"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_public_names_say_where_they_are(module):
    for name in module.__all__:
        assert getattr(module, name).__module__ == module.__name__, name
