import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gainsCA } from '../../core/axes.js';
import type { Picture } from '../../draw/index.js';
import type { GainsFile } from '../../formats/index.js';
import { trioGains } from '../../formats/testing/gain-subjects.js';
import { gainPicture } from './gain.js';
import { evenSide, listed } from './parts.js';

const wordsOf = ({ shapes }: Picture): string[] =>
  shapes.flatMap((shape) => (shape.kind === 'text' ? [shape.words] : []));

/** 256 stations of two polarisations, all gains 1 except those changed. */
function many(channels: number, change: (solved: Uint8Array, gains: Float64Array) => void): GainsFile {
  const solved = new Uint8Array(channels * 512).fill(1);
  const gains = Float64Array.from({ length: channels * 1024 }, (_, k) => (k % 2 === 0 ? 1 : 0));
  change(solved, gains);
  return {
    ...trioGains,
    stations: Array.from({ length: 256 }, (_, s) => `s${s}`),
    frequenciesHz: Float64Array.from({ length: channels }, (_, c) => 60e6 + c * 1e5),
    gains: gainsCA(gains, channels, 512),
    solved,
    solutions: [],
  };
}

describe('a picture of gains', () => {
  it('gives every input of 512 a row, and names and marks those that are dead or nearly so', () => {
    const picture = gainPicture(
      many(2, (solved, gains) => {
        for (const c of [0, 1]) {
          solved[c * 512 + 301] = 0;
          gains[2 * (c * 512 + 7)] = 0.1;
        }
      }),
      'g.json',
    );
    const words = wordsOf(picture);
    assert.ok(words.includes('no gain: s150:Y') && words.includes('more than 10 dB below the median: s3:Y'));
    const maps = picture.shapes.flatMap((shape) => (shape.kind === 'raster' ? [shape.box] : []));
    assert.equal(maps[0].bottom - maps[0].top, 512);
    // two arrows beside each of two maps, level with rows 301 and 7 of 512, counted from below
    const arrows = picture.shapes.flatMap((shape) =>
      shape.kind === 'area' && shape.points.length === 3 && shape.points[0].x === maps[0].right + 2
        ? [maps[0].bottom - shape.points[0].y]
        : [],
    );
    assert.deepEqual(
      arrows.sort((a, b) => a - b),
      [7.5, 301.5],
    );
  });

  it('has no axis of frequency for one channel, but the frequency', () => {
    const picture = gainPicture(
      many(1, (solved) => {
        solved[4] = 0;
      }),
      'g.json',
    );
    const words = wordsOf(picture);
    assert.ok(!words.some((text) => text.startsWith('frequency')), 'the channel width is unknown');
    assert.ok(words.includes('Amplitude at 60 MHz') && words.includes('no gain: s2:X'));
    // a dot for each of 511 gains, in two plots
    const dots = picture.shapes.filter((shape) => shape.kind === 'area' && shape.points.length > 8);
    assert.equal(dots.length, 2 * 511 + 4, 'and two samples in each legend');
  });

  it('lists a few names and counts the rest; gives cells whole pixels', () => {
    assert.equal(listed(['a', 'b']), 'a, b');
    const names = Array.from({ length: 20 }, (_, k) => `n${k}`);
    assert.match(listed(names), /^n0, .*n11 and 8 more$/);
    assert.deepEqual(
      [8, 64, 512, 700].map((cells) => evenSide(cells)),
      [480, 512, 512, 700],
    );
  });
});
