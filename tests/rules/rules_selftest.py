"""Checks that every rule finds a violation planted for it, and accepts the same tree without it.

Usage: rules_selftest.py COMPILER NM
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import cases_run_once
import commits
import source_rules
import symbol_rules

PROGRAM = "#include <tamis/tamis.h>\nint main() {\n  return 0;\n}\n"
VERSION = ("#ifndef TAMIS_VERSION_H_\n#define TAMIS_VERSION_H_\n#define TAMIS_VERSION_MAJOR {}\n"
           "#define TAMIS_VERSION_MINOR 2\n#define TAMIS_VERSION_PATCH 3\n"
           '#define TAMIS_VERSION_STRING "1.2.3"\n#endif\n')

# A tree that follows all rules.
CLEAN = {
    "core/include/tamis/filters/key.h":
        "#ifndef TAMIS_FILTERS_KEY_H_\n#define TAMIS_FILTERS_KEY_H_\n\n#include <cstdint>\n"
        '#include "tamis/detail/compiler.h"\n#endif\n',
    "core/src/base/key.cc":
        '#include "core/src/base/key.h"\n#include <xxhash.h>\n',
    "core/src/filters/kinds/key/key.cc":
        '#include "core/src/filters/base/kind.h"\n#include "core/src/bulk/a.h"\n#include "tamis/keys.h"\n'
        "auto k = FilterKind::kKey;\n",
    "simd/key.cc":
        '#define HWY_TARGET_INCLUDE "simd/key.cc"\n#include <hwy/foreach_target.h>\n'
        '#include "tamis/detail/kernels.h"\n#include "simd/key-inl.h"\n',
    "tools/options/command_line.cc": "#include <CLI/CLI.hpp>\n",
    "tools/main.cc": '#include "tamis/filters/key.h"\n#include <tamis/filters/key.h>\n',
    "bench/key_bench.cc": '#include <benchmark/benchmark.h>\n#include "tamis/detail/kernels.h"\n',
    "tests/core/key_test.cc": '#include <gtest/gtest.h>\n#include "core/src/base/key.h"\n',
    "cuda/src/key.cu": '#include <cuda_runtime.h>\n#include "tamis/cuda/filter_ref.cuh"\n',
    "live/include/tamis/live/key.h":
        '#ifndef TAMIS_LIVE_KEY_H_\n#define TAMIS_LIVE_KEY_H_\n\n#include <mutex>\n'
        '#include "tamis/hash.h"\n#include "tamis/live/detail/gate.h"\n#endif\n',
    "live/src/key.cc":
        '#include "tamis/live/key.h"\n#include "core/src/os/file.h"\n#include "tamis/detail/str_cat.h"\n'
        "auto s = detail::StrCat(1, std::to_string(0.5)) + Text(std::to_string(0.5), 1);\n",
    "redis/include/tamis/redis/key.h":
        '#ifndef TAMIS_REDIS_KEY_H_\n#define TAMIS_REDIS_KEY_H_\n\n#include "tamis/keys.h"\n'
        '#include "tamis/redis/options.h"\n#endif\n',
    "redis/src/client/link.cc": '#include <hiredis/hiredis.h>\n#include "redis/src/client/link.h"\n',
    "parquet/include/tamis/parquet/key.h":
        '#ifndef TAMIS_PARQUET_KEY_H_\n#define TAMIS_PARQUET_KEY_H_\n\n#include "tamis/keys.h"\n'
        '#include "tamis/parquet/source.h"\n#endif\n',
    "parquet/src/key.cc": '#include "parquet/src/key.h"\n',
    "core/src/os/posix/file.cc": '#include <fcntl.h>\n#include "core/src/os/file.h"\n#ifdef __APPLE__\n#endif\n',
    "tools/os/windows/file.cc": '#include <sys/stat.h>\n#include "tools/os/file.h"\n',
    "core/include/tamis/detail/compiler.h":
        "#ifndef TAMIS_DETAIL_COMPILER_H_\n#define TAMIS_DETAIL_COMPILER_H_\n#ifdef _MSC_VER\n#include <intrin.h>\n"
        "#endif\n#endif\n",
    "core/src/os/windows/file.cc": '#include <windows.h>\n#include "core/src/os/file.h"\n',
    "bindings/python/src/key.cc":
        '#include <nanobind/stl/string.h>\n#include <tamis/filters/key.h>\n'
        '#include "bindings/python/src/key.h"\n',
    "bindings/c/include/tamis/c.h":
        '#ifndef TAMIS_C_H_\n#define TAMIS_C_H_\n\n#include <stdint.h>\n#include "tamis/c/key.h"\n'
        "#endif\n",
    "bindings/c/src/key.cc":
        '#include "tamis/c.h"\n#include <span>\n#include "tamis/keys.h"\n',
    "examples/c.c": "#include <stdio.h>\n#include <tamis/c.h>\nint main(void) {\n  return 2;\n}\n",
    "examples/key.cc": PROGRAM,
    "examples/live.cc": "#include <tamis/live/key.h>\n" + PROGRAM,
    "core/include/tamis/version.h": VERSION.format(1),
    "CHANGELOG.md": "## Unreleased\n## [1.2.3] - 2026-01-01\n## [0.1.0] - 2025-01-01\n",
    "docs/page.md": "[Here](#a-title), [there](../README.md#tamis-1), `x[i](none)`\n# `A` title\n",
    "README.md": f"# tamis, 1\n[Page](docs/page.md), [site](https://tamis.org/none)\n"
                 f"```cpp\n{PROGRAM}```\n```cpp\nreturn 0;\n```\n",
}

# Rule, file, and content that breaks the rule.
PLANTED = [
    ("includes", "core/include/tamis/a.h", "#include <xxhash.h>\n"),
    ("includes", "core/include/tamis/a.h", "#include <unistd.h>\n"),
    *(("includes", name, "#include <sys/stat.h>\n")
      for name in ("core/src/file/a.cc", "core/src/os/windows/a.cc", "live/src/a.cc", "parquet/src/a.cc",
                     "tools/input/a.cc")),
    ("includes", "core/src/os/posix/a.cc", "#include <windows.h>\n"),
    ("includes", "core/include/tamis/a.h", '#include "core/src/bulk/bulk.h"\n'),
    ("includes", "core/src/a.cc", '#include "simd/targets.h"\n'),
    ("includes", "core/src/a.cc", "#include <hwy/highway.h>\n"),
    ("includes", "core/src/a.cc", '#include "tamis/cuda/device_filter.h"\n'),
    ("includes", "core/src/a.cc", "#include <iostream>\n"),
    ("includes", "core/src/a.cc", "#include <nlohmann/json.hpp>\n"),
    ("includes", "simd/a.cc", "# include <iostream>\n"),
    ("includes", "simd/a.cc", '#include "cuda/src/a.h"\n'),
    ("includes", "simd/a.cc", "#include <xxhash.h>\n"),
    ("includes", "cuda/src/a.cu", "#include <cub/cub.cuh>\n"),
    ("includes", "cuda/src/a.cc", '#include "simd/a.h"\n'),
    ("includes", "bench/cuda_a.cu", '#include "cuda/src/runtime.h"\n'),
    ("includes", "core/src/a.cc", '#include "tamis/live/key.h"\n'),
    ("includes", "live/src/a.cc", '#include "tamis/detail/kernels.h"\n'),
    ("includes", "live/src/a.cc", '#include "core/src/bulk/bulk.h"\n'),
    ("includes", "live/src/a.cc", "#include <iostream>\n"),
    ("includes", "live/include/tamis/live/a.h", "#include <sys/stat.h>\n"),
    ("includes", "parquet/arrow/a.cc", '#include "core/src/os/file.h"\n'),
    ("includes", "redis/src/a.cc", "#include <hiredis/hiredis.h>\n"),
    ("includes", "redis/src/a.cc", '#include "tamis/detail/kernels.h"\n'),
    ("includes", "redis/src/a.cc", "#include <iostream>\n"),
    ("includes", "redis/include/tamis/redis/a.h", "#include <hiredis/hiredis.h>\n"),
    ("includes", "core/src/a.cc", '#include "tamis/redis/key.h"\n'),
    ("includes", "parquet/src/a.cc", '#include "tamis/detail/kernels.h"\n'),
    ("includes", "parquet/src/a.cc", '#include "core/src/bulk/bulk.h"\n'),
    ("includes", "parquet/src/a.cc", "#include <iostream>\n"),
    ("includes", "parquet/include/tamis/parquet/a.h", "#include <fcntl.h>\n"),
    ("includes", "core/src/a.cc", '#include "tamis/parquet/key.h"\n'),
    ("includes", "bindings/python/src/a.cc", '#include "core/src/bulk/bulk.h"\n'),
    ("includes", "bindings/python/src/a.cc", '#include "tamis/detail/kernels.h"\n'),
    ("includes", "bindings/python/src/a.cc", "#include <iostream>\n"),
    ("includes", "bindings/c/include/tamis/c/a.h", "#include <cstdint>\n"),
    ("includes", "bindings/c/include/tamis/c/a.h", '#include "tamis/keys.h"\n'),
    ("includes", "bindings/c/src/a.cc", "#include <iostream>\n"),
    ("includes", "bindings/c/src/a.cc", '#include "tamis/redis/near_cache.h"\n'),
    ("includes", "bindings/c/src/a.cc", '#include "tamis/detail/kernels.h"\n'),
    ("includes", "core/src/a.cc", '#include "tamis/c/key.h"\n'),
    ("includes", "tools/a.cc", '#include "tamis/c.h"\n'),
    ("includes", "tools/a.cc", '#include "core/src/bulk/bulk.h"\n'),
    ("includes", "tools/a.cc", '#include "tamis/detail/kernels.h"\n'),
    ("includes", "bench/a.cc", '#include "core/src/bulk/bulk.h"\n'),
    ("includes", "bench/a.cc", '#include "tamis/detail/storage.h"\n'),
    ("includes", "bench/a.cc", '#include "simd/key-inl.h"\n'),
    ("includes", "tools/a.cc", "#include <cuda_runtime.h>\n"),
    ("includes", "tools/a.cc", "#include <CLI/CLI.hpp>\n"),
    ("includes", "tests/core/a_test.cc", "#include <cooperative_groups.h>\n"),
    ("includes", "tests/core/a_test.cc", '#include "tamis/cuda/filter_ref.cuh"\n'),
    ("includes", "examples/a.cc", '#include "tamis/detail/kernels.h"\n'),
    ("includes", "examples/a.cc", '#include "tamis/live/detail/gate.h"\n'),
    ("includes", "examples/a.cc", '#include "examples/key.h"\n'),
    ("includes", "examples/a.cc", "#include <sqlite3.h>\n"),
    ("rooms", "core/src/a.cc", "int a;\n"),
    ("rooms", "core/src/attic/a.cc", "int a;\n"),
    ("rooms", "core/src/filters/a.cc", "int a;\n"),
    ("rooms", "core/src/filters/kinds/a.cc", "int a;\n"),
    ("rooms", "core/src/bulk/a.cc", '#include "tamis/tamis.h"\n'),
    ("rooms", "core/include/tamis/tamis.h", '#include "tamis/bank/filter_bank.h"\n'),
    ("rooms", "core/src/filters/base/a.cc", '#include "core/src/filters/kinds/key/key.h"\n'),
    ("rooms", "core/src/filters/kinds/key/a.cc", '#include "core/src/filters/registry/kinds.h"\n'),
    ("rooms", "core/src/file/a.cc", '#include "tamis/layout/split_block.h"\n'),
    ("rooms", "core/src/file/a.cc", '#include "core/src/filters/base/kind.h"\n'),
    ("rooms", "core/src/base/a.h", '#include "core/src/bulk/a.h"\n'),
    ("rooms", "core/src/filters/kinds/key/a.cc", '#include "tamis/engine/engine.h"\n'),
    ("rooms", "core/src/filters/kinds/key/a.cc", '#include "core/src/filters/kinds/other/a.h"\n'),
    ("rooms", "formats/src/a.cc", '#include "tamis/engine/engine.h"\n'),
    ("rooms", "core/src/filters/kinds/key/a.cc", '#include "tamis/formats/guava.h"\n'),
    ("rooms", "core/include/tamis/hash.h", '#include "tamis/keys.h"\n'),
    ("kinds", "core/src/engine/a.cc", "auto k = FilterKind::kKey;\n"),
    ("kinds", "tools/a.cc", "auto k = tamis::FilterKind::kKey;\n"),
    *(("platforms", name, f"#if {condition}\n#endif\n")
      for name, condition in (("core/include/tamis/a.h", "defined(_WIN32)"), ("live/src/a.cc", "!defined(__APPLE__)"),
                              ("simd/a.cc", "_MSC_VER < 1930"), ("bindings/c/src/a.cc", "A || defined(__linux__)"))),
    ("platforms", "tools/a.cc", "#ifdef _WIN64\n#endif\n"),
    ("platforms", "core/src/base/a.cc", "#if A\n# elif defined(__MINGW32__)\n#endif\n"),
    ("target_include", "simd/a.cc", '#define HWY_TARGET_INCLUDE "simd/key.cc"\n'),
    ("target_include", "simd/a.cc", '#include "hwy/foreach_target.h"\n'),
    ("guards", "core/include/tamis/a.h", "#ifndef TAMIS_B_H_\n#define TAMIS_B_H_\n#endif\n"),
    ("guards", "core/src/a.h", "#pragma once\n"),
    ("outputs", "redis/src/a.cc", "kernels.bits_to_bytes(bits, n, out);\n"),
    ("messages", "live/src/a.cc", 'auto s = "a " +\n    std::to_string(1);\n'),
    ("messages", "cuda/src/a.cu", 'auto s = std::to_string(f(g(1), 2)) + " b";\n'),
    ("tables", "live/src/a.cc", "std::unordered_map<uint64_t,\n  int> m;\n"),
    ("ascii", "README.md", "caf\u00e9\n"),
    ("ascii", "core/src/a.cc", "// caf\u00e9\n"),
    ("ascii", ".ci/run", "# caf\u00e9\n"),
    ("sizes", "tests/python/a.bank", "a" * 200_001),
    ("length", "tools/a.cc", "\n" * 601),
    ("links", "README.md", "# tamis, 1\n![A picture](bench/none.svg)\n"),
    ("links", "docs/a.md", "[From the root](docs/page.md)\n"),
    ("links", "CONTRIBUTING.md", "[No such heading](docs/page.md#none)\n"),
    ("page_code", "README.md", f"```cpp\n{PROGRAM.replace('0', '1')}```\n"),
    ("page_code", "README.md", "```cpp\nint main() {\n```\n"),
    ("page_code", "docs/a.md", "```cpp\nreturn 1;\n```\n"),
    ("page_code", "docs/a.md", "```c\nreturn 3;\n```\n"),
    ("guards", "bindings/c/include/tamis/c/a.h", "#ifndef TAMIS_A_H_\n#define TAMIS_A_H_\n#endif\n"),
    ("prose", "core/src/a.cc", "// Returns the answer.\n// Of a key, whether it is in the filter.\n"),
    ("prose", "tools/a.cc", 'const char* kHelp = "write the file " "anew";\n'),
    ("prose", "docs/a.md", "- The filter is made again, be it as it may, seldom.\n"),
    ("prose", "tests/a.py", 'def a():\n    """What is asked of a filter."""\n'),
    ("prose", "tests/c/a.c", "/* The keys, " + "and the keys " * 20 + "are in it. */\n"),
    ("version", "core/include/tamis/version.h", VERSION.format(0)),
    ("version", "CHANGELOG.md", "## [1.2.4] - 2026-01-01\n## [1.2.3] - 2025-01-01\n"),
    ("version", "debian/changelog", "tamis (1.2.2-1) unstable\n"),
    ("version", "packaging/vcpkg/ports/tamis/vcpkg.json", '{"version": "1.2"}\n'),
    ("paths", "CMakeLists.txt", "set(x " + "/ho" + "me/me/tamis)\n"),
    ("paths", "tests/a.cc", 'const char* kFile = "/ro' + 'ot/x";\n'),
]

PLANTED_CODE = [
    "#include <cstdlib>\nvoid F() { std::abort(); }",
    "#include <cstdlib>\nvoid F(int i) { std::exit(i); }",
    "#include <cstdlib>\nvoid F(int i) { std::_Exit(i); }",
    '#include <cstdio>\nvoid F(int i) { std::printf("%d", i); }',
    '#include <cstdio>\nvoid F() { std::printf("text\\n"); }',
    "#include <cstdio>\nvoid F(const char* s) { std::fwrite(s, 1, 1, stderr); }",
    "#include <iostream>\nvoid F() { std::cerr << 1; }",
    "#include <iostream>\nvoid F() { std::clog << 1; }",
    "#undef NDEBUG\n#include <cassert>\nvoid F(int i) { assert(i); }",
]
CLEAN_CODE = """
#include <cstdio>
#include <string>
#include <thread>
void G() noexcept;
void F(char* to, int i) noexcept { G(); std::snprintf(to, 8, "%d", i); }
void H() { std::thread t(G); throw std::string("never printed"); }
"""


def write(root, tree):
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class SourceRules(unittest.TestCase):
    def test_accept_a_clean_tree(self):
        with tempfile.TemporaryDirectory() as name:
            write(pathlib.Path(name), CLEAN)
            for rule in source_rules.RULES:
                self.assertEqual(source_rules.main([rule, name]), 0, rule)

    def test_finds_planted_violations(self):
        self.assertEqual({rule for rule, _, _ in PLANTED}, set(source_rules.RULES))
        for rule, path, text in PLANTED:
            with self.subTest(rule=rule, path=path, text=text[:60]):
                with tempfile.TemporaryDirectory() as name:
                    root = pathlib.Path(name)
                    write(root, {**CLEAN, path: text})
                    found = list(source_rules.RULES[rule](root))
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(path, found[0])

    def test_an_empty_tree_does_not_pass(self):
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(source_rules.main(["ascii", name]), 2)


class SymbolRules(unittest.TestCase):
    compiler = nm = None

    def violations(self, code):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            write(root, {"code.cc": code})
            subprocess.run(
                [self.compiler, "-std=c++20", "-O2", "-DNDEBUG", "-c", "code.cc", "-o", "code.o"],
                cwd=root, check=True)
            return list(symbol_rules.violations(self.nm, [str(root / "code.o")]))

    def test_accept_clean_code(self):
        self.assertEqual(self.violations(CLEAN_CODE), [])

    def test_finds_planted_violations(self):
        for code in PLANTED_CODE:
            with self.subTest(code=code):
                self.assertTrue(self.violations(code))


class Commits(unittest.TestCase):
    def test_accept_plain_subjects(self):
        for subject in ("Query fuse filters on GPUs", "Test tamis build", "Let CI fail", "Move " + 67 * "x"):
            self.assertEqual(list(commits.problems(subject)), [], subject)

    def test_find_what_is_planted(self):
        for subject in ("Fixes a test", "Added a rule", "Docs: a page", "add a rule", "Add a rule.",
                        "The rule is new", "WIP", "Move " + 68 * "x"):
            self.assertEqual(len(list(commits.problems(subject))), 1, subject)


class CasesRunOnce(unittest.TestCase):
    cases = {"*": ["A.a", "A.b", "B.c"], "A.*": ["A.a", "A.b"], "-A.*": ["B.c"]}

    def problems(self, *entries):
        return cases_run_once.problems(entries, self.cases.get)

    def test_accept_shards_and_filters(self):
        self.assertEqual(self.problems(("*", 1, 0)), [])
        self.assertEqual(self.problems(("*", 2, 1), ("*", 2, 0)), [])
        self.assertEqual(self.problems(("A.*", 2, 0), ("A.*", 2, 1), ("-A.*", 1, 0)), [])

    def test_finds_planted_violations(self):
        self.assertEqual(len(self.problems()), 3)  # no case is run
        self.assertEqual(len(self.problems(("*", 2, 0))), 1)  # one shard of two
        self.assertEqual(len(self.problems(("*", 2, 0), ("*", 2, 0), ("*", 2, 1))), 1)
        self.assertEqual(self.problems(("A.*", 1, 0)), ["B.c is run 0 times"])
        self.assertEqual(self.problems(("*", 1, 0), ("-A.*", 1, 0)), ["B.c is run 2 times"])

    def test_reads_tests_of_ctest(self):
        test = {"command": ["program", "--gtest_filter=A.*"],
                "properties": [{"name": "ENVIRONMENT",
                                "value": ["GTEST_TOTAL_SHARDS=4", "GTEST_SHARD_INDEX=3"]}]}
        self.assertEqual(cases_run_once.entry(test), ("A.*", 4, 3))
        self.assertEqual(cases_run_once.entry({"command": ["program"]}), ("*", 1, 0))

    def test_refuses_tests_that_may_run_fewer_cases(self):
        self.assertEqual(cases_run_once.problems([("*", 1, 0)], lambda _: ["A.DISABLED_a"]),
                         ["A.DISABLED_a is disabled"])
        filtered = [{"name": "ENVIRONMENT", "value": ["GTEST_FILTER=A.a"]}]
        for test in ({"command": ["program"], "properties": [{"name": "DISABLED", "value": True}]},
                     {"command": ["program"], "properties": filtered},
                     {"command": ["program", "--gtest_list_tests"]},
                     {"command": ["program", "--gtest_filter=*", "--gtest_filter=A.a"]}):
            with self.assertRaises(ValueError):
                cases_run_once.entry(test)


if __name__ == "__main__":
    SymbolRules.compiler, SymbolRules.nm = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
