"""Corella from Python: run observations, read what they wrote into arrays, follow live images.

One file that needs numpy alone. UVH5 is read where h5py is installed.

    import corella
    corella.run({"corella": 1, "source": {"recording": "sky.sigmf-meta"},
                 "products": [{"visibilities": "sky.uvfits"}]})
    data = corella.read("sky.uvfits")      # data.values[row, frequency, polarisation], data.unit
    image = corella.read("image.fits")     # image.values[stokes, frequency, m, l], image.axes
    for live in corella.follow("http://127.0.0.1:8080/"):
        print(live.head["time"], live.values.max())
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np

__version__ = "0.2.0"
__all__ = ["CorellaError", "Product", "command", "run", "read", "read_fits", "follow", "status", "steer"]


class CorellaError(RuntimeError):
    """What corella refused or could not do; the message says what, where and how to fix it."""


@dataclass(frozen=True)
class Product:
    """Values with the names, the positions and the units of their axes."""

    kind: str
    values: np.ndarray
    unit: str
    #: For each axis of `values`, in order: its name, its positions, and their unit.
    axes: Tuple[Tuple[str, np.ndarray, str], ...]
    #: Sample counts or weights, shaped as `values`; 0 where data are missing, negative where they are flagged.
    weights: Optional[np.ndarray] = None
    #: Further arrays by name: uvw in metres, antennas, times.
    more: Mapping[str, Any] = field(default_factory=dict)
    #: The file's header, or the message's head.
    head: Mapping[str, Any] = field(default_factory=dict)

    def axis(self, name: str) -> np.ndarray:
        """The positions along an axis."""
        for known, positions, _ in self.axes:
            if known == name:
                return positions
        raise KeyError("%s has the axes %s" % (self.kind, ", ".join(name for name, _, _ in self.axes)))


# Running


def command() -> List[str]:
    """How corella is started: $CORELLA, or the command on the PATH. A path to main.js is run by node."""
    named = os.environ.get("CORELLA")
    if named:
        return ["node", named] if named.endswith(".js") else [named]
    found = shutil.which("corella")
    if not found:
        raise CorellaError("corella is not on the PATH; install it, or name it in the variable CORELLA")
    return [found]


def run(observation: Mapping[str, Any], into: str = ".", overwrite: bool = False) -> Dict[str, Any]:
    """Makes every product of an observation (docs/observation.md) and returns the summary."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "observation.json")
        with open(path, "w", encoding="utf8") as file:
            json.dump(observation, file)
        words = command() + ["run", path, "--into", into, "--json"] + (["--overwrite"] if overwrite else [])
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf8", check=False)
    if done.returncode not in (0, 2):
        raise CorellaError(done.stderr.strip() or "corella run ended with %d" % done.returncode)
    try:
        return json.loads(done.stdout)
    except ValueError:
        # A live observation prints one event a line; the last is the summary.
        return json.loads(done.stdout.strip().splitlines()[-1])


# Reading


def read(path: str) -> Product:
    """An image (FITS), visibilities (UVFITS, UVH5) or gains (JSON)."""
    lower = path.lower()
    if lower.endswith(".json"):
        return _read_gains(path)
    if lower.endswith((".uvh5", ".h5")):
        return _read_uvh5(path)
    header, data = read_fits(path)
    if header.get("GROUPS") is True:
        return _read_uvfits(path, header, data)
    return _read_image(header, data)


_TYPES = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}


def _card(text: str) -> Tuple[str, Any]:
    name, value = text[:8].strip(), text[10:].strip()
    if text[8:10] != "= ":
        return name, value
    if value.startswith("'"):
        end = 1
        while end < len(value):
            if value[end] == "'":
                if value[end + 1 : end + 2] != "'":
                    break
                end += 1
            end += 1
        return name, value[1:end].replace("''", "'").rstrip()
    value = value.split("/")[0].strip()
    if value in ("T", "F"):
        return name, value == "T"
    try:
        return name, int(value)
    except ValueError:
        return name, float(value.replace("D", "E")) if value else None


def read_fits(path: str) -> Tuple[Dict[str, Any], np.ndarray]:
    """Header and data of the first unit; of random groups a record for each group, `p` and `data`."""
    header: Dict[str, Any] = {}
    with open(path, "rb") as file:
        ended = False
        while not ended:
            block = file.read(2880)
            if len(block) < 2880:
                raise CorellaError("%s is not a whole FITS file" % path)
            for at in range(0, 2880, 80):
                name, value = _card(block[at : at + 80].decode("ascii", "replace"))
                if name == "END":
                    ended = True
                    break
                if name in ("HISTORY", "COMMENT"):
                    header.setdefault(name, []).append(value)
                elif name:
                    header.setdefault(name, value)
        if header.get("SIMPLE") is not True:
            raise CorellaError("%s is not a FITS file" % path)
        sizes = [header["NAXIS%d" % (n + 1)] for n in range(header["NAXIS"])]
        scalar = _TYPES[header["BITPIX"]]
        if header.get("GROUPS") is True:
            shape = tuple(reversed(sizes[1:]))
            kind = np.dtype([("p", scalar, (header["PCOUNT"],)), ("data", scalar, shape)])
            count, shape = header["GCOUNT"], (header["GCOUNT"],)
        else:
            kind, shape = np.dtype(scalar), tuple(reversed(sizes))
            count = int(np.prod(shape))
        bytes_ = file.read(kind.itemsize * count)
        if len(bytes_) < kind.itemsize * count:
            raise CorellaError("%s ends early" % path)
        data = np.frombuffer(bytes_, kind).reshape(shape)
    if header.get("GROUPS") is not True:
        if header.get("BSCALE", 1) != 1 or header.get("BZERO", 0) != 0:
            data = data * header.get("BSCALE", 1) + header.get("BZERO", 0)
        data = data.astype(data.dtype.newbyteorder("="))
    return header, data


def _along(header: Mapping[str, Any], n: int) -> np.ndarray:
    """Positions along axis n, counted from 1 as FITS does."""
    pixels = np.arange(1, header["NAXIS%d" % n] + 1)
    at = header.get("CRVAL%d" % n, 0.0), header.get("CRPIX%d" % n, 0.0), header.get("CDELT%d" % n, 1.0)
    return at[0] + (pixels - at[1]) * at[2]


def _read_image(header: Mapping[str, Any], data: np.ndarray) -> Product:
    axes = []
    for n in range(header["NAXIS"], 0, -1):
        name = header.get("CTYPE%d" % n, "axis %d" % n)
        if name.startswith(("RA---", "DEC--")):
            # Direction cosines from the centre: the projection's own, whatever the place on the sky.
            offset = (np.arange(1, header["NAXIS%d" % n] + 1) - header["CRPIX%d" % n]) * header["CDELT%d" % n]
            axes.append(("l" if name.startswith("RA") else "m", np.radians(offset), ""))
        elif name.strip() == "FREQ":
            axes.append(("frequency", _along(header, n), header.get("CUNIT%d" % n, "Hz")))
        else:
            axes.append((name.strip().lower(), _along(header, n), header.get("CUNIT%d" % n, "")))
    return Product("image", data, header.get("BUNIT", ""), tuple(axes), head=header)


_C = 299792458.0


def _read_uvfits(path: str, header: Mapping[str, Any], data: np.ndarray) -> Product:
    names = [header["PTYPE%d" % (n + 1)] for n in range(header["PCOUNT"])]
    scaled = [
        data["p"][:, n].astype(float) * header.get("PSCAL%d" % (n + 1), 1) + header.get("PZERO%d" % (n + 1), 0)
        for n in range(len(names))
    ]

    def parameter(start: str) -> np.ndarray:
        found = [values for name, values in zip(names, scaled) if name.startswith(start)]
        if not found:
            raise CorellaError("%s has no %s" % (path, start))
        return np.sum(found, axis=0)

    if "BASELINE" in names:
        pair = parameter("BASELINE").round().astype(int)
        many = pair > 65536
        first = np.where(many, (pair - 65536) // 2048, pair // 256) - 1
        second = np.where(many, (pair - 65536) % 2048, pair % 256) - 1
    else:
        first = parameter("ANTENNA1").round().astype(int) - 1
        second = parameter("ANTENNA2").round().astype(int) - 1
    # data : [group][dec][ra](…)[frequency][stokes][complex]
    block = data["data"].reshape((data.shape[0],) + data["data"].shape[-3:]).astype(np.float32)
    values = block[..., 0] + 1j * block[..., 1]
    by_type = {header.get("CTYPE%d" % n, "").strip(): n for n in range(2, header["NAXIS"] + 1)}
    frequencies = _along(header, by_type["FREQ"])
    axes = (
        ("row", np.arange(len(first)), ""),
        ("frequency", frequencies, "Hz"),
        ("polarisation", _along(header, by_type["STOKES"]).round().astype(int), "AIPS number"),
    )
    more = {
        "antennas": np.stack([first, second], axis=1),
        "julian_date": parameter("DATE"),
        "uvw_m": _C * np.stack([parameter(name) for name in ("UU", "VV", "WW")], axis=1),
    }
    unit = header.get("BUNIT", "uncalibrated")
    return Product("visibilities", values, unit, axes, block[..., 2], more, header)


def _read_uvh5(path: str) -> Product:
    try:
        import h5py
    except ImportError:
        raise CorellaError("%s: reading UVH5 takes h5py; write UVFITS instead, or install h5py" % path) from None
    with h5py.File(path, "r") as file:
        head, data = file["Header"], file["Data"]
        values, samples, flags = (data[name][...] for name in ("visdata", "nsamples", "flags"))
        if values.dtype.names:
            values = values["r"] + 1j * values["i"]
        # Older files have an axis of spectral windows.
        if values.ndim == 4:
            values, samples, flags = (one[:, 0] for one in (values, samples, flags))
        axes = (
            ("row", np.arange(values.shape[0]), ""),
            ("frequency", head["freq_array"][...].ravel(), "Hz"),
            ("polarisation", head["polarization_array"][...], "AIPS number"),
        )
        more = {
            "antennas": np.stack([head["ant_1_array"][...], head["ant_2_array"][...]], axis=1),
            "julian_date": head["time_array"][...],
            "uvw_m": head["uvw_array"][...],
        }
        unit = head["vis_units"][()].decode() if "vis_units" in head else "uncalib"
    return Product("visibilities", values, unit, axes, np.where(flags, -samples, samples), more)


def _read_gains(path: str) -> Product:
    with open(path, encoding="utf8") as file:
        head = json.load(file)
    if not isinstance(head, dict) or head.get("format") != "corella-gains":
        raise CorellaError("%s holds no gains of corella" % path)

    def of(gains: Sequence[Any]) -> np.ndarray:
        nan = complex(np.nan, np.nan)
        rows = [[nan if one is None or None in one else complex(one[0], one[1]) for one in row] for row in gains]
        return np.array(rows).reshape(len(gains), -1, head["polarisations"])

    axes = (
        ("frequency", np.array(head["frequenciesHz"], float), "Hz"),
        ("station", np.array(head["stations"]), ""),
        ("polarisation", np.arange(head["polarisations"]), ""),
    )
    return Product("gains", of(head["gains"]), "", axes, head={k: v for k, v in head.items() if k != "gains"})


# Live


def _get(url: str, name: str, token: Optional[str], body: Optional[Mapping[str, Any]] = None) -> Any:
    request = urllib.request.Request(url.rstrip("/") + "/api/v1/" + name)
    if token:
        request.add_header("Authorization", "Bearer " + token)
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.headers.get("Content-Type", ""), answer.read()
    except urllib.error.HTTPError as error:
        text = error.read().decode("utf8", "replace")
        raise CorellaError("%s: %s" % (name, text or error)) from None
    except OSError as error:
        raise CorellaError("%s does not answer: %s" % (url, error)) from None


def status(url: str, token: Optional[str] = None) -> Dict[str, Any]:
    """How a live run is doing (docs/page.md)."""
    return json.loads(_get(url, "status", token)[1])


def steer(url: str, name: str, token: str, **body: Any) -> Dict[str, Any]:
    """Changes something of a live run: steer(url, "flags", token, inputs=["stand7"], flag=True)."""
    return json.loads(_get(url, name, token, body)[1])


def decode(message: bytes) -> Product:
    """A binary message of the page: a head as JSON, then numbers."""
    length = int.from_bytes(message[:4], "little")
    head = json.loads(message[8 : 8 + length].decode("utf8"))
    start = 8 + 8 * -(-length // 8)
    values = np.frombuffer(message, "<f4", offset=start).reshape(head["shape"])
    pixels = head["shape"][-1]
    cosines = (np.arange(pixels) - pixels // 2) * head["pixelSize"]
    axes = (("m", cosines, ""), ("l", cosines, ""))
    return Product("image", values, head.get("unit", ""), axes, head=head)


def follow(url: str, token: Optional[str] = None, images: Optional[int] = None) -> Iterator[Product]:
    """Live images as they are made, Stokes I; ends after so many, or never."""
    newest = None
    given = 0
    while images is None or given < images:
        known = json.loads(_get(url, "images", token)[1])
        for one in known:
            if newest is not None and one["unixS"] <= newest:
                continue
            newest = one["unixS"]
            yield decode(_get(url, "images/at?unixS=%r" % newest, token)[1])
            given += 1
            if given == images:
                return
        time.sleep(0.2)
