#!/usr/bin/env python3
"""Imports the lines of `import-benchmarks --keep FILE` with the sqlite3 and json modules of Python: time and peak memory.

usage: import-with-sqlite.py FILE DATABASE [LINES OF A TRANSACTION]"""

import itertools
import json
import resource
import sqlite3
import sys
import time

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -16384;
CREATE TABLE artist (id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE track (
  id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, title TEXT NOT NULL, seconds INTEGER NOT NULL,
  artist_id INTEGER REFERENCES artist (id)
);
CREATE INDEX track_artist ON track (artist_id);
"""
ARTIST = """INSERT INTO artist (number, name) VALUES (?, '')
  ON CONFLICT (number) DO UPDATE SET number = number RETURNING id"""
TRACK = """INSERT INTO track (code, title, seconds, artist_id) VALUES (?, ?, ?, ?)
  ON CONFLICT (code) DO UPDATE SET title = excluded.title, seconds = excluded.seconds, artist_id = excluded.artist_id"""


def rows(lines, database, artists):
    """The arguments of a batch's upserts. Finds or makes the artists."""
    for line in lines:
        record = json.loads(line)
        number = record["artist"]
        if number not in artists:
            artists[number] = database.execute(ARTIST, (number,)).fetchone()[0]
        yield record["code"], record["title"], record["seconds"], artists[number]


def main(path, database_path, batch):
    database = sqlite3.connect(database_path, isolation_level=None)
    database.executescript(SCHEMA)
    artists = {}
    start = time.monotonic()
    with open(path, encoding="utf-8") as lines:
        while part := list(itertools.islice(lines, batch)):
            database.execute("BEGIN")
            database.executemany(TRACK, rows(part, database, artists))
            database.execute("COMMIT")
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = database.execute("SELECT COUNT(*) FROM track").fetchone()[0]
    print(f"{seconds:.2f} seconds, peak {peak} KiB, {count} tracks, {len(artists)} artists")
    database.close()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 10_000)
