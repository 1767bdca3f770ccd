"""Runs a tiny tamis-bench, makes a page of the results, and opens the page in a browser.

Usage: end_to_end.py TAMIS_BENCH TAMIS_REPORT WORK_FOLDER [BROWSER]
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

from browser import Browser

# The number of visible plots on both scales, and whether the search works.
PROBE = """(() => {
  const seen = () => Array.from(document.querySelectorAll(".machines svg"))
      .filter((plot) => plot.getBoundingClientRect().width > 100).length;
  const search = document.getElementById("search");
  search.value = "contains portable";
  search.dispatchEvent(new Event("input"));
  const rows = Array.from(document.querySelectorAll("#rows tbody tr"));
  const before = seen();
  document.getElementById("logarithmic").checked = false;
  return [before, seen(), rows.length, rows.filter((row) => !row.hidden).length,
          document.querySelectorAll("#bars li").length];
})()"""

# The width of the page. For each table, whether the table scrolls and has a visible hint. The height of the smallest
# label of a plot, in pixels.
WIDTHS = """({
  page: document.documentElement.scrollWidth,
  tables: Array.from(document.querySelectorAll(".wide"))
      .map((box) => [box.querySelector(".scroll"), box.querySelector(".hint")])
      .filter(([table]) => table.checkVisibility({ contentVisibilityAuto: true }))
      .map(([table, hint]) => [table.scrollWidth > table.clientWidth,
                               hint.getBoundingClientRect().height > 0]),
  label: Math.min(...Array.from(document.querySelectorAll(".machines svg text"), (text) => {
    const plot = text.ownerSVGElement;
    const scale = plot.getBoundingClientRect().width / plot.viewBox.baseVal.width;
    return scale * parseFloat(getComputedStyle(text).fontSize);
  }).filter((pixels) => pixels > 0)),
})"""


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=600, **options)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def check_width(browser, page, width):
    """Returns how many tables are wider than the screen. Each must have a hint, and plots must be readable."""
    browser.resize(width)
    browser.open(page)
    found = browser.run(WIDTHS)
    assert found["page"] <= width, f"the page has {found['page']} pixels, the screen {width}"
    for is_wide, has_hint in found["tables"]:
        assert is_wide == has_hint, f"{width} pixels: a table is wide: {is_wide}, hint: {has_hint}"
    assert found["label"] >= 9, f"{width} pixels: a label of {found['label']}"
    return sum(is_wide for is_wide, _ in found["tables"])


def check_page(program, page):
    with Browser(program) as browser:
        browser.open(page)
        plots, linear, rows, found, bars = browser.run(PROBE)
        assert plots >= 4, f"{plots} plots can be seen"
        assert linear == plots, f"{linear} plots without the logarithmic scale, {plots} with it"
        assert 0 < found < rows, f"the search leaves {found} of {rows} rows"
        assert bars >= 2, f"the overview has {bars} bars"
        on_phone, on_desk = (check_width(browser, page, width) for width in (390, 1250))
        assert on_phone > on_desk, f"{on_phone} tables to scroll on a phone, {on_desk} on a desk"
        assert not browser.complaints, browser.complaints
    print(f"{plots} plots in {program}, {on_phone} tables to scroll on a phone, the search "
          f"finds {found} of {rows} rows, no complaints")


def main(bench, report, work, browser=""):
    with tempfile.TemporaryDirectory(dir=work) as name:
        folder = pathlib.Path(name)
        results, page = folder / "a.json", folder / "a.html"
        # Small filters, so that all cache sizes are measured and take little time.
        run([bench, "--quick", "--max-bytes", "2M", "--benchmark_repetitions=2",
             "--benchmark_min_time=0.0005", "--out", results])
        data = json.loads(results.read_text())
        assert data["refused"] == [], data["refused"]
        for row in data["rows"]:
            assert len(row["ns_per_key"]["samples"]) == 2, row["name"]
            expected = row["expected_fpr"]
            assert expected is None or abs(row["fpr"] - expected) < 0.15 * expected + 5e-5, row
        small = {(one["size_class"], one["call_keys"], one["beside"]): one
                 for one in data["latencies"]}
        assert len(small) == len(data["latencies"]) >= 18, sorted(small)
        for (_, _, beside), one in small.items():
            assert len(one["p99_ns"]["samples"]) == 2, one["name"]
            assert (one["p99_over_alone"] is None) == (beside == "nothing"), one["name"]
        # The report validates the file against the schema.
        markdown = run([report, results, "--format", "markdown"]).stdout
        assert "split_block: contains" in markdown
        assert "p99 / alone" in markdown
        run([report, results, "--baseline", results])
        if importlib.util.find_spec("matplotlib") is None:
            print("no matplotlib: no page")
            return
        run([report, results, results, "--label", "one", "--label", "two", "-o", page])
        if browser and not browser.endswith("-NOTFOUND"):
            check_page(browser, page)
        else:
            print("no Chromium: the page was made, and not opened")


if __name__ == "__main__":
    main(*sys.argv[1:])
