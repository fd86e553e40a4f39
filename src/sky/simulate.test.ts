import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addSamples } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { skyFrame } from './frame.js';
import { perfectGains, trueGains } from './input-gains.js';
import {
  close,
  frame,
  planWith,
  power,
  ratio,
  record,
  spectrumOf,
  start,
  telescopeAt,
  turnsOf,
  wrapped,
} from './simulate.testing.js';
import { fixedSource, sourceAt } from './source.js';
import { addTone, addTurned, turn } from './turn.js';

/** Phase in turns of x₁·conj(x₀) at some bins of the DFT, for a source at an altitude and azimuth. */
async function fringes(
  place: readonly [number, number, number],
  altDeg: number,
  azDeg: number,
  bins: readonly number[],
): Promise<number[]> {
  const telescope = telescopeAt([[0, 0, 0], place]);
  const plan = planWith({ telescope, sources: [sourceAt(frame, altDeg, azDeg, 1, 'x')] });
  const [x0, x1] = (await record(plan)).map((row) => spectrumOf(row, plan));
  return bins.map((bin) => turnsOf(ratio(x1, x0, bin)));
}

describe('fringes', () => {
  // 3 m · cos 60° / c = 5.00346 ns early: at 60 MHz (bin 0) 0.300208 turns; at 60.4 MHz (bin 1024 of 4096, a quarter of
  // 1.6 MHz) 0.302209; at 59.6 MHz (bin 3072) 0.298206. The sky rotates by 1e-7 rad within the half chunk.
  const expected = [0.300208, 0.302209, 0.298206];
  const bins = [0, 1024, 3072];

  it('of a source in the east are positive for the eastern station', async () => {
    (await fringes([3, 0, 0], 60, 90, bins)).forEach((turns, n) => {
      close(turns, expected[n], 2e-6);
    });
  });

  it('turn round when the source is in the west', async () => {
    (await fringes([3, 0, 0], 60, 270, bins)).forEach((turns, n) => {
      close(turns, -expected[n], 2e-6);
    });
  });

  it('hold for north and south likewise, and for up', async () => {
    (await fringes([0, 3, 0], 60, 0, bins)).forEach((turns, n) => {
      close(turns, expected[n], 2e-6);
    });
    (await fringes([0, 3, 0], 60, 180, bins)).forEach((turns, n) => {
      close(turns, -expected[n], 2e-6);
    });
    // 1.5 m up under a source at altitude 90°: the same path
    (await fringes([0, 0, 1.5], 90, 0, bins)).forEach((turns, n) => {
      close(turns, expected[n], 2e-6);
    });
  });

  it('show a delay of a fraction of a sample as a slope along the band', async () => {
    // 300 m · cos 60° / c = 500.346 ns = 0.80055 samples: between 59.6 and 60.4 MHz 0.400277 turns
    const [low, high] = await fringes([300, 0, 0], 60, 90, [3072, 1024]);
    close(wrapped(high - low), 0.400277, 2e-6);
    // and at 60.4 MHz itself 30.22088 turns
    close(high, 0.22088, 3e-5);
  });

  it('follow the turning sky from chunk to chunk', async () => {
    // Slow samples, so that 16 chunks take 65 s and the fringe moves by a large part of a turn.
    const telescope = telescopeAt([
      [0, 0, 0],
      [300, 0, 0],
    ]);
    const source = sourceAt(frame, 60, 90, 1, 'x');
    const plan = planWith({ telescope, sources: [source], sampleRateHz: 1000, samples: 16 * 4096 });
    const rows = await record(plan);
    const one = { ...plan, samples: 4096 };
    const turnsAt = (chunk: number): number => {
      const [x0, x1] = rows.map((row) => spectrumOf(row.slice(chunk * 8192, (chunk + 1) * 8192), one));
      return turnsOf(ratio(x1, x0, 0));
    };
    const expectedAt = (chunk: number): number => {
      const moment = addSamples(start, (chunk + 0.5) * 4096, 1000);
      const then = skyFrame(telescope.site, moment);
      const direction = then.directionEnu(source.position(then));
      return wrapped((60e6 * 300 * direction.x) / SPEED_OF_LIGHT_M_PER_S);
    };
    for (const chunk of [0, 15]) close(turnsAt(chunk), expectedAt(chunk), 1e-5, `chunk ${chunk}`);
    assert.ok(Math.abs(wrapped(turnsAt(15) - turnsAt(0))) > 0.1);
  });

  it('are the same in a real recording, whose zero frequency is its lower edge', async () => {
    const telescope = telescopeAt([
      [0, 0, 0],
      [3, 0, 0],
    ]);
    const sources = [sourceAt(frame, 60, 90, 1, 'x')];
    const plan = planWith({ telescope, sources, type: 'f32', sampleRateHz: 3.2e6 });
    const [x0, x1] = (await record(plan)).map((row) => spectrumOf(row, plan));
    // 60 MHz ± 0.8 MHz: 59.2 MHz is bin 0; 59.6, 60 and 60.4 MHz are bins 512, 1024, 1536 of 4096.
    const [atCentre, atHigh, atLow] = expected;
    close(turnsOf(ratio(x1, x0, 512)), atLow, 2e-6);
    close(turnsOf(ratio(x1, x0, 1024)), atCentre, 2e-6);
    close(turnsOf(ratio(x1, x0, 1536)), atHigh, 2e-6);
  });
});

describe('powers', () => {
  // 16 chunks of 4096 draws: a variance has an error of √(1/65536) = 0.4 %; six times that is allowed.
  const samples = 65_536;
  const tolerance = 0.024;

  it('are the flux through the beam plus the system’s, real and complex', async () => {
    const telescope = telescopeAt([[0, 0, 0]], { beamExponent: 1 });
    const sources = [sourceAt(frame, 30, 45, 400, 'x')];
    for (const type of ['f32', 'cf32'] as const) {
      const plan = planWith({ telescope, samples, type, sources, systemFluxJy: 50 });
      const [row] = await record(plan);
      // 400 Jy · cos²(60°) + 50 Jy
      close(power(row, type === 'cf32' ? 2 : 1) / 150, 1, tolerance, type);
      assert.equal(plan.countsPerRootJy, 1);
    }
  });

  it('of two sources add: they know nothing of each other', async () => {
    const sources = [sourceAt(frame, 90, 0, 10, 'x'), sourceAt(frame, 90, 0, 10, 'y')];
    const [row] = await record(planWith({ telescope: telescopeAt([[0, 0, 0]]), samples, sources }));
    // The same signal added twice would give 40.
    close(power(row, 2) / 20, 1, tolerance);
  });

  it('follow the spectrum', async () => {
    const telescope = telescopeAt([[0, 0, 0]]);
    const spectrumWith = async (spectralIndex: number): Promise<Float64Array> => {
      const source = fixedSource({ name: 'x', position: frame.zenith, fluxJy: 5, spectralIndex });
      const plan = planWith({ telescope, sources: [source] });
      return spectrumOf((await record(plan))[0], plan);
    };
    const [flat, steep] = [await spectrumWith(0), await spectrumWith(-3)];
    // The same draws, scaled by √((f/100 MHz)^−3) at 60.4 and 59.6 MHz
    close(ratio(steep, flat, 1024).re, 0.604 ** -1.5, 1e-4);
    close(ratio(steep, flat, 3072).re, 0.596 ** -1.5, 1e-4);
  });

  it('leave nothing of a source below the horizon', () => {
    const telescope = telescopeAt([[0, 0, 0]]);
    assert.throws(
      () => planWith({ telescope, sources: [sourceAt(frame, -10, 0, 1, 'set')] }),
      /mean power would be 0 Jy; add receiver noise/,
    );
  });

  it('are XX = I − Q, YY = I + Q, XY = U − iV', async () => {
    const telescope = telescopeAt([[0, 0, 0]], { polarisations: 2 });
    const stokes = { q: 0.3, u: 0.4, v: 0.5 };
    const plan = planWith({ telescope, samples, sources: [sourceAt(frame, 90, 0, 10, 'x', { stokes })] });
    const [x, y] = await record(plan);
    close(power(x, 2) / 7, 1, tolerance);
    close(power(y, 2) / 13, 1, tolerance);
    let re = 0;
    let im = 0;
    for (let n = 0; n < 2 * samples; n += 2) {
      re += (x[n] * y[n] + x[n + 1] * y[n + 1]) / samples;
      im += (x[n + 1] * y[n] - x[n] * y[n + 1]) / samples;
    }
    close(re / 4, 1, 0.06);
    close(im / -5, 1, 0.06);
  });

  it('of a wholly circular source make Y = iX', async () => {
    const telescope = telescopeAt([[0, 0, 0]], { polarisations: 2 });
    const stokes = { q: 0, u: 0, v: 1 };
    const plan = planWith({ telescope, sources: [sourceAt(frame, 90, 0, 10, 'x', { stokes })] });
    const [x, y] = await record(plan);
    // XY = −iV: x·conj(ix) = −i|x|²
    close(y[10], -x[11], 1e-5);
    close(y[11], x[10], 1e-5);
  });
});

describe('gains', () => {
  it('are those that trueGains gives, at every frequency', async () => {
    const telescope = telescopeAt(
      [
        [0, 0, 0],
        [0, 0, 0],
      ],
      { polarisations: 2 },
    );
    const stokes = { q: 0, u: 1, v: 0 };
    const sources = [sourceAt(frame, 90, 0, 10, 'x', { stokes })];
    const gains = { logAmplitudeRms: 0.3, phases: 'random', longestCableS: 300e-9 } as const;
    const ideal = planWith({ telescope, sources });
    const plan = planWith({ telescope, sources, gains });
    const perfect = (await record(ideal)).map((row) => spectrumOf(row, ideal));
    const gained = (await record(plan)).map((row) => spectrumOf(row, plan));
    // Bins 512 and 3584 of 4096 at 1.6 MHz: ±0.2 MHz
    const truth = trueGains(plan, [60.2e6, 59.8e6]);
    [512, 3584].forEach((bin, c) => {
      for (let a = 0; a < 4; a++) {
        const { re, im } = ratio(gained[a], perfect[a], bin);
        close(re, truth[2 * (c * 4 + a)], 1e-5);
        close(im, truth[2 * (c * 4 + a) + 1], 1e-5);
      }
    });
    // A cable's delay makes the phase fall as the frequency rises.
    const phaseDifference = wrapped(
      turnsOf({ re: truth[0], im: truth[1] }) - turnsOf({ re: truth[8], im: truth[9] }),
    );
    close(phaseDifference, -0.4e6 * plan.inputGains[0].cableS, 1e-9);
    assert.ok(plan.inputGains[0].cableS > 0);
  });

  it('are spread as given, and 1 when perfect', () => {
    const telescope = telescopeAt(Array.from({ length: 2000 }, () => [0, 0, 0] as const));
    const { inputGains } = planWith({ telescope, systemFluxJy: 1, gains: { logAmplitudeRms: 0.2 } });
    const rms = Math.sqrt(inputGains.reduce((sum, g) => sum + Math.log(g.amplitude) ** 2, 0) / 2000);
    // rms of 2000 draws: ± 0.2/√4000 = 0.003
    close(rms, 0.2, 0.015);
    const perfect = planWith({ telescope, systemFluxJy: 1, gains: perfectGains });
    assert.deepEqual([...trueGains(perfect, [60e6]).slice(0, 4)], [1, 0, 1, 0]);
  });
});

describe('turning phases', () => {
  it('stay exact over many elements', () => {
    const length = 1000;
    const turns = { first: 1234.56, step: -0.7071 };
    const source = Float64Array.from({ length: 2 * length }, (_, n) => Math.sin(n * n));
    const turned = new Float64Array(2 * length).fill(1);
    addTurned(turned, source, turns);
    const inPlace = source.slice();
    turn(inPlace, 2, turns);
    const tone = new Float64Array(2 * length);
    addTone(tone, 3, turns);
    for (let n = 0; n < length; n++) {
      const angle = 2 * Math.PI * (turns.first + n * turns.step);
      const re = source[2 * n] * Math.cos(angle) - source[2 * n + 1] * Math.sin(angle);
      const im = source[2 * n] * Math.sin(angle) + source[2 * n + 1] * Math.cos(angle);
      // 2000 turns are accurate to 2000 · 2⁻⁵³ · 2π ≈ 1.4e-12 rad
      close(turned[2 * n], 1 + re, 1e-11);
      close(turned[2 * n + 1], 1 + im, 1e-11);
      close(inPlace[2 * n], 2 * re, 1e-11);
      close(inPlace[2 * n + 1], 2 * im, 1e-11);
      close(tone[2 * n], 3 * Math.cos(angle), 1e-11);
      close(tone[2 * n + 1], 3 * Math.sin(angle), 1e-11);
    }
  });
});
