"""A peer for SPEAD, where the Python package spead2 is installed.

  spead2_peer.py send HOST:PORT START [INTERFACE]    8 heaps of 4 F-engines, two packets each
  spead2_peer.py recv HOST:PORT HEAPS                one JSON line a heap
"""
import hashlib
import json
import sys

import numpy as np
import spead2
import spead2.recv
import spead2.send

FLAVOUR = spead2.Flavour(4, 64, 48, 0)
IMMEDIATE = [("u", 48)]
ANTENNAS, CHANNELS, SPECTRA, HEAPS, STEP, PACKET = 4, 16, 32, 8, 65536, 1024


def payload(antenna, heap):
    """int8 [channel][spectrum][polarisation][re, im]"""
    c, t, p, k = np.ogrid[0:CHANNELS, 0:SPECTRA, 0:2, 0:2]
    s = heap * SPECTRA + t
    return ((c * 17 + s * 5 + p * 29 + k * 101 + antenna * 43) % 255 - 127).astype(np.int8)


def send(to, start, interface=None):
    host, port = to.rsplit(":", 1)
    config = spead2.send.StreamConfig(max_packet_size=PACKET + 72, rate=2e6, max_heaps=64)
    where = [(host, int(port))]
    more = dict(ttl=1, interface_address=interface) if interface else {}
    stream = spead2.send.UdpStream(spead2.ThreadPool(), where, config, **more)
    group = spead2.send.ItemGroup(flavour=FLAVOUR)
    group.add_item(0x1600, "timestamp", "ticks since the sync time", (), format=IMMEDIATE)
    group.add_item(0x4101, "feng_id", "which F-engine", (), format=IMMEDIATE)
    group.add_item(0x4103, "frequency", "first channel", (), format=IMMEDIATE)
    group.add_item(0x4300, "feng_raw", "channelised voltages", (CHANNELS, SPECTRA, 2, 2), dtype=np.int8)
    stream.send_heap(group.get_heap(descriptors="all", data="none"))
    for heap in range(HEAPS):
        for antenna in range(ANTENNAS):
            group["timestamp"].value = start + heap * STEP
            group["feng_id"].value = antenna
            group["frequency"].value = 48
            group["feng_raw"].value = payload(antenna, heap)
            out = group.get_heap(descriptors="none", data="all")
            out.repeat_pointers = True  # every packet carries every immediate item
            stream.send_heap(out, cnt=(heap + 1) * ANTENNAS + antenna)
    end = spead2.send.Heap(FLAVOUR)
    end.add_end()
    stream.send_heap(end)


def recv(at, heaps):
    host, port = at.rsplit(":", 1)
    stream = spead2.recv.Stream(
        spead2.ThreadPool(),
        spead2.recv.StreamConfig(max_heaps=16, stop_on_stop_item=False, allow_out_of_order=True, substreams=1),
        spead2.recv.RingStreamConfig(heaps=64),
    )
    stream.add_udp_reader(int(port), bind_hostname=host, buffer_size=4 << 20)
    print("ready", flush=True)
    for n, heap in enumerate(stream):
        row = dict(heap=heap.cnt)
        for item in heap.get_items():
            raw = bytes(item)
            row[hex(item.id)] = item.immediate_value if item.is_immediate else hashlib.sha256(raw).hexdigest()
        print(json.dumps(row), flush=True)
        if n + 1 == heaps:
            break
    stream.stop()


if sys.argv[1] == "send":
    send(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
else:
    recv(sys.argv[2], int(sys.argv[3]))
