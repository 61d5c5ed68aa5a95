"""A small PNG writer whose bytes depend on the pixels alone.

Pillow and Python compress with whatever zlib they were built with, and zlib, zlib-ng and Cloudflare's fork give
different bytes for the same pixels. A picture is known by the digest of its bytes here, so generated pictures are
written by this encoder instead: repeated rows and runs become matches, the rest is Huffman-coded, all in integers.
"""

from __future__ import annotations

import heapq
import struct
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sketchmark.parts import Picture

Bytes = NDArray[np.uint8]
_Table = NDArray[np.uint64]
_FEW_TOKENS = 4096
"""Below this a code of its own costs more (a header, and time) than it saves over deflate's fixed one."""

_SHORTEST_MATCH = 3


def indexed(indices: Bytes, palette: Bytes) -> Picture:
    """A palette picture: `indices` (h, w) into `palette` (k, 3). It decodes to exactly these colours."""
    height, width = indices.shape
    depth = 4 if len(palette) <= 16 else 8
    rows = np.zeros((height, 1 + (width * depth + 7) // 8), np.uint8)
    if depth == 4:
        rows[:, 1:] = indices[:, 0::2] * np.uint8(16)
        rows[:, 1 : 1 + width // 2] += indices[:, 1::2]
    else:
        rows[:, 1:] = indices
    return _picture(width, height, depth, 3, palette.tobytes(), rows)


def rgb(pixels: Bytes) -> Picture:
    """A full-colour picture from (h, w, 3), Paeth-filtered."""
    height, width, _ = pixels.shape
    raw = np.zeros((height + 1, width + 1, 3), np.int16)
    raw[1:, 1:] = pixels
    left, up, corner = raw[1:, :-1], raw[:-1, 1:], raw[:-1, :-1]
    to_left, to_up, to_corner = np.abs(up - corner), np.abs(left - corner), np.abs(left + up - 2 * corner)
    guess = np.where((to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner))
    rows = np.full((height, 1 + 3 * width), 4, np.uint8)
    rows[:, 1:] = ((raw[1:, 1:] - guess) & 255).astype(np.uint8).reshape(height, -1)
    return _picture(width, height, 8, 2, b"", rows)


def _picture(width: int, height: int, depth: int, colour: int, palette: bytes, rows: Bytes) -> Picture:
    body = b"\x78\x01" + _deflate(rows) + struct.pack(">I", zlib.adler32(rows.tobytes()))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))]
    if palette:
        chunks.append((b"PLTE", palette))
    chunks += [(b"IDAT", body), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )
    return Picture(data, "png")


def _deflate(rows: Bytes) -> bytes:
    """One deflate block (RFC 1951): a row like the one above is a match at a row's distance, a run at distance 1."""
    height, stride = rows.shape
    fresh = np.ones(height, bool)
    if stride >= _SHORTEST_MATCH:
        fresh[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    kept = np.flatnonzero(fresh)
    values, lengths, owners = _runs(rows[kept])
    repeats = np.diff(np.append(kept, height)) - 1
    copies = _copies(repeats * stride)
    matches = np.where(lengths >= 4, lengths - 1, 0)
    if len(values) + len(copies[0]) <= _FEW_TOKENS:
        literal, length, distance, header = *_fixed_code(), (0b011, 3)
    else:
        counts = np.bincount(values, np.where(matches > 0, 1, lengths), 286).astype(np.int64)
        sizes = np.concatenate([matches[matches > 0], copies[0]])
        counts[:] += np.bincount(_LENGTH_SYMBOL[sizes], minlength=286)
        counts[256] = 1
        distances = np.zeros(30, np.int64)
        distances[0], distances[_distance(stride)[0]] = 1, 1
        literal, length, distance, header = _own_code(counts, distances)
    code, size = literal[0][values], literal[1][values]
    for extra in (2, 3):
        more = (lengths >= extra) & (matches == 0)
        code = np.where(more, code | (literal[0][values] << size), code)
        size = np.where(more, size + literal[1][values], size)
    near, far = (_match_codes(length, distance, reach) for reach in (1, stride))
    code |= near[0][matches] << size
    size = size + near[1][matches]
    order = np.argsort(np.concatenate([owners, copies[1]]), kind="stable")
    bits = np.concatenate([code, far[0][copies[0]]])[order]
    widths = np.concatenate([size, far[1][copies[0]]])[order]
    start, start_width = header
    first = [_chunk(start, start_width, at) for at in range(0, start_width, 48)]
    head = np.array([piece for piece, _ in first], np.uint64), np.array([wide for _, wide in first], np.uint64)
    end = literal[0][256:257], literal[1][256:257]
    return _pack(np.concatenate([head[0], bits, end[0]]), np.concatenate([head[1], widths, end[1]]))


def _chunk(value: int, width: int, at: int) -> tuple[int, int]:
    wide = min(48, width - at)
    return (value >> at) & ((1 << wide) - 1), wide


def _runs(rows: Bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Runs of equal bytes in each row, at most 259 long (a literal and one match): values, lengths, row numbers."""
    count, stride = rows.shape
    starts = np.ones(rows.shape, bool)
    starts[:, 1:] = rows[:, 1:] != rows[:, :-1]
    at = np.flatnonzero(starts)
    lengths = np.diff(np.append(at, count * stride))
    while (lengths > 259).any():
        pieces = np.where(lengths > 259, 2, 1)
        second = np.cumsum(pieces)[lengths > 259] - 1
        at, lengths = np.repeat(at, pieces), np.repeat(lengths, pieces)
        lengths[second - 1] = 259
        at[second] += 259
        lengths[second] -= 259
    return rows.reshape(-1)[at].astype(np.int64), lengths, at // stride


def _copies(totals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The match lengths (3 to 258) that copy each total number of bytes, and which row each belongs to.

    As many of 258 as go in, then the rest; a rest too short for a match borrows from the one before.
    """
    owners = np.flatnonzero(totals)
    whole, rest = np.divmod(totals[owners], 258)
    pieces = whole + (rest > 0)
    last = np.cumsum(pieces) - 1
    sizes = np.full(int(pieces.sum()), 258, np.int64)
    sizes[last[rest > 0]] = rest[rest > 0]
    short = (rest > 0) & (rest < _SHORTEST_MATCH)
    sizes[last[short] - 1] -= _SHORTEST_MATCH - rest[short]
    sizes[last[short]] = _SHORTEST_MATCH
    return sizes, np.repeat(owners, pieces)


def _pack(bits: _Table, widths: _Table) -> bytes:
    """Bit strings (each under 64 long, first bit lowest) one after the other.

    No string is as long as a word, so a string starts in every word and only the last of a word spills over.
    """
    ends = np.cumsum(widths)
    begins = ends - widths
    word, shift = (begins >> 6).astype(np.int64), begins & np.uint64(63)
    first = np.flatnonzero(np.append(True, word[1:] != word[:-1]))
    words = np.append(np.bitwise_or.reduceat(bits << shift, first), np.uint64(0))
    last = np.append(first[1:], len(bits)) - 1
    spill = shift[last] > 0
    words[1:][spill] |= bits[last][spill] >> (np.uint64(64) - shift[last][spill])
    return words.astype("<u8").tobytes()[: (int(ends[-1]) + 7) // 8]


def _length_table() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each match length: its symbol, the value of its extra bits, and how many those are."""
    symbol, extra, width = (np.zeros(259, np.int64) for _ in range(3))
    at = 3
    for code in range(28):
        wide = max(0, code // 4 - 1)
        for offset in range(1 << wide):
            if at + offset < 258:
                symbol[at + offset], extra[at + offset], width[at + offset] = 257 + code, offset, wide
        at += 1 << wide
    symbol[258], extra[258], width[258] = 285, 0, 0
    return symbol, extra, width


_LENGTH_SYMBOL, _LENGTH_EXTRA, _LENGTH_WIDTH = _length_table()


def _distance(reach: int) -> tuple[int, int, int]:
    """Symbol, extra value and extra width of a match distance."""
    if reach <= 4:
        return reach - 1, 0, 0
    wide = (reach - 1).bit_length() - 2
    return 2 * wide + 2 + ((reach - 1) >> wide & 1), (reach - 1) & ((1 << wide) - 1), wide


_Code = tuple[_Table, _Table]


def _match_codes(length: _Code, distance: _Code, reach: int) -> _Code:
    """Bits and widths of a match of each length (0: no bits) at one distance."""
    if reach > 32768:
        raise ValueError("a row of a generated picture is over 32768 bytes long")
    symbol, extra, wide = _distance(reach)
    tail = int(distance[0][symbol]) | extra << int(distance[1][symbol])
    bits = length[0] | (np.uint64(tail) << length[1])
    widths = length[1] + distance[1][symbol] + np.uint64(wide)
    bits[:3], widths[:3] = 0, 0
    return bits, widths


def _canonical(widths: NDArray[np.int64]) -> _Code:
    """Huffman codes from their lengths (RFC 1951, 3.2.2), reversed: deflate sends their highest bit first."""
    codes = np.zeros(len(widths), np.uint64)
    code = 0
    for width in range(1, 16):
        for symbol in np.flatnonzero(widths == width):
            codes[symbol] = int(f"{code:0{width}b}"[::-1], 2)
            code += 1
        code <<= 1
    return codes, widths.astype(np.uint64)


def _with_lengths(literal: _Code) -> _Code:
    """The code of each match length, its extra bits included."""
    bits = literal[0][_LENGTH_SYMBOL] | (_LENGTH_EXTRA.astype(np.uint64) << literal[1][_LENGTH_SYMBOL])
    return bits, literal[1][_LENGTH_SYMBOL] + _LENGTH_WIDTH.astype(np.uint64)


@lru_cache(maxsize=1)
def _fixed_code() -> tuple[_Code, _Code, _Code]:
    literal = _canonical(np.repeat([8, 9, 7, 8], [144, 112, 24, 8]))
    return literal, _with_lengths(literal), _canonical(np.full(32, 5))


def _own_code(counts: NDArray[np.int64], distances: NDArray[np.int64]) -> tuple[_Code, _Code, _Code, tuple[int, int]]:
    """Huffman codes for these counts and the block header that tells them: every code length in four plain bits."""
    literal, distance = _huffman(counts), _huffman(distances)
    value, width = 0b101, 3
    for field, wide in ((286 - 257, 5), (30 - 1, 5), (19 - 4, 4)):
        value |= field << width
        width += wide
    for symbol in (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15):
        value |= (0 if symbol > 15 else 4) << width
        width += 3
    for wide in (*literal.tolist(), *distance.tolist()):
        value |= int(f"{wide:04b}"[::-1], 2) << width
        width += 4
    code = _canonical(literal)
    return code, _with_lengths(code), _canonical(distance), (value, width)


def _huffman(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Code lengths of at most 15 bits; ties go to the lower symbol, too deep a tree is redone with flatter counts."""
    while True:
        widths = np.zeros(len(counts), np.int64)
        heap = [(int(counts[symbol]), int(symbol), [int(symbol)]) for symbol in np.flatnonzero(counts)]
        heapq.heapify(heap)
        if len(heap) == 1:
            widths[heap[0][1]] = 1
            return widths
        while len(heap) > 1:
            one, two = heapq.heappop(heap), heapq.heappop(heap)
            members = one[2] + two[2]
            widths[members] += 1
            heapq.heappush(heap, (one[0] + two[0], min(one[1], two[1]), members))
        if widths.max() <= 15:
            return widths
        counts = np.where(counts > 0, counts // 2 + 1, 0)
