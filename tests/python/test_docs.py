"""The README and all docstrings are run; the stubs name what there is."""
import ast
import doctest
import inspect
import os
import pathlib

import pytest

import tamis
import tamis.live
import tamis.parquet

try:
    import tamis.redis
except ImportError:  # built without hiredis
    MODULES = [tamis, tamis.live, tamis.parquet]
else:
    MODULES = [tamis, tamis.live, tamis.parquet, tamis.redis]
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


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_stubs_name_what_there_is(module):
    name = module.__name__.partition(".")[2] or "__init__"
    tree = ast.parse((PACKAGE / f"tamis/{name}.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = {name for name in set(classes) | functions if not name.startswith("_")}
    assert {name for name in module.__all__ if not name.startswith("_")} == names
    for name, node in classes.items():
        if name.startswith("_"):
            continue
        inside = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        inside |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
        real = {key for key in vars(getattr(module, name)) if not key.startswith("_")}
        assert {key for key in inside if not key.startswith("_")} == real, name


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_public_names_say_where_they_are(module):
    for name in module.__all__:
        assert getattr(module, name).__module__ == module.__name__, name
