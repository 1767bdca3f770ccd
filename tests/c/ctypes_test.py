"""Tests the C library from another language: Python's ctypes, with only the standard library.

Usage: ctypes_test.py LIBRARY HEADERS GOLDEN
"""
import array
import ctypes
import json
import multiprocessing
import multiprocessing.shared_memory
import os
import pathlib
import sys
import tempfile
import threading
import unittest
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

from declarations import declarations

OK, INVALID_ARGUMENT, READ_ONLY, IO = 0, 1, 4, 6
SPLIT_BLOCK, CUCKOO16 = 1, 4
U64, STRINGS32 = 7, 10
BITS, COUNT = 1, 5

LIBRARY, HEADERS, GOLDEN = sys.argv[1:4]
tamis = ctypes.CDLL(LIBRARY)


class Hash(ctypes.Structure):
    _fields_ = [("kind", c_uint32), ("reserved", c_uint32), ("seed", c_uint64),
                ("secret_low", c_uint64), ("secret_high", c_uint64)]


class Keys(ctypes.Structure):
    _fields_ = [("layout", c_uint32), ("width", c_uint32), ("count", c_uint64), ("offset", c_uint64),
                ("data", c_void_p), ("bytes", c_void_p), ("num_bytes", c_uint64),
                ("lengths", c_void_p), ("validity", c_void_p)]


class FilterOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("capacity", c_uint64), ("fpr", c_double),
                ("bytes", c_uint64), ("hash", Hash), ("backend", c_char_p),
                ("no_huge_pages", c_uint32), ("reserved", c_uint32)]


class PlanOptions(ctypes.Structure):
    """The structure of programs compiled before key_bytes existed."""
    _fields_ = [("struct_bytes", c_size_t), ("keys", c_uint64), ("fpr", c_double),
                ("must", c_uint32), ("has_range", c_uint32), ("range_low", c_uint64),
                ("range_high", c_uint64), ("max_bytes", c_uint64), ("batch_keys", c_uint64)]


for result, name, _ in declarations(HEADERS):
    function = getattr(tamis, name)
    function.restype = {"const char*": c_char_p, "void": None}.get(result, c_int32)
# Arguments that are not ctypes pointers.
tamis.tamis_filter_contains_u64.argtypes = [c_void_p, c_uint64]
tamis.tamis_filter_insert.argtypes = [c_void_p, c_void_p, POINTER(Keys), c_void_p, c_void_p, c_uint64]
tamis.tamis_filter_query.argtypes = [c_void_p, c_void_p, POINTER(Keys), c_uint32, c_void_p, c_uint64,
                                     POINTER(c_uint64)]
tamis.tamis_filter_view.argtypes = [c_void_p, c_uint64, c_void_p, POINTER(c_void_p)]
tamis.tamis_filter_free.argtypes = [c_void_p]
tamis.tamis_filter_open_memory.argtypes = [c_void_p, c_uint64, c_void_p, POINTER(c_void_p)]
tamis.tamis_filter_serialize.argtypes = [c_void_p, c_void_p, c_void_p, c_uint64, POINTER(c_uint64)]
tamis.tamis_text_free.argtypes = [c_void_p]


def check(status):
    if status != OK:
        raise RuntimeError(f"{tamis.tamis_status_name(status)}: {tamis.tamis_last_error()}")


def u64_keys(values):
    """Returns the keys, and the array that must outlive them."""
    values = array.array("Q", values)
    return Keys(layout=U64, count=len(values), data=values.buffer_info()[0]), values


def string_keys(strings):
    text = "".join(strings).encode()
    offsets = array.array("i", [0])
    for s in strings:
        offsets.append(offsets[-1] + len(s.encode()))
    buffer = ctypes.create_string_buffer(text)
    keys = Keys(layout=STRINGS32, count=len(strings), data=offsets.buffer_info()[0],
                bytes=ctypes.addressof(buffer), num_bytes=len(text))
    return keys, (offsets, buffer)


def count(filter_handle, keys):
    hits = c_uint64()
    check(tamis.tamis_filter_query(filter_handle, None, byref(keys), COUNT, None, 0, byref(hits)))
    return hits.value


class Filter(c_void_p):
    def __del__(self):
        tamis.tamis_filter_free(self)


def make_filter(kind, capacity):
    made = Filter()
    options = FilterOptions(struct_bytes=ctypes.sizeof(FilterOptions), capacity=capacity)
    check(tamis.tamis_filter_create(kind, byref(options), byref(made)))
    return made


def ask_shared(name, numbers):
    """Runs in another process: counts the numbers that the blocks there contain."""
    memory = multiprocessing.shared_memory.SharedMemory(name=name)
    blocks = (ctypes.c_char * memory.size).from_buffer(memory.buf)
    view = Filter()
    check(tamis.tamis_filter_view(ctypes.addressof(blocks), memory.size, None, byref(view)))
    keys, kept = u64_keys(numbers)
    hits = count(view, keys)
    del view, blocks
    memory.close()
    return hits


class CtypesTest(unittest.TestCase):
    def test_every_function_survives_zeros(self):
        """Passes NULL and 0 for all arguments of every declared function."""
        for result, name, arguments in declarations(HEADERS):
            with self.subTest(name):
                function = ctypes.CFUNCTYPE(
                    {"const char*": c_char_p, "void": None}.get(result, c_int32),
                    *[c_void_p] * arguments)((name, tamis))
                answer = function(*[None] * arguments)
                if result == "tamis_status":
                    self.assertEqual(answer, INVALID_ARGUMENT)
                elif result == "tamis_answer":
                    self.assertEqual(answer, -INVALID_ARGUMENT)
                if result in ("tamis_status", "tamis_answer"):
                    self.assertIn(b"NULL", tamis.tamis_last_error())

    def test_numbers_and_strings(self):
        for kind in (SPLIT_BLOCK, CUCKOO16):
            made = make_filter(kind, 3000)
            numbers, kept = u64_keys(range(1000))
            words, also_kept = string_keys([f"word {i}" for i in range(1000)])
            inserted = c_uint64()
            check(tamis.tamis_filter_insert(made, None, byref(numbers), byref(inserted), None, 0))
            self.assertEqual(inserted.value, 1000)
            check(tamis.tamis_filter_insert(made, None, byref(words), None, None, 0))
            self.assertEqual(count(made, numbers), 1000)
            self.assertEqual(count(made, words), 1000)
            self.assertEqual(tamis.tamis_filter_contains_u64(made, 7), 1)
            others, kept_as_well = u64_keys(range(10**6, 10**6 + 10**5))
            bits = array.array("Q", bytes(8 * (10**5 // 64 + 1)))
            hits = c_uint64()
            check(tamis.tamis_filter_query(made, None, byref(others), BITS, bits.buffer_info()[0],
                                           len(bits), byref(hits)))
            self.assertLess(hits.value, 3000)
            self.assertEqual(hits.value, sum(bin(word).count("1") for word in bits))

    def test_files_of_others(self):
        """Golden files written by the C++ library."""
        for path in sorted(pathlib.Path(GOLDEN).glob("*_v1_*.tamis")):
            with self.subTest(path.name):
                made = Filter()
                check(tamis.tamis_filter_open(os.fsencode(path), None, byref(made)))
                written = c_uint64()
                data = ctypes.create_string_buffer(path.stat().st_size + 4096)
                check(tamis.tamis_filter_serialize(made, None, data, len(data), byref(written)))
                again = Filter()
                check(tamis.tamis_filter_open_memory(data, written, None, byref(again)))
                with tempfile.TemporaryDirectory() as folder:
                    copy = pathlib.Path(folder) / "copy.tamis"
                    check(tamis.tamis_filter_save(again, os.fsencode(copy), None))
                    self.assertEqual(copy.read_bytes(), data.raw[:written.value])

    def test_errors_belong_to_threads(self):
        made = Filter()
        self.assertEqual(tamis.tamis_filter_open(b"/none/of/these", None, byref(made)), IO)
        self.assertIn(b"/none/of/these", tamis.tamis_last_error())
        seen = []
        thread = threading.Thread(target=lambda: seen.append(tamis.tamis_last_error()))
        thread.start()
        thread.join()
        self.assertEqual(seen, [b""])
        self.assertIn(b"/none/of/these", tamis.tamis_last_error())

    def test_plan(self):
        options = PlanOptions(struct_bytes=ctypes.sizeof(PlanOptions), keys=10**6)
        text = c_void_p()
        check(tamis.tamis_plan_json(byref(options), None, byref(text)))
        plan = json.loads(ctypes.string_at(text.value))
        tamis.tamis_text_free(text)
        self.assertEqual((plan["n"], plan["fpr"], plan["choice"]), (10**6, 0.01, "split-block"))
        self.assertEqual(plan["key_bytes"], 8)

    def test_shared_memory(self):
        """A view of shared memory, also seen by a process that is not a child of fork."""
        numbers = [i * i for i in range(1000)]
        memory = multiprocessing.shared_memory.SharedMemory(create=True, size=4096)
        try:
            blocks = (ctypes.c_char * memory.size).from_buffer(memory.buf)
            view = Filter()
            check(tamis.tamis_filter_view(ctypes.addressof(blocks), memory.size, None, byref(view)))
            keys, kept = u64_keys(numbers)
            check(tamis.tamis_filter_insert(view, None, byref(keys), None, None, 0))
            del view, blocks
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                self.assertEqual(pool.apply(ask_shared, (memory.name, numbers)), 1000)
        finally:
            memory.close()
            memory.unlink()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
