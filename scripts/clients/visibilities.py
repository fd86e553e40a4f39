"""Compares copies that Corella made of visibilities with pyuvdata's reading of the originals.

Standard input: JSON lines {"title", "original", "read", "copy"}; `read` are arguments for pyuvdata's reading of the original.
Standard output: a JSON line each: how many visibilities, uvw, flags, times and antennas were compared and the largest difference
of each, and which words (units, keywords, names, feeds) differ.
"""
import inspect, json, sys, warnings
import numpy as np
from astropy.utils import iers

iers.conf.auto_download = False
iers.conf.iers_degraded_accuracy = "ignore"
warnings.simplefilter("ignore")
from pyuvdata import UVData, utils
from pyuvdata.uvdata.uvfits import UVFITS

# MIRIAD numbers baselines as 256 a + b for b below 256 and as 65536 + 2048 a + b above: a file of 256 antennas has both.
# pyuvdata has a decoder for them from 3.2.2 on, which its reader of UVFITS does not use: it takes the lower ones for
# antennas of 10^15.
if "use_miriad_convention" in inspect.signature(utils.baseline_to_antnums).parameters:
    UVFITS.baseline_to_antnums = lambda self, numbers: utils.baseline_to_antnums(
        numbers, Nants_telescope=self.telescope.Nants, use_miriad_convention=True
    )


def read(path, arguments):
    data = UVData()
    data.read(path, **arguments)
    data.conjugate_bls("ant1<ant2")
    return data


def rows(data):
    # Times in files are Julian dates: 40 us is what they resolve.
    stamp = np.round((data.time_array - data.time_array.min()) * 86400e3).astype(np.int64)
    return {key: k for k, key in enumerate(zip(stamp, data.ant_1_array, data.ant_2_array))}


def most(values):
    return float(np.max(np.abs(values))) if np.size(values) else 0.0


def outsized(data, values, at):
    """Values that Corella flags: above 10^4 times the median of their kind in an integration that has one above 10^20."""
    found = np.zeros(values.shape, bool)
    sizes = np.where(data.flag_array[at], 0, np.abs(values))
    cross = data.ant_1_array[at] != data.ant_2_array[at]
    for time in np.unique(data.time_array[at]):
        now = data.time_array[at] == time
        if not (sizes[now & cross] > 1e20).any():
            continue
        for kind in (now & cross, now & ~cross):
            some = sizes[kind]
            if (some > 0).any():
                found[kind] = some > 1e4 * np.median(some[some > 0])
    return found


def compare(original, copy, fits):
    out = {"differ": []}
    words = out["differ"]

    def same(name, one, other):
        if one != other:
            words.append("%s: %r, copied %r" % (name, one, other))

    shift = 0
    first, second = rows(original), rows(copy)
    if set(first) != set(second):
        # UVFITS counts antennas from 1.
        shift = 1
        first = {(t, a + 1, b + 1): k for (t, a, b), k in first.items()}
    if set(first) != set(second):
        words.append("rows: %d, copied %d, %d in both" % (len(first), len(second), len(set(first) & set(second))))
        return out
    keys = sorted(first)
    at, to = np.array([first[k] for k in keys]), np.array([second[k] for k in keys])
    oriented = [data.telescope.get_x_orientation_from_feeds() for data in (original, copy)]
    # In our files X is east: of a file whose X points north X and Y change places.
    turned = {-5: -6, -6: -5, -7: -8, -8: -7} if oriented == ["north", "east"] else {}
    pols = [list(copy.polarization_array).index(turned.get(p, p)) for p in original.polarization_array]
    a, b = original.data_array[at], copy.data_array[to][..., pols]
    scale = np.abs(a).max() or 1
    out["visibilities"] = int(a.size)
    out["visibility"] = most(a - b) / float(scale)
    wanted = original.flag_array[at] | outsized(original, a, at)
    out["flags"] = int(np.count_nonzero(wanted != copy.flag_array[to][..., pols]))
    out["outsized"] = int(np.count_nonzero(wanted != original.flag_array[at]))
    weights = original.nsample_array[at], copy.nsample_array[to][..., pols]
    # A file that leaves them all unset gets 1: without weight nothing would be left of it.
    if not (weights[0] > 0).any():
        weights = weights[1], weights[1]
    out["weights"] = most(weights[0] - weights[1]) / (most(weights[0]) or 1)
    # In single precision a baseline is known to 2**-24 of its length, as UVFITS keeps it.
    rounding = 2.0**-24 * np.linalg.norm(original.uvw_array[at], axis=1)[:, None] if fits else 0
    out["uvw"] = most(np.maximum(0, np.abs(original.uvw_array[at] - copy.uvw_array[to]) - rounding))
    out["times"] = most((original.time_array[at] - copy.time_array[to]) * 86400)
    # A UVFITS of one time without INTTIM has no durations.
    if original.integration_time is not None and np.isfinite(original.integration_time).all():
        out["durations"] = most(original.integration_time[at] - copy.integration_time[to])
    out["frequencies"] = most(original.freq_array - copy.freq_array)
    out["widths"] = most(original.channel_width - copy.channel_width)
    one, other = original.telescope, copy.telescope
    places = lambda t: {int(n): p for n, p in zip(t.antenna_numbers, t.antenna_positions + np.array([c.to_value("m") for c in t.location.geocentric]))}
    named = lambda t: {int(n): str(name).strip() for n, name in zip(t.antenna_numbers, t.antenna_names)}
    mine = {n + shift: p for n, p in places(one).items()}
    theirs = places(copy.telescope)
    out["antennas"] = len(mine)
    if set(mine) != set(theirs):
        words.append("antennas: %d, copied %d" % (len(mine), len(theirs)))
    else:
        out["positions"] = max(most(mine[n] - theirs[n]) for n in mine)
        same("names", {n + shift: name for n, name in named(one).items()}, named(other))
    same("units", original.vis_units, copy.vis_units)
    same("telescope", one.name, other.name)
    same("instrument", one.instrument or one.name, other.instrument or other.name)
    if any(p in (-5, -6, -7, -8) for p in original.polarization_array):
        same("orientation", "east" if turned else oriented[0], oriented[1])
    keywords = {k.upper(): v for k, v in original.extra_keywords.items()}
    copied = {k.upper(): v for k, v in copy.extra_keywords.items()}
    # Which column pyuvdata read of a set is its own word.
    keywords.pop("DATA_COL", None)
    lost = [k for k in keywords if k not in copied or not np.all(keywords[k] == copied[k])]
    out["keywords"] = len(keywords)
    if lost:
        words.append("keywords: %s" % ", ".join("%s %r, copied %r" % (k, keywords[k], copied.get(k)) for k in lost))
    return out


for line in sys.stdin:
    job = json.loads(line)
    try:
        if job.get("write"):
            # The other way: pyuvdata writes, Corella will read.
            data = UVData()
            data.read(job["original"], **job["read"])
            if job["write"].endswith(".uvfits"):
                data.write_uvfits(job["write"], force_phase=True, run_check=False)
            else:
                data.write_uvh5(job["write"], clobber=True, run_check=False)
            out = {}
        else:
            try:
                first = read(job["original"], job["read"])
            except Exception as error:  # what pyuvdata cannot read says nothing of us
                first = None
                out = {"refused": "%s: %s" % (type(error).__name__, str(error).split("\n")[0][:120])}
            if first is not None:
                out = compare(first, read(job["copy"], {"run_check": False}), job["copy"].endswith(".uvfits"))
    except Exception as error:  # reported, and counted as a failure
        out = {"said": "%s: %s" % (type(error).__name__, str(error).split("\n")[0][:300])}
    print(json.dumps({"title": job["title"], **out}), flush=True)
