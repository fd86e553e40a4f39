/** What a stream needs of the network, and the checks before a run begins. Pure. */
import { CorellaError, type Refusal } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import { packetFormatNamed } from '../../packets/registry.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import { bitsPerSecond } from '../plan.js';
import type { InterfaceFacts, NetworkFacts } from './facts.js';

/** IPv4 and UDP headers. */
const IP_UDP_BYTES = 28;
/** Requested buffer: the data that waits in the kernel while the receive thread does not run. */
const ASKED_S = 0.25;
const LEAST_ASKED_BYTES = 2 ** 22;
const MOST_ASKED_BYTES = 2 ** 30;
/** Required buffer: a busy machine delays a thread by this much now and then. */
const NEEDED_S = 0.02;

export interface NetworkNeeds {
  readonly datagramBytes: number;
  readonly packetsPerS: number;
  readonly bitsPerS: number;
  readonly askedBufferBytes: number;
  readonly neededBufferBytes: number;
}

/** For datagrams of this length (headers added) at this rate. */
export function needsOf(datagramBytes: number, packetsPerS: number): NetworkNeeds {
  const bytesPerS = packetsPerS * datagramBytes;
  return {
    datagramBytes,
    packetsPerS,
    bitsPerS: 8 * bytesPerS,
    askedBufferBytes: Math.min(MOST_ASKED_BYTES, Math.max(LEAST_ASKED_BYTES, Math.ceil(ASKED_S * bytesPerS))),
    neededBufferBytes: Math.ceil(NEEDED_S * bytesPerS),
  };
}

/** The length as a sender writes it. */
export function datagramBytesOf(stream: StreamPlan): number {
  const place = { tick: 0n, sender: 0, fragment: 0, session: 1n };
  return packetFormatNamed(stream.format).encode(place, new Uint8Array(stream.cellBytes), stream).length;
}

/** Undefined if the stream's rate is unknown. */
export function needsOfStream(stream: StreamPlan): NetworkNeeds | undefined {
  const bits = bitsPerSecond(stream);
  return bits === undefined ? undefined : needsOf(datagramBytesOf(stream), bits / 8 / stream.cellBytes);
}

/** The two lines that set a receive buffer of this size. */
export const bufferFix = (bytes: number): string =>
  `sudo sysctl -w net.core.rmem_max=${bytes} (to keep it: echo net.core.rmem_max=${bytes} | sudo tee /etc/sysctl.d/90-corella.conf)`;

/** Refuses a buffer that the kernel limited below what is required, or below an explicit request. */
export function bufferRefusal(
  givenBytes: number,
  needs: NetworkNeeds | undefined,
  askedByName: number | undefined,
): Refusal | undefined {
  const least = askedByName ?? needs?.neededBufferBytes ?? 0;
  if (givenBytes >= least) return undefined;
  const wanted = askedByName ?? needs?.askedBufferBytes ?? least;
  return {
    where: 'receive buffer',
    what: `the kernel gave ${formatBytes(givenBytes)} of ${formatBytes(wanted)}${
      askedByName === undefined ? `, and ${formatBytes(least)} come in ${NEEDED_S * 1000} ms` : ''
    }`,
    fix: bufferFix(wanted),
  };
}

/** Refuses datagrams longer than the interface's MTU: IP would fragment them, and one lost fragment loses them all. */
export function mtuRefusal(datagramBytes: number, { name, mtu }: InterfaceFacts): Refusal | undefined {
  if (mtu === undefined || datagramBytes + IP_UDP_BYTES <= mtu) return undefined;
  const wanted = datagramBytes + IP_UDP_BYTES <= 9000 ? 9000 : datagramBytes + IP_UDP_BYTES;
  return {
    where: 'MTU',
    what: `packets of ${datagramBytes + IP_UDP_BYTES} bytes do not fit the MTU of ${name}, ${mtu}`,
    fix: `sudo ip link set dev ${name} mtu ${wanted}, and the same on every switch and sender between`,
  };
}

/** Refuses blocks that do not fit the available memory. */
export function memoryRefusal(ringBytes: number, availableBytes: number): Refusal | undefined {
  if (ringBytes <= 0.8 * availableBytes) return undefined;
  return {
    where: 'receive',
    what: `the ring takes ${formatBytes(ringBytes)} of ${formatBytes(availableBytes)} that are free`,
    fix: 'take fewer or shorter blocks, or fewer channels',
  };
}

export function refuseAny(...found: readonly (Refusal | undefined)[]): void {
  const first = found.find((one) => one !== undefined);
  if (first) throw new CorellaError(first);
}

/** The interface that receives packets for an address, if it can be determined. */
export const interfaceOf = ({ interfaces }: NetworkFacts, address: string): InterfaceFacts | undefined =>
  interfaces.find(({ addresses }) => addresses.includes(address));
