"""The page of tamis-report in a browser: controls, the address, no network access, phones.

Usage: page_test.py FOLDER_OF_THE_PACKAGE BROWSER
Skipped, with exit status 77, if there is no browser.
"""
import html
import json
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

BROWSER = sys.argv.pop(2) if len(sys.argv) > 2 else ""
if not BROWSER or BROWSER.endswith("-NOTFOUND"):
    print("skipped: no Chromium, so no page was opened (cmake/bootstrap.sh browser installs it)")
    sys.exit(77)

from browser import Browser  # noqa: E402
from page_fixture import KINDS, MIB, machine  # noqa: E402  (finds the package)
from tamis_report import cli, page  # noqa: E402

HOSTILE = ("</pre></script><script>document.title = 'owned'</script>"
           """<img src=x onerror=alert(1)>"'&""")
NO_PEERS = {name: kind for name, kind in KINDS.items() if kind[0] == "tamis"}

# The texts of all bars: [[name, value], ...].
BARS = """Array.from(document.querySelectorAll("#bars li"), (bar) =>
  [bar.querySelector(".name").textContent, bar.querySelector(".value").textContent])"""
# The widths of the bars, as shares of the track.
WIDTHS = """Array.from(document.querySelectorAll("#bars li"), (bar) =>
  bar.querySelector(".bar").getBoundingClientRect().width /
  bar.querySelector(".track").getBoundingClientRect().width)"""


def text_of(name):
    return f"document.getElementById({json.dumps(name)}).textContent"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.browser = Browser(BROWSER)
        cls.addClassCleanup(cls.browser.__exit__)
        server = machine("a server", 1, 64, ("AVX3_DL", "AVX2"), 64 * MIB, "default", gpu=True)
        laptop = machine("a laptop", 0.7, 8, ("AVX2", "SSE4"), 16 * MIB, kinds=NO_PEERS)
        cls.two = cls.page("two", {"server": server, "laptop": laptop})

    @classmethod
    def page(cls, name, files, plots=False):
        """Returns the path of a page of {label: file}."""
        folder = cls.folder / name
        folder.mkdir()
        for i, data in enumerate(files.values()):
            (folder / f"{i:02}.json").write_text(json.dumps(data))
        labels = [part for label in files for part in ("--label", label)]
        paths = sorted(map(str, folder.glob("*.json")))
        # Plots take time, and other tests check them.
        with mock.patch.object(page, "plots", page.plots if plots else None):
            assert cli.main([*paths, *labels, "-o", str(folder / "page.html")]) == 0
        return folder / "page.html"

    def setUp(self):
        self.browser.prefer("light")
        self.browser.resize(1300)

    def tearDown(self):
        """After each test: no complaints, and no request except for the page itself."""
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual([url for url in self.browser.requests
                          if not url.startswith(("file:///", "data:,"))], [])
        self.assertLessEqual(len([url for url in self.browser.requests
                                  if url.startswith("file:")]), 1)

    def run_script(self, script):
        return self.browser.run(script)

    def choose(self, name, value):
        self.run_script(f"""(() => {{ const select = document.getElementById({json.dumps(name)});
            select.value = {json.dumps(value)};
            select.dispatchEvent(new Event("change")); }})()""")

    def click(self, selector):
        self.run_script(f"document.querySelector({json.dumps(selector)}).click()")

    def hash(self):
        return self.run_script("location.hash.slice(1)")

    def test_the_first_view(self):
        self.browser.open(self.two)
        # The size that both have, the default kind, and one bar for each peer; fastest first.
        bars = self.run_script(BARS)
        self.assertEqual([name for name, _ in bars],
                         ["server1 MiB", "laptop1 MiB", "server1 MiB"])
        self.assertEqual(bars[0][1], "625 M keys/s 1.6 ns, the fastest")
        self.assertEqual(bars[1][1], "438 M keys/s 2.29 ns, 70% of the fastest")
        widths = self.run_script(WIDTHS)
        self.assertAlmostEqual(widths[1] / widths[0], 0.7, 2)
        self.assertGreater(widths[0], 0.9)
        self.assertIn("filters of 1 MiB (L2) for 699 k keys, integers, 50% of the queries hit, "
                      "one thread", self.run_script(text_of("point")))
        self.assertIn("longer is faster", self.run_script(text_of("better")))
        self.assertEqual(self.hash(), "")

    def test_toggles(self):
        self.browser.open(self.two)
        first = self.run_script(BARS)
        seen = {json.dumps(first)}
        for name, value in (("axis-operation", "build"), ("axis-size", "LLC"),
                            ("axis-threads", "all"), ("axis-hits", "100"), ("axis-keys", "url"),
                            ("axis-backend", "AVX2"), ("axis-call", "64"),
                            ("choice-measure", "share"), ("choice-measure", "time"),
                            ("choice-group", "machine")):
            self.browser.open(self.two)
            self.choose(name, value)
            bars = self.run_script(BARS)
            self.assertNotIn(json.dumps(bars), seen, (name, value))
            seen.add(json.dumps(bars))
            self.assertTrue(bars, (name, value))
            self.assertIn(f"{name.partition('-')[2]}={value}", self.hash())
        self.browser.open(self.two)
        self.click('input[name="kind"][value="cuckoo8"]')
        self.assertEqual(len(self.run_script(BARS)), len(first) + 2)
        self.click('input[name="machine"][value="server"]')
        self.assertEqual([name for name, _ in self.run_script(BARS)], ["laptop1 MiB"] * 2)
        self.click('button[aria-label="Filters: none"]')
        self.assertIn("Nothing selected", self.run_script(text_of("bars")))

    def test_a_choice_without_rows_moves_to_one_with_rows(self):
        self.browser.open(self.two)
        self.choose("axis-size", "GPU_1024MiB")
        self.assertEqual(self.run_script("document.getElementById('axis-backend').value"),
                         "CUDA:device")
        self.assertIn("backend: CUDA:device", self.run_script(text_of("followed")))
        self.assertEqual(len(self.run_script(BARS)), 1)
        self.choose("axis-operation", "build")
        self.assertNotEqual(self.run_script("document.getElementById('axis-size').value"),
                            "GPU_1024MiB")
        self.assertTrue(self.run_script(BARS))

    def test_warns_of_other_sizes_and_other_runs(self):
        self.browser.open(self.two)
        self.assertNotIn("differ in size", self.run_script(text_of("notes")))
        self.choose("axis-size", "LLC")
        notes = self.run_script(text_of("notes"))
        self.assertIn("split_block: 16 MiB to 64 MiB", notes)
        self.assertIn("default, quick", notes)
        self.choose("choice-measure", "share")  # as the note suggests
        self.assertNotIn("differ in size", self.run_script(text_of("notes")))

    def test_the_address_restores_the_state(self):
        self.browser.open(self.two)
        self.choose("axis-operation", "select")
        self.choose("choice-measure", "time")
        self.choose("choice-theme", "dark")
        self.choose("choice-bits", "8")
        self.click('input[name="machine"][value="laptop"]')
        self.click('input[name="kind"][value="bloom"]')
        everything = "document.getElementById('overview').innerText + " \
                     "Array.from(document.querySelectorAll('input, select'), (one) => " \
                     "one.type === 'checkbox' ? one.checked : one.value)"
        before, address = self.run_script(everything), self.hash()
        self.browser.open(self.two, address)
        self.assertEqual(self.run_script(everything), before)
        self.assertEqual(self.run_script("document.documentElement.dataset.theme"), "dark")
        # Only the address of the open page changes, and then returns to the default.
        self.run_script("location.hash = 'operation=build&kind=cuckoo16'")
        self.browser.drawn()
        self.assertEqual(len(self.run_script(BARS)), 2)
        self.assertIn("builds", self.run_script(text_of("point")))
        self.run_script("location.hash = '#summary'")  # a heading
        self.browser.drawn()
        self.assertIn("builds", self.run_script(text_of("point")))

    def test_a_foreign_address(self):
        self.browser.open(self.two,
                          "operation=%3Cscript%3E&machine=nobody&kind=&size=L9&x=y&hits=50")
        self.assertIn("Nothing selected", self.run_script(text_of("bars")))
        self.browser.open(self.two, "operation=%3Cscript%3E&size=L9&bits=7&theme=pink&%E0%A4%A=%")
        self.assertEqual(len(self.run_script(BARS)), 3)

    def test_time_against_false_positives(self):
        self.browser.open(self.two)
        names = """Array.from(document.querySelectorAll('#scatter g > text'),
                              (one) => one.textContent)"""
        twelve = self.run_script(names)
        self.assertEqual(sorted(twelve), sorted(2 * ["split_block", "cuckoo12", "bloom"] +
                                                ["boost_multiblock"]))
        self.choose("choice-bits", "16")
        self.assertEqual(self.run_script(names), 2 * ["cuckoo16"])
        self.choose("choice-bits", "all")
        self.assertEqual(len(self.run_script(names)), 11)
        # Lower is faster, and further left means fewer false positives.
        places = self.run_script("""Object.fromEntries(Array.from(
            document.querySelectorAll('#scatter figure:first-child g'), (one) => {
              const box = one.querySelector('circle, polygon').getBoundingClientRect();
              return [one.querySelector('text').textContent, [box.x, box.y]];
            }))""")
        self.assertLess(places["cuckoo16"][0], places["split_block"][0])
        self.assertLess(places["bloom"][1], places["split_block"][1])

    def test_share_of_the_limit(self):
        self.browser.open(self.two)
        rows = self.run_script("""Array.from(document.querySelectorAll('#shares li'), (one) =>
            one.textContent)""")
        self.assertEqual(len(rows), 3 + 2 + 3)  # two machines, three sizes; the peer not in L1
        self.assertIn("50% of 1.25 G random reads/s; 625 M keys/s",
                      self.run_script(text_of("shares")))

    def test_light_and_dark(self):
        paper = "getComputedStyle(document.body).backgroundColor"
        self.browser.open(self.two)
        self.assertEqual(self.run_script(paper), "rgb(255, 255, 255)")
        self.choose("choice-theme", "dark")
        self.assertEqual(self.run_script(paper), "rgb(22, 24, 28)")
        self.browser.prefer("dark")
        self.browser.open(self.two)
        self.assertEqual(self.run_script(paper), "rgb(22, 24, 28)")
        self.choose("choice-theme", "light")
        self.assertEqual(self.run_script(paper), "rgb(255, 255, 255)")

    def test_every_control_has_a_label_and_keys_reach_it(self):
        self.browser.open(self.two)
        without = self.run_script("""Array.from(document.querySelectorAll('input, select, button'))
            .filter((one) => !(one.labels?.length || one.getAttribute('aria-label') ||
                               one.textContent)).map((one) => one.outerHTML)""")
        self.assertEqual(without, [])
        reached = set()
        for _ in range(40):
            self.browser.key("Tab", 9)
            reached.add(self.run_script("document.activeElement.id"))
        self.assertLessEqual({"choice-theme", "kind-0", "machine-1", "axis-operation",
                              "choice-measure", "download"}, reached)
        # In black and white, a striped or hollow bar belongs to another library.
        self.assertEqual(self.run_script("document.querySelectorAll('#bars .bar.peer').length"), 1)

    def test_csv(self):
        path = self.folder / "two.csv"
        folder = self.two.parent
        cli.main([*map(str, sorted(folder.glob("*.json"))), "--label", "server", "--label",
                  "laptop", "--csv", str(path)])
        self.browser.open(self.two)
        linked = self.run_script("""(() => {
            const link = document.getElementById('download');
            return [link.download, link.href.slice(0, 5),
                    document.getElementById('csv').textContent]; })()""")
        self.assertEqual(linked, ["tamis-bench.csv", "blob:", path.read_text()])

    def test_no_sideways_scrolling(self):
        many = {f"{i} a-name-that-is-so-long-that-it-fits-no-phone-{'x' * 40}":
                machine(f"CPU {'y' * 60}", 1 + i / 10, 2 + i) for i in range(20)}
        for page in (self.two, self.page("many", many)):
            for width in (390, 1300):
                self.browser.resize(width)
                self.browser.open(page)
                self.assertEqual(self.run_script("document.documentElement.scrollWidth"), width)
                self.run_script("document.getElementById('controls').open = true")
                self.choose("choice-bits", "all")
                self.browser.drawn()
                self.assertEqual(self.run_script("document.documentElement.scrollWidth"), width)
                self.assertGreaterEqual(len(self.run_script(BARS)), 3)
        self.assertEqual(len(self.run_script(BARS)), 40)
        # On a phone the bars come before the controls.
        self.browser.resize(390)
        self.browser.open(self.two)
        self.assertLess(self.run_script(
            "document.querySelector('#bars li').getBoundingClientRect().top"), 900)

    def test_a_hostile_file(self):
        data = machine(HOSTILE)
        data["context"].update(commit=HOSTILE, notes=HOSTILE, peers={HOSTILE: HOSTILE})
        data["context"][HOSTILE] = HOSTILE
        for part in data["rows"]:
            part["kind"] = part["kind"].replace("cuckoo8", HOSTILE).replace("bloom", "__proto__")
            part["library"] = part["library"].replace("Boost", HOSTILE)
            part["backend"] = part["backend"].replace("SSE4", HOSTILE)
            part["name"] = HOSTILE
        for part in [*data["rows"], *data["limits"]]:
            part["size_class"] = part["size_class"].replace("L1", HOSTILE)
        data["size_classes"][0]["name"] = HOSTILE
        data["refused"] = [{"backend": HOSTILE, "kind": HOSTILE, "what": HOSTILE}]
        page = self.page("hostile", {HOSTILE: data, "=1+1": machine("b")}, plots=True)
        self.browser.open(page)
        self.click('button[aria-label="Filters: all"]')
        self.choose("axis-size", HOSTILE)
        self.browser.drawn()
        self.assertNotEqual(self.run_script("document.title"), "owned")
        self.assertEqual(self.run_script("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.run_script("document.scripts.length"), 1)
        self.assertIn(HOSTILE, self.run_script(text_of("bars")))
        self.assertIn("\n'=1+1,", self.run_script(text_of("csv")))
        # A script that got in would still not run.
        self.run_script("""(() => { const script = document.createElement("script");
            script.textContent = "document.title = 'owned'"; document.body.append(script); })()""")
        self.assertNotEqual(self.run_script("document.title"), "owned")
        self.assertEqual(len(self.browser.complaints), 1)
        self.assertIn("Content Security Policy", self.browser.complaints.pop())

    def test_an_error_is_seen(self):
        """These tests detect the errors that they look for."""
        spoiled = self.folder / "spoiled.html"
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", self.two.read_text())
        spoiled.write_text(text.replace("</body>", "<script>noSuchFunction();</script>"
                                        "<img src='http://127.0.0.1:9/x.png'></body>"))
        self.browser.open(spoiled)
        self.assertTrue(any("noSuchFunction" in said for said in self.browser.complaints))
        self.assertIn("http://127.0.0.1:9/x.png", self.browser.requests)
        self.browser.complaints, self.browser.requests = [], []

    def test_machines_without_rows_are_named(self):
        files = {name: machine(name) for name in ("a", "b", "c")}
        files["c"]["rows"] = [one for one in files["c"]["rows"] if one["size_class"] == "L1"]
        files["b"]["rows"] = [one for one in files["b"]["rows"] if one["size_class"] != "LLC"]
        self.browser.open(self.page("absent", files))
        # Most machines have L1, then L2.
        self.assertIn("(L1)", self.run_script(text_of("point")))
        self.assertNotIn("nothing was measured", self.run_script(text_of("notes")))
        self.choose("axis-size", "LLC")
        self.assertIn("nothing was measured at this point on b, c.",
                      self.run_script(text_of("notes")))

    def test_without_scripts(self):
        self.addCleanup(self.browser.scripts, True)
        self.browser.scripts(False)
        self.browser.open(self.two)
        shown = self.run_script("document.getElementById('overview').innerText")
        self.assertEqual(shown, "The overview needs a script. The rest of the page does not.")
        self.assertIn("processors", self.run_script("document.body.innerText"))

    def test_a_gpu_alone(self):
        data = machine("a GPU", gpu=True)
        for part in ("rows", "limits"):
            data[part] = [one for one in data[part] if one["size_class"] == "GPU_1024MiB"]
        data["accuracy"] = []
        self.browser.open(self.page("gpu", {"gpu": data}))
        self.assertEqual(len(self.run_script(BARS)), 1)
        self.assertIn("backend CUDA:device", self.run_script(text_of("point")))
        self.choose("choice-measure", "share")
        self.assertIn("of its limit", self.run_script(text_of("bars")))

    def test_one_machine_alone(self):
        self.browser.open(self.page("one", {"alone": machine("alone", kinds=NO_PEERS)}))
        self.assertEqual(len(self.run_script(BARS)), 1)
        self.assertIn("fixture: alone", self.run_script(text_of("bars")))

    def test_machines_with_nothing_in_common(self):
        a, b = machine("a"), machine("b")
        a["rows"] = [one for one in a["rows"] if one["size_class"] == "L1"]
        b["rows"] = [one for one in b["rows"] if one["size_class"] == "L2" and
                     one["operation"] == "build"]
        for one in b["rows"]:
            one["share_of_limit"] = None
        page = self.page("apart", {"a": a, "b": b})
        self.assertIn("They have no measurement in common", html.unescape(page.read_text()))
        self.browser.open(page)
        self.choose("axis-size", "L2")
        self.choose("choice-measure", "share")
        self.assertIn("No limit was measured", self.run_script(text_of("bars")))


if __name__ == "__main__":
    unittest.main()
