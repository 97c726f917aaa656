#!/usr/bin/env python3
"""Verifies the ad-hoc signature of a Mach-O file: macOS on arm64 loads no file whose pages aren't those that were signed.

    packaging/signature.py FILE
"""

import hashlib
import struct
import sys
from pathlib import Path

MH_MAGIC_64, LC_CODE_SIGNATURE = 0xFEEDFACF, 0x1D
SUPER_BLOB, CODE_DIRECTORY = 0xFADE0CC0, 0xFADE0C02
ADHOC, SHA256 = 0x2, 2


def code_signature(file):
    """Where the signature is, and how long it is."""
    magic, _, _, _, commands = struct.unpack_from("<5I", file)
    if magic != MH_MAGIC_64:
        sys.exit("no 64-bit Mach-O file")
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", file, at)
        if command == LC_CODE_SIGNATURE:
            return struct.unpack_from("<2I", file, at + 8)
        at += size
    sys.exit("not signed")


def main():
    file = Path(sys.argv[1]).read_bytes()
    start, length = code_signature(file)
    blob = file[start : start + length]
    magic, _, count = struct.unpack_from(">3I", blob)
    if magic != SUPER_BLOB or start + length != len(file):
        sys.exit("the signature is not the file's end")
    for n in range(count):
        _, at = struct.unpack_from(">2I", blob, 12 + 8 * n)
        if struct.unpack_from(">I", blob, at)[0] == CODE_DIRECTORY:
            break
    else:
        sys.exit("no code directory")
    directory = blob[at:]
    flags, hashes, _, _, pages, limit = struct.unpack_from(">6I", directory, 12)
    size, kind, _, page_bits = struct.unpack_from(">4B", directory, 36)
    if not flags & ADHOC or (kind, size) != (SHA256, 32) or limit != start:
        sys.exit("not an ad-hoc signature of the whole file with SHA-256")
    page = 1 << page_bits
    if pages != -(-limit // page):
        sys.exit("not every page is signed")
    for n in range(pages):
        signed = directory[hashes + 32 * n : hashes + 32 * (n + 1)]
        if hashlib.sha256(file[n * page : min((n + 1) * page, limit)]).digest() != signed:
            sys.exit(f"page {n} was changed after it was signed")
    print(f"ad-hoc, {pages} pages of {page} bytes, each with its SHA-256")


if __name__ == "__main__":
    main()
