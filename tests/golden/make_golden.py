#!/usr/bin/env python3
"""Writes the golden files from core/FORMAT.md alone, as a second implementation of the format.

Usage: make_golden.py DIRECTORY. Needs the module xxhash (Debian: python3-xxhash).
"""

import pathlib
import struct
import sys

import xxhash

XXH3, XXH64, SIP13, SIP24 = 1, 2, 3, 4


def siphash(rounds, last_rounds):
    """Returns SipHash-c-d (Aumasson and Bernstein, 2012). The `secret` is its key of 16 bytes."""
    def hash_of(key, secret):
        k0, k1 = struct.unpack("<QQ", secret)
        v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
             k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

        def rotate(i, bits):
            v[i] = (v[i] << bits | v[i] >> (64 - bits)) % 2**64

        def add(i, j):
            v[i] = (v[i] + v[j]) % 2**64

        def sip_round():
            for a, b, bits in ((0, 1, 13), (2, 3, 16)):
                add(a, b)
                rotate(b, bits)
                v[b] ^= v[a]
            rotate(0, 32)
            for a, b, bits in ((2, 1, 17), (0, 3, 21)):
                add(a, b)
                rotate(b, bits)
                v[b] ^= v[a]
            rotate(2, 32)

        padded = key + bytes(7 - len(key) % 8) + bytes([len(key) % 256])
        for (word,) in struct.iter_unpack("<Q", padded):
            v[3] ^= word
            for _ in range(rounds):
                sip_round()
            v[0] ^= word
        v[2] ^= 0xFF
        for _ in range(last_rounds):
            sip_round()
        return v[0] ^ v[1] ^ v[2] ^ v[3]
    return hash_of


# Hash kind to function. The second argument of a function is the seed or the secret.
HASHES = {XXH3: xxhash.xxh3_64_intdigest, XXH64: xxhash.xxh64_intdigest,
          SIP13: siphash(1, 3), SIP24: siphash(2, 4)}
SECRET = bytes(range(16))
SALTS = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
         0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31]


def integers(n):
    return [struct.pack("<Q", i * 0x9E3779B97F4A7C15 % 2**64) for i in range(n)]


def strings(n):
    return [bytes((length + i) % 256 for i in range(length)) for length in range(n)]


BYTES, INTEGER = 1, 2  # key types


# Name: blocks, hash kind, seed or secret, keys, capacity. Version 2 also has the types of the keys, and whether the
# secret is in the file.
RECIPES = {
    "split_block_v1_empty": (2, XXH3, 0, [], 1),
    "split_block_v1_one_block": (1, XXH3, 0, integers(10), 10),
    "split_block_v1_odd_blocks": (333, XXH3, 0, integers(5000), 5000),
    "split_block_v1_seeded": (100, XXH3, 0x0123456789ABCDEF, integers(1000), 2000),
    "split_block_v1_strings": (64, XXH3, 7, strings(300), 300),
    "split_block_v1_xxh64_seeded": (50, XXH64, 2**64 - 1, integers(500), 500),
    "split_block_v1_xxh64_strings": (41, XXH64, 42, strings(300), 300),
    "split_block_v1_parquet": (32, XXH64, 0, [b"hello", b"parquet", b"bloom", b"filter"], 4),
    "split_block_v2_empty": (2, XXH3, 0, [], 1, ((), False)),
    "split_block_v2_two_pages": (2100, XXH3, 0, integers(5000), 5000, ((INTEGER,), False)),
    "split_block_v2_both_forms": (
        33, XXH64, 42, integers(100) + strings(100), 200, ((BYTES, INTEGER), False)),
    "split_block_v2_siphash13": (33, SIP13, SECRET, integers(300), 300, ((INTEGER,), True)),
    "split_block_v2_siphash24": (33, SIP24, SECRET, strings(300), 300, ((BYTES,), False)),
}


# Name: fingerprint bits, chunks, buckets of a chunk, hash kind, seed, keys, capacity. Some keys repeat. The fuller
# tables contain keys for which others were moved.
CUCKOO_RECIPES = {
    "cuckoo8_v1_empty": (8, 1, 2, XXH3, 0, [], 1),
    "cuckoo8_v1_full": (8, 1, 32, XXH3, 0x0123456789ABCDEF, integers(122), 122),
    "cuckoo12_v1_chunks": (12, 5, 8, XXH3, 7, strings(100) + strings(20), 120),
    "cuckoo12_v1_full": (12, 1, 20, XXH3, 3, integers(94), 94),
    "cuckoo16_v1_chunks": (16, 3, 8, XXH64, 2**64 - 1, integers(50) + integers(5), 60),
    "cuckoo16_v1_full": (16, 1, 20, XXH3, 1, integers(74), 74),
    "cuckoo8_v2_padding": (8, 1, 2, XXH3, 0, integers(5), 5, ((INTEGER,), False)),
    "cuckoo16_v2_siphash24": (16, 3, 8, SIP24, SECRET, integers(50), 60, ((INTEGER,), True)),
}
MAX_NODES = 1024


class Chunk:
    """A chunk of a cuckoo filter: a list of slots for each bucket. The library, not the format, chooses the slot of
    a key: the first free one of the emptier of its two buckets, otherwise the first free slot that a
    breadth-first search over the fingerprints in full buckets finds."""

    def __init__(self, bits, num_buckets):
        self.buckets = [[0] * (5 if bits == 12 else 4) for _ in range(num_buckets)]

    def partner(self, bucket, fingerprint):
        mixed = fingerprint * fingerprint * 0x9E3779B1 % 2**32
        return (((mixed * len(self.buckets) >> 32) | 1) - bucket) % len(self.buckets)

    def insert(self, bucket, fingerprint):
        partner = self.partner(bucket, fingerprint)
        emptier = min((bucket, partner), key=lambda b: -self.buckets[b].count(0))
        if 0 in self.buckets[emptier]:
            self.buckets[emptier][self.buckets[emptier].index(0)] = fingerprint
            return
        # Each node is a path, a list of (bucket, slot) whose fingerprints each move on, and the bucket after it.
        nodes = [([], bucket), ([], partner)]
        for path, at in nodes:
            for slot, there in enumerate(self.buckets[at]):
                to = self.partner(at, there)
                longer = path + [(at, slot)]
                if 0 in self.buckets[to]:
                    free = (to, self.buckets[to].index(0))
                    for source in reversed(longer):
                        self.buckets[free[0]][free[1]] = self.buckets[source[0]][source[1]]
                        free = source
                    self.buckets[free[0]][free[1]] = fingerprint
                    return
                if len(nodes) < MAX_NODES:
                    nodes.append((longer, to))
        raise ValueError("no room")


class CuckooTable:
    def __init__(self, bits, chunks, chunk_buckets, hash_kind, seed):
        self.bits, self.chunk_buckets, self.hash_kind, self.seed = (
            bits, chunk_buckets, hash_kind, seed)
        self.table = [Chunk(bits, chunk_buckets) for _ in range(chunks)]

    def insert(self, key):
        h = HASHES[self.hash_kind](key, self.seed)
        chunks = len(self.table)
        x = (h >> 32) * chunks + ((h >> 16) % 2**16 * chunks >> 16)
        fingerprint = 1 + (h % 2**16 * (2**self.bits - 1) >> 16)
        self.table[x >> 32].insert(x % 2**32 * self.chunk_buckets >> 32, fingerprint)

    def payload(self):
        words = [sum(f << (self.bits * s) for s, f in enumerate(bucket))
                 for chunk in self.table for bucket in chunk.buckets]
        return struct.pack("<%d%s" % (len(words), "I" if self.bits == 8 else "Q"), *words)


def cuckoo(bits, chunks, chunk_buckets, hash_kind, seed, keys):
    table = CuckooTable(bits, chunks, chunk_buckets, hash_kind, seed)
    for key in keys:
        table.insert(key)
    return table.payload()


# Name: bits, hashes, hash kind, seed, keys, capacity.
BLOOM_RECIPES = {
    "bloom_v1_empty": (64, 44, XXH3, 0, [], 1),
    "bloom_v1_seven_hashes": (9664, 7, XXH3, 0, integers(1000), 1000),
    "bloom_v1_one_hash": (704, 1, XXH3, 0x0123456789ABCDEF, integers(500), 500),
    "bloom_v1_strings": (8000, 18, XXH64, 42, strings(300), 300),
    "bloom_v2_siphash13": (8000, 18, SIP13, SECRET, strings(300), 300, ((BYTES,), False)),
}

# Name: blocks, hash kind, seed, keys, capacity.
COUNTING_RECIPES = {
    "counting_v1_empty": (3, XXH3, 0, [], 1),
    "counting_v1_saturated": (2, XXH3, 0, integers(300), 300),
    "counting_v1_strings": (33, XXH64, 42, strings(300), 300),
    "counting_v2_strings": (33, XXH64, 42, strings(300), 300, ((BYTES,), False)),
}


def split_block_words(blocks, hash_kind, seed, keys):
    """Returns a dictionary from the index of a word to its value, of the words that are not 0."""
    words = {}
    for key in keys:
        h = HASHES[hash_kind](key, seed)
        block = (h >> 32) * blocks >> 32 if blocks < 2**32 else h * blocks >> 64
        for w, salt in enumerate(SALTS):
            bit = 1 << ((h % 2**32 * salt % 2**32) >> 27)
            words[8 * block + w] = words.get(8 * block + w, 0) | bit
    return words


def split_block(blocks, hash_kind, seed, keys):
    words = split_block_words(blocks, hash_kind, seed, keys)
    return struct.pack("<%dI" % (8 * blocks), *(words.get(i, 0) for i in range(8 * blocks)))


def bloom(bits, hashes, hash_kind, seed, keys):
    array = 0
    for key in keys:
        h = HASHES[hash_kind](key, seed)
        x = h * bits >> 64
        y = ((h ^ h >> 32) * 0xD6E8FEB86659FD93 % 2**64) * bits >> 64
        for i in range(hashes):
            array |= 1 << (x + i * y + (i**3 - i) // 6) % bits
    return array.to_bytes(bits // 8, "little")


def counting(blocks, hash_kind, seed, keys):
    counters = [0] * (128 * blocks)
    for key in keys:
        h = HASHES[hash_kind](key, seed)
        block = (h >> 32) * blocks >> 32
        for w, salt in enumerate(SALTS):
            i = 128 * block + 16 * w + ((h % 2**32 * salt % 2**32) >> 28)
            counters[i] = min(15, counters[i] + 1)
    return bytes(a + 16 * b for a, b in zip(counters[::2], counters[1::2]))


def checksum128(data):
    value = xxhash.xxh3_128_intdigest(data)
    return value % 2**64, value >> 64


def file_of_version_1(kind, geometry, hash_kind, seed, num_keys, capacity, payload):
    header = b"tamis\r\n\x1a" + struct.pack(
        "<IIIIQQQQQQQQQQQQ", 1, 128, kind, hash_kind, seed, *geometry, capacity, num_keys, 128,
        len(payload), *checksum128(payload), 0, 0)
    return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header)) + payload


def header_of_version_2(kind, geometry, hash_kind, seed, num_keys, capacity, payload_bytes, checksum,
                        forms, has_secret, version=2):
    keyed = hash_kind in (SIP13, SIP24)
    tag = [HASHES[hash_kind](b"tamis key tag %d" % i, seed) for i in (1, 2)] if keyed else (0, 0)
    header = b"tamis\r\n\x1a" + struct.pack(
        "<IIIIQQQQQQQQQQIIQQ16sI36x", version, 192, kind, hash_kind, 0 if keyed else seed, *geometry,
        capacity, num_keys, 192, payload_bytes, *checksum, sum(1 << form for form in forms),
        1 if has_secret else 0, *tag, seed if has_secret else bytes(16), 16)
    return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(header))


def file_of_version_2(kind, geometry, hash_kind, seed, num_keys, capacity, payload, forms,
                      has_secret):
    table = b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(payload[at:at + 65536]))
                     for at in range(0, len(payload), 65536))
    header = header_of_version_2(kind, geometry, hash_kind, seed, num_keys, capacity, len(payload),
                                 checksum128(table), forms, has_secret)
    return header + payload + bytes(-len(payload) % 64) + table


# `new` is None for version 1. Otherwise it has the types of the keys, and whether the secret is in the file.
def file_of(kind, geometry, hash_kind, seed, keys, capacity, payload, new):
    if new is None:
        return file_of_version_1(kind, geometry, hash_kind, seed, len(keys), capacity, payload)
    return file_of_version_2(kind, geometry, hash_kind, seed, len(keys), capacity, payload, *new)


def split_block_file(blocks, hash_kind, seed, keys, capacity, new=None):
    payload = split_block(blocks, hash_kind, seed, keys)
    return file_of(1, (blocks, 0, 0), hash_kind, seed, keys, capacity, payload, new)


def many_blocks_file(blocks, keys):
    """Returns a file of version 3 without its zeros: its header, then for each block that is not 0 the offset in the
    file (8 bytes) and the block. The table of pages is left out, too."""
    words = split_block_words(blocks, XXH3, 0, keys)
    page_bytes, payload_bytes = 65536, 32 * blocks
    pages = {}
    for word, value in words.items():
        page = pages.setdefault(4 * word // page_bytes, bytearray(page_bytes))
        struct.pack_into("<I", page, 4 * word % page_bytes, value)
    num_pages, last_bytes = -(-payload_bytes // page_bytes), payload_bytes % page_bytes or page_bytes
    table = [xxhash.xxh3_64_intdigest(bytes(page_bytes))] * num_pages
    table[-1] = xxhash.xxh3_64_intdigest(bytes(last_bytes))
    for i, page in pages.items():
        table[i] = xxhash.xxh3_64_intdigest(bytes(page[:last_bytes if i == num_pages - 1 else page_bytes]))
    file = header_of_version_2(1, (blocks, 0, 0), XXH3, 0, len(keys), len(keys), payload_bytes,
                               checksum128(struct.pack("<%dQ" % num_pages, *table)), (INTEGER,), False, 3)
    for block in sorted({word // 8 for word in words}):
        file += struct.pack("<Q8I", 192 + 32 * block, *(words.get(8 * block + w, 0) for w in range(8)))
    return file


def bloom_file(bits, hashes, hash_kind, seed, keys, capacity, new=None):
    payload = bloom(bits, hashes, hash_kind, seed, keys)
    return file_of(6, (bits, hashes, 0), hash_kind, seed, keys, capacity, payload, new)


def counting_file(blocks, hash_kind, seed, keys, capacity, new=None):
    payload = counting(blocks, hash_kind, seed, keys)
    return file_of(7, (blocks, 0, 0), hash_kind, seed, keys, capacity, payload, new)


def cuckoo_file(bits, chunks, buckets, hash_kind, seed, keys, capacity, new=None):
    payload = cuckoo(bits, chunks, buckets, hash_kind, seed, keys)
    kind = {8: 2, 12: 3, 16: 4}[bits]
    return file_of(kind, (chunks, buckets, 0), hash_kind, seed, keys, capacity, payload, new)


# Name: fingerprint bits, shards, segments, segment length, hash kind, seed, keys; and the types of the keys, and
# whether the secret is in the file.
FUSE_RECIPES = {
    "fuse8_v2_empty": (8, 1, 1, 4, XXH3, 0, [], ((), False)),
    "fuse8_v2_integers": (8, 1, 20, 64, XXH3, 0, integers(1000), ((INTEGER,), False)),
    "fuse8_v2_shards": (8, 4, 4, 64, XXH3, 7, integers(1000), ((INTEGER,), False)),
    "fuse12_v2_strings": (12, 1, 12, 32, XXH64, 42, strings(300), ((BYTES,), False)),
    "fuse16_v2_siphash13": (16, 1, 12, 32, SIP13, SECRET, integers(300), ((INTEGER,), True)),
    "fuse32_v2_one_key": (32, 1, 1, 4, XXH3, 0x0123456789ABCDEF, integers(1), ((INTEGER,), False)),
}


def fuse_multiplier(attempt):
    z = (attempt + 1) * 0x9E3779B97F4A7C15 % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31 | 1


def fuse_slots(m, segments, length):
    first = (m >> 32) * segments * length >> 32
    x = m ^ m >> 32
    return first, (first + length) ^ x % length, (first + 2 * length) ^ (x >> 16) % length


def fuse_shard(bits, segments, length, hashes):
    """Returns the multiplier and the slots, which the library chooses, not the format: the first multiplier
    with which the hashes can be peeled. Slots with one hash are peeled first in, first out."""
    slots = [0] * ((segments + 2) * length)
    if not hashes:
        return 0, slots
    for attempt in range(32):
        multiplier = fuse_multiplier(attempt)
        left = [set() for _ in slots]
        for h in hashes:
            m = h * multiplier % 2**64
            for slot in fuse_slots(m, segments, length):
                left[slot].add(m)
        queue = [slot for slot, those in enumerate(left) if len(those) == 1]
        order = []
        for slot in queue:
            if not left[slot]:
                continue
            (m,) = left[slot]
            order.append((m, slot))
            for other in fuse_slots(m, segments, length):
                left[other].discard(m)
                if len(left[other]) == 1:
                    queue.append(other)
        if len(order) == len(hashes):
            break
    else:
        raise ValueError("no multiplier")
    for m, slot in reversed(order):
        a, b, c = (slots[i] for i in fuse_slots(m, segments, length))
        slots[slot] = (~m ^ a ^ b ^ c) % 2**bits
    return multiplier, slots


def fuse_file(bits, shards, segments, length, hash_kind, seed, keys, new):
    hashes = {HASHES[hash_kind](key, seed) for key in keys}
    built = [fuse_shard(bits, segments, length, {h for h in hashes if h * shards >> 64 == s})
             for s in range(shards)]
    slots = [slot for _, of_shard in built for slot in of_shard]
    packed = sum(slot << bits * i for i, slot in enumerate(slots))
    payload = packed.to_bytes((len(slots) * bits // 8 + 7) // 8 * 8, "little")
    payload += struct.pack("<%dQ" % shards, *(multiplier for multiplier, _ in built))
    kind = {8: 9, 12: 10, 16: 11, 32: 12}[bits]
    return file_of(kind, (shards, segments, length), hash_kind, seed, hashes, max(1, len(hashes)),
                   payload, new)


# Name: layer kind, hash kind, seed, keys; initial capacity, fpr, growth, tightening, max bytes; and geometry and
# capacity of each layer, which the library chooses, not the format.
COPIES = integers(100)
COPIES[0:80:2] = [struct.pack("<Q", 1)] * 40
SCALABLE_RECIPES = {
    "scalable_v1_empty": (1, XXH3, 0, [], (20, 0.01, 2, 0.85, 0), [((2, 0), 20)]),
    "scalable_v1_split_block": (
        1, XXH3, 0, integers(100), (20, 0.05, 2, 0.85, 0),
        [((1, 0), 20), ((2, 0), 40), ((4, 0), 80)]),
    "scalable_v1_bloom": (
        6, XXH64, 42, strings(110), (16, 0.01, 1.5, 0.5, 200),
        [((192, 8), 16), ((320, 9), 24), ((448, 9), 36), ((640, 10), 46)]),
    "scalable_v1_cuckoo8": (
        2, XXH3, 7, COPIES, (25, 0.5, 1, 0.85, 0), [((1, 14), 25)] * 5),
    "scalable_v1_cuckoo12": (
        3, XXH3, 0, integers(30), (10, 0.1, 4, 0.85, 0), [((1, 2), 10), ((1, 14), 40)]),
    "scalable_v1_cuckoo16": (
        4, XXH3, 0x0123456789ABCDEF, integers(50) + strings(20), (10, 0.01, 3, 0.85, 0),
        [((1, 10), 10), ((1, 14), 30), ((1, 30), 90)]),
    "scalable_v2_bloom": (
        6, XXH64, 42, strings(110), (16, 0.01, 1.5, 0.5, 200),
        [((192, 8), 16), ((320, 9), 24), ((448, 9), 36), ((640, 10), 46)],
        ((BYTES,), False), (0, 0, 0, 0)),
    "scalable_v2_bloom_old_rates": (
        6, XXH3, 0, integers(16), (16, 1e-6, 2, 0.85, 0), [((576, 25), 16)],
        ((INTEGER,), False), (0, 0, 0, 0)),
    "scalable_v2_bloom_true_rates": (
        6, XXH64, 42, strings(110), (16, 0.01, 1.5, 0.5, 200),
        [((192, 8), 16), ((320, 9), 24), ((512, 10), 36), ((576, 10), 42)],
        ((BYTES,), False), (0, 0, 0, 0)),
    "scalable_v2_cuckoo16": (
        4, SIP13, SECRET, integers(50), (10, 0.01, 3, 0.85, 0),
        [((1, 10), 10), ((1, 14), 30), ((1, 30), 90)], ((INTEGER,), True), (50, 0, 0, 0)),
}


# In version 2, `copies` has the library's counts of copied keys: examined, seen, held, and whether they are many.
def scalable_file(kind, hash_kind, seed, keys, options, layers, new=None, copies=None):
    # Each key goes into the first layer that has room and does not refuse it. The library skips keys that an older
    # Bloom layer reports as present; no key here is one.
    bits = {2: 8, 3: 12, 4: 16}.get(kind)
    tables = [CuckooTable(bits, *geometry, hash_kind, seed) if bits else None
              for geometry, _ in layers]
    kept = [[] for _ in layers]
    for key in keys:
        for (_, capacity), table, keys_of_layer in zip(layers, tables, kept):
            if len(keys_of_layer) == capacity:
                continue
            try:
                if table:
                    table.insert(key)
            except ValueError:
                continue
            keys_of_layer.append(key)
            break
        else:
            raise ValueError("no layer has room")
    make = {1: lambda g, k, c: split_block_file(g[0], hash_kind, seed, k, c, new),
            6: lambda g, k, c: bloom_file(*g, hash_kind, seed, k, c, new)}.get(
                kind, lambda g, k, c: cuckoo_file(bits, *g, hash_kind, seed, k, c, new))
    payload = struct.pack("<QdddQ", *options)
    payload += struct.pack("<QQQQ48x", *copies) if new else bytes(16)
    payload += struct.pack("<Q", xxhash.xxh3_64_intdigest(payload))
    vouched_for = payload
    for (geometry, capacity), keys_of_layer in zip(layers, kept):
        layer = make(geometry, keys_of_layer, capacity)
        vouched_for += layer[:192]
        payload += layer + bytes(-len(layer) % 64)
    geometry = (len(layers), kind, 0)
    capacity = sum(capacity for _, capacity in layers)
    if new is None:
        return file_of_version_1(8, geometry, hash_kind, seed, len(keys), capacity, payload)
    return header_of_version_2(8, geometry, hash_kind, seed, len(keys), capacity, len(payload),
                               checksum128(vouched_for), *new) + payload


# Name: hash kind, seed, fpr; and for each group the blocks, and for each column the name, the keys, the capacity and
# the types of the keys. A column without a name was removed.
BANK_RECIPES = {
    "bank_v2_two_groups": (XXH3, 7, 0.01, [
        (1, [(b"empty", [], 1, ()), (b"strings", strings(30), 40, (BYTES,)),
             (None, integers(5), 5, (INTEGER,)), (b"41", integers(20), 20, (INTEGER,))]),
        (3, [(b"three blocks", integers(60), 61, (INTEGER,))])]),
}


def bank_file(hash_kind, seed, fpr, groups):
    payload, entries, columns = b"", b"", b""
    num_columns = 0
    for blocks, filters in groups:
        rows = bytearray(16384 * blocks)
        for place, (_, keys, _, _) in enumerate(filters):
            bits = int.from_bytes(split_block(blocks, hash_kind, seed, keys), "little")
            for row in range(256 * blocks):
                rows[64 * row + place // 8] |= (bits >> row & 1) << place % 8
        payload += rows
        live = sum(1 << place for place, column in enumerate(filters) if column[0] is not None)
        entries += struct.pack("<Q", blocks) + live.to_bytes(64, "little")
        entries += ((1 << len(filters)) - 1).to_bytes(64, "little")
        for name, keys, capacity, forms in filters:
            if name is None:
                continue
            num_columns += 1
            columns += struct.pack("<QQII", capacity, len(keys), sum(1 << form for form in forms),
                                   len(name)) + name + bytes(-len(name) % 8)
    tables = b"".join(struct.pack("<Q", xxhash.xxh3_64_intdigest(payload[at:at + 16384]))
                      for at in range(0, len(payload), 16384)) + entries + columns
    header = b"tamis\r\n\x1a" + struct.pack(
        "<IIIIQQQQQdQQQQ40xI36x", 2, 192, 32, hash_kind, seed, len(groups), num_columns, 512,
        len(entries + columns), fpr, 16384, len(payload), *checksum128(tables), 14)
    header += struct.pack("<Q", xxhash.xxh3_64_intdigest(header))
    return header + bytes(16384 - len(header)) + payload + tables


# Name: key type, kind of the hash, range of the bitmap or None, blocks, kept keys, keys, contents. See join/FORMAT.md.
JOIN_RECIPES = {
    "join_v1_keys": (0, XXH3, None, 5, 9, (7, 2**64 - 1, 7), 1),
    "join_v1_bitmap": (0, XXH3, (2**64 - 2, 100), 0, 0, (2**64 - 1, 100, 0), 2),
    "join_v1_blocks": (1, XXH3, None, 5, 2, (1, 2, 3), 3),
}


def join_part(key_type, hash_kind, bits, blocks, kept_keys, keys, contents):
    low, high = bits or (0, 0)
    if contents == 1:
        payload = struct.pack(f"<{len(keys)}Q", *keys)
    elif contents == 2:
        words = ((high - low) % 2**64 + 2 + 63) // 64
        payload = sum(1 << (key - low) % 2**64 for key in set(keys)).to_bytes(8 * words, "little")
    else:
        payload = split_block(blocks, hash_kind, 0, [struct.pack("<Q", key) for key in keys])
    signed = [key - 2**64 if key >> 63 else key for key in keys]
    extent = (min(keys), max(keys), min(signed), max(signed))
    if key_type == 1:
        extent = (2**64 - 1, 0, 2**63 - 1, -2**63)
    header = b"tamisJP\x1a" + struct.pack(
        "<IIIIQIIQQQQQIIQQQqqIIQ", 1, 152, key_type, hash_kind, 0, bits is not None, contents, low, high, blocks,
        kept_keys, 4096, 3, 0, len(keys), *extent, 1 << INTEGER, 0, len(payload))
    seed = xxhash.xxh3_64_intdigest(header)
    return header + struct.pack("<Q", xxhash.xxh3_64_intdigest(payload, seed)) + payload


# Name: number of the kind, geometry of each filter, hash, seed, window in keys, span and time in ns (None: by keys),
# capacity of each filter, the keys of each filter, oldest first, and the types of the keys of each filter
WINDOW_RECIPES = {
    "window_v1_time": (1, (1, 0, 0), XXH3, 0, 20, (600 * 10**9, 1_800_000_150 * 10**9), 10,
                       [integers(0), integers(12), strings(5)], [(), (0,), (0,)]),
    "window_v1_time_types": (1, (1, 0, 0), XXH3, 0, 20, (600 * 10**9, 1_800_000_150 * 10**9), 10,
                             [integers(0), integers(12), strings(5)], [(), (INTEGER,), (BYTES,)]),
    "window_v1_keys": (6, (128, 9, 0), XXH64, 7, 10, None, 10,
                       [integers(20)[10:], integers(25)[20:]], [(0,), (0,)]),
    "window_v1_keys_types": (6, (128, 9, 0), XXH64, 7, 10, None, 10,
                             [integers(20)[10:], integers(25)[20:]], [(INTEGER,), (INTEGER,)]),
}


def window_file(kind, geometry, hash_kind, seed, window, times, capacity, keys_of_filters, types_of_filters):
    files = []
    for keys, types in zip(keys_of_filters, types_of_filters):
        payload = (split_block(geometry[0], hash_kind, seed, keys) if kind == 1 else
                   bloom(*geometry[:2], hash_kind, seed, keys))
        files.append(file_of_version_2(kind, geometry, hash_kind, seed, len(keys), capacity, payload,
                                       types, False))
    span, time = times or (0, 0)
    header = b"tamis\r\n\x17" + struct.pack("<IIIIQqqIIQ56x", 1, 128, kind, len(files), window, span, time,
                                             1 if times else 0, 0, len(files[0]))
    header += struct.pack("<Q", xxhash.xxh3_64_intdigest(header))
    headers = header + b"".join(file[:192] for file in files)
    return (header + b"".join(file + bytes(-len(file) % 64) for file in files)
            + struct.pack("<Q", xxhash.xxh3_64_intdigest(headers)))


def main():
    directory = pathlib.Path(sys.argv[1])
    for name, recipe in JOIN_RECIPES.items():
        (directory / (name + ".part")).write_bytes(join_part(*recipe))
    for make_file, recipes in [(split_block_file, RECIPES), (cuckoo_file, CUCKOO_RECIPES),
                               (bloom_file, BLOOM_RECIPES), (counting_file, COUNTING_RECIPES),
                               (fuse_file, FUSE_RECIPES), (scalable_file, SCALABLE_RECIPES)]:
        for name, recipe in recipes.items():
            (directory / (name + ".tamis")).write_bytes(make_file(*recipe))
    (directory / "split_block_v3_many_blocks.sparse").write_bytes(many_blocks_file(2**32 + 5, integers(100)))
    for name, recipe in BANK_RECIPES.items():
        (directory / (name + ".bank")).write_bytes(bank_file(*recipe))
    for name, recipe in WINDOW_RECIPES.items():
        (directory / (name + ".window")).write_bytes(window_file(*recipe))


if __name__ == "__main__":
    main()
