"""Compares recordings as Corella read them, sample by sample, with baseband's reading of the same files.

Standard input: JSON lines {"title", "kind", "paths", "open", "dump", "shape", "start", "rate"}: `dump` holds float32
[row][time][part], rows being inputs, or channels times inputs; `kind` and `open` are baseband's. Standard output: a JSON line
each, {"title", "samples", "largest", "start", "rate", "said"}: how many numbers were compared, the largest difference, and
those of start (seconds) and rate (parts of it).
"""
import json, sys, warnings
import numpy as np
import astropy.units as u
from astropy.time import Time
from astropy.utils import iers

iers.conf.auto_download = False
warnings.simplefilter("ignore")


def opened(job):
    from baseband import dada, gsb, guppi, mark5b, vdif
    options = dict(job["open"])
    if "sample_rate" in options:
        options["sample_rate"] = options["sample_rate"] * u.Hz
    if "ref_time" in options:
        options["ref_time"] = Time(options["ref_time"])
    paths = job["paths"]
    if job["kind"] == "gsb":
        raw = paths[1] if len(paths) == 2 else tuple(tuple(p) for p in paths[1:])
        return gsb.open(paths[0], "rs", raw=raw, **options)
    return {"dada": dada, "guppi": guppi, "mark5b": mark5b, "vdif": vdif}[job["kind"]].open(paths[0], "rs", **options)


def theirs_of(job, stream):
    data = stream.read()
    # [time][polarisation or thread][channel] to [row][time]: rows are channels times inputs where there are channels.
    rows = data.reshape(data.shape[0], -1) if job["rows"] == "inputs" else data.transpose(0, 2, 1).reshape(data.shape[0], -1)
    # What baseband takes the levels of few-bit samples to be, in units of ours.
    scale, offset = job.get("levels", [1, 0])
    rows = rows.T * scale
    # Spectra of bytes do not hold -128: it is -127, and counted.
    if "lowest" in job:
        rows = np.maximum(rows.real, job["lowest"]) + 1j * np.maximum(rows.imag, job["lowest"])
    parts = np.stack([rows.real + offset, rows.imag + offset], axis=-1) if np.iscomplexobj(rows) else rows[..., None] + offset
    return parts


for line in sys.stdin:
    job = json.loads(line)
    out = {"title": job["title"], "samples": 0, "said": ""}
    try:
        ours = np.fromfile(job["dump"], dtype="<f4").reshape(job["shape"])
        with opened(job) as stream:
            theirs = theirs_of(job, stream)
            out["start"] = abs((stream.start_time - Time(job["start"])).to_value(u.s) + job.get("unread", 0))
            out["rate"] = abs(stream.sample_rate.to_value(u.Hz) / job["rate"] - 1)
        if ours.shape != theirs.shape:
            out["said"] = "shapes differ: ours %s, theirs %s" % (ours.shape, theirs.shape)
        else:
            out["samples"] = int(ours.size)
            out["largest"] = float(np.abs(ours - theirs).max())
    except Exception as error:  # reported, and counted as a failure
        out["said"] = "%s: %s" % (type(error).__name__, error)
    print(json.dumps(out), flush=True)
