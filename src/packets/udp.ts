/** From a captured frame to its datagram, and back: Ethernet, IPv4 or IPv6, UDP. Reading never throws. */
import { refuse, wholeNumber } from '../core/errors.js';
import { addressBytes, addressText, type Endpoint } from './addresses.js';

interface UdpDatagram {
  readonly source: Endpoint;
  readonly destination: Endpoint;
  /** A view of the frame. */
  readonly payload: Uint8Array;
}

/** `cut`: the capture kept only a part. `fragment`: one IP fragment of a datagram. `other`: not UDP. */
export type FrameFault = 'cut' | 'fragment' | 'other';
export interface RefusedFrame {
  readonly refused: FrameFault;
  readonly why: string;
}

const refused = (fault: FrameFault, why: string): RefusedFrame => ({ refused: fault, why });

/** Bytes before the IP header, by pcap link type; the protocol is checked if a field gives it. */
const links: Readonly<Partial<Record<number, (frame: Uint8Array) => number | RefusedFrame>>> = {
  0: () => 4, // a BSD loopback's address family
  1: ethernet,
  12: () => 0, // raw IP (number on some systems)
  14: () => 0,
  101: () => 0, // raw IP
  108: () => 4, // OpenBSD loopback
  113: (frame) => afterProtocol(frame, 14), // Linux cooked
  276: (frame) => (afterProtocol(frame, 0) === 2 ? 20 : refused('other', 'not IP')), // Linux cooked, version 2
};
export const LINK_ETHERNET = 1;

const IPV4 = 0x0800;
const IPV6 = 0x86dd;
const UDP = 17;
const uint16 = (bytes: Uint8Array, at: number): number => (bytes[at] << 8) | bytes[at + 1];

/** Accepts an EtherType of IP and refuses others. */
function afterProtocol(frame: Uint8Array, at: number): number | RefusedFrame {
  if (frame.length < at + 2) return refused('cut', 'ends inside its link header');
  const type = uint16(frame, at);
  return type === IPV4 || type === IPV6
    ? at + 2
    : refused('other', `EtherType 0x${type.toString(16)}, not IP`);
}

function ethernet(frame: Uint8Array): number | RefusedFrame {
  let at = 12;
  // VLAN tags precede the type.
  while (frame.length >= at + 6 && (uint16(frame, at) === 0x8100 || uint16(frame, at) === 0x88a8)) at += 4;
  return afterProtocol(frame, at);
}

export function parseFrame(frame: Uint8Array, link: number): UdpDatagram | RefusedFrame {
  const start = links[link]?.(frame) ?? refused('other', `link type ${link} is not read`);
  if (typeof start !== 'number') return start;
  const packet = frame.subarray(start);
  if (packet.length < 20) return refused('cut', 'ends inside its IP header');
  const version = packet[0] >> 4;
  if (version === 4) return parseIpv4(packet);
  return version === 6 ? parseIpv6(packet) : refused('other', `IP version ${version}`);
}

function parseIpv4(packet: Uint8Array): UdpDatagram | RefusedFrame {
  const headerBytes = (packet[0] & 15) * 4;
  const total = uint16(packet, 2);
  if (headerBytes < 20 || total < headerBytes) return refused('other', 'a damaged IP header');
  if (packet[9] !== UDP) return refused('other', `IP protocol ${packet[9]}, not UDP`);
  // More fragments, or an offset.
  if ((uint16(packet, 6) & 0x3fff) !== 0)
    return refused('fragment', 'IP cut its datagram: raise the MTU on the way');
  if (total > packet.length) return refused('cut', `${packet.length} bytes of ${total} were captured`);
  return parseUdp(packet.subarray(headerBytes, total), packet.subarray(12, 16), packet.subarray(16, 20));
}

function parseIpv6(packet: Uint8Array): UdpDatagram | RefusedFrame {
  if (packet.length < 40) return refused('cut', 'ends inside its IP header');
  const total = 40 + uint16(packet, 4);
  let next = packet[6];
  let at = 40;
  // Skips hop-by-hop, routing and destination options.
  while ((next === 0 || next === 43 || next === 60) && at + 8 <= packet.length) {
    next = packet[at];
    at += 8 * (packet[at + 1] + 1);
  }
  if (next === 44) return refused('fragment', 'IP cut its datagram: raise the MTU on the way');
  if (next !== UDP) return refused('other', `IP protocol ${next}, not UDP`);
  if (total > packet.length) return refused('cut', `${packet.length} bytes of ${total} were captured`);
  return parseUdp(packet.subarray(at, Math.max(at, total)), packet.subarray(8, 24), packet.subarray(24, 40));
}

function parseUdp(segment: Uint8Array, from: Uint8Array, to: Uint8Array): UdpDatagram | RefusedFrame {
  if (segment.length < 8) return refused('other', 'no room for a UDP header');
  const length = uint16(segment, 4);
  if (length < 8 || length > segment.length) {
    return refused('other', `the UDP header says ${length} bytes, the IP header ${segment.length}`);
  }
  return {
    source: { address: addressText(from), port: uint16(segment, 0) },
    destination: { address: addressText(to), port: uint16(segment, 2) },
    payload: segment.subarray(8, length),
  };
}

/** Hop limit. */
const HOPS = 4;

/** An Ethernet frame with all checksums set. */
export function buildFrame(
  { source, destination }: Pick<UdpDatagram, 'source' | 'destination'>,
  payload: Uint8Array,
): Uint8Array {
  const [from, to] = [addressBytes(source.address), addressBytes(destination.address)];
  if (from.length !== to.length) {
    refuse(
      'frame',
      `${source.address} and ${destination.address} are of two kinds`,
      'give both as IPv4 or as IPv6',
    );
  }
  const ipBytes = from.length === 4 ? 20 : 40;
  const udpBytes = 8 + payload.length;
  wholeNumber('frame', 'bytes of IP and UDP', ipBytes + udpBytes, 0, 65_535);
  const frame = new Uint8Array(14 + ipBytes + udpBytes);
  const view = new DataView(frame.buffer);
  frame.set(stationAddress(to), 0);
  frame.set(stationAddress(from), 6);
  view.setUint16(12, ipBytes === 20 ? IPV4 : IPV6);
  if (ipBytes === 20) {
    view.setUint16(14, 0x4500);
    view.setUint16(16, ipBytes + udpBytes);
    view.setUint16(20, 0x4000); // don't fragment
    view.setUint8(22, HOPS);
    view.setUint8(23, UDP);
    frame.set(from, 26);
    frame.set(to, 30);
    view.setUint16(24, internetChecksum(frame.subarray(14, 34)));
  } else {
    view.setUint8(14, 0x60);
    view.setUint16(18, udpBytes);
    view.setUint8(20, UDP);
    view.setUint8(21, HOPS);
    frame.set(from, 22);
    frame.set(to, 38);
  }
  const udp = 14 + ipBytes;
  view.setUint16(udp, wholeNumber('frame', 'port', source.port, 0, 65_535));
  view.setUint16(udp + 2, wholeNumber('frame', 'port', destination.port, 0, 65_535));
  view.setUint16(udp + 4, udpBytes);
  frame.set(payload, udp + 8);
  // 0 would mean no checksum.
  view.setUint16(udp + 6, udpChecksum(from, to, frame.subarray(udp)) || 0xffff);
  return frame;
}

/** A multicast MAC address follows from the IP address; others are invented and marked as local (02). */
function stationAddress(ip: Uint8Array): number[] {
  if (ip.length === 4 && ip[0] >> 4 === 14) return [0x01, 0x00, 0x5e, ip[1] & 0x7f, ip[2], ip[3]];
  if (ip.length === 16 && ip[0] === 0xff) return [0x33, 0x33, ...ip.subarray(12)];
  return [0x02, 0x00, ...ip.subarray(ip.length - 4)];
}

/** Ones' complement of the ones' complement sum of 16-bit words (RFC 1071); 0 over a header including its checksum. */
export function internetChecksum(...parts: readonly Uint8Array[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 2)
      sum += (part[at] << 8) | (at + 1 < part.length ? part[at + 1] : 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x1_0000);
  return ~sum & 0xffff;
}

/** Includes addresses, protocol and length; 0 over a segment including its checksum. */
export function udpChecksum(from: Uint8Array, to: Uint8Array, segment: Uint8Array): number {
  const length = segment.length;
  return internetChecksum(from, to, Uint8Array.of(0, UDP, length >> 8, length & 255), segment);
}
