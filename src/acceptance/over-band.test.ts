/** Gains over the band with fewer parameters: reported values are those that are written. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { z } from 'zod';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readGainFile } from '../formats/index.js';
import { corellaHere } from './corella.js';
import { writeKnownSky, type Complex, type Jones } from './known-sky.js';

const [STATIONS, CHANNELS, STEP_HZ] = [10, 16, 500e3];
const frequenciesHz = Array.from({ length: CHANNELS }, (_, c) => 150e6 + c * STEP_HZ);
const NONE: Complex = [0, 0];
/** Delays from −1 to 1 times `delayS`, amplitudes that rise by a factor of 1 ± `slope` over the band. */
const behind =
  (delayS: number, slope = 0) =>
  (s: number, c: number): Jones => {
    const angle = s - 2 * Math.PI * c * STEP_HZ * delayS * Math.sin(5 * s * s);
    const size = (1 + 0.03 * s) * (1 + slope * ((2 * c) / (CHANNELS - 1) - 1));
    const gain: Complex = [size * Math.cos(angle), size * Math.sin(angle)];
    return [gain, NONE, NONE, gain];
  };
const reportSchema = z.looseObject({
  medianResidual: z.number(),
  model: z.looseObject({ unexplained: z.number().nullable() }),
  overMisfit: z.object({ free: z.number(), shaped: z.number(), lost: z.number() }),
  delays: z.array(z.looseObject({ name: z.string(), rangeS: z.number() })).optional(),
});

describe('gains over the band', () => {
  const folder = temporaryFolder('over-band');
  const spots = [{ altDeg: 70, azDeg: 20, stokes: [100, 0, 0, 0] as const }, { altDeg: 50, azDeg: 130, stokes: [60, 0, 0, 0] as const }]; // prettier-ignore
  const sources = 's0@70:20:100,s1@50:130:60';
  const calibrate = (name: string, ...more: string[]) =>
    corellaHere(folder, 'calibrate', `${name}.uvfits`, '--sources', sources, '-o', 'gains.json', '--overwrite', '--quiet', ...more); // prettier-ignore
  const json = (text: string) => reportSchema.parse(JSON.parse(text));

  before(async () => {
    const sky = { stations: STATIONS, radiusM: 40, frequenciesHz, sources: spots, noiseJy: 0.1 };
    for (const [name, jones] of [
      ['level', behind(0)],
      ['short', behind(10e-9)],
      ['long', behind(100e-9)],
      ['sloping', behind(10e-9, 0.3)],
      ['beyond', behind(3e-6)],
    ] as const)
      await writeKnownSky(join(folder, `${name}.uvfits`), { ...sky, jones });
  });

  it('fit where the band is level, and are reported and refused where cables are not', async () => {
    const level = await calibrate('level', '--over', 'band', '--json');
    assert.equal(level.code, 0, level.stderr);
    assert.ok(
      json(level.stdout).medianResidual < 0.02 && json(level.stdout).overMisfit.lost === 0,
      level.stdout,
    );
    const short = await calibrate('short', '--over', 'band');
    assert.match(short.stdout, /--over band does not fit: .* leaves a residual of (?:[5-9]\.\d|\d\d) %, where a gain for each channel leaves 0\.\d %; take --over delay/); // prettier-ignore
    const long = await calibrate('long', '--over', 'band');
    assert.equal(long.code, 1, long.stdout);
    assert.match(long.stderr, /--over band: one gain for the band of each input leaves a residual of \d\d %.*--over delay/); // prettier-ignore
    const accepted = await calibrate('long', '--over', 'band', '--accept-model', '--json');
    assert.equal(accepted.code, 0, accepted.stderr);
    const { medianResidual, overMisfit } = json(accepted.stdout);
    assert.equal(medianResidual, overMisfit.shaped);
    assert.ok(medianResidual > 0.4 && overMisfit.free < 0.02, accepted.stdout);
    const { solutions } = await readGainFile(join(folder, 'gains.json'));
    assert.ok(solutions.some(({ residual }) => residual > 0.4));
  });

  it('by delays give a warning where sizes change too', async () => {
    const right = await calibrate('long', '--over', 'delay', '--json');
    assert.equal(right.code, 0, right.stderr);
    assert.ok(json(right.stdout).medianResidual < 0.02, right.stdout);
    const sloping = await calibrate('sloping', '--over', 'delay');
    assert.match(sloping.stdout, /--over delay does not fit: .* leave --over out/);
  });

  it('by delays state how far channels can know them, and who is near that', async () => {
    const beyond = await calibrate('beyond', '--over', 'delay');
    assert.equal(beyond.code, 0, beyond.stderr);
    // 1/(2 · 500 kHz)
    assert.match(beyond.stdout, /delays are known within ±1 µs, .* wrong by 2 µs/); // prettier-ignore
    assert.match(beyond.stdout, /\d+ of 20 delays (is|are) near the edge of that range \(s\d:[XY]/);
    const near = await calibrate('short', '--over', 'delay');
    assert.doesNotMatch(near.stdout, /near the edge of that range/);
  });
});
