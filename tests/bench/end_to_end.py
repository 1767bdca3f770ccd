"""A tiny run of tamis-bench, a page of it, and the page in a browser.

Usage: end_to_end.py TAMIS_BENCH TAMIS_REPORT WORK_FOLDER [BROWSER]
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# What the page is asked once it is drawn: how many plots can be seen, and whether the search works.
PROBE = """<script>
window.addEventListener("load", () => {
  const seen = () => Array.from(document.querySelectorAll("svg"))
      .filter((plot) => plot.getBoundingClientRect().width > 100).length;
  const search = document.getElementById("search");
  search.value = "contains portable";
  search.dispatchEvent(new Event("input"));
  const rows = Array.from(document.querySelectorAll("#rows tbody tr"));
  const toggle = document.getElementById("logarithmic");
  const before = seen();
  toggle.checked = false;
  const result = document.createElement("p");
  result.id = "probe";
  result.textContent = [before, seen(), rows.length,
                        rows.filter((row) => !row.hidden).length].join(" ");
  document.body.append(result);
});
</script>"""


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=600, **options)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def browse(browser, page, profile):
    """(the text of the probe, complaints on the console)."""
    done = run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                f"--user-data-dir={profile}", "--enable-logging=stderr",
                "--virtual-time-budget=5000", "--dump-dom", page.as_uri()])
    probe = re.search(r'<p id="probe">([^<]*)</p>', done.stdout)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return (probe[1] if probe else None), console


def check_page(browser, page, folder):
    text = page.read_text()
    probed = folder / "probed.html"
    probed.write_text(text.replace("</body>", PROBE + "</body>"))
    probe, console = browse(browser, probed, folder / "profile")
    assert probe, "the page did not run"
    plots, linear, rows, found = map(int, probe.split())
    assert plots >= 4, f"{plots} plots can be seen"
    assert linear == plots, f"{linear} plots without the logarithmic scale, {plots} with it"
    assert 0 < found < rows, f"the search leaves {found} of {rows} rows"
    assert not console, console
    # The same eyes see an error where there is one.
    broken = folder / "broken.html"
    broken.write_text(text.replace("</body>", "<script>undefinedFunction();</script></body>"))
    _, console = browse(browser, broken, folder / "profile")
    assert any("undefinedFunction" in line for line in console), console
    print(f"{plots} plots in {browser}, the search finds {found} of {rows} rows, no complaints")


def main(bench, report, work, browser=""):
    with tempfile.TemporaryDirectory(dir=work) as name:
        folder = pathlib.Path(name)
        results, page = folder / "a.json", folder / "a.html"
        # Small filters, so that the sizes of all caches are there and take a moment.
        run([bench, "--quick", "--max-bytes", "2M", "--benchmark_repetitions=2",
             "--benchmark_min_time=0.0005", "--out", results])
        data = json.loads(results.read_text())
        assert data["refused"] == [], data["refused"]
        for row in data["rows"]:
            assert len(row["ns_per_key"]["samples"]) == 2, row["name"]
            expected = row["expected_fpr"]
            assert expected is None or abs(row["fpr"] - expected) < 0.15 * expected + 5e-5, row
        # The report checks the file against the schema.
        markdown = run([report, results, "--format", "markdown"]).stdout
        assert "split_block: contains" in markdown
        run([report, results, "--baseline", results])
        if importlib.util.find_spec("matplotlib") is None:
            print("no matplotlib: no page")
            return
        run([report, results, results, "--label", "one", "--label", "two", "-o", page])
        if browser and not browser.endswith("-NOTFOUND"):
            check_page(browser, page, folder)
        else:
            print("no Chromium: the page was made, and not opened")


if __name__ == "__main__":
    main(*sys.argv[1:])
