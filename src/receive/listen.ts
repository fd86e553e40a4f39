/** Where to listen for packets. */
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { CorellaError, refuse, wholeNumber, type Refusal } from '../core/errors.js';
import { addressBytes, type Endpoint } from '../packets/addresses.js';

export interface ListenSettings {
  /** A multicast group to join, or an address of this machine (0.0.0.0 for all of them). */
  readonly listen: Endpoint;
  /** Interface name or address, on which a group is joined. By default the system chooses. */
  readonly interface?: string;
  /** Requested from the kernel and read back; by default 256 MiB. */
  readonly receiveBufferBytes?: number;
  /** Pins the receive thread; native ring only. */
  readonly core?: number;
  /** Several datagrams per call where the kernel supports it (default). Native ring only. */
  readonly coalesce?: 'on' | 'off';
}

export interface SurveyLimits {
  readonly datagrams: number;
  readonly seconds: number;
}

/** Datagrams from before receiving began: read to identify the stream, or received during preparation. */
export interface Surveyed {
  readonly packets: number;
  /** From the first of them until receiving began. */
  readonly seconds: number;
}

const RECEIVE_BUFFER_BYTES = 2 ** 28;

export interface Listening {
  readonly address: string;
  readonly port: number;
  readonly group: boolean;
  /** Address of the interface that joins; 0.0.0.0 where the system chooses. */
  readonly interfaceAddress: string;
  readonly receiveBufferBytes: number;
}

export function planListening(settings: ListenSettings): Listening {
  const { address, port } = settings.listen;
  if (!isIPv4(address)) refuse('listen', `'${address}' is no IPv4 address`, 'write it like 239.1.2.3:4015');
  const group = addressBytes(address)[0] >> 4 === 14;
  return {
    address,
    port: wholeNumber('listen', 'port', port, 0, 65_535),
    group,
    interfaceAddress: interfaceAddress(settings.interface),
    receiveBufferBytes: wholeNumber(
      'listen',
      'receiveBufferBytes',
      settings.receiveBufferBytes ?? RECEIVE_BUFFER_BYTES,
      4096,
      2 ** 31 - 1,
    ),
  };
}

function interfaceAddress(given: string | undefined): string {
  if (given === undefined) return '0.0.0.0';
  const { address, lack } = interfaceOf(given);
  if (lack) throw new CorellaError(lack);
  return address;
}

/** `lack`: this machine has no such interface; another may have it. */
export function interfaceOf(given: string): { readonly address: string; readonly lack?: Refusal } {
  const all = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    (addresses ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => ({ name, address })),
  );
  const found = all.find(({ name, address }) => name === given || address === given);
  if (found) return found;
  return {
    address: '0.0.0.0',
    lack: {
      where: 'listen',
      what: `there is no interface '${given}' with an IPv4 address`,
      fix: `there are ${all.map(({ name, address }) => `${name} (${address})`).join(', ')}`,
    },
  };
}
