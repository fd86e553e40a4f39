/** A block is tested while the next one is made: the output equals that of one block after the other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu, type CpuBackend } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { openReference } from '../backend/reference.js';
import { planChannelise } from '../channelise/index.js';
import { allocateSpectra, allocateVoltages, type SpectraCAT } from '../core/axes.js';
import type { SpectraBlock, SpectraShape, VoltageBlock } from '../core/blocks.js';
import { Closers } from '../core/closing.js';
import type { SpectraGap } from '../core/gaps.js';
import { addSamples, instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import type { SpectraSource } from '../core/sources.js';
import { KurtosisTally, planKurtosis, prepareFlagger } from '../kurtosis/index.js';
import { prepareChannelise } from './channelise.js';
import { everySpectra } from './clock.js';
import { prepareKurtosis } from './kurtosis.js';
import type { TimedSpectra } from './spectra.js';
import type { Stage } from './stage.js';
import { prepareTakeSpectra } from './take-spectra.js';

const library = loadNative();
const shape = { type: 'ci8', channels: 5, inputs: 18 } as const;
const polarisations = 2;
const WINDOW = 64;
/** Of one length, then shorter ones, one that is too short for a window, and whole ones again. */
const LENGTHS = [256, 256, 256, 131, 9, 256, 64, 256];
const CAPACITY = 256;
/** The sixth block ends an integration. */
const CUT = LENGTHS.slice(0, 6).reduce((sum, length) => sum + length);

interface Given {
  readonly spectra: SpectraCAT;
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
  readonly index: number;
}

/** Blocks that differ, each with pulses of its own, and some with a hole. */
function givenBlocks(): Given[] {
  let index = 0;
  return LENGTHS.map((samples, n) => {
    const random = randomStream(n, 'ahead');
    const spectra = allocateSpectra('ci8', shape.channels, shape.inputs, samples);
    for (let row = 0; row < shape.channels * shape.inputs; row++)
      for (let t = 0; t < samples; t++) {
        const rms = row % 13 === n && t % 64 < 6 ? 40 : 8;
        for (let part = 0; part < 2; part++)
          spectra[2 * (row * samples + t) + part] = Math.max(-127, Math.min(127, rms * random.gaussian()));
      }
    const gaps: SpectraGap[] =
      n % 3 === 1
        ? [
            {
              firstChannel: 0,
              endChannel: shape.channels,
              firstInput: n,
              endInput: n + 1,
              firstSample: 2,
              endSample: 40,
            },
          ]
        : [];
    for (const { firstInput: a, firstSample, endSample } of gaps)
      for (let c = 0; c < shape.channels; c++) {
        const row = (c * shape.inputs + a) * samples;
        spectra.fill(0, 2 * (row + firstSample), 2 * (row + endSample));
      }
    const given = { spectra, samples, gaps, index };
    index += samples;
    return given;
  });
}

/** A block that was handed on. */
interface HandedOn {
  readonly index: number;
  readonly samples: number;
  readonly gaps: readonly SpectraGap[];
  readonly spectra: SpectraCAT;
}
const look = async ({ block, index }: TimedSpectra): Promise<HandedOn> => ({
  index,
  samples: block.samples,
  gaps: [...block.gaps],
  spectra: await block.read(),
});

async function oneByOne(given: readonly Given[]): Promise<[HandedOn[], KurtosisTally]> {
  const reference = openReference();
  const plan = planKurtosis({ ...shape, polarisations, spectraPerWindow: WINDOW });
  const flagger = await prepareFlagger(plan, reference);
  const block = reference.allocateSpectra({ ...shape, capacity: CAPACITY });
  const tally = new KurtosisTally(plan);
  const made: HandedOn[] = [];
  for (const { spectra, samples, gaps, index } of given) {
    await block.write(spectra, samples, gaps);
    tally.add(await flagger.run(block), index);
    made.push(await look({ block, index, start: instant(0), cutAt: Infinity }));
  }
  return [made, tally];
}

interface Chain {
  readonly cpu: CpuBackend;
  readonly stage: Stage<TimedSpectra, TimedSpectra>;
  readonly blocks: readonly SpectraBlock[];
  readonly tally: () => KurtosisTally;
}

async function prepare(closers: Closers, threads = 2): Promise<Chain> {
  const cpu = closers.keep(await openCpu({ threads }));
  const blockShape: SpectraShape = { ...shape, capacity: CAPACITY };
  const blocks = [0, 1, 2].map(() => closers.keep(cpu.allocateSpectra(blockShape)));
  let tally: KurtosisTally | undefined;
  const stage = closers.keep(
    await prepareKurtosis(
      { ...shape, polarisations },
      {
        backend: cpu,
        flaggedInputs: undefined,
        kurtosis: { spectraPerWindow: WINDOW, onPlan: (_, made) => (tally = made) },
      },
    ),
  );
  return { cpu, stage, blocks, tally: () => tally ?? assert.fail() };
}

const spectraOf = (sum: number, { samples }: HandedOn): number => sum + samples;

/** Noise with pulses in one input, other ones in each block; a block lasts a second. */
function voltages(n: number, samples: number): VoltageBlock {
  const made = allocateVoltages('ci8', shape.inputs, samples);
  const random = randomStream(n, 'voltages');
  for (let t = 0; t < made.length; t++)
    made[t] = (Math.floor(t / 2 / samples) === 2 * n && t % 640 < 64 ? 60 : 15) * random.gaussian();
  const gap = { firstInput: 1, endInput: 2, firstSample: 100 * n, endSample: 100 * n + 50 };
  made.fill(0, 2 * (samples + gap.firstSample), 2 * (samples + gap.endSample));
  return { type: 'ci8', inputs: shape.inputs, samples, voltages: made, gaps: [gap], start: instant(n) };
}

const garbage = allocateSpectra('ci8', shape.channels, shape.inputs, CAPACITY).fill(77);

describe('a block held while the next is made', { skip: 'what' in library ? library.what : false }, () => {
  // One or two blocks are held, except the one that ends an integration.
  for (const [stays, wantedThen] of [
    [1, [0, 1, 2, 3, 4, 6, 6, 7]],
    [2, [0, 0, 1, 2, 3, 6, 6, 6]],
  ] as const)
    it(`comes out as one by one, in order, with the same account; it stays for ${stays} more`, async () => {
      const given = givenBlocks();
      const [wanted, wantedTally] = await oneByOne(given);
      assert.ok(wanted.filter(({ gaps }, n) => gaps.length > given[n].gaps.length).length >= 6);
      const closers = new Closers();
      const { stage, blocks, tally } = await prepare(closers);
      const made: HandedOn[] = [];
      const keep = async (timed: TimedSpectra): Promise<void> => {
        made.push(await look(timed));
        // The receiver is done with it: from now on it may hold anything.
        await timed.block.write(garbage, CAPACITY);
      };
      /** Number of blocks handed on after each push. */
      const handedOn: number[] = [];
      for (const [n, { spectra, samples, gaps, index }] of given.entries()) {
        const block = blocks[n % (stays + 1)];
        await block.write(garbage, CAPACITY);
        await block.write(spectra, samples, gaps);
        const cutAt = index < CUT ? CUT : Infinity;
        await stage.push({ block, index, start: instant(0), cutAt, stays }, keep);
        handedOn.push(made.length);
      }
      assert.deepEqual(handedOn, wantedThen);
      await stage.flush(keep);
      await stage.flush(keep);
      assert.deepEqual(made, wanted);
      assert.deepEqual(tally().account(), wantedTally.account());
      await closers.close();
    });

  it('is not held where its memory is filled anew by the next push', async () => {
    const given = givenBlocks();
    const [wanted] = await oneByOne(given);
    const closers = new Closers();
    const { stage, blocks } = await prepare(closers);
    const made: HandedOn[] = [];
    for (const { spectra, samples, gaps, index } of given) {
      await blocks[0].write(spectra, samples, gaps);
      await stage.push({ block: blocks[0], index, start: instant(0), cutAt: Infinity }, async (timed) => {
        made.push(await look(timed));
      });
      await blocks[0].write(garbage, CAPACITY);
    }
    assert.deepEqual(made, wanted);
    await closers.close();
  });

  for (const kind of ['made of voltages', 'taken as they came'] as const)
    it(`${kind}: the same with one block and with two or three in turn, cut where integrations end`, async () => {
      const made: [HandedOn[], KurtosisTally][] = [];
      const held: number[] = [];
      for (const [isAhead, threads] of [
        [false, 2],
        [true, 2],
        [true, 5],
      ] as const) {
        const closers = new Closers();
        const { cpu, stage, tally } = await prepare(closers, threads);
        const handed: HandedOn[] = [];
        const keep = async (timed: TimedSpectra): Promise<void> => {
          handed.push(await look(timed));
          await timed.block.write(garbage.subarray(0, 0) as SpectraCAT, 0);
        };
        const push = async (timed: TimedSpectra): Promise<void> => {
          const end = timed.index + timed.block.samples;
          await stage.push(timed, keep);
          const left = end - handed.reduce(spectraOf, 0);
          if (!isAhead || end % 600 === 0) assert.equal(left, 0, 'spectra held at a cut');
          else held.push(left);
        };
        if (kind === 'made of voltages') {
          const plan = planChannelise({
            channels: shape.channels,
            taps: 4,
            inputs: shape.inputs,
            polarisations,
            inputType: 'ci8',
            outputType: 'ci8',
            blockSamples: CAPACITY * shape.channels,
          });
          const channelise = closers.keep(
            await prepareChannelise({
              backend: cpu,
              plan,
              clock: everySpectra(600),
              ...(isAhead && { powers: 64 }),
              source: { start: instant(0), sampleRateHz: plan.blockSamples, polarisations },
            }),
          );
          for (let n = 0; n < 6; n++) await channelise.push(voltages(n, plan.blockSamples), push);
        } else {
          const source = {
            kind: 'spectra',
            ...shape,
            polarisations,
            spectrumRateHz: 100,
            start: instant(0),
          } as unknown as SpectraSource;
          const take = closers.keep(
            await prepareTakeSpectra({
              backend: cpu,
              source,
              clock: everySpectra(600),
              leastSpectra: CAPACITY,
              flagged: isAhead,
            }),
          );
          for (const { spectra, samples, gaps, index } of givenBlocks())
            await take.push(
              {
                spectra: spectra.slice() as SpectraCAT,
                samples,
                gaps,
                start: addSamples(instant(0), index, 100),
              },
              push,
            );
        }
        await stage.flush(keep);
        made.push([handed, tally()]);
        await closers.close();
      }
      const [[wanted, wantedTally], ...ahead] = made;
      assert.ok(wanted.length > 6 && wanted.filter(({ gaps }) => gaps.length > 1).length > 3);
      for (const [handed, tally] of ahead) {
        assert.deepEqual(handed, wanted);
        assert.deepEqual(tally.account(), wantedTally.account());
      }
      assert.ok(held.length > 6 && held.every((spectra) => spectra > 0 && spectra <= 2 * CAPACITY));
      assert.ok(held.some((spectra) => spectra > CAPACITY));
    });

  it('takes a failure behind it to the next push, and closes with blocks under way', async () => {
    const [first, second] = givenBlocks();
    const closers = new Closers();
    const { stage, blocks } = await prepare(closers);
    const push = async (n: number, { spectra, samples, gaps, index }: Given): Promise<void> => {
      await blocks[n].write(spectra, samples, gaps);
      await stage.push({ block: blocks[n], index, start: instant(0), cutAt: Infinity, stays: 1 }, () =>
        Promise.reject(new Error('the disk is full')),
      );
    };
    await push(0, first);
    await assert.rejects(push(1, second), /the disk is full/);
    await closers.close();
  });

  it('reports what native code refuses', async () => {
    const [first, second] = givenBlocks();
    const closers = new Closers();
    const { cpu, stage, blocks } = await prepare(closers);
    const ignore = (): Promise<void> => Promise.resolve();
    const timed = { start: instant(0), cutAt: Infinity, stays: 1 } as const;
    await blocks[0].write(first.spectra, first.samples);
    await blocks[1].write(second.spectra, second.samples);
    await stage.push({ block: blocks[0], index: 0, ...timed }, ignore);
    await cpu.close();
    await assert.rejects(stage.push({ block: blocks[1], index: 256, ...timed }, ignore), /backend is closed/);
    await closers.close();
  });
});
