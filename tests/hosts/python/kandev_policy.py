"""kandev-policy from Python, with nothing but ctypes. Copy this file: it is all that a host needs beside the library.

    import kandev_policy
    with kandev_policy.Policy(config) as policy:        # bytes of JSON; compiled once, shared by any number of threads
        decision = json.loads(policy.evaluate(frame))

An exception means the same to the caller as every status that is not OK in C: ask (deny, for an unattended reviewer).
"""

import ctypes
import os
import sys

ABI_VERSION = 1
_OK, _BUFFER_TOO_SMALL, _INVALID_ARGUMENT, _BAD_CONFIG = range(4)


class Error(Exception):
    """No decision: ask."""


class ConfigError(Error):
    """The config can't be used; the text names the key, the type found and the type expected."""


def _load():
    # The name with the ABI's version: beside this file, or as the loader finds it. KANDEV_POLICY_LIBRARY names another.
    name = "libkandev_policy.1.dylib" if sys.platform == "darwin" else "libkandev_policy.so.1"
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    path = os.environ.get("KANDEV_POLICY_LIBRARY") or (beside if os.path.exists(beside) else name)
    library = ctypes.CDLL(path)

    def declare(name, result, *arguments):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments

    text, size, handle = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
    to = ctypes.POINTER
    declare("kandev_policy_abi_version", ctypes.c_uint32)
    if library.kandev_policy_abi_version() != ABI_VERSION:
        raise Error(f"the library's ABI is {library.kandev_policy_abi_version()}, not {ABI_VERSION}")
    declare("kandev_policy_version", text)
    # Not c_char_p: ctypes would make bytes of it and lose what has to be freed.
    declare("kandev_policy_decide", ctypes.c_void_p, text, text)
    declare("kandev_policy_explain", ctypes.c_void_p, text, text)
    declare("kandev_policy_string_free", None, ctypes.c_void_p)
    declare("kandev_policy_new", ctypes.c_int32, text, size, to(handle), text, size, to(size))
    declare("kandev_policy_evaluate", ctypes.c_int32, handle, text, size, text, size, to(size))
    declare("kandev_policy_free", None, handle)
    return library


_library = _load()
version = _library.kandev_policy_version().decode()


def _once(function, frame, config):
    if b"\0" in frame or b"\0" in config:
        raise Error("a NUL byte: the library would see another, shorter document")
    result = function(frame, config)
    if not result:
        raise Error("no memory for the decision")
    try:
        return ctypes.string_at(result)
    finally:
        _library.kandev_policy_string_free(result)


def decide(frame: bytes, config: bytes) -> bytes:
    """Decides one request under a config that is used once; gives the decision's JSON."""
    return _once(_library.kandev_policy_decide, frame, config)


def explain(frame: bytes, config: bytes) -> bytes:
    """As decide, with what each step found."""
    return _once(_library.kandev_policy_explain, frame, config)


class Policy:
    """A compiled config. close() it when no thread uses it any more."""

    def __init__(self, config: bytes):
        self._handle = ctypes.c_void_p()
        error, length = ctypes.create_string_buffer(1024), ctypes.c_size_t()
        status = _library.kandev_policy_new(
            config, len(config), ctypes.byref(self._handle), error, len(error), ctypes.byref(length)
        )
        if status == _BAD_CONFIG:
            raise ConfigError(error.raw[: length.value].decode("utf-8", "replace"))
        if status != _OK:
            raise Error(f"status {status}")

    def evaluate(self, frame: bytes) -> bytes:
        """Decides one request; gives the decision's JSON."""
        if not self._handle:
            raise Error("the policy is closed")
        capacity, needed = 1024, ctypes.c_size_t()
        while True:
            buffer = ctypes.create_string_buffer(capacity)
            status = _library.kandev_policy_evaluate(
                self._handle, frame, len(frame), buffer, capacity, ctypes.byref(needed)
            )
            if status == _OK:
                return ctypes.string_at(buffer, needed.value)
            if status != _BUFFER_TOO_SMALL:
                raise Error(f"status {status}")
            capacity = needed.value

    def close(self):
        handle, self._handle = self._handle, ctypes.c_void_p()
        _library.kandev_policy_free(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
