import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { headerBytes, integerCard, logicalCard, paddedBytes, realCard, textCards } from '../fits/fits.js';
import { tableBytes } from '../fits/table.js';
import { openFile } from '../registry.js';
import { holdsGains, readGainFile } from './gain-files.js';

/** Two of three antennas, two channels, two times, X and Y: in pyuvdata's layout, made by hand. */
function encode(cards: readonly string[] = [], type = 'gain', real = (a: number): number => 1 + a): Buffer {
  const [antennas, channels, times, terms, parts] = [2, 2, 2, 2, 4];
  const axes = [parts, terms, times, channels, 1, antennas];
  const data = Buffer.alloc(paddedBytes(8 * axes.reduce((product, one) => product * one, 1)));
  let at = 0;
  for (let a = 0; a < antennas; a++)
    for (let c = 0; c < channels; c++)
      for (let t = 0; t < times; t++)
        for (let q = 0; q < terms; q++)
          // re, im, flag, quality; the last antenna's Y is flagged in channel 1 of the first time.
          for (const value of [
            real(a),
            0.5 * (c + 1) + 0.1 * t + 0.01 * q,
            a === 1 && c === 1 && t === 0 && q === 1 ? 1 : 0,
            9,
          ])
            at = data.writeDoubleBE(value, at);
  const axis = (n: number, first: number, step: number): string[] => [
    realCard(`CRPIX${n}`, 1),
    realCard(`CRVAL${n}`, first),
    realCard(`CDELT${n}`, step),
  ];
  return Buffer.concat([
    headerBytes([
      logicalCard('SIMPLE', true),
      integerCard('BITPIX', -64),
      integerCard('NAXIS', 6),
      ...axes.map((length, k) => integerCard(`NAXIS${k + 1}`, length)),
      ...textCards('CALTYPE', type),
      ...cards,
      ...textCards('TELESCOP', 'HERA'),
      ...textCards('GNCONVEN', 'divide'),
      ...textCards('XORIENT', 'east'),
      ...textCards('REFANT', 'c'),
      logicalCard('HASQLTY', true),
      ...axis(2, -5, -1),
      ...axis(3, 2_459_560.5, 0.5),
      ...axis(4, 100e6, 1e6),
      ...axis(5, 1, 1),
      ...axis(6, 1, -1),
    ]),
    data,
    tableBytes(
      'ANTENNAS',
      [
        { name: 'ANTNAME', form: '8A', rows: ['a', 'b', 'c'] },
        { name: 'ANTINDEX', form: '1D', rows: [[4], [5], [6]] },
        { name: 'ANTARR', form: '1D', rows: [[4], [6], [-1]] },
      ],
      [],
    ),
  ]);
}

describe('CalFITS', () => {
  const folder = temporaryFolder('calfits');
  const written = (name: string, bytes: Buffer): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };

  it('of NaN alone holds no gain', async () => {
    const found = await readGainFile(
      written(
        'nan.calfits',
        encode([], 'gain', () => Number.NaN),
      ),
    );
    for (const { solved } of [found, ...(found.later ?? [])])
      assert.ok(solved.length > 0 && solved.every((one) => one === 0));
  });

  it('is read: gains of each channel at several times, flags and antennas without gains', async () => {
    const path = written('gains.calfits', encode());
    assert.equal(await holdsGains(path), true);
    const found = await readGainFile(path);
    assert.deepEqual([found.stations, found.polarisations, found.referenceStation], [['a', 'b', 'c'], 2, 2]);
    assert.deepEqual([...found.frequenciesHz], [100e6, 101e6]);
    assert.deepEqual(
      [found, ...(found.later ?? [])].map(({ time }) => formatInstant(time, 0)),
      ['2021-12-12T00:00:00Z', '2021-12-12T12:00:00Z'],
    );
    // [channel][input]: b has none, and c's Y is flagged in channel 1.
    assert.deepEqual([...found.solved], [1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0]);
    assert.deepEqual([...(found.later?.[0].solved ?? [])], [1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1]);
    // The file's gains apply to conjugated visibilities, as in CalH5: g = conj(γ). Antenna c, Y, channel 0, second
    // time.
    assert.deepEqual([...(found.later?.[0].gains.subarray(10, 12) ?? [])], [2, -(0.5 + 0.1 + 0.01)]);
    await assert.rejects(openFile(path), /holds gains/);
  });

  it('of delays is refused', async () => {
    await assert.rejects(
      readGainFile(written('delay.calfits', encode([], 'delay'))),
      /calibration of type delay/,
    );
  });
});
