import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instant } from '../../core/instant.js';
import type { Picture } from '../../draw/index.js';
import type { VoltageRecording } from '../../formats/index.js';
import { trio } from '../../formats/testing/trio.js';
import { recordingPicture } from './voltage.js';
import type { LookedBlock } from '../voltages.js';

const SAMPLES = 512;
const file: VoltageRecording = {
  kind: 'voltages',
  path: 'memory',
  format: 'test',
  details: {},
  telescope: trio,
  type: 'i8',
  inputs: 6,
  polarisations: 2,
  samples: SAMPLES,
  sampleRateHz: 1e6,
  centreFrequencyHz: 100e6,
  start: instant(0),
  blocks: () => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
  }),
  close: () => Promise.resolve(),
};

/** Noise-like, input 4 zero, input 5 a hundred times weaker than the rest; the last quarter of input 1 lost. */
const elements = Int8Array.from({ length: 6 * SAMPLES }, (_, k) => {
  const [a, t] = [Math.floor(k / SAMPLES), k % SAMPLES];
  const value = Math.round(100 * Math.sin(t * t * 0.37));
  if (a === 4 || (a === 1 && t >= 384)) return 0;
  return a === 5 ? Math.sign(value) : value;
});
const lost = { firstInput: 1, endInput: 2, firstChannel: 0, endChannel: 1, firstSample: 384, endSample: 512 };
const block = (gaps: LookedBlock['gaps']): LookedBlock => ({
  start: instant(0),
  samples: SAMPLES,
  channels: 1,
  inputs: 6,
  elements,
  gaps,
});
const wordsOf = ({ shapes }: Picture): string[] =>
  shapes.flatMap((shape) => (shape.kind === 'text' ? [shape.words] : []));

describe('a picture of a recording', () => {
  it('shows every input by name, and reports which are silent or weak', () => {
    const words = wordsOf(recordingPicture(file, block([]), 'v'));
    for (const name of ['s0:X', 's1:Y', 's2:Y']) assert.ok(words.includes(name), name);
    assert.ok(words.includes('silent: s2:X'));
    assert.ok(words.includes('more than 15 dB below the median: s2:Y'));
    assert.ok(!words.includes('Lost samples of every input'));
  });
  it('has a panel for what was lost, and reports how much', () => {
    const words = wordsOf(recordingPicture(file, block([lost]), 'v'));
    assert.ok(words.includes('Lost samples of every input'));
    // 128 of 6 · 512
    assert.ok(words.includes('4.2 % of all samples lost, of 1 of 6 inputs'), words.join('\n'));
    assert.ok(words.includes('most of s0:Y: 25 %'));
  });
});
