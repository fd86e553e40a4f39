/** All known packet formats: one line each. If several match a datagram, the first is used. */
import { refuse } from '../core/errors.js';
import { chips } from './chips.js';
import { mwa } from './mwa.js';
import type { PacketFormat } from './packet-format.js';
import { snap2 } from './snap2.js';
import { speadDigitiser } from './spead/digitiser.js';
import { speadFeng } from './spead/feng.js';
import { vdif, vdifVtp } from './vdif/vdif.js';

/** `code` is the format's number in native tables: never reuse one. */
export const packetFormats = {
  'spead-feng': { code: 0, format: speadFeng }, // MeerKAT F-engines
  'spead-digitiser': { code: 1, format: speadDigitiser }, // MeerKAT digitisers
  vdif: { code: 2, format: vdif }, // VLBI recorders
  'vdif-vtp': { code: 3, format: vdifVtp }, // the same after a sequence number
  mwa: { code: 4, format: mwa }, // receivers of the Murchison Widefield Array
  snap2: { code: 5, format: snap2 }, // OVRO-LWA and LWA-NA F-engines
  chips: { code: 6, format: chips }, // LWA-SV F-engines
} as const;
export type PacketFormatName = keyof typeof packetFormats;

/** With headers and options of any type: pass each format only its own. */
export const anyPacketFormats: readonly PacketFormat[] = Object.values(packetFormats).map(
  ({ format }): PacketFormat => format,
);

export const isPacketFormatName = (name: string): name is PacketFormatName =>
  Object.hasOwn(packetFormats, name);

export function packetFormatNamed(name: string): PacketFormat {
  return (
    anyPacketFormats.find((format) => format.name === name) ??
    refuse(
      'packets',
      `there is no packet format '${name}'`,
      `known are ${Object.keys(packetFormats).join(', ')}`,
    )
  );
}

export const recogniseDatagram = (datagram: Uint8Array): PacketFormat | undefined =>
  anyPacketFormats.find((format) => format.recognise(datagram));

/** The number of a format in native tables. */
export const packetCodeOf = (format: PacketFormat): number =>
  Object.values(packetFormats).find((one) => one.format.name === format.name)?.code ??
  refuse('packets', `'${format.name}' is not registered`, 'add it to src/packets/registry.ts');
