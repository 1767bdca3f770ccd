"""Rules for the sources of the repository. Each rule is a test of ctest.

Usage: source_rules.py RULE ROOT   prints the violations, and fails if there are any
       source_rules.py --list      prints the names of the rules
"""
import os
import pathlib
import re
import sys

import prose

MAX_LINES = 600
MAX_BYTES = 200_000
SOURCE_SUFFIXES = {".h", ".c", ".cc", ".cu", ".cuh"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".cmake", ".in", ".json", ".map", ".md", ".py", ".pyi", ".sh",
                                   ".toml", ".txt", ".yml"}
TEXT_NAMES = {".clang-format", ".clang-tidy", ".gitignore", "arm64", "conan", "control", "cross", "debian13", "debian_root",
              "debs", "fuzz", "in_memory", "packages", "release", "rules", "run", "sanitizers", "threads"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
TARGET_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*define[ \t]+HWY_TARGET_INCLUDE[ \t]+"([^"]*)"', re.MULTILINE)
CUDA_HEADER = re.compile(
    r"(cuda|cub|thrust|cooperative_groups|nv)/|cuda\w*\.h$|cooperative_groups\.h$|.*\.cuh$")
# Folders of one person's machine. They are joined here, so that this file does not match.
HOMES = "|".join(["home", "root", "Users", "work"])
MACHINE_PATH = re.compile(rf"(?<![\w.}}])/({HOMES})/[\w.]")

STD = r"[a-z0-9_]+"  # a header of the standard library has no suffix
POSIX = r"(sys/\w+|unistd|fcntl|dirent|poll|sched|pthread|signal|termios)\.h"
WINDOWS = r"windows\.h"
OS = r"core/src/os/\w+\.h"
# Folders that use core, are in the same library, and follow the order of its folders.
PARTS = ("bank", "formats", "join", "plan")
LIBRARY = ("core", *PARTS, "simd", "live", "redis", "parquet", "text", "bindings")
# For every folder: texts of messages, and everything that compilers spell differently.
SHARED = r"tamis/detail/(str_cat|compiler)\.h"
PUBLIC = rf"tamis/(?!detail/|c/|c\.h)[\w/]+\.h|{SHARED}"
CORE = r"tamis/(?!cuda/|live/|redis/|parquet/|c/|c\.h)[\w/]+\.h"
PUBLIC_CORE = rf"tamis/(?!c\.h)((filters|file|engine|layout|bank|join|plan)/)?\w+\.h|{SHARED}"
C_API = r"tamis/(c|c/\w+)\.h"
FORMATS = r"tamis/formats/\w+\.h"
LIVE = r"tamis/live/[\w/]+\.h"
REDIS = r"tamis/redis/\w+\.h"
PARQUET = r"tamis/parquet/\w+\.h"

# The headers that each file may include (docs/DESIGN.md, "Folders"). The first pattern that matches decides.
ALLOWED = [
    # The only header with functions of cl, the compiler of Visual Studio.
    ("core/include/tamis/detail/compiler.h", [STD, r"intrin\.h", CORE]),
    ("core/include/", [STD, CORE]),
    # The only file that includes the JSON library.
    ("core/src/base/json.h", [STD, r"nlohmann/json\.hpp"]),
    # The only folder of the library that includes headers of the operating system.
    ("core/src/os/posix/", [STD, POSIX, CORE, r"core/src/[\w/]+\.h"]),
    ("core/src/os/windows/", [STD, WINDOWS, CORE, r"core/src/[\w/]+\.h"]),
    ("core/", [STD, r"xxhash\.h", CORE, r"core/src/[\w/]+\.h"]),
    *((f"{part}/include/", [STD, CORE]) for part in PARTS),
    *((f"{part}/", [STD, r"xxhash\.h", CORE, r"core/src/[\w/]+\.h", rf"{part}/src/[\w/]+\.h"])
      for part in PARTS),
    ("simd/", [STD, r"hwy/[\w/-]+\.h", CORE, r"(core|bank|formats)/src/[\w/]+\.h", r"simd/[\w-]+\.h"]),
    ("cuda/include/", [STD, CORE, r"tamis/cuda/\w+\.(h|cuh)"]),
    # The only file in cuda/ that uses vector instructions.
    ("cuda/src/staging.cc", [STD, r"emmintrin\.h", r"cuda/src/\w+\.h"]),
    ("cuda/", [STD, r"cuda_runtime(_api)?\.h", r"tamis/[\w/]+\.(h|cuh)", r"core/src/[\w/]+\.h",
               r"cuda/src/\w+\.h"]),
    ("live/include/", [STD, PUBLIC_CORE, LIVE]),
    # These use the bulk loops and the change counts of filters, like the vector and GPU code.
    ("live/src/move_log", [STD, CORE]),
    ("live/src/shared_bits", [STD, CORE, r"core/src/bulk/\w+\.h", r"live/src/\w+\.h"]),
    *((f"live/src/{name}",
       [STD, CORE, LIVE, r"core/src/(bulk|filters)/[\w/]+\.h", r"live/src/\w+\.h"])
      for name in ("shared_cuckoo", "concurrent_")),
    ("live/", [STD, PUBLIC_CORE, OS, LIVE, r"live/src/\w+\.h"]),
    ("redis/include/", [STD, PUBLIC_CORE, REDIS]),
    # The only files that include hiredis or OpenSSL.
    ("redis/src/client/tls.cc", [STD, r"hiredis/\w+\.h", r"openssl/ssl\.h", PUBLIC_CORE, r"redis/src/[\w/]+\.h"]),
    *((f"redis/src/client/{name}",
       [STD, POSIX, r"netinet/\w+\.h", r"hiredis/\w+\.h", PUBLIC_CORE, REDIS, r"redis/src/[\w/]+\.h"])
      for name in ("link.cc", "reply_reader")),
    ("redis/src/filter/redis_bloom_dump.cc", [STD, PUBLIC_CORE, FORMATS, REDIS, r"redis/src/[\w/]+\.h"]),
    ("redis/", [STD, POSIX, PUBLIC_CORE, REDIS, r"redis/src/[\w/]+\.h"]),
    ("parquet/include/", [STD, PUBLIC_CORE, PARQUET]),
    # Uses the code that saves a file whole or not at all.
    ("parquet/src/add.cc", [STD, PUBLIC_CORE, OS, PARQUET, r"parquet/src/\w+\.h",
                            r"core/src/file/atomic_file\.h"]),
    # The only folder that includes Arrow. Programs may compile it themselves with an installed tamis.
    ("parquet/arrow/", [STD, r"(arrow|parquet)/[\w/]+\.h", PUBLIC_CORE, PARQUET]),
    ("parquet/src/source.cc", [STD, PUBLIC_CORE, OS, PARQUET, r"core/src/file/regular_file\.h"]),
    ("parquet/", [STD, PUBLIC_CORE, OS, PARQUET, r"parquet/src/\w+\.h"]),
    ("bindings/python/src/redis/",
     [STD, r"nanobind/[\w/]+\.h", PUBLIC_CORE, REDIS, r"bindings/python/src/[\w/]+\.h"]),
    ("bindings/python/src/text/",
     [STD, r"nanobind/[\w/]+\.h", PUBLIC_CORE, LIVE, r"text/\w+\.h", r"bindings/python/src/[\w/]+\.h"]),
    ("bindings/python/",
     [STD, r"nanobind/[\w/]+\.h", PUBLIC_CORE, FORMATS, LIVE, PARQUET,
      r"bindings/python/src/[\w/]+\.h"]),
    # Must compile as C.
    ("bindings/c/include/", [r"std(def|int)\.h", C_API]),
    ("bindings/c/", [STD, PUBLIC_CORE, FORMATS, PARQUET, C_API, r"bindings/c/src/\w+\.h"]),
    ("examples/c.c", [r"\w+\.h", C_API]),
    ("examples/dedup.cc", [STD, r"sys/resource\.h", r"tamis/tamis\.h"]),
    ("examples/guard.cc", [STD, r"sqlite3\.h", r"tamis/(tamis|engine/build|live/\w+)\.h"]),
    *((f"examples/{name}.cc", [STD, r"tamis/tamis\.h", FORMATS])
      for name in ("dcso", "guava", "kudu", "milvus", "redis_bloom", "spark")),
    ("examples/parquet.cc", [STD, r"tamis/tamis\.h", PARQUET]),
    ("examples/redis.cc", [STD, r"tamis/tamis\.h", REDIS]),
    ("examples/", [STD, r"tamis/((filters|file|engine|bank|join|live|plan)/)?\w+\.h"]),
    ("text/", [STD, PUBLIC, r"text/\w+\.h"]),
    # The only file that includes CLI11, which takes seconds to compile.
    ("tools/options/command_line.cc", [STD, r"CLI/CLI\.hpp", SHARED, r"tools/[\w/]+\.h"]),
    ("tools/input/unpacker_gzip.cc", [STD, r"zlib\.h", PUBLIC, r"tools/[\w/]+\.h"]),
    ("tools/input/json_field.cc", [STD, r"simdjson\.h", PUBLIC, r"tools/[\w/]+\.h"]),
    ("tools/input/unpacker_zstd.cc", [STD, r"zstd\.h", PUBLIC, r"tools/[\w/]+\.h"]),
    # The only folder of the command that includes headers of the operating system.
    ("tools/os/posix/", [STD, POSIX, r"tools/os/[\w/]+\.h"]),
    ("tools/os/windows/", [STD, WINDOWS, r"(psapi|io|share|fcntl|sys/stat)\.h", r"tools/os/[\w/]+\.h"]),
    ("tools/", [STD, r"nlohmann/\w+\.hpp", PUBLIC, r"text/\w+\.h", r"tools/[\w/]+\.h"]),
    ("bench/suite/peer_boost.cc", [STD, r"boost/\w+\.hpp", r"bench/[\w/]+\.h"]),
    ("bench/suite/peer_libfilter.cc", [STD, r"filter/block\.h", r"bench/[\w/]+\.h"]),
    ("bench/suite/peer_xor.cc", [STD, r"binaryfusefilter\.h", r"bench/[\w/]+\.h"]),
    ("bench/suite/peer_arrow.cc", [STD, r"(arrow|parquet)/[\w/]+\.h", r"bench/[\w/]+\.h"]),
    ("bench/string_table.cc", [STD, r"xxhash\.h", PUBLIC, r"bench/[\w/]+\.h"]),  # the peer
    ("bench/cuda_peer_cuco.cu", [STD, r"cuco/\w+\.cuh", r"cuda/stream_ref", r"bench/[\w/]+\.h"]),
    ("bench/cuda_peer_cuckoo_gpu.cu", [STD, r"cuda_runtime\.h", r"cuckoogpu/\w+\.cuh",
                                       r"bench/[\w/]+\.h"]),
    ("bench/cuda_", [STD, r"cuda_runtime\.h", PUBLIC, r"bench/[\w/]+\.h"]),
    ("bench/join_table.cc", [STD, r"boost/unordered/\w+\.hpp", PUBLIC_CORE, r"bench/[\w/]+\.h"]),
    *((prefix, [STD, PUBLIC_CORE, LIVE, r"bench/[\w/]+\.h"])
      for prefix in ("bench/live_", "bench/suite/live_")),
    # The peers, textbook Redis filters, use the connections of the same client.
    ("bench/redis_", [STD, PUBLIC, r"bench/[\w/]+\.h", r"redis/src/client/(client|slot)\.h"]),
    ("bench/os/posix.cc", [STD, POSIX, r"bench/os/\w+\.h"]),
    ("bench/os/windows.cc", [STD, WINDOWS, r"io\.h", OS, r"bench/os/\w+\.h"]),
    ("bench/", [STD, r"benchmark/\w+\.h", r"nlohmann/\w+\.hpp", PUBLIC, OS,
                r"tamis/detail/kernels\.h", r"bench/[\w/]+\.h"]),
]
# A block of C or C++, any block, code, and a link or picture, in a page.
PROGRAM_BLOCK = re.compile(r"^```c(?:pp)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(rf"{BLOCK.pattern}|`[^`\n]*`", BLOCK.flags)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# The folders ("rooms") of core and the parts, and the lower folders that each may include.
ROOMS = {
    "error": [],
    "os": ["error"],  # the operating system
    "base": ["os", "error"],
    "backend": ["base", "error"],
    "bulk": ["backend", "base", "error"],
    "file": ["backend", "base", "os", "error"],
    "filters": ["bulk", "file", "backend", "base", "os", "error"],
    "engine": ["filters", "bulk", "file", "backend", "base", "os", "error"],
    "formats": ["filters", "bulk", "file", "backend", "base", "os", "error"],
    "plan": ["engine", "filters", "bulk", "file", "backend", "base", "error"],
    "bank": ["engine", "filters", "bulk", "file", "backend", "base", "os", "error"],
    "join": ["engine", "filters", "bulk", "file", "backend", "base", "error"],
}
# The room of a public header that is not in a folder of that name. The first pattern that matches the path below
# tamis/ decides.
PUBLIC_ROOMS = [
    (r"tamis", None),  # includes everything
    (r"hash|hash_kinds|key_types|key_types_text|memory|physical_memory|random_seed|table_hash", "base"),
    (r"cpp20|error|unanswered_error|detail/(compiler|str_cat)", "error"),
    (r"units|version|detail/(block_index|siphash|storage)", "base"),
    (r"backends?|detail/(batch|change|kernels|xxh64_rests|\w+_kernels)", "backend"),
    (r"answers|changeable|changes|hash_keys|keys|queryable|time_keys", "bulk"),
    (r"layout/bank", "bank"),
    (r"(layout|detail)/\w+", "filters"),
]
# Files that state the version, with a pattern that finds it.
VERSIONS = {
    "CHANGELOG.md": r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$",
    "debian/changelog": r"\Atamis \((\d+\.\d+\.\d+)",
    "packaging/vcpkg/**/vcpkg.json": r'"version(?:-semver)?": "(.*)"',
}
# The library prints nothing, so it needs no streams.
LIBRARY_FORBIDDEN = {"iostream", "print"}


def files(root, suffixes, names=frozenset()):
    """Returns the relative paths of the repository's own files. Skips build folders, which may contain a whole
    system with its processes."""
    found = []
    for folder, subfolders, inside in os.walk(root):
        top = pathlib.Path(folder) == root
        subfolders[:] = [name for name in subfolders if name not in ("__pycache__", "build") and not (
            top and name != ".ci" and name.startswith((".", "build", "dist")))]
        found += [pathlib.Path(folder, name) for name in inside if not (top and name.startswith("build"))]
    for path in sorted(found):
        if path.is_file() and (path.suffix in suffixes or path.name in names):
            yield path.relative_to(root).as_posix()


def sources(root):
    return files(root, SOURCE_SUFFIXES)


def texts(root):
    return files(root, TEXT_SUFFIXES, TEXT_NAMES)


def read(root, name):
    return (root / name).read_text(encoding="utf-8", errors="replace")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def include_violation(name, header):
    may_use_cuda = name.startswith(("cuda/", "tests/cuda/", "bench/cuda_"))
    if not may_use_cuda and CUDA_HEADER.match(header):
        return "is a CUDA header, which only cuda/ includes"
    if name.split("/")[0] in LIBRARY and header in LIBRARY_FORBIDDEN:
        return "is for printing, which the library does not"
    for folder, patterns in ALLOWED:
        if name.startswith(folder):
            if not any(re.fullmatch(pattern, header) for pattern in patterns):
                return f"may not be included from {folder}"
            break
    return None


def check_includes(root):
    for name in sources(root):
        text = read(root, name)
        for match in INCLUDE.finditer(text):
            problem = include_violation(name, match[1])
            if problem:
                yield f"{name}:{line_of(text, match.start())}: {match[1]} {problem}"


def room_of(name):
    """Returns the room of a source of core, or of a header by the path in its include."""
    parts = "|".join(PARTS)
    source = re.match(rf"core/src/(\w+)/|({parts})/src/", name)
    if source:
        return source[1] or source[2]
    header = re.fullmatch(rf"(?:(?:core|{parts})/include/)?"
                          r"tamis/(?!cuda/|live/|redis/|parquet/|c/|c\.h)([\w/]+)\.h", name)
    if header:
        folder = header[1].split("/")[0]
        return folder if folder in ROOMS else next(
            (room for pattern, room in PUBLIC_ROOMS if re.fullmatch(pattern, header[1])), folder)
    return None


LAYERS = ("base", "kinds", "registry")  # folders of core/src/filters, the lowest first


def layer_of(name):
    layer = re.match(rf"core/src/filters/({'|'.join(LAYERS)})/", name)
    return layer and layer[1]


def check_rooms(root):
    """Includes between the rooms of core and the layers of filters/ point down; no kind includes another kind."""
    for name in sources(root):
        room = room_of(name)
        if re.fullmatch(r"core/src/[^/]+", name):
            yield f"{name}: is in no room"
        if name.startswith("core/src/filters/") and not layer_of(name):
            yield f"{name}: is in no layer"
        if re.fullmatch(r"core/src/filters/kinds/[^/]+", name):
            yield f"{name}: is in the folder of no kind"
        if name.split("/")[0] not in ("core", *PARTS):
            continue
        text = read(root, name)
        for match in INCLUDE.finditer(text):
            umbrella = "tamis/tamis.h"
            part = name.endswith(umbrella) and re.match(rf"tamis/({'|'.join(PARTS)})/", match[1])
            if match[1] == umbrella or part:
                yield f"{name}:{line_of(text, match.start())}: {match[1]} in the umbrella or below it"
        if room is None:
            continue
        if room not in ROOMS:
            yield f"{name}: {room} is no room"
            continue
        kind = re.match(r"core/src/filters/kinds/(\w+)/", name)
        for match in INCLUDE.finditer(text):
            other = room_of(match[1])
            where = f"{name}:{line_of(text, match.start())}"
            if other is not None and other != room and other not in ROOMS[room]:
                yield f"{where}: {match[1]} is in {other}, which {room} may not include"
            layer, other_layer = (layer_of(path) for path in (name, match[1]))
            if layer and other_layer and LAYERS.index(layer) < LAYERS.index(other_layer):
                yield f"{where}: {match[1]} is in {other_layer}/, above {layer}/"
            other_kind = re.match(r"core/src/filters/kinds/(\w+)/", match[1])
            if kind and other_kind and kind[1] != other_kind[1]:
                yield f"{where}: {match[1]} is of another kind of filter"


def check_kinds(root):
    """Code for all kinds uses their table; code for one kind is in the folder of that kind."""
    for name in sources(root):
        if name.split("/")[0] not in (*PARTS, "text", "tools", "bench") and not name.startswith("core/src/"):
            continue
        if name.startswith("core/src/filters/kinds/"):
            continue
        for number, line in enumerate(read(root, name).split("\n"), 1):
            if re.search(r"\bFilterKind::k[A-Z]", line):
                yield f"{name}:{number}: names a kind of filter: {line.strip()}"


PLATFORM = re.compile(r"^[ \t]*#[ \t]*(?:if|elif)[^\n]*?\b(_WIN\d+|_MSC_VER|__MINGW\w+|__APPLE__|__linux__)\b",
                      re.MULTILINE)
PLATFORM_PLACES = ("core/src/os/", "tools/os/", "core/include/tamis/detail/compiler.h",
                   "bindings/c/include/tamis/c/base.h")  # C, so it cannot include that header


def check_platforms(root):
    """Code for one operating system or compiler is only in PLATFORM_PLACES. CMake chooses between the sources."""
    for name in sources(root):
        if name.split("/")[0] not in (*LIBRARY, "cuda", "tools") or name.startswith(PLATFORM_PLACES):
            continue
        text = read(root, name)
        for match in PLATFORM.finditer(text):
            yield f"{name}:{line_of(text, match.start())}: {match[1]} outside of {', '.join(PLATFORM_PLACES)}"


def check_target_include(root):
    """Highway includes a source again by the path that it defines: with a wrong path, another file is compiled."""
    for name in sources(root):
        if name.startswith("tests/"):
            continue
        text = read(root, name)
        named = TARGET_INCLUDE.findall(text)
        if named and named != [name]:
            yield f"{name}: HWY_TARGET_INCLUDE is {named}, and must be its own path"
        if "hwy/foreach_target.h" in INCLUDE.findall(text) and not named:
            yield f"{name}: includes hwy/foreach_target.h and defines no HWY_TARGET_INCLUDE"


def check_guards(root):
    """The guard is TAMIS_HASH_H_ in core/include/tamis/hash.h, TAMIS_CORE_SRC_BULK_BULK_H_ in
    core/src/bulk/bulk.h."""
    for name in sources(root):
        if not name.endswith((".h", ".cuh")) or name.endswith("-inl.h"):
            continue
        path = re.sub(r"^(\w+|bindings/c)/include/tamis/", "", name)
        want = "TAMIS_" + re.sub(r"[^A-Z0-9]", "_", path.upper()) + "_"
        if f"#ifndef {want}\n#define {want}\n" not in read(root, name):
            yield f"{name}: has no include guard {want}"


def check_ascii(root):
    for name in texts(root):
        for number, line in enumerate((root / name).read_bytes().split(b"\n"), 1):
            if not line.isascii():
                yield f"{name}:{number}: not ASCII"


def check_length(root):
    for name in texts(root):
        if name.startswith("bench/results/"):
            continue  # measurements, which programs write
        lines = (root / name).read_bytes().count(b"\n")
        if lines > MAX_LINES:
            yield f"{name}: {lines} lines, the limit is {MAX_LINES}"


def check_paths(root):
    for name in texts(root):
        for number, line in enumerate(read(root, name).split("\n"), 1):
            if MACHINE_PATH.search(line):
                yield f"{name}:{number}: a path of one machine: {line.strip()}"


def anchors(text):
    """Returns the endings of links to the headings of the page."""
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
            for heading in HEADING.findall(BLOCK.sub("", text))}


def check_links(root):
    """Links inside the repository lead to files and headings that exist."""
    for name in files(root, {".md"}):
        text = read(root, name)
        # Code may contain brackets. Blanks replace it and keep the line numbers.
        prose = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
        for match in LINK.finditer(prose):
            if re.match(r"\w+:", match[1]):
                continue  # another site
            path, _, anchor = match[1].partition("#")
            target = (root / name).parent / path if path else root / name
            where = f"{name}:{line_of(prose, match.start())}: {match[1]}"
            if not target.exists():
                yield f"{where} does not exist"
            elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
                yield f"{where} names no heading"


def check_page_code(root):
    """C and C++ in the README and in docs/ is copied from the programs in examples/, which the tests run."""
    def stripped(text):
        return "\n" + "".join(f"{line.strip()}\n" for line in text.splitlines())
    programs = [read(root, name) for name in sources(root) if name.startswith("examples/")]
    for name in files(root, {".md"}):
        if name != "README.md" and not name.startswith("docs/"):
            continue
        text = read(root, name)
        for match in PROGRAM_BLOCK.finditer(text):
            code = match[1]
            if "int main(" in code:
                found = code in programs
            else:
                found = any(stripped(code) in stripped(program) for program in programs)
            if not found:
                yield f"{name}:{line_of(text, match.start())}: not text of a program in examples/"


def check_tables(root):
    """Other parties choose the keys of many tables, and must not be able to make them collide."""
    for name in sources(root):
        if name.split("/")[0] not in (*LIBRARY, "tools"):
            continue
        text = read(root, name)
        for match in re.finditer(r"std::unordered_\w+<[^;]*", text):
            if "Hash" not in match[0]:
                yield f"{name}:{line_of(text, match.start())}: a table without TableHash"


# The only sources that turn bits of keys into rows or bytes: the kernels, their caller, and the banks of Python,
# whose answers are tables.
MAKES_OUTPUTS = {"core/src/backend/portable_kernels.cc", "core/src/bulk/output.cc",
                 "bindings/python/src/queries/bank_lookups.cc"}


def check_outputs(root):
    """Every class that can be queried is a Queryable, so all outputs are produced in one place."""
    for name in sources(root):
        if name.split("/")[0] not in (*LIBRARY, "tools") or name.startswith(("simd/", "core/include/")) or (
                name in MAKES_OUTPUTS):
            continue
        text = read(root, name)
        for match in re.finditer(r"bits_to_(bytes|indices)|countr_zero\(word\)", text):
            yield f"{name}:{line_of(text, match.start())}: an output outside of core/src/bulk/output.cc"


# A sum with std::to_string(...), which may have two levels of parentheses inside.
NUMBER_IN_SUM = re.compile(r"\+\s*std::to_string\(|"
                           r"std::to_string\((?:[^();]|\((?:[^();]|\([^();]*\))*\))*\)\s*\+")


def check_messages(root):
    """StrCat builds texts of several pieces, with one allocation."""
    for name in sources(root):
        if name.split("/")[0] not in (*LIBRARY, "cuda", "tools"):
            continue
        text = read(root, name)
        for match in NUMBER_IN_SUM.finditer(text):
            yield f"{name}:{line_of(text, match.start())}: std::to_string in a sum, use detail::StrCat"


def check_sizes(root):
    """No large files in tests/: such a file is probably the output of a test, committed by mistake."""
    for path in (root / "tests").rglob("*"):
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            yield f"{path.relative_to(root).as_posix()}: {path.stat().st_size} bytes, at most {MAX_BYTES}"


def check_version(root):
    """The version is in version.h, which CMake, C and Python read. Files that must state it again agree with it."""
    header = "core/include/tamis/version.h"
    text = read(root, header)
    version = re.search(r'TAMIS_VERSION_STRING "(.*)"', text)[1]
    if re.findall(r"TAMIS_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text) != version.split("."):
        yield f"{header}: the numbers are not those of {version}"
    for places, pattern in VERSIONS.items():
        for path in root.glob(places):
            name = path.relative_to(root).as_posix()
            stated = re.search(pattern, read(root, name), re.MULTILINE)
            if not stated or stated[1] != version:
                yield f"{name}: states {stated[1] if stated else 'no version'}, and {header} states {version}"


def check_prose(root):
    """Comments, docstrings, pages and texts for users are plain English."""
    for name in [*sources(root), *files(root, {".md", ".py", ".pyi"})]:
        if not name.startswith(("bench/results/", "tests/golden/")):
            text = read(root, name)
            for position, problem in prose.check(name, text):
                yield f"{name}:{line_of(text, position)}: {problem}"


RULES = {
    "version": check_version,
    "sizes": check_sizes,
    "prose": check_prose,
    "messages": check_messages,
    "outputs": check_outputs,
    "tables": check_tables,
    "includes": check_includes,
    "rooms": check_rooms,
    "kinds": check_kinds,
    "platforms": check_platforms,
    "target_include": check_target_include,
    "guards": check_guards,
    "ascii": check_ascii,
    "length": check_length,
    "paths": check_paths,
    "links": check_links,
    "page_code": check_page_code,
}


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(RULES))
        return 0
    if len(arguments) != 2 or arguments[0] not in RULES:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[1])
    if not any(sources(root)):
        print(f"{root} has no sources", file=sys.stderr)
        return 2
    violations = list(RULES[arguments[0]](root))
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
