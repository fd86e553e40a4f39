// SumThreshold through `corella convert --flag-interference`: a carrier, a pulsed radar, a drifting tone, a wideband
// burst and a dispersed pulse in the visibilities of a known sky, made from formulae. Detections and false flags are
// counted in the output file; the flux is a plain mean of V·conj(fringe) over the remaining data.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { knownTelescope, writeKnownSky } from '../../dist/acceptance/known-sky.js';
import { openFile } from '../../dist/formats/index.js';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const reported = z.object({
  flags: z.object({ bursts: z.array(z.object({ dispersion: z.number().optional() })) }),
});
const STATIONS = 8;
const CHANNELS = 64;
const TIMES = 30;
const NOISE_JY = 10;
const FLUX_JY = 20;
const SIGMA = 6;
const frequenciesHz = Array.from({ length: CHANNELS }, (_, c) => 150e6 + 1e5 * c);
const [ALT_DEG, AZ_DEG] = [70, 30];
/** @satisfies {import('../../dist/acceptance/known-sky.js').KnownSky} */
const sky = {
  ...{ stations: STATIONS, radiusM: 15, frequenciesHz, noiseJy: NOISE_JY, times: TIMES },
  sources: [
    {
      altDeg: ALT_DEG,
      azDeg: AZ_DEG,
      stokes: /** @type {[number, number, number, number]} */ ([FLUX_JY, 0, 0, 0]),
    },
  ],
};

/** @typedef {(t: number, c: number) => boolean} Hit */
/** A pulse of 100 pc/cm³ would cross 6.4 MHz at 150 MHz in 1.5 s: one of 2000 takes 30 s, fifteen integrations. */
const lateTimes = (/** @type {number} */ c) =>
  (4148.808 * 2000 * ((frequenciesHz[c] / 1e6) ** -2 - (frequenciesHz[CHANNELS - 1] / 1e6) ** -2)) / 2;
/** @type {Record<string, Hit>} */
const kinds = {
  'carrier, 1 channel': (_t, c) => c === 20,
  'carrier, 13 channels': (_t, c) => c % 5 === 2,
  'pulsed radar': (t, c) => t % 5 === 0 && c >= 40 && c < 44,
  'drifting tone': (t, c) => c === 10 + t,
  'wideband burst': (t) => t === 17,
  'dispersed pulse': (t, c) => Math.abs(t - 5 - lateTimes(c)) < 1,
};
const LEVELS_DB = [1, 5, 10, 20, 40];

/** Rice distribution of unit noise per part about ν, [P(amplitude < r)] on a grid. */
const STEP = 0.01;
function riceBelow(/** @type {number} */ nu) {
  const below = [0];
  let sum = 0;
  for (let n = 0; n < 20 / STEP + nu / STEP; n++) {
    const r = (n + 0.5) * STEP;
    sum += STEP * r * Math.exp(-((r - nu) ** 2) / 2) * scaledBessel(r * nu);
    below.push(sum);
  }
  return below;
}
/** I₀(x)·e^(−x), by its integral over a circle. */
function scaledBessel(/** @type {number} */ x) {
  let sum = 0;
  for (let k = 0; k < 64; k++) sum += Math.exp(x * (Math.cos((2 * Math.PI * (k + 0.5)) / 64) - 1));
  return sum / 64;
}
const above = (/** @type {number[]} */ below, /** @type {number} */ r) =>
  Math.max(
    0,
    1 - below[Math.max(0, Math.min(below.length - 1, Math.round(r / STEP)))] / below[below.length - 1],
  );
const quantile = (/** @type {number[]} */ below, /** @type {number} */ part) =>
  STEP * below.findIndex((sum) => sum >= part * below[below.length - 1]);
/** Threshold of one sample of one baseline: the median and 6 · 1.4826 median deviations. */
const alone = riceBelow(FLUX_JY / NOISE_JY);
const middle = quantile(alone, 0.5);
const deviation = bisect((d) => above(alone, middle - d) - above(alone, middle + d) - 0.5);
const threshold = middle + SIGMA * 1.4826 * deviation;
function bisect(/** @type {(x: number) => number} */ f) {
  let [low, high] = [0, 5];
  for (let k = 0; k < 40; k++) {
    const x = (low + high) / 2;
    if (f(x) > 0) high = x;
    else low = x;
  }
  return low;
}
/** Probability that one sample is detected by itself, with interference of random phase added to the source. */
function detectedAlone(/** @type {number} */ amplitude) {
  let sum = 0;
  for (let k = 0; k < 8; k++) {
    const turn = (2 * Math.PI * k) / 8;
    const nu = Math.hypot(FLUX_JY + amplitude * Math.cos(turn), amplitude * Math.sin(turn)) / NOISE_JY;
    sum += nu > threshold + 6 ? 1 : above(riceBelow(nu), threshold);
  }
  return sum / 8;
}

/** @param {string} path @param {Hit} hit */
async function measure(path, hit) {
  const file = await openFile(path);
  if (file.kind !== 'visibilities') throw new Error(path);
  const { stations } = knownTelescope(sky);
  const baselines = (STATIONS * (STATIONS + 1)) / 2;
  const [alt, az] = [(ALT_DEG * Math.PI) / 180, (AZ_DEG * Math.PI) / 180];
  const [east, north] = [Math.cos(alt) * Math.sin(az), Math.cos(alt) * Math.cos(az)];
  let [hits, found, others, wrong, flux, count, t] = [0, 0, 0, 0, 0, 0, 0];
  for await (const { passThrough } of file.integrations()) {
    if (!passThrough) throw new Error('no weights');
    for (let c = 0; c < CHANNELS; c++)
      for (let i = 0; i < STATIONS; i++)
        for (let j = 0; j < i; j++) {
          const early =
            (stations[i].eastM - stations[j].eastM) * east +
            (stations[i].northM - stations[j].northM) * north;
          const angle = (2 * Math.PI * frequenciesHz[c] * early) / 299_792_458;
          for (const product of [0, 3]) {
            const at = 4 * (c * baselines + (i * (i + 1)) / 2 + j) + product;
            const isTaken = !(passThrough.weights[at] > 0);
            if (hit(t, c)) {
              hits++;
              if (isTaken) found++;
            } else {
              others++;
              if (isTaken) wrong++;
            }
            if (isTaken) continue;
            flux +=
              passThrough.means[2 * at] * Math.cos(angle) + passThrough.means[2 * at + 1] * Math.sin(angle);
            count++;
          }
        }
    t++;
  }
  await file.close();
  return {
    detection: hits === 0 ? 0 : found / hits,
    falseAlarms: wrong / others,
    flux: flux / count,
    share: hits / (hits + others),
  };
}

/**
 * @param {string} folder
 * @param {string[]} words  of kinds, such as pulse; all if empty
 * @returns {Promise<string[]>}
 */
export async function run(folder, words = []) {
  /** @type {string[]} */
  const failures = [];
  const [raw, out] = [join(folder, 'raw.uvh5'), join(folder, 'flagged.uvh5')];
  const flag = () => {
    const words = ['convert', raw, out, '--flag-interference', String(SIGMA), '--overwrite', '--json'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return reported.parse(JSON.parse(stdout)).flags;
  };
  const none = () => false;
  await writeKnownSky(raw, sky);
  flag();
  const clean = await measure(out, none);
  const reference = (await measure(raw, none)).flux;
  const percent = (/** @type {number} */ value, digits = 1) =>
    `${(100 * value).toFixed(digits)} %`.padStart(9);
  console.log(
    'Visibilities: SumThreshold at 6 σ, 8 stations, 64 channels × 30 integrations; interference over the noise of one visibility',
  );
  console.log(
    `noise alone: ${percent(clean.falseAlarms, 3).trim()} flagged; one sample alone by theory ${percent(above(alone, threshold), 5).trim()}; flux ${(clean.flux / reference).toFixed(4)} of what it is without flags`,
  );
  console.log('kind                    dB   share   found  one alone  beside it  flux with  flux without');
  if (clean.falseAlarms > 1e-3) failures.push(`noise alone loses ${percent(clean.falseAlarms, 3)}`);
  const isAsked = (/** @type {string} */ kind) =>
    words.length === 0 || words.some((word) => kind.includes(word));
  for (const [kind, hit] of Object.entries(kinds).filter(([name]) => isAsked(name)))
    for (const db of LEVELS_DB) {
      const amplitude = Math.SQRT2 * NOISE_JY * 10 ** (db / 20);
      const isSky = kind === 'dispersed pulse';
      await writeKnownSky(raw, {
        ...sky,
        added: (t, c, [i, j], [p, q]) => {
          if (!hit(t, c) || i === j || p !== q) return [0, 0];
          // A transmitter's wave reaches each station by a different path; the pulse comes from the zenith.
          const turn = isSky ? 0 : 2.399 * (i * i - j * j) + 0.7 * t * (i - j);
          return [amplitude * Math.cos(turn), amplitude * Math.sin(turn)];
        },
      });
      const { bursts } = flag();
      const without = await measure(raw, hit);
      const { detection, falseAlarms, flux, share } = await measure(out, hit);
      const burst =
        bursts.length > 0
          ? `  reported: burst${bursts[0].dispersion === undefined ? '' : `, ${bursts[0].dispersion.toFixed(0)} pc/cm³`}`
          : '';
      console.log(
        `${kind.padEnd(22)} ${String(db).padStart(3)} ${percent(share)}${percent(detection)} ${percent(detectedAlone(amplitude))}  ${percent(falseAlarms, 3)} ${(flux / reference).toFixed(4).padStart(9)} ${(without.flux / reference).toFixed(4).padStart(12)}${burst}`,
      );
      if (db >= 10 && detection < 0.95) failures.push(`${kind} of ${db} dB: ${percent(detection)} found`);
      if (falseAlarms > 5e-3)
        failures.push(`${kind} of ${db} dB: ${percent(falseAlarms, 3)} flagged beside it`);
      if (db >= 5 && Math.abs(flux / reference - 1) > 0.01)
        failures.push(`${kind} of ${db} dB: flux ${flux / reference}`);
      const isBurst = kind === 'wideband burst' || isSky;
      if (isBurst && detection > 0.5 && bursts.length === 0)
        failures.push(`${kind} of ${db} dB: flagged and not reported`);
    }
  return failures;
}
