/** The data rates of one machine's part of some telescopes, in the telescopes' own numbers: for planning a machine. */
export interface TelescopeRate {
  readonly name: string;
  readonly part: string;
  /** UDP payload. */
  readonly datagramBytes: number;
  readonly packetsPerS: number;
}

export const telescopeRates: readonly TelescopeRate[] = [
  // 132 channels of 25 kHz from 16 boards, one spectrum of 32 inputs per packet.
  { name: 'LWA-SV', part: 'one of six groups', datagramBytes: 4240, packetsPerS: 16 * 25_000 },
  // 192 channels of 23.9 kHz from 11 boards, in two blocks of channels.
  { name: 'OVRO-LWA', part: 'one pipeline', datagramBytes: 6176, packetsPerS: 22 * (196e6 / 8192) },
  // 768 channels of two boards in eight blocks.
  { name: 'LWA-NA', part: 'one pipeline', datagramBytes: 6176, packetsPerS: 16 * (196e6 / 8192) },
  { name: 'MWA', part: 'one coarse channel', datagramBytes: 4112, packetsPerS: 256 * 625 },
  { name: 'MeerKAT extended', part: 'one of 64 X-engines', datagramBytes: 8264, packetsPerS: 522_000 },
];
