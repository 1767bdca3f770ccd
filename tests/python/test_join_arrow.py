"""The example of a hash join over Arrow record batches."""
import importlib
import pathlib

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "bindings/python/examples"


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("join_arrow")


@pytest.mark.parametrize("build_rows, matches", [(50, 0.1), (5000, 0), (5000, 0.1), (100_000, 0.02)])
def test_results_are_equal(example, build_rows, matches):
    products, sales = example.example_tables(build_rows, 300_000, matches)
    plain = example.join(products, sales, "product")
    filtered, made, probe = example.filtered_join(products, sales, "product", row_ns=10**6)
    assert example.equal(plain, filtered)
    assert not example.equal(plain, filtered.slice(1)) or plain.num_rows == 0
    # Costly rows keep the filter on, so it has seen all rows, and dropped most of them.
    assert probe.verdict == "keep" and made.is_complete
    assert probe.counters["rows"] == 300_000 and probe.counters["skipped"] == 0
    assert plain.num_rows <= probe.counters["passed"] < plain.num_rows + 300_000 * 0.02


def test_a_filter_that_drops_nothing_is_switched_off(example):
    products, sales = example.example_tables(5000, 600_000, 1.0)
    plain = example.join(products, sales, "product")
    filtered, _, probe = example.filtered_join(products, sales, "product", row_ns=10)
    assert example.equal(plain, filtered)
    assert probe.verdict != "keep" and probe.counters["skipped"] > 0


def test_main(example, capsys):
    assert example.main(1000, 100_000, 0.05) == 0
    assert "the results are equal: True" in capsys.readouterr().out
