/**
 * Live tracking of packets of voltages: eight dishes over 2 km at 1.4 GHz, whose signals are made from ERFA's positions
 * and sent like a digitiser and a VLBI recorder. Amplitudes within 0.2 % and phases within 0.3° of the truth.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Integration } from '../core/blocks.js';
import { addSeconds, formatInstant, parseInstant, secondsBetween } from '../core/instant.js';
import { openFile } from '../formats/index.js';
import { corellaHere, withFolder } from './corella.js';
import { recordDishes, type Dishes } from './dishes.js';
import { directions, source, start } from './erfa-tracking.js';
import { stopped, type Correlated } from './fringes.js';

/** Half an hour after the start. */
const INDEX = 6;
const [seconds, ...direction] = directions[INDEX];
const moment = addSeconds(parseInstant(start, 'ERFA'), seconds);
const towards = `${source.raDeg} ${source.decDeg}`;

async function ran(folder: string, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await corellaHere(folder, ...words);
  assert.equal(code, 0, `corella ${words.join(' ')}\n${stderr}`);
  return stdout;
}

async function correlatedIn(path: string): Promise<Correlated & { readonly object: string }> {
  const file = await openFile(path);
  assert.ok(file.kind === 'visibilities');
  const { telescope, frequenciesHz, object } = file.header;
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  assert.equal(all.length, 1);
  return { telescope, frequenciesHz, object, integration: all[0] };
}

/** For the worst baseline. */
function worstOf(made: Correlated): { readonly amplitude: number; readonly phaseDeg: number } {
  const { start: begins, durationS } = made.integration;
  const sinceS = secondsBetween(moment, begins) + durationS / 2;
  const then = [0, 1, 2].map((k) => direction[k] + sinceS * direction[3 + k]);
  const all = stopped(made, then);
  return {
    amplitude: all.reduce((worst, { amplitude }) => Math.max(worst, Math.abs(amplitude - 1)), 0),
    phaseDeg: all.reduce((worst, { phaseDeg }) => Math.max(worst, Math.abs(phaseDeg)), 0),
  };
}

const trials: readonly (readonly [string, Dishes])[] = [
  ['vdif', { centreFrequencyHz: 1.4e9, sampleRateHz: 16e6, samples: 40_000, samplesAs: 'ci8' }],
  ['spead-digitiser', { centreFrequencyHz: 1.4e9, sampleRateHz: 32e6, samples: 81_920, samplesAs: 'i8' }],
];

for (const [format, dishes] of trials)
  it(`${format}: live --track keeps amplitude and phase on every baseline`, (test) =>
    withFolder(async (folder) => {
      const recording = await recordDishes(folder, INDEX, dishes);
      await ran(folder, 'send', recording, '--format', format, '--to', 'dishes.pcap');
      const { centreFrequencyHz, sampleRateHz } = dishes;
      const epoch = format === 'vdif' ? [] : ['--epoch', formatInstant(moment, 0)];
      const packets = ['live', '--from', 'dishes.pcap', '--format', format, ...epoch];
      const known = ['--rate', String(sampleRateHz), '--frequency', String(centreFrequencyHz)];
      const made = ['--telescope', 'dishes.json', '--channels', '64', '--taps', '4', '--bits', 'float'];
      const how = [...packets, ...known, ...made, '--align', 'first-sample', '--json'];
      await ran(folder, ...how, '--track', towards, '-o', 'tracked.uvh5');
      const tracked = await correlatedIn(join(folder, 'tracked.uvh5'));
      const worst = worstOf(tracked);
      test.diagnostic(
        `${format}: amplitude ${worst.amplitude.toFixed(5)}, phase ${worst.phaseDeg.toFixed(3)}°`,
      );
      assert.ok(worst.amplitude < 0.002, `amplitude off by ${worst.amplitude}`);
      assert.ok(worst.phaseDeg < 0.3, `${worst.phaseDeg}°`);
      assert.equal(tracked.object, towards);
      await ran(folder, ...how, '-o', 'left.uvh5');
      assert.ok(worstOf(await correlatedIn(join(folder, 'left.uvh5'))).amplitude > 0.7);
    }));
