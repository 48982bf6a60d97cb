"""Damage to files, decided by a seeded generator: bytes, and values of JSON."""

import json
import random
from typing import Any

HOSTILE: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63,
    10**15,
    10**400,
    -(10**400),
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\x00",
    "\ud800",
    "../../etc/passwd",
    "1e400",
    "a" * 5000,
    [],
    [[]],
    [0],
    {},
    {"": None},
    {"name": {}},
]
BYTES = [b"", b"\x00", b"\xff", b"\n", b'"', b"{", b"}", b"[", b"]", b",", b"-", b"9" * 5000]
DEEP = 100_000


def damaged_bytes(content: bytes, chance: random.Random) -> bytes:
    """A file with one to three places changed: bits, cuts, insertions, parts that come twice."""
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(content) + 1)
        stop = min(len(content), start + chance.choice([0, 1, 1, 2, 8, 64, 4096]))
        part = content[start:stop]
        other = chance.choice(
            [
                bytes(byte ^ (1 << chance.randrange(8)) for byte in part),
                b"",
                chance.choice(BYTES),
                part * 2,
                chance.randbytes(len(part)),
            ]
        )
        content = content[:start] + other + content[stop:]
    return content if chance.random() < 0.9 else content[: chance.randrange(len(content) + 1)]


def damaged_json(text: bytes, chance: random.Random) -> bytes:
    """JSON with a value, a key or the whole replaced by what nobody expects."""
    if chance.random() < 0.02:
        return b"[" * DEEP if chance.random() < 0.5 else b'{"a":' * DEEP
    value = json.loads(text)
    for _ in range(chance.randint(1, 3)):
        value = damaged_value(value, chance)
    return json.dumps(value).encode()


def damaged_value(value: Any, chance: random.Random) -> Any:
    """The value, or one somewhere inside it, replaced, removed or given another name."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return chance.choice(HOSTILE)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key, changed = chance.choice(keys), value.copy()
    if chance.random() < 0.8:
        changed[key] = damaged_value(changed[key], chance)
        return changed
    taken = changed.pop(key)
    if isinstance(changed, dict) and chance.random() < 0.7:
        changed[chance.choice([f"{key}s", "", "from", "name", "format"])] = taken
    return changed
