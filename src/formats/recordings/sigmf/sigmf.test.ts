import assert from 'node:assert/strict';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { allocateVoltages, spectraCAT, voltagesAT, type VoltageType } from '../../../core/axes.js';
import type { VoltageBlock } from '../../../core/blocks.js';
import { addSamples, parseInstant } from '../../../core/instant.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import type { Telescope } from '../../../telescope/telescope.js';
import { openFile } from '../../registry.js';
import { createSigmf, createSigmfSpectra, openSigmf, type SigmfHeader } from './sigmf.js';

const start = parseInstant('2026-06-21T04:00:00.000000125Z');
const telescope: Telescope = {
  name: 'pair',
  title: 'Two dipoles in a field',
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 377 },
  stations: [
    { name: 'a', eastM: 0, northM: 0, upM: 0 },
    { name: 'b', eastM: 10, northM: 1, upM: 0.5 },
  ],
  polarisations: 2,
  band: { lowHz: 5e7, highHz: 3.5e8 },
  recording: { centreFrequencyHz: 1.6e8, sampleRateHz: 1e6, channels: 16, bits: 8 },
  beamExponent: 1,
};
const bare: SigmfHeader = {
  type: 'ci8',
  inputs: 4,
  polarisations: 2,
  sampleRateHz: 1e6,
  centreFrequencyHz: 1.6e8,
  start,
  history: ['made by a test'],
  extra: { seed: 7 },
};
const header: SigmfHeader = { ...bare, telescope };

/** Sample t of input a is (10a + t) + i(−10a − t): every position has a different value. */
function block(first: number, samples: number, gaps: VoltageBlock['gaps'] = []): VoltageBlock {
  const voltages = allocateVoltages('ci8', 4, samples);
  for (let a = 0; a < 4; a++) {
    for (let t = 0; t < samples; t++) {
      voltages[2 * (a * samples + t)] = 10 * a + first + t;
      voltages[2 * (a * samples + t) + 1] = -(10 * a + first + t);
    }
  }
  return { type: 'ci8', inputs: 4, samples, voltages, gaps, start: addSamples(start, first, 1e6) };
}

describe('SigMF recordings', () => {
  const folder = temporaryFolder('sigmf');
  const record = async (name: string, ...blocks: VoltageBlock[]): Promise<string> => {
    const writer = await createSigmf(join(folder, `${name}.sigmf-meta`), header);
    for (const one of blocks) await writer.append(one);
    await writer.finish();
    return join(folder, name);
  };
  const voltagesOf = async (path: string) => {
    const opened = await openFile(path);
    assert.ok(opened.kind === 'voltages');
    return opened;
  };
  /** All samples of one input, real parts, and all gaps from the start of the recording. */
  const collect = async (path: string, blockSamples: number, input: number) => {
    const recording = await voltagesOf(path);
    const values: number[] = [];
    const gaps: number[][] = [];
    let memory: ArrayBufferLike | undefined;
    for await (const { samples, voltages, gaps: here, start: at } of recording.blocks(blockSamples)) {
      assert.deepEqual(at, addSamples(start, values.length, 1e6));
      memory ??= voltages.buffer;
      assert.equal(voltages.buffer, memory, 'the memory of one block serves the next');
      for (const gap of here) {
        gaps.push([
          gap.firstInput,
          gap.endInput,
          values.length + gap.firstSample,
          values.length + gap.endSample,
        ]);
      }
      for (let t = 0; t < samples; t++) values.push(voltages[2 * (input * samples + t)]);
    }
    await recording.close();
    return { values, gaps, samples: recording.samples };
  };
  const editMeta = async (base: string, edit: (meta: Meta) => void): Promise<void> => {
    const path = `${base}.sigmf-meta`;
    const meta = JSON.parse(await readFile(path, 'utf8')) as Meta;
    edit(meta);
    await writeFile(path, JSON.stringify(meta));
  };
  interface Meta {
    global: Record<string, unknown>;
    captures: Record<string, unknown>[];
    annotations?: Record<string, unknown>[];
  }

  it('interleave inputs sample by sample, as SigMF has it', async () => {
    const base = await record('order', block(0, 3));
    // [t][a], (re, im): t = 0 holds inputs 0, 10, 20, 30; t = 1 holds 1, 11, 21, 31; t = 2 likewise.
    const bytes = new Int8Array(await readFile(`${base}.sigmf-data`));
    assert.deepEqual([...bytes.subarray(0, 8)], [0, 0, 10, -10, 20, -20, 30, -30]);
    assert.deepEqual([...bytes.subarray(16, 24)], [2, -2, 12, -12, 22, -22, 32, -32]);
    const meta = JSON.parse(await readFile(`${base}.sigmf-meta`, 'utf8')) as Meta;
    assert.equal(meta.global['core:datatype'], 'ci8');
    assert.equal(meta.global['core:num_channels'], 4);
    assert.equal(meta.captures[0]['core:datetime'], '2026-06-21T04:00:00.000000125000Z');
    assert.deepEqual(meta.global['core:extensions'], [{ name: 'corella', version: '1.0.0', optional: true }]);
    assert.equal(meta.global['core:hw'], 'Two dipoles in a field');
    // GeoJSON has the longitude first.
    assert.deepEqual(meta.global['core:geolocation'], { type: 'Point', coordinates: [116.67, -26.7, 377] });
  });

  it('come back whole from either file, in blocks of any size', async () => {
    const base = await record('whole', block(0, 5), block(5, 2));
    for (const [path, size] of [
      [`${base}.sigmf-meta`, 100],
      [`${base}.sigmf-data`, 3],
      [`${base}.sigmf-data`, 1],
    ] as const) {
      assert.deepEqual(await collect(path, size, 2), {
        values: [20, 21, 22, 23, 24, 25, 26],
        gaps: [],
        samples: 7,
      });
    }
    const recording = await voltagesOf(`${base}.sigmf-meta`);
    assert.deepEqual(recording.telescope, telescope);
    assert.deepEqual(
      [recording.type, recording.inputs, recording.polarisations, recording.centreFrequencyHz],
      ['ci8', 4, 2, 1.6e8],
    );
    assert.deepEqual(recording.start, start);
    assert.equal((recording.details.corella as Record<string, unknown>).seed, 7);
    await recording.close();
  });

  it('keep every type, turned by hand-sized matrices', async () => {
    const types = {
      i8: voltagesAT(Int8Array.from([1, -2, 3, 4, -128, 127]), 'i8', 2, 3),
      i16: voltagesAT(Int16Array.from([1, -2, 300, 4, -32768, 32767]), 'i16', 2, 3),
      f32: voltagesAT(Float32Array.from([0.5, -2, 3, 1e-30, 5, 1e12]), 'f32', 2, 3),
      ci8: voltagesAT(Int8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), 'ci8', 2, 3),
      ci16: voltagesAT(Int16Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), 'ci16', 2, 3),
      cf32: voltagesAT(Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), 'cf32', 2, 3),
    } satisfies Record<VoltageType, unknown>;
    for (const [name, voltages] of Object.entries(types)) {
      const type = name as VoltageType;
      const path = join(folder, `type-${type}`);

      const writer = await createSigmf(path, { ...bare, type, inputs: 2, polarisations: 1 });
      await writer.append({ type, inputs: 2, samples: 3, voltages, gaps: [], start });
      await writer.finish();
      const recording = await openSigmf(`${path}.sigmf-data`);
      await recording.verify?.();
      assert.ok(recording.kind === 'voltages');
      assert.equal(recording.telescope, undefined);
      for await (const read of recording.blocks(8)) assert.deepEqual(read.voltages, voltages);
      await recording.close();
    }
  });

  it('name what is missing: late blocks, lost packets, and other recorders’ captures', async () => {
    const lost = { firstInput: 2, endInput: 4, firstSample: 1, endSample: 3 };
    const base = await record('gaps', block(0, 4, [lost]), block(6, 2));
    const expected = {
      values: [20, 0, 0, 23, 0, 0, 26, 27],
      gaps: [
        [0, 4, 4, 6],
        [2, 4, 1, 3],
      ],
      samples: 8,
    };
    assert.deepEqual(await collect(`${base}.sigmf-meta`, 100, 2), expected);
    const cut = await collect(`${base}.sigmf-meta`, 5, 2);
    assert.deepEqual(cut.values, expected.values);
    assert.deepEqual(cut.gaps, [
      [0, 4, 4, 5],
      [2, 4, 1, 3],
      [0, 4, 5, 6],
    ]);
    // The file itself holds only the samples that arrived.
    assert.equal((await readFile(`${base}.sigmf-data`)).length, 6 * 4 * 2);

    // A counter that does not start at zero: 100, then 100 + 2 + 3 after two samples and three missing.
    const other = await record('counter', block(0, 4));
    await editMeta(other, (meta) => {
      const [capture] = meta.captures;
      meta.captures = [
        { ...capture, 'core:global_index': 100 },
        { 'core:sample_start': 2, 'core:global_index': 105 },
      ];
    });
    assert.deepEqual(await collect(`${other}.sigmf-meta`, 100, 1), {
      values: [10, 11, 0, 0, 0, 12, 13],
      gaps: [[0, 4, 2, 5]],
      samples: 7,
    });
  });

  it('carry channelised data, 4 bits included', async () => {
    // C = 2, A = 2, 3 spectra, [c][a][t]: value = 16·(c+1) + 4a + t, both nibbles within ±7 and distinct.
    const values = Uint8Array.from(
      { length: 12 },
      (_, n) => 16 * (Math.floor(n / 6) + 1) + 4 * (Math.floor(n / 3) % 2) + (n % 3),
    );
    const spectra = spectraCAT(values, 'ci4', 2, 2, 3);
    const gap = { firstInput: 0, endInput: 1, firstChannel: 1, endChannel: 2, firstSample: 1, endSample: 2 };

    const path = join(folder, 'spectra');
    const writer = await createSigmfSpectra(path, {
      ...bare,
      inputs: 2,
      type: 'ci4',
      channels: 2,
      spectrumRateHz: 25e3,
      frequenciesHz: Float64Array.of(1e8, 1.00025e8),
      channelWidthHz: 25e3,
    });
    await writer.append({ samples: 3, spectra, gaps: [gap], start });
    await writer.finish();
    // [t][c][a]: t = 0 is c0a0, c0a1, c1a0, c1a1.
    assert.deepEqual([...(await readFile(`${path}.sigmf-data`)).subarray(0, 4)], [16, 20, 32, 36]);
    const opened = await openFile(`${path}.sigmf-meta`);
    assert.ok(opened.kind === 'spectra');
    assert.deepEqual(
      [opened.channels, opened.inputs, opened.samples, opened.spectrumRateHz],
      [2, 2, 3, 25e3],
    );
    assert.deepEqual(opened.frequenciesHz, Float64Array.of(1e8, 1.00025e8));
    const holed = values.slice();
    holed[6 + 1] = 0; // c = 1, a = 0, t = 1
    for await (const read of opened.blocks(10)) {
      assert.deepEqual([...read.spectra], [...holed]);
      assert.deepEqual(read.gaps, [gap]);
    }
    await opened.close();
  });

  it('refuse damaged or contradicting pairs in one clear line', async () => {
    const base = await record('bad', block(0, 4));
    const [meta, data] = [`${base}.sigmf-meta`, `${base}.sigmf-data`];
    const good = { meta: await readFile(meta), data: await readFile(data) };
    const refuses = async (wanted: RegExp, harm: () => Promise<void>): Promise<void> => {
      await harm();
      await assert.rejects(
        async () => {
          const opened = await openSigmf(meta);
          try {
            await opened.verify?.();
            for await (const read of opened.blocks(10)) assert.ok(read.samples > 0);
          } finally {
            await opened.close();
          }
        },
        (error: unknown) => {
          assert.ok(error instanceof Error);
          assert.equal(error.name, 'CorellaError', error.stack);
          assert.match(error.message, wanted);
          return true;
        },
      );
      await writeFile(meta, good.meta);
      await writeFile(data, good.data);
    };
    const edited = (edit: (meta: Meta) => void) => (): Promise<void> => editMeta(base, edit);
    await refuses(/sigmf-data: truncated recording: 3 bytes missing/, () => truncate(data, 29));
    await refuses(/does not match core:sha512/, () => truncate(data, 24));
    await refuses(/holds no samples/, async () => {
      await editMeta(base, (m) => {
        delete m.global['core:sha512'];
      });
      await truncate(data, 0);
    });
    await refuses(/sigmf-data: there is no such file; a SigMF recording is/, () => rm(data));
    await refuses(/sigmf-meta: there is no such file; a SigMF recording is/, () => rm(meta));
    await refuses(/is not valid JSON/, () => truncate(meta, 100));
    await refuses(/is not SigMF metadata \(global is missing\)/, () => writeFile(meta, '{"captures": []}'));
    await refuses(
      /core:datatype 'cu16_be' is not read here; convert it to one of ri8, /,
      edited((m) => {
        m.global['core:datatype'] = 'cu16_be';
      }),
    );
    await refuses(
      /2 stations × 2 polarisations = 4 inputs, the recording 2/,
      edited((m) => {
        m.global['core:num_channels'] = 2;
      }),
    );
    await refuses(
      /'nowhere' is not known/,
      edited((m) => {
        m.global['corella:telescope'] = 'nowhere';
      }),
    );
    await refuses(
      /corella:telescope/,
      edited((m) => {
        m.global['corella:telescope'] = { ...telescope, stations: [] };
      }),
    );
    await refuses(
      /says no core:sample_rate/,
      edited((m) => {
        delete m.global['core:sample_rate'];
      }),
    );
    await refuses(
      /'yesterday' is not a UTC time/,
      edited((m) => {
        m.captures[0]['core:datetime'] = 'yesterday';
      }),
    );
    await refuses(
      /covers samples 0 to 9 of a file that holds 4/,
      edited((m) => {
        m.captures.push({ 'core:sample_start': 9 });
      }),
    );
    await refuses(
      /is before the end of the capture/,
      edited((m) => {
        m.captures.push({ 'core:sample_start': 2, 'core:global_index': 1 });
      }),
    );
    await refuses(
      /say by core:global_index/,
      edited((m) => {
        m.captures.push({ 'core:sample_start': 2, 'core:datetime': '2026-06-21T04:00:01Z' });
      }),
    );
    await refuses(
      /annotation 0: ends before it begins/,
      edited((m) => {
        m.annotations = [
          {
            'core:sample_start': 0,
            'core:sample_count': 1,
            'corella:missing': true,
            'corella:first_input': 9,
          },
        ];
      }),
    );
    await refuses(
      /reaches outside the recording/,
      edited((m) => {
        m.annotations = [{ 'core:sample_start': 0, 'core:sample_count': 99, 'corella:missing': true }];
      }),
    );
    await refuses(
      /cannot carry corella:spectra_type 'cf32'/,
      edited((m) => {
        m.global['corella:spectra_type'] = 'cf32';
      }),
    );
    await refuses(/holds −128/, async () => {
      await editMeta(base, (m) => {
        delete m.global['core:sha512'];
        Object.assign(m.global, {
          'corella:spectra_type': 'ci8',
          'corella:channels': 1,
          'corella:frequencies_hz': [1e8],
        });
      });
      await writeFile(data, new Uint8Array(32).fill(0x80));
    });
  });

  it('leave nothing behind when abandoned, empty or out of order', async () => {
    const before = (await readdir(folder)).sort();
    const writer = await createSigmf(join(folder, 'gone'), header);
    await writer.append(block(0, 4));
    await assert.rejects(writer.append(block(2, 4)), /starts at sample 2, before sample 4/);
    await writer.abandon();
    const empty = await createSigmf(join(folder, 'gone'), header);
    await assert.rejects(empty.finish(), /no samples were recorded/);
    await assert.rejects(
      createSigmf(join(folder, 'gone'), { ...header, inputs: 3 }),
      /3 inputs for 2 stations/,
    );
    assert.deepEqual((await readdir(folder)).sort(), before);
  });
});
