/** FITS images of other programs, byte by byte. */

/** A card in fixed format; text is quoted. */
const cardOf = (keyword: string, value: string | number | boolean): string =>
  `${keyword.padEnd(8)}= ${
    typeof value === 'string' ? `'${value.padEnd(8)}'` : String(value === true ? 'T' : value).padStart(20)
  }`.padEnd(80);

const padded = (bytes: Buffer, fill: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc((2880 - (bytes.length % 2880)) % 2880, fill)]);

/** values : of NAXIS1 fastest, as they are stored. */
export function fitsImageBytes(
  bitpix: 8 | 16 | 32 | 64 | -32 | -64,
  shape: readonly number[],
  cards: Readonly<Record<string, string | number>>,
  values: readonly number[],
): Buffer {
  const size = Math.abs(bitpix) / 8;
  const data = Buffer.alloc(size * values.length);
  values.forEach((value, at) => {
    if (bitpix === 8) data.writeUInt8(value, at);
    else if (bitpix === 16) data.writeInt16BE(value, 2 * at);
    else if (bitpix === 32) data.writeInt32BE(value, 4 * at);
    else if (bitpix === 64) data.writeBigInt64BE(BigInt(value), 8 * at);
    else if (bitpix === -32) data.writeFloatBE(value, 4 * at);
    else data.writeDoubleBE(value, 8 * at);
  });
  const axes = Object.fromEntries(shape.map((length, k) => [`NAXIS${k + 1}`, length]));
  const header = Object.entries({ SIMPLE: true, BITPIX: bitpix, NAXIS: shape.length, ...axes, ...cards });
  const text = `${header.map(([keyword, value]) => cardOf(keyword, value)).join('')}${'END'.padEnd(80)}`;
  return Buffer.concat([padded(Buffer.from(text, 'latin1'), 32), padded(data, 0)]);
}

/** SIN around RA 258.25°, Dec 64.13333°, pixels of 21.1″, the reference in pixel (2, 2). */
export const sinCards = {
  ...{ CTYPE1: 'RA---SIN', CRVAL1: 258.25, CDELT1: -0.00585937, CRPIX1: 2, CUNIT1: 'deg' },
  ...{ CTYPE2: 'DEC--SIN', CRVAL2: 64.13333, CDELT2: 0.00585937, CRPIX2: 2, CUNIT2: 'deg' },
} as const;
