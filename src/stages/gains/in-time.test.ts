import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gainsCA } from '../../core/axes.js';
import { addSeconds, parseInstant } from '../../core/instant.js';
import type { GainsAt, GainsFile } from '../../formats/index.js';
import { gainsInTime } from './in-time.js';

describe('gains in time', () => {
  const start = parseInstant('2026-06-21T04:00:00Z');
  /** Three stations of one polarisation in one channel, with these phases. */
  const at = (laterS: number, ...phasesRad: readonly number[]): GainsAt => ({
    time: addSeconds(start, laterS),
    gains: gainsCA(Float64Array.from(phasesRad.flatMap((one) => [Math.cos(one), Math.sin(one)])), 1, 3),
    solved: new Uint8Array(3).fill(1),
    solutions: [],
  });
  const fileOf = (first: GainsAt, ...later: readonly GainsAt[]): GainsFile => ({
    telescope: 'trio',
    stations: ['a', 'b', 'c'],
    polarisations: 1,
    frequenciesHz: Float64Array.of(1e8),
    referenceStation: 0,
    sources: [],
    history: [],
    ...first,
    ...(later.length > 0 && { later }),
  });
  const said = (file: GainsFile, fromS: number, durationS: number) =>
    gainsInTime(file, 'g.json', { start: addSeconds(start, fromS), durationS });

  it('far from the data are reported with their age, on either side', () => {
    const file = fileOf(at(0, 0, 0, 0), at(300, 0, 0, 0));
    assert.deepEqual(said(file, -500, 1000), []);
    const [late, ...others] = said(file, 300 + 3 * 3600, 720);
    assert.deepEqual(others, []);
    assert.deepEqual([late.code, late.severity], ['gains.far', 'note']);
    assert.equal(
      late.text,
      'g.json: its nearest gains are of 2026-06-21T04:05:00Z, up to 3 h 12 min from the data',
    );
    assert.match(said(file, -7200, 60)[0].text, /of 2026-06-21T04:00:00Z, up to 2 h 0 min from the data/);
  });

  it('whose phases moved by more than a radian give a warning, where the data lie between or beyond', () => {
    // All turn by 2 rad together, which no baseline sees, and the third by 2 rad more, then by 0.9.
    const file = fileOf(at(0, 0, 0, 0), at(300, 2, 2, 4), at(600, 2, 2, 4.9));
    const [moved, ...others] = said(file, 10, 200);
    assert.deepEqual(others, []);
    assert.deepEqual([moved.code, moved.severity], ['gains.phases-moved', 'warning']);
    const { inputs, of, mostDeg, betweenS, fromUtc } = moved.data as Record<string, unknown>;
    assert.deepEqual([inputs, of, betweenS, fromUtc], [1, 3, 300, '2026-06-21T04:00:00Z']);
    // The common turn is the mean direction of 2, 2 and 4 rad.
    const common = Math.atan2(2 * Math.sin(2) + Math.sin(4), 2 * Math.cos(2) + Math.cos(4));
    assert.ok(Math.abs(Number(mostDeg) - ((4 - common) * 180) / Math.PI) < 1e-9);
    assert.deepEqual(said(file, 310, 200), []);
    // Before all of them the first two count.
    assert.equal(said(file, -100, 50)[0].code, 'gains.phases-moved');
    assert.deepEqual(said(fileOf(at(0, 0, 0, 0)), 10, 200), []);
  });
});
