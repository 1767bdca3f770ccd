"""Builds the site, and checks its links, its requests, and the share of the public members that have text.

Usage: site_test.py ROOT FOLDER [CHROMIUM]      writes into FOLDER; exit status 77: Doxygen is missing

With Chromium, opens some pages and searches.
"""
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from browser import Browser  # noqa: E402

LEAST_SHARE = 0.95


class Page(html.parser.HTMLParser):
    """The targets of links, resources that a browser loads, and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.resources, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes.get("id"), attributes.get("name")}
        for name in ("src", "data", "srcset", "poster", "href"):
            target = attributes.get(name)
            if target is not None and name == "href" and tag in ("a", "area"):
                self.links.append(target)
            elif target is not None:
                self.resources.append(target)


def check_links(site):
    """Returns the number of links inside the site. Fails if one is broken."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    broken, count = [], 0
    for path, page in pages.items():
        for target in page.links + page.resources:
            url = urllib.parse.urlsplit(target)
            if url.scheme:
                continue
            count += 1
            file = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            anchor = urllib.parse.unquote(url.fragment)
            if not file.is_file() or (anchor and file in pages and anchor not in pages[file].anchors):
                broken.append(f"{path.relative_to(site)}: {target}")
    # The index of the search is a script with addresses.
    for script in sorted(site.glob("search/*.js")):
        for target in re.findall(r"'(\.\./[^']*)'", script.read_text(encoding="utf-8")):
            file, _, anchor = target.partition("#")
            file = (script.parent / file).resolve()
            count += 1
            if not file.is_file() or (anchor and anchor not in pages[file].anchors):
                broken.append(f"{script.relative_to(site)}: {target}")
    assert not broken, "broken links:\n" + "\n".join(broken)
    return count


def check_requests(site):
    """Fails if a page, style or script loads something from another site."""
    outside = []
    for path in sorted(site.rglob("*.html")):
        outside += (f"{path.relative_to(site)}: {target}" for target in Page(path).resources
                    if re.match(r"(https?:)?//", target))
    for path in sorted([*site.rglob("*.css"), *site.rglob("*.svg"), *site.rglob("*.html")]):
        text = path.read_text(encoding="utf-8")
        outside += (f"{path.relative_to(site)}: {match[0]}" for match in
                    re.finditer(r"(url\(|@import|<image[^>]*href=)\s*[\"']?(https?:)?//[^\"')]*", text))
    assert not outside, "requests that leave the site:\n" + "\n".join(outside)


def has_text(definition):
    return any("".join(part.itertext()).strip() for name in ("briefdescription", "detaileddescription")
               for part in definition.findall(name))


def is_special(name, member):
    """Whether the language defines what this function does."""
    of_class = name.split("<")[0].split("::")[-1]
    called, arguments = member.findtext("name"), member.findtext("argsstring") or ""
    return (called.startswith("~") or re.search(r"=\s*delete$", arguments) is not None
            or (called.startswith("operator==") and arguments.endswith("default"))
            or (called in (of_class, "operator=")
                and re.fullmatch(rf"\((const )?{of_class} ?&&?( other)?\)( noexcept)?( ?=\s*default)?", arguments)
                is not None))


def check_text(xml):
    """Returns the number of public members, and those without text. Values of enumerations are not members."""
    count, missing = 0, []
    for path in sorted(xml.glob("*.xml")):
        for compound in xml_root(path).iter("compounddef"):
            kind, name = compound.get("kind"), compound.findtext("compoundname")
            if kind not in ("class", "struct", "union", "namespace", "file") or compound.get("prot") in ("private",
                                                                                                     "protected"):
                continue
            definitions = [] if kind in ("namespace", "file") else [(name, compound)]
            definitions += ((f"{name}::{member.findtext('name')}", member) for member in compound.iter("memberdef")
                            if member.get("prot") == "public" and not is_special(name, member)
                            and member.findtext("type") not in ("friend class", "friend struct"))
            count += len(definitions)
            missing += (label for label, definition in definitions if not has_text(definition))
    return count, missing


def xml_root(path):
    return xml.etree.ElementTree.parse(path).getroot()


def check_browser(site, program):
    """Fails if a page has a script error, requests another site, or is wider than its window, or if a search fails."""
    with Browser(program) as browser:
        for width in (1280, 390):
            browser.resize(width)
            for name in ("index", "docs-filters", "classtamis_1_1SplitBlockBloomFilter", "annotated", "machines",
                         "python-reference", "filter__ref_8cuh"):
                browser.open(site / f"{name}.html")
                where = f"{name}.html, {width} pixels"
                assert not browser.complaints, f"{where}: {browser.complaints}"
                outside = [url for url in browser.requests if not url.startswith((site.as_uri(), "data:", "about:"))]
                assert not outside, f"{where}: {outside}"
                assert browser.run("document.documentElement.scrollWidth <= innerWidth"), f"{where}: wider"
        browser.open(site / "index.html")
        browser.run("""document.getElementById("MSearchField").focus()""")
        browser.call("Input.insertText", text="estimated_union")
        browser.key("a", 65)
        deadline = time.monotonic() + 20
        while not any("search/all_" in url for url in browser.requests):
            assert time.monotonic() < deadline, "the search does not answer"
            time.sleep(0.1)
            browser.drawn()
        assert not browser.complaints, f"search: {browser.complaints}"


def main():
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    if shutil.which("doxygen") is None:
        print("Doxygen is missing")
        sys.exit(77)
    subprocess.run([sys.executable, root / "docs/site/build.py", folder], check=True)
    site = folder / "site"
    links = check_links(site)
    check_requests(site)
    if program := "".join(sys.argv[3:]):
        check_browser(site, program)
    count, missing = check_text(folder / "site-xml")
    share = 1 - len(missing) / count
    print("\n".join(missing))
    print(f"{links} links; {count - len(missing)} of {count} public members ({share:.1%}) have text")
    assert share >= LEAST_SHARE, f"less than {LEAST_SHARE:.0%} of the public members have text"


main()
