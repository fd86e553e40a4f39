/** The same packets give the same bits, live or as a recording; and a run survives faults of the senders. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describeCuda } from '../backend/cuda/cuda.js';
import type { Integration } from '../core/blocks.js';
import { openFile } from '../formats/index.js';
import { corellaHere as corella } from './corella.js';

const START = '2026-06-21T04:00:00Z';
const FAULTS = ['--lose', '2%', '--duplicate', '1%', '--reorder', '2%', '--corrupt', '1%', '--seed', '5'];
const sumsEvery = (time: string): string[] => ['--values', 'sums', '--integration', time, '--align', 'utc'];
const SUMS = sumsEvery('100ms');
const ARRAY = ['--telescope', 'lwasv', '--stations', '16'];

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corella-live-'));
  await ran(
    'simulate',
    '--duration',
    '320ms',
    '--stations',
    '16',
    '--rate',
    '100kHz',
    '--time',
    START,
    '-o',
    'sky',
  );
  // Four stations: samples of 8 bits for digitisers, a coarse channel of the MWA's.
  const few = ['simulate', '--stations', '4', '--time', START];
  await ran(...few, '--duration', '320ms', '--rate', '200kHz', '--type', 'i8', '-o', 'real');
  await ran(...few, '--duration', '130ms', '--rate', '1.28MHz', '--frequency', '58.88MHz', '-o', 'coarse');
  await ran('channelise', 'sky.sigmf-meta', '--channels', '4', '--bits', '4', '-o', 'nibbles');
  await ran('channelise', 'sky.sigmf-meta', '--channels', '4', '-o', 'bytes');
});
after(() => rm(folder, { recursive: true, force: true }));

async function ran(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await corella(folder, ...words);
  assert.equal(code, 0, `corella ${words.join(' ')}\n${stderr}`);
  return stdout;
}

interface Summary {
  readonly event: string;
  readonly sessions: number;
  readonly files: readonly string[];
  readonly missingSamples: number;
  readonly samplesIn: number;
  readonly integrations: number;
  readonly images: number;
  readonly card?: { readonly blocks: number };
  readonly packets: {
    readonly packets: number;
    readonly outcomes: Readonly<Record<string, number>>;
    readonly missingCells: number;
    readonly resyncs: number;
  };
}

async function live(...words: readonly string[]): Promise<Summary> {
  const lines = (await ran('live', ...words, '--json')).trim().split('\n');
  return JSON.parse(lines[lines.length - 1]) as Summary;
}

async function integrationsIn(name: string): Promise<Integration[]> {
  const file = await openFile(join(folder, name));
  try {
    if (file.kind !== 'visibilities') throw new Error(`${name} holds no visibilities`);
    const all: Integration[] = [];
    for await (const one of file.integrations()) all.push(one);
    return all;
  } finally {
    await file.close();
  }
}

const accountHolds = ({ packets }: Summary): void => {
  assert.equal(
    Object.values(packets.outcomes).reduce((sum, count) => sum + count, 0),
    packets.packets,
  );
};

/** The gain is given: batch would derive one from the recording's first samples, which live cannot read. */
const FOUR = ['--channels', '4', '--gain', '1'];
const DIGITISERS = ['--epoch', START, '--rate', '200kHz', '--frequency', '58MHz'];
/** Format, data sent, number of stations, options of live, integration time. */
const trials = [
  ['chips', 'nibbles', '16', ['--epoch', START], [], '100ms'],
  ['snap2', 'nibbles', '16', ['--rate', '25kHz'], [], '100ms'],
  ['spead-feng', 'bytes', '16', DIGITISERS, [], '100ms'],
  ['vdif', 'sky', '16', ['--rate', '100kHz', '--frequency', '58MHz'], FOUR, '100ms'],
  ['vdif-vtp', 'sky', '16', ['--rate', '100kHz', '--frequency', '58MHz'], FOUR, '100ms'],
  ['spead-digitiser', 'real', '4', DIGITISERS, FOUR, '100ms'],
  ['mwa', 'coarse', '4', [], FOUR, '40ms'],
] as const;

/** If there is a GPU: packets of spectra then go directly to it. */
const card = describeCuda().present ? ['cuda'] : [];

describe('live equals batch', () => {
  for (const [format, recording, stations, options, channels, every] of trials)
    for (const backend of [...(format === 'chips' ? ['reference', 'cpu'] : ['cpu']), ...card])
      it(`${format} with loss, duplicates, reordering and damage, on ${backend}: sums and counts bit for bit`, async () => {
        const name = `${format}-${backend}`;
        await ran('send', `${recording}.sigmf-meta`, '--format', format, '--to', `${name}.pcap`, '--truth', `${name}-truth`, ...FAULTS); // prettier-ignore
        const summary = await live('--from', `${name}.pcap`, '--format', format, ...options, '--telescope', 'lwasv', '--stations', stations, ...channels, ...sumsEvery(every), '-o', `${name}.uvh5`, '--backend', backend); // prettier-ignore
        await ran('correlate', `${name}-truth.sigmf-meta`, ...channels, ...sumsEvery(every), '-o', `${name}-batch.uvh5`, '--backend', backend); // prettier-ignore
        accountHolds(summary);
        assert.ok(summary.packets.outcomes.duplicate > 0 && summary.packets.outcomes.invalid > 0);
        assert.ok(summary.packets.missingCells > 0);
        const [ours, batch] = [
          await integrationsIn(`${name}.uvh5`),
          await integrationsIn(`${name}-batch.uvh5`),
        ];
        assert.ok(batch.length >= 3);
        assert.equal(ours.length, batch.length);
        batch.forEach((one, k) => {
          assert.deepEqual(ours[k].visibilities, one.visibilities, `sums of integration ${k}`);
          assert.deepEqual(ours[k].counts, one.counts, `counts of integration ${k}`);
          assert.deepEqual(
            ours[k].productCounts,
            one.productCounts,
            `counts of products of integration ${k}`,
          );
        });
        const rate = format === 'mwa' ? 320_000 : 25_000;
        assert.ok(
          batch.some(({ counts, productCounts, durationS }) =>
            (productCounts ?? counts).some((count) => count < Math.round(durationS * rate)),
          ),
        );
      });

  for (const backend of card)
    for (const [format, recording, , options] of trials.slice(0, 3))
      for (const method of [[], ['--direct'], ['--direct', '--flag', '3,8-9']])
        it(`${format} with loss on ${backend}, images ${method.join(' ')} and integrations: sums and counts bit for bit`, async () => {
          const name = `${format}-images-${method.length}`;
          const flags = method.slice(1);
          await ran('send', `${recording}.sigmf-meta`, '--format', format, '--to', `${name}.pcap`, '--truth', `${name}-truth`, ...FAULTS); // prettier-ignore
          const summary = await live('--from', `${name}.pcap`, '--format', format, ...options, ...ARRAY, ...SUMS, '-o', `${name}.uvh5`, '--image', '20ms', '--picture', `${name}.png`, ...method, '--backend', backend); // prettier-ignore
          await ran('correlate', `${name}-truth.sigmf-meta`, ...SUMS, ...flags, '-o', `${name}-batch.uvh5`, '--backend', 'cpu'); // prettier-ignore
          assert.ok(summary.card && summary.card.blocks > 0, 'packets went straight to the card');
          assert.ok(summary.images >= 15);
          const [ours, batch] = [
            await integrationsIn(`${name}.uvh5`),
            await integrationsIn(`${name}-batch.uvh5`),
          ];
          assert.equal(ours.length, batch.length);
          batch.forEach((one, k) => {
            assert.deepEqual(ours[k].visibilities, one.visibilities, `sums of integration ${k}`);
            assert.deepEqual(ours[k].counts, one.counts, `counts of integration ${k}`);
          });
        });

  it('reports once what the gain leaves below one level, which no first samples could show', async () => {
    const from = [
      'live',
      'sky.sigmf-meta',
      '--channels',
      '4',
      '--integration',
      '100ms',
      '--json',
      '-o',
      'weak.uvh5',
      '--overwrite',
    ];
    const notes = async (...words: string[]): Promise<number> =>
      ((await ran(...from, ...words)).match(/"note".*have less than one level rms/g) ?? []).length;
    assert.equal(await notes('--bits', '4', '--gain', '0.05'), 1);
    assert.equal(await notes('--bits', '8'), 0);
  });

  it('divides out the gains that a recording was channelised with, as correlate does', async () => {
    await ran(
      ...['channelise', 'sky.sigmf-meta', '--channels', '4', '--equaliser', 'measured', '-o', 'leveled'],
    );
    for (const name of ['nibbles', 'leveled']) {
      const how = ['--integration', '100ms', '--align', 'utc', '--overwrite'];
      await ran('correlate', `${name}.sigmf-meta`, ...how, '-o', 'batch-unit.uvh5');
      await ran('live', `${name}.sigmf-meta`, ...how, '-o', 'live-unit.uvh5');
      const [batch, ours] = [await integrationsIn('batch-unit.uvh5'), await integrationsIn('live-unit.uvh5')];
      assert.equal(ours.length, batch.length);
      batch.forEach((one, k) => {
        assert.deepEqual(ours[k].counts, one.counts);
        // Files are phased at different centres, in float32.
        const most = one.visibilities.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
        ours[k].visibilities.forEach((value, at) => {
          assert.ok(Math.abs(value - one.visibilities[at]) < 1e-6 * most);
        });
      });
    }
    // Sums are kept unchanged, and equaliser gains could not be divided out of them.
    const words = ['--values', 'sums', '-o', 'unit.uvh5', '--overwrite'];
    const { code, stderr } = await corella(folder, 'live', 'leveled.sigmf-meta', ...words);
    assert.notEqual(code, 0);
    assert.match(stderr, /equaliser gains/);
  });

  it('images at their own cadence change nothing in the file, by either method', async () => {
    const from = ['bytes.sigmf-meta', '--align', 'utc', '--integration', '100ms', '--values', 'sums']; // prettier-ignore
    await ran('correlate', 'bytes.sigmf-meta', ...SUMS, '-o', 'plain.uvh5');
    const plain = await integrationsIn('plain.uvh5');
    for (const method of [[], ['--direct']]) {
      const out = `images${method.length}.uvh5`;
      const summary = await live(...from, '--image', '20ms', '--picture', `${out}.png`, '-o', out, ...method);
      assert.equal(summary.images, 16);
      const ours = await integrationsIn(out);
      assert.equal(ours.length, plain.length);
      assert.equal(summary.integrations, plain.length);
      plain.forEach((one, k) => {
        assert.deepEqual(ours[k].visibilities, one.visibilities);
        assert.deepEqual(ours[k].counts, one.counts);
        assert.deepEqual([ours[k].start, ours[k].durationS], [one.start, one.durationS]);
      });
      assert.ok((await readdir(folder)).includes(`${out}.png`));
    }
  });
});

describe('an observation outlives', () => {
  const send = (
    name: string,
    format: string,
    recording: string,
    ...more: readonly string[]
  ): Promise<string> =>
    ran('send', `${recording}.sigmf-meta`, '--format', format, '--to', `${name}.pcap`, ...more);

  it("the senders' restart: a new stream epoch and a new file, at most two packets of a sender lost", async () => {
    await send('restart', 'chips', 'nibbles', '--restart', '200ms');
    const summary = await live('--from', 'restart.pcap', '--epoch', `${START},clock`, ...ARRAY, '-o', 'restart.uvh5', '--integration', '40ms'); // prettier-ignore
    accountHolds(summary);
    assert.equal(summary.sessions, 2);
    assert.equal(summary.packets.resyncs, 1);
    assert.equal(summary.files.length, 2);
    assert.ok(summary.packets.outcomes.late <= 2, JSON.stringify(summary.packets.outcomes));
  });

  it('a restart after which the time is unknown: what comes is left out, with a warning', async () => {
    const lines = (await ran('live', '--from', 'restart.pcap', '--epoch', START, ...ARRAY, '-o', 'unknown.uvh5', '--integration', '40ms', '--json')).trim().split('\n'); // prettier-ignore
    const summary = JSON.parse(lines[lines.length - 1]) as Summary & {
      readonly packets: { readonly untimedBlocks: number };
    };
    accountHolds(summary);
    assert.deepEqual([summary.sessions, summary.files.length], [1, 1]);
    assert.ok(summary.packets.untimedBlocks > 0);
    assert.ok(lines.some((line) => line.includes('left out') && line.includes('--epoch')));
    const last = (await integrationsIn('unknown.uvh5')).at(-1);
    assert.ok(last && last.start.unixSeconds + last.start.fraction < Date.parse(START) / 1000 + 0.2);
  });

  it('a jump forward: what is between is missing, and no epoch is lost', async () => {
    await send('jump', 'chips', 'nibbles', '--jump', '160ms:1s');
    const summary = await live('--from', 'jump.pcap', '--epoch', START, ...ARRAY, '-o', 'jump.uvh5', '--integration', '40ms'); // prettier-ignore
    accountHolds(summary);
    assert.equal(summary.sessions, 1);
    assert.equal(summary.packets.resyncs, 0);
    // A second at 25 000 spectra per second of 32 inputs and 4 channels, plus the missing ends of blocks.
    assert.ok(Math.abs(summary.missingSamples / (25_000 * 32 * 4) - 1) < 0.1, String(summary.missingSamples));
  });

  it('the wrap of a 48-bit clock: no gap at all', async () => {
    const turn = 2 ** 48;
    // Four heaps of 256 spectra are a block; a spectrum is 8 ticks.
    const blockTicks = 4 * 256 * 8;
    await send('wrap', 'spead-feng', 'bytes', '--start-tick', String(turn - 4 * blockTicks));
    const epoch = /tick 0 is (\S+),/.exec((await corella(folder, 'send', 'bytes.sigmf-meta', '--format', 'spead-feng', '--to', 'w2.pcap', '--start-tick', String(turn - 4 * blockTicks))).stderr)?.[1]; // prettier-ignore
    assert.ok(epoch);
    const summary = await live('--from', 'wrap.pcap', '--epoch', epoch, '--rate', '200kHz', '--frequency', '58MHz', ...ARRAY, '-o', 'wrap.uvh5', '--integration', '40ms', '--align', 'first-sample'); // prettier-ignore
    accountHolds(summary);
    assert.equal(summary.sessions, 1);
    assert.equal(summary.packets.outcomes.placed, summary.packets.packets - summary.packets.outcomes.control);
    const first = (await integrationsIn('wrap.uvh5'))[0];
    assert.ok(Math.abs(first.start.unixSeconds - Date.parse(START) / 1000) <= 1);
  });

  it('one sender that falls silent: it alone is missing, for just that long', async () => {
    await send('silent', 'spead-feng', 'bytes', '--lose-source', '3@100ms-200ms');
    const summary = await live('--from', 'silent.pcap', '--epoch', START, '--rate', '200kHz', '--frequency', '58MHz', ...ARRAY, '-o', 'silent.uvh5', '--values', 'sums', '--integration', '20ms'); // prettier-ignore
    accountHolds(summary);
    const all = await integrationsIn('silent.uvh5');
    // Pairs with station 3 count nothing while it is silent; the others count everything.
    const pair = (i: number, j: number): number => (i * (i + 1)) / 2 + j;
    assert.equal(all[7].counts[pair(3, 0)], 0);
    assert.equal(all[7].counts[pair(4, 3)], 0);
    assert.equal(all[7].counts[pair(4, 2)], 500);
    assert.equal(all[3].counts[pair(3, 0)], 500);
    assert.equal(all[11].counts[pair(3, 0)], 500);
  });
});
