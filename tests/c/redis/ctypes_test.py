"""Filters on Redis servers from another language: Python's ctypes, with nothing but the standard
library. The URL of a server is in TAMIS_REDIS_URL.

Usage: ctypes_test.py LIBTAMIS_C LIBTAMIS_REDIS_C HEADERS
"""
import array
import ctypes
import os
import pathlib
import sys
import threading
import unittest
from ctypes import (POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from declarations import declarations

OK, INVALID_ARGUMENT, CORRUPT = 0, 1, 7
U64 = 7

tamis = ctypes.CDLL(sys.argv[1])
tamis_redis = ctypes.CDLL(sys.argv[2])
HEADERS = sys.argv[3]
URL = os.environ["TAMIS_REDIS_URL"]


class Hash(ctypes.Structure):
    _fields_ = [("kind", c_uint32), ("reserved", c_uint32), ("seed", c_uint64),
                ("secret_low", c_uint64), ("secret_high", c_uint64)]


class Keys(ctypes.Structure):
    _fields_ = [("form", c_uint32), ("width", c_uint32), ("count", c_uint64), ("offset", c_uint64),
                ("data", c_void_p), ("bytes", c_void_p), ("num_bytes", c_uint64),
                ("lengths", c_void_p), ("validity", c_void_p)]


class Client(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("url", c_char_p), ("user", c_char_p),
                ("password", c_char_p), ("ca_file", c_char_p), ("connect_timeout_ms", c_uint64),
                ("command_timeout_ms", c_uint64), ("retry_for_ms", c_uint64),
                ("min_backoff_ms", c_uint64), ("max_backoff_ms", c_uint64),
                ("max_bytes_in_flight", c_uint64), ("idle_share", c_double),
                ("read_from_replicas", c_uint32), ("unavailable", c_uint32), ("route", c_uint32),
                ("durable_replicas", c_uint32), ("has_secret", c_uint32), ("reserved", c_uint32),
                ("secret_low", c_uint64), ("secret_high", c_uint64)]


class CreateOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", c_size_t), ("capacity", c_uint64), ("fpr", c_double),
                ("bytes", c_uint64), ("hash", Hash), ("deadline_ms", c_int64)]


SOURCE = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p)

RESULTS = {"const char*": c_char_p, "void": None}
for result, name, _ in declarations(HEADERS):
    getattr(tamis_redis, name).restype = RESULTS.get(result, c_int32)
tamis.tamis_last_error.restype = tamis.tamis_status_name.restype = c_char_p
tamis_redis.tamis_redis_filter_contains_u64.argtypes = [c_void_p, c_uint64]
tamis_redis.tamis_redis_filter_insert_u64.argtypes = [c_void_p, c_uint64]
tamis_redis.tamis_redis_filter_free.argtypes = [c_void_p]
tamis_redis.tamis_redis_filter_rebuild.argtypes = [c_void_p, SOURCE, c_void_p, c_void_p, c_void_p]
tamis_redis.tamis_redis_inserter_insert.argtypes = [c_void_p, POINTER(Keys), c_void_p]
tamis.tamis_filter_count.argtypes = [c_void_p, c_void_p, POINTER(Keys), POINTER(c_uint64)]
tamis.tamis_filter_free.argtypes = [c_void_p]


def check(status):
    if status != OK:
        raise RuntimeError(f"{tamis.tamis_status_name(status)}: {tamis.tamis_last_error()}")


def u64_keys(values):
    """The keys, and the array that has to outlive them."""
    values = array.array("Q", values)
    return Keys(form=U64, count=len(values), data=values.buffer_info()[0]), values


class Filter(c_void_p):
    def __del__(self):
        tamis_redis.tamis_redis_filter_free(self)


CLIENT = Client(struct_bytes=ctypes.sizeof(Client), url=URL.encode())


def create(name):
    made = Filter()
    options = CreateOptions(struct_bytes=ctypes.sizeof(CreateOptions), capacity=10_000)
    check(tamis_redis.tamis_redis_filter_create(name, byref(options), byref(CLIENT), byref(made)))
    return made


class CtypesTest(unittest.TestCase):
    def test_every_function_survives_zeros(self):
        """NULL and 0 for all arguments of every function that is declared."""
        for result, name, arguments in declarations(HEADERS):
            with self.subTest(name):
                function = ctypes.CFUNCTYPE(
                    RESULTS.get(result, c_int32), *[c_void_p] * arguments)((name, tamis_redis))
                answer = function(*[None] * arguments)
                if result == "tamis_status":
                    self.assertEqual(answer, INVALID_ARGUMENT)
                elif result == "tamis_answer":
                    self.assertEqual(answer, -INVALID_ARGUMENT)
                if result in ("tamis_status", "tamis_answer"):
                    self.assertIn(b"NULL", tamis.tamis_last_error())

    def test_keys(self):
        made = create(b"ctypes keys")
        numbers, kept = u64_keys(range(5000))
        inserted, hits = c_uint64(), c_uint64()
        check(tamis_redis.tamis_redis_filter_insert(made, byref(numbers), byref(inserted)))
        self.assertEqual(inserted.value, 5000)
        others, kept_as_well = u64_keys(range(2500, 10**5))
        check(tamis_redis.tamis_redis_filter_count(made, byref(others), byref(hits)))
        self.assertTrue(2500 <= hits.value < 5000)
        local = c_void_p()
        check(tamis_redis.tamis_redis_filter_pull(made, byref(local)))
        of_local = c_uint64()
        check(tamis.tamis_filter_count(local, None, byref(others), byref(of_local)))
        self.assertEqual(of_local.value, hits.value)
        tamis.tamis_filter_free(local)
        check(tamis_redis.tamis_redis_filter_drop(made))
        self.assertEqual(tamis_redis.tamis_redis_filter_contains_u64(made, 1), -CORRUPT)
        self.assertIn(b"ctypes keys", tamis.tamis_last_error())

    def test_a_source_of_python(self):
        made = create(b"ctypes rebuild")
        self.assertEqual(tamis_redis.tamis_redis_filter_insert_u64(made, 1), 1)
        numbers, kept = u64_keys(range(1000, 2000))
        source = SOURCE(
            lambda into, _: tamis_redis.tamis_redis_inserter_insert(into, byref(numbers), None))
        check(tamis_redis.tamis_redis_filter_rebuild(made, source, None, None, None))
        self.assertEqual(tamis_redis.tamis_redis_filter_contains_u64(made, 1), 0)
        self.assertEqual(tamis_redis.tamis_redis_filter_contains_u64(made, 1999), 1)
        failing = SOURCE(lambda into, _: 4711)
        self.assertEqual(
            tamis_redis.tamis_redis_filter_rebuild(made, failing, None, None, None), 4711)
        self.assertEqual(tamis_redis.tamis_redis_filter_contains_u64(made, 1999), 1)

    def test_threads(self):
        """Each with a handle of its own, and errors of its own."""
        create(b"ctypes threads")
        problems = []

        def work(number):
            made = Filter()
            check(tamis_redis.tamis_redis_filter_open(b"ctypes threads", None, byref(CLIENT),
                                                      byref(made)))
            for key in range(1000 * number, 1000 * number + 200):
                if tamis_redis.tamis_redis_filter_insert_u64(made, key) != 1:
                    problems.append(tamis.tamis_last_error())
            if tamis.tamis_last_error() != b"":
                problems.append(tamis.tamis_last_error())

        threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        made = Filter()
        check(tamis_redis.tamis_redis_filter_open(b"ctypes threads", None, byref(CLIENT),
                                                  byref(made)))
        for number in range(4):
            for key in range(1000 * number, 1000 * number + 200):
                self.assertEqual(tamis_redis.tamis_redis_filter_contains_u64(made, key), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
