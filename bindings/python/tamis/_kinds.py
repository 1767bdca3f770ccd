"""Reads keys from arrays of other packages, and returns answers as arrays of the same package.

Never imports these packages: if such an array exists, its package has been imported.
"""
import io
import sys


def _package(x):
    return type(x).__module__.partition(".")[0]


class Times:
    """Counts of a unit: `unit` is a value of tamis::TimeUnit. The smallest int64 is NaT."""
    __slots__ = ("counts", "unit")

    def __init__(self, counts, unit):
        self.counts = counts
        self.unit = unit


_UNITS = ("D", "s", "ms", "us", "ns")
_OTHER_UNITS = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s", "ps": "ns", "fs": "ns", "as": "ns"}


def times(x):
    """Returns the Times of a NumPy array of datetime64 or timedelta64."""
    numpy = sys.modules["numpy"]
    if isinstance(x, numpy.ma.MaskedArray):
        x = x.filled(x.dtype.type("NaT"))
    kind = x.dtype.kind
    unit, count = numpy.datetime_data(x.dtype)
    if x.size == 0:  # no keys, in any unit
        return Times(x.view("i8"), _UNITS.index("ns"))
    if unit == "generic" or (kind == "m" and unit in ("Y", "M")):
        raise TypeError(f"an array of {x.dtype} has no keys: its unit has no fixed length")
    whole = x
    if unit not in _UNITS or count != 1:
        unit = _OTHER_UNITS.get(unit, unit)
        whole = x.astype(f"{kind}8[{unit}]")
        if not ((whole.astype(x.dtype) == x) | numpy.isnat(x)).all():
            raise ValueError(f"times are counted in {unit}, and not all of these can be")
    return Times(whole.view(whole.dtype.str[0] + "i8"), _UNITS.index(unit))


def _plain_numpy(x):
    numpy = sys.modules["numpy"]
    if isinstance(x, numpy.ma.MaskedArray):
        if x.dtype.kind in "mM":
            return times(x)
        data, mask = _plain_numpy(x.data), numpy.ma.getmaskarray(x)
        if mask.any():
            data = data.astype(object)
            data[mask] = None
        return data
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    if kind is not None and kind in "mM":  # NumPy does not export these as a buffer
        return times(numpy.asarray(x))
    if kind == "T":  # strings of variable length
        return x.astype(object)
    return x


def _plain_pandas(x):
    numpy = sys.modules["numpy"]
    if type(x).__name__ == "DataFrame":  # iterating it yields its column labels
        if x.shape[1] != 1:
            raise TypeError(f"keys are one column, and this DataFrame has {x.shape[1]}")
        x = x.iloc[:, 0]
    if not hasattr(x, "dtype") or getattr(x, "ndim", 1) != 1:  # also pandas.NaT
        return x
    if isinstance(x.dtype, numpy.dtype):
        return _plain_numpy(x.to_numpy())
    if type(x.dtype).__name__ == "DatetimeTZDtype":
        return _plain_numpy(x.to_numpy(f"M8[{getattr(x.dtype, 'unit', 'ns')}]"))
    if hasattr(x, "__arrow_c_stream__"):
        try:
            import pyarrow  # noqa: F401  needed by pandas to export Arrow data
        except ImportError:
            pass
        else:
            return x
    return x.to_numpy(dtype=object)


def _plain_polars(x):
    """Converts Objects to a list, because Polars exports their addresses to Arrow."""
    if type(x).__name__ == "DataFrame" and x.width == 1:
        x = x.to_series()
    if type(x).__name__ == "Series" and type(x.dtype).__name__ == "Object":
        return x.to_list()
    return x


def _plain_device(x):
    """Reads arrays with DLPack; refuses arrays in the memory of a GPU."""
    on_device = hasattr(x, "__cuda_array_interface__")
    if not on_device and hasattr(x, "__dlpack_device__"):
        on_device = int(x.__dlpack_device__()[0]) not in (1, 3)  # host memory, also pinned
    if on_device:
        raise NotImplementedError(
            "the keys are in the memory of a GPU, and this package is built without CUDA: copy "
            "them to the host, as with x.get() of CuPy or x.cpu() of PyTorch")
    if hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__"):
        return x
    if hasattr(x, "__dlpack__"):
        import numpy
        return _plain_numpy(numpy.from_dlpack(x))
    return _plain_iterable(x)


def _plain_iterable(x):
    """Returns x. Raises TypeError if iterating x would silently yield something other than keys."""
    if isinstance(x, io.IOBase):
        raise TypeError("a file is not a collection of keys: its lines end in '\\n'")
    if hasattr(x, "columns") and hasattr(x, "dtypes"):  # iterating it yields its column labels
        raise TypeError("keys are one column of a data frame: pass this column")
    return x


def plain(x):
    """Converts x to an object with a buffer, Arrow data or an iterator, or returns x itself."""
    package = _package(x)
    if package == "numpy":
        return _plain_numpy(x)
    if package == "pandas":
        return _plain_pandas(x)
    if package == "polars":
        x = _plain_polars(x)
    return _plain_device(x)


def like(answers, x):
    """Returns answers as an array of the package of x, without a copy if possible."""
    package = _package(x)
    if package == "numpy":
        return sys.modules["numpy"].asarray(answers)
    if package == "pandas":
        array = sys.modules["numpy"].asarray(answers)
        per_key = array.ndim == 1 and array.dtype == bool and len(array) == len(x)
        if per_key and hasattr(x, "index"):
            return sys.modules["pandas"].Series(array, index=x.index)
        return array
    if package == "pyarrow":
        return sys.modules["pyarrow"].array(answers)
    if package == "polars":
        return sys.modules["polars"].Series(answers)
    if hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__"):
        return answers
    if hasattr(x, "__dlpack__"):
        import numpy
        return numpy.asarray(answers)
    try:
        memoryview(x)
    except TypeError:
        return answers.tolist()
    return answers
