"""Converts keys for tamis.parquet to typed keys: an object with the keys, and their Arrow format.

Columns of Parquet have types, so a day is a different key than an integer. Keys other than
numbers, timestamps, bytes and text are converted to text for tamis::parquet::KeyList::Text.
"""
import array
import datetime
import decimal
import sys
import uuid

from . import _kinds

_MAX_EXACT = 2**53  # every integer up to this is a float


def _text_of(item):
    """Returns a decimal number, a date, a time or an integer as text."""
    if isinstance(item, decimal.Decimal):
        return format(item, "f")
    if isinstance(item, datetime.datetime):
        if item.tzinfo is not None:
            item = item.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return item.isoformat(" ")
    if isinstance(item, datetime.time):
        if item.tzinfo is not None:
            raise TypeError("no type of Parquet is a time of day with a time zone")
        return item.isoformat()
    if type(item).__name__ == "datetime64":
        unit = sys.modules["numpy"].datetime_data(item.dtype)[0]
        finer = {"Y": "D", "M": "D", "W": "D", "h": "s"}.get(unit)
        return str(item if finer is None else item.astype(f"M8[{finer}]"))
    return item if isinstance(item, str) else str(item)


def _kind_of(kind):
    """Returns the sort of items of a type: 'int', 'float', 'str', 'bytes', 'uuid' or 'text'."""
    letter = getattr(getattr(kind, "dtype", None), "kind", None)
    if issubclass(kind, bool) or kind.__name__ in ("bool", "bool_"):
        raise TypeError("bool is not a key")
    if issubclass(kind, str):
        return "str"
    if issubclass(kind, (bytes, bytearray, memoryview)):
        return "bytes"
    if issubclass(kind, uuid.UUID):
        return "uuid"
    if issubclass(kind, (decimal.Decimal, datetime.date, datetime.time)):
        return "text"
    if issubclass(kind, float) or kind.__name__ in ("float16", "float32", "longdouble"):
        return "float"
    if kind.__name__ == "datetime64":
        return "text"
    if hasattr(kind, "__index__") and letter != "m" and kind.__name__ != "timedelta64":
        return "int"
    raise TypeError(
        f"keys are numbers, strings, bytes, dates, times or UUIDs, and this is of type "
        f"{kind.__name__}")


def _doubles(items):
    """Returns the bits of floats: an array, or a list with None for missing values."""
    bits = memoryview(array.array("d", [0.0 if x is None else x for x in items])).cast("B").cast("Q")
    if None not in items:
        return bits, "g"
    return [None if x is None else b for x, b in zip(items, bits)], "g"


def _kinds_of(items):
    """Returns the sort of each type among the items, except None."""
    return {kind: _kind_of(kind) for kind in set(map(type, items)) if kind is not type(None)}


def _integers(items, kinds):
    if set(kinds) - {int}:
        items = [None if x is None else x.__index__() for x in items]
    present = [x for x in items if x is not None]
    low, high = min(present, default=0), max(present, default=0)
    if low >= -2**63 and high < 2**63:
        return items, "l"
    if low >= 0 and high < 2**64:
        return items, "L"
    return [None if x is None else str(x) for x in items], "u"


def _of_items(items):
    if any(kind.__name__ in ("NAType", "NaTType") for kind in set(map(type, items))):
        items = [None if type(x).__name__ in ("NAType", "NaTType") else x for x in items]
    kinds = _kinds_of(items)
    names = set(kinds.values())
    if "float" in names and names - {"int", "float"}:
        # pandas stores missing values among other objects as NaN.
        items = [None if kinds.get(type(x)) == "float" and x != x else x for x in items]
        kinds = _kinds_of(items)
        names = set(kinds.values())
    if not names or names == {"int"}:
        return _integers(items, kinds)
    if names == {"float"}:
        return _doubles(items)
    if names == {"int", "float"}:
        if any(kinds.get(type(x)) == "int" and abs(int(x)) > _MAX_EXACT for x in items):
            raise TypeError("keys are of one type, and some of these integers do not equal any "
                            "float")
        return _doubles(items)
    if names == {"str"}:
        return items, "u"
    if names == {"bytes"}:
        return [None if x is None else bytes(x) for x in items], "z"
    if names == {"uuid"}:
        return [None if x is None else x.bytes for x in items], "z"
    if "text" in names and names <= {"text", "int", "str"}:
        texts = [None if x is None else _text_of(x) for x in items]
        return [None if x == "NaT" else x for x in texts], "u"
    raise TypeError("keys are of one type, and these are of several: "
                    + ", ".join(sorted(kind.__name__ for kind in kinds)))


def _of_times(times):
    return times, ("tdD", "tss:", "tsm:", "tsu:", "tsn:")[times.unit]


def _of_numpy(x):
    numpy = sys.modules["numpy"]
    kind = x.dtype.kind
    if kind == "M":
        return _of_times(_kinds.times(x))
    if isinstance(x, numpy.ma.MaskedArray):
        if numpy.ma.getmaskarray(x).any():
            return _of_items(x.tolist())
        x = x.data
    if kind == "f":
        return numpy.ascontiguousarray(x, "=f8").view("=u8"), "g"
    if kind == "O":
        return _of_items(x.tolist())
    formats = {"i": "l", "u": "L", "U": "u", "T": "u", "S": "z"}
    if x.shape == (0,):
        return [], "l"
    if kind not in formats:
        raise TypeError(f"a NumPy array of {x.dtype} has no keys")
    return x, formats[kind]


def typed(x):
    """Returns an object with the keys of x, and their Arrow format; "" for Arrow data."""
    if isinstance(x, (str, bytes, bytearray)):
        raise TypeError("this is one key, and not a collection of keys: put it into a list")
    package = type(x).__module__.partition(".")[0]
    if package == "pandas" and hasattr(x, "dtype"):
        numpy = sys.modules["numpy"]
        x = x.to_numpy() if isinstance(x.dtype, numpy.dtype) else _kinds.plain(x)
    elif package != "numpy":
        x = _kinds.plain(x)
    if isinstance(x, _kinds.Times):  # from pandas, with a time zone
        return _of_times(x)
    if hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__"):
        return x, ""
    if hasattr(x, "dtype") and type(x).__module__.partition(".")[0] == "numpy":
        return _of_numpy(x)
    try:
        view = memoryview(x)
    except TypeError:
        return _of_items(list(x))
    letter = view.format.lstrip("<>=!@|")
    if letter in ("f", "d"):
        return _of_items(view.tolist())
    return x, "l" if letter in tuple("bhilqn") else "L"
