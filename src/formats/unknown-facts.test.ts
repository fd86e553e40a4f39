import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { allocateVoltages, spectraCAT } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { addSamples, formatInstant, parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { lwa } from './recordings/lwa/lwa.js';
import { openFile } from './registry.js';
import { createSigmf, createSigmfSpectra, type SigmfHeader } from './recordings/sigmf/sigmf.js';
import { encodeDrx, encodeTbn } from './testing/encoders.js';
import { readWhole } from './testing/reading.js';

const start = parseInstant('2026-06-21T04:00:00.000000125Z');
const header: SigmfHeader = {
  type: 'ci8',
  inputs: 4,
  polarisations: 2,
  sampleRateHz: 1e6,
  centreFrequencyHz: 1.6e8,
  start,
};
const block = (first: number, samples: number): VoltageBlock => ({
  type: 'ci8',
  inputs: 4,
  samples,
  voltages: allocateVoltages('ci8', 4, samples),
  gaps: [],
  start: addSamples(start, first, 1e6),
});

describe('what is unknown of a recording', () => {
  const folder = temporaryFolder('unknown-facts');

  it('leaves a band and a time that only stand in out of SigMF', async () => {
    const path = join(folder, 'unknown-facts.sigmf-meta');
    const unknownFacts = ['frequency', 'start'] as const;
    const writer = await createSigmf(path, { ...header, centreFrequencyHz: 0, unknownFacts });
    await writer.append(block(0, 4));
    await writer.append(block(6, 2));
    await writer.finish();
    const meta = JSON.parse(await readFile(path, 'utf8')) as { captures: Record<string, unknown>[] };
    assert.deepEqual(
      meta.captures.map((capture) => Object.keys(capture)),
      [
        ['core:sample_start', 'core:global_index'],
        ['core:sample_start', 'core:global_index'],
      ],
    );
    const opened = await openFile(path);
    assert.ok(opened.kind === 'voltages');
    assert.deepEqual([opened.unknownFacts, opened.samples, opened.centreFrequencyHz], [unknownFacts, 8, 0]);
    await opened.close();
    const known = await openFile(path, { centreFrequencyHz: 5e7, start });
    assert.ok(known.kind === 'voltages');
    assert.deepEqual([known.unknownFacts, known.centreFrequencyHz, known.start], [undefined, 5e7, start]);
    await known.close();
  });

  it('lists the channels of a band at an unknown frequency from its middle', async () => {
    const path = join(folder, 'unknown-spectra.sigmf-meta');
    const writer = await createSigmfSpectra(path, {
      ...header,
      type: 'ci8',
      inputs: 2,
      channels: 2,
      spectrumRateHz: 25e3,
      // The band starts at zero: its centre is a placeholder.
      centreFrequencyHz: 25e3,
      frequenciesHz: Float64Array.of(0, 25e3),
      channelWidthHz: 25e3,
      unknownFacts: ['frequency'],
    });
    const spectra = spectraCAT(new Int8Array(8), 'ci8', 2, 2, 1);
    await writer.append({ samples: 1, spectra, gaps: [], start });
    await writer.finish();
    for (const [options, unknownFacts, frequenciesHz] of [
      [{}, ['frequency'], [-25e3, 0]],
      [{ centreFrequencyHz: 6e7 }, undefined, [6e7 - 25e3, 6e7]],
    ] as const) {
      const opened = await openFile(path, options);
      assert.ok(opened.kind === 'spectra');
      assert.deepEqual([opened.unknownFacts, [...opened.frequenciesHz]], [unknownFacts, frequenciesHz]);
      await opened.close();
    }
  });

  it('may be given for channelised data at unknown frequencies, and not against those that are known', async () => {
    const path = join(folder, 'placed.sigmf-meta');
    const writer = await createSigmfSpectra(path, {
      ...header,
      type: 'ci8',
      inputs: 2,
      channels: 2,
      spectrumRateHz: 25e3,
      frequenciesHz: Float64Array.of(1.6e8 - 25e3, 1.6e8),
      channelWidthHz: 25e3,
    });
    const spectra = spectraCAT(new Int8Array(8), 'ci8', 2, 2, 1);
    await writer.append({ samples: 1, spectra, gaps: [], start });
    await writer.finish();
    await (await openFile(path, { centreFrequencyHz: 1.6e8 })).close();
    await assert.rejects(
      openFile(path, { centreFrequencyHz: 1.7e8 }),
      /states that its band is around 159\.9\d+ MHz; leave out source\.frequency/,
    );
  });

  it('is the frequency of an LWA receiver that was not tuned, and the time of a clock that was not set', async () => {
    const code = (): number => 1;
    const tag = 283_685_766_952_000_000n;
    const drx = encodeDrx({ tag, frames: 2, offset: 0, code });
    for (let at = 0; at < drx.length; at += 4128) drx.writeUInt32BE(0, at + 24);
    assert.deepEqual((await readWhole(lwa, drx)).recording.unknownFacts, ['frequency']);
    assert.equal((await readWhole(lwa, drx, { centreFrequencyHz: 4e7 })).recording.unknownFacts, undefined);
    // The clock has 196 million ticks per second: this one was switched on a minute ago.
    const young = encodeTbn({ tag: 60n * 196_000_000n, frames: 2, inputs: 2, code });
    assert.deepEqual((await readWhole(lwa, young)).recording.unknownFacts, ['start']);
    const dated = (await readWhole(lwa, young, { start })).recording;
    assert.deepEqual([dated.unknownFacts, dated.start], [undefined, start]);
    const set = (await readWhole(lwa, encodeTbn({ tag, frames: 2, inputs: 2, code }))).recording;
    assert.deepEqual([set.unknownFacts, formatInstant(set.start)], [undefined, '2015-11-13T00:59:22.000Z']);
  });
});
