// Spectral kurtosis of voltages through `corella correlate --kurtosis`: a carrier, a pulsed radar, a drifting tone, a
// wideband burst and a dispersed pulse in noise with a weak source, all made without our own simulator.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { openFile } from '../../dist/formats/index.js';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const INPUTS = 4;
const CHANNELS = 16;
const WINDOW = 256;
const WINDOWS = 64;
const TAPS = 8;
const SAMPLES = (WINDOW * WINDOWS + TAPS - 1) * CHANNELS;
const RMS = 800;
/** The default filter's noise bandwidth, in channels: P Σh²/(Σh)² of a sinc with a Hann window, eight taps. */
const taps = Float64Array.from({ length: TAPS * CHANNELS }, (_, n) => {
  const x = (n - (TAPS * CHANNELS - 1) / 2) / CHANNELS;
  return (Math.sin(Math.PI * x) / (Math.PI * x)) * (0.5 + 0.5 * Math.cos((2 * Math.PI * x) / TAPS));
});
const NOISE_WIDTH =
  (CHANNELS * taps.reduce((sum, tap) => sum + tap ** 2, 0)) / taps.reduce((sum, tap) => sum + tap, 0) ** 2;
/** The part common to all inputs: the sky. */
const LIKE = 0.3;
const CHANNEL = 11;

/** @typedef {(data: Float32Array) => void} Adding [a][t][re, im] */
const reportOf = z.object({
  interference: z
    .object({
      flagged: z.number(),
      samples: z.number(),
      byChannel: z.array(z.number()),
      episodes: z.array(
        z.object({ kind: z.string(), fate: z.string(), fromChannel: z.number(), toChannel: z.number() }),
      ),
    })
    .optional(),
});
/** @typedef {NonNullable<z.infer<typeof reportOf>['interference']>} Report */

/** Independent random numbers: Marsaglia's xorshift, and Box–Muller Gaussians. */
let state = 88_172_645;
const uniform = () => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return ((state >>> 0) + 0.5) / 2 ** 32;
};
const gaussian = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

function noise() {
  const data = new Float32Array(2 * INPUTS * SAMPLES);
  for (let n = 0; n < 2 * SAMPLES; n++) {
    const sky = gaussian() * Math.sqrt(LIKE);
    for (let a = 0; a < INPUTS; a++)
      data[2 * a * SAMPLES + n] = RMS * (sky + gaussian() * Math.sqrt(1 - LIKE));
  }
  return data;
}

/** Of a plane wave from the horizon. */
const phases = [0, 2.1, 4.4, 0.9];
/**
 * A wave of so many dB over the noise of its channel, at a frequency in channels from the band's centre, while it is
 * on.
 * @param {number} db
 * @param {(t: number) => number} frequencyAt
 * @param {(spectrum: number) => boolean} isOn
 * @returns {Adding}
 */
const tone = (db, frequencyAt, isOn) => (data) => {
  // The noise power of a complex sample is 2·RMS², of which a channel has its part, slightly reduced by its filter.
  const amplitude = Math.sqrt((2 * RMS ** 2 * 10 ** (db / 10) * NOISE_WIDTH) / CHANNELS);
  let angle = 0;
  let level = 0;
  for (let t = 0; t < SAMPLES; t++) {
    angle += (2 * Math.PI * frequencyAt(t)) / CHANNELS;
    // Rises and falls over two spectra, like real transmitters: a sharp edge would be visible in every channel.
    const wanted = isOn(Math.floor(t / CHANNELS)) ? 1 : 0;
    level = Math.max(0, Math.min(1, level + (wanted > level ? RISE : -RISE)));
    if (level === 0) continue;
    const strength = amplitude * (0.5 - 0.5 * Math.cos(Math.PI * level));
    for (let a = 0; a < INPUTS; a++) {
      data[2 * (a * SAMPLES + t)] += strength * Math.cos(angle + phases[a]);
      data[2 * (a * SAMPLES + t) + 1] += strength * Math.sin(angle + phases[a]);
    }
  }
};
const middle = CHANNELS / 2;
const RISE = 1 / (2 * CHANNELS);

/**
 * Noise common to all inputs, in one channel after the other, or in all at once.
 * @param {number} db
 * @param {(channel: number, spectrum: number) => boolean} isOn
 * @returns {Adding}
 */
const pulse = (db, isOn) => (data) => {
  const amplitude = Math.sqrt((10 ** (db / 10) * RMS ** 2) / CHANNELS);
  for (let k = 0; k < SAMPLES / CHANNELS; k++)
    for (let c = 0; c < CHANNELS; c++) {
      if (!isOn(c, k)) continue;
      const [re, im] = [amplitude * gaussian(), amplitude * gaussian()];
      for (let n = 0; n < CHANNELS; n++) {
        const angle = (2 * Math.PI * (c - middle) * n) / CHANNELS;
        for (let a = 0; a < INPUTS; a++) {
          const at = 2 * (a * SAMPLES + k * CHANNELS + n);
          data[at] += re * Math.cos(angle) - im * Math.sin(angle);
          data[at + 1] += re * Math.sin(angle) + im * Math.cos(angle);
        }
      }
    }
};

/**
 * The kurtosis of carriers with carrier-to-noise ratio ρ for a fraction d of the time: (2 + 4dρ + dρ²)/(1 + dρ)² − 1.
 */
const theory = (/** @type {number} */ rho, /** @type {number} */ duty) =>
  (2 + 4 * duty * rho + duty * rho ** 2) / (1 + duty * rho) ** 2 - 1;

/**
 * The amplitude of a carrier after the filter in each spectrum of a window, 1 if it is on for long.
 * @param {(spectrum: number) => boolean} isOn
 * @param {number} window
 */
function profile(isOn, window) {
  const made = new Float64Array(WINDOW);
  const envelope = new Float64Array((WINDOW + TAPS + 8) * CHANNELS);
  const first = window * WINDOW - 8;
  let level = 0;
  for (let n = 0; n < envelope.length; n++) {
    const wanted = isOn(first + Math.floor(n / CHANNELS)) ? 1 : 0;
    level = Math.max(0, Math.min(1, level + (wanted > level ? RISE : -RISE)));
    envelope[n] = 0.5 - 0.5 * Math.cos(Math.PI * level);
  }
  const sum = taps.reduce((total, tap) => total + tap, 0);
  for (let k = 0; k < WINDOW; k++)
    for (let n = 0; n < taps.length; n++) made[k] += (taps[n] * envelope[(k + 8) * CHANNELS + n]) / sum;
  return made;
}

/**
 * How often windows of noise and a carrier exceed the limits of 3 σ (Nita & Gary), simulated directly from the powers;
 * and how often they are flagged when all inputs are tested jointly: with two others of four, or by the mean of the
 * remaining ones, beyond 4.5 σ and 0.04.
 * @param {number} db
 * @param {Float64Array} amplitudes  of each spectrum
 * @param {number} windows
 */
function expected(db, amplitudes, windows) {
  const most = Math.sqrt(2 * 10 ** (db / 10));
  const trials = 1500;
  let [found, sum, squares] = [0, 0, 0];
  for (let n = 0; n < trials; n++) {
    let [s1, s2] = [0, 0];
    for (const amplitude of amplitudes) {
      const power = (gaussian() + most * amplitude) ** 2 + gaussian() ** 2;
      s1 += power;
      s2 += power ** 2;
    }
    const kurtosis = ((WINDOW + 1) / (WINDOW - 1)) * ((WINDOW * s2) / s1 ** 2 - 1);
    if (kurtosis < 0.698 || kurtosis > 1.496) found++;
    else {
      sum += kurtosis - 1;
      squares += (kurtosis - 1) ** 2;
    }
  }
  const alone = found / trials;
  const stayed = trials - found;
  if (stayed < 10) return { alone, together: 1 };
  const [mean, spread] = [sum / stayed, Math.sqrt(squares / stayed - (sum / stayed) ** 2)];
  const count = Math.max(1, INPUTS * 2 ** Math.floor(Math.log2(windows)) * (1 - alone));
  const limit = Math.max(0.04, (4.5 * 0.125) / Math.sqrt(count));
  const byMean = below(((Math.abs(mean) - limit) * Math.sqrt(count)) / spread);
  const byTwo = 1 - (1 - alone) ** (INPUTS - 1) - (INPUTS - 1) * alone * (1 - alone) ** (INPUTS - 2);
  return { alone, together: alone + (1 - alone) * (1 - (1 - byMean) * (1 - byTwo)) };
}

/** The probability of a Gaussian below x. */
function below(/** @type {number} */ x) {
  const step = 0.001;
  let sum = 0;
  for (let n = 0; n < 8000; n++) {
    const at = -8 + (n + 0.5) * step * 2;
    if (at < x) sum += Math.exp(-(at ** 2) / 2) * step * 2;
  }
  return Math.min(1, sum / Math.sqrt(2 * Math.PI));
}

/**
 * @param {string} folder
 * @param {string[]} kinds  such as radar; all if empty
 */
export async function run(folder, kinds = []) {
  const isAsked = (/** @type {string} */ kind) => kinds.length === 0 || kinds.includes(kind);
  /** @type {string[]} */
  const failures = [];
  describeArray(folder);
  const clean = noise();
  /**
   * @param {Adding} add
   * @param {string[]} words
   */
  const correlated = async (add, ...words) => {
    const data = clean.slice();
    add(data);
    record(folder, data);
    const line = `correlate noise.sigmf-meta --telescope array.json --channels ${CHANNELS} --taps ${TAPS} --integration 1min --bits 8 -o out.uvh5 --overwrite --json`;
    const ran = spawnSync(process.execPath, [program, ...line.split(' '), ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (ran.status !== 0) throw new Error(ran.stderr);
    return {
      reported: reportOf.parse(JSON.parse(ran.stdout)).interference,
      flux: await fluxOf(join(folder, 'out.uvh5')),
    };
  };
  const nothing = () => undefined;
  const sky = await correlated(nothing);
  const quiet = await correlated(nothing, '--kurtosis');
  const quietReport = need(quiet.reported);
  const lost = quietReport.flagged / quietReport.samples;
  const cells = WINDOWS * CHANNELS * INPUTS;
  console.log(`noise alone: ${percent(lost)} flagged, by theory ${percent(FALSE_ALARMS)} (${cells} windows)`);
  // Four standard deviations for this number of windows.
  if (Math.abs(lost - FALSE_ALARMS) > 4 * Math.sqrt(FALSE_ALARMS / cells))
    failures.push(`noise alone loses ${percent(lost)} where theory says ${percent(FALSE_ALARMS)}`);
  check('noise alone', quiet.flux, 1);

  /**
   * @param {string} name
   * @param {number} flux
   * @param {number} within  per cent
   */
  function check(name, flux, within) {
    const off = 100 * (flux / sky.flux - 1);
    if (!(Math.abs(off) <= within)) failures.push(`${name}: the sky's flux is off by ${off.toFixed(2)} %`);
    return signed(off);
  }

  console.log('');
  row(
    ...['kind', 'dB', 'of the time', 'SK by theory', 'one window found by theory', 'with others by theory'],
    ...['found', 'false alarms (theory 0.27 %)', 'flux, flagged', 'flux, left in'],
  );
  row(...Array.from({ length: 10 }, () => '---'));
  const during = (/** @type {number} */ part) => (/** @type {number} */ spectrum) =>
    spectrum >= WINDOW * 8 - 4 && spectrum < WINDOW * (8 + Math.max(1, Math.round(part * WINDOWS))) + TAPS;
  for (const kind of /** @type {const} */ (['carrier', 'radar']).filter(isAsked))
    for (const duty of [0.01, 0.05, 0.2])
      for (const db of [1, 3, 10, 20, 40]) {
        const on = Math.max(1, Math.round(duty * WINDOW));
        const isOn =
          kind === 'carrier'
            ? during(duty)
            : (/** @type {number} */ spectrum) => (spectrum + 100) % WINDOW < on;
        const add = tone(db, () => CHANNEL - middle, isOn);
        const { reported: given, flux } = await correlated(add, '--kurtosis');
        const reported = need(given);
        const windows = kind === 'carrier' ? Math.max(1, Math.round(duty * WINDOWS)) : WINDOWS;
        const inChannel = reported.byChannel[CHANNEL] / WINDOW / INPUTS;
        const found = Math.min(1, inChannel / windows);
        // Neighbouring channels receive a strong tone through the filter's flank: these are no false alarms.
        const others = reported.byChannel.filter((_, c) => Math.abs(c - CHANNEL) > 2);
        const falseAlarms =
          others.reduce((sum, one) => sum + one, 0) / (reported.samples * (others.length / CHANNELS));
        const part = kind === 'carrier' ? 1 : on / WINDOW;
        const { alone, together } = expected(db, profile(isOn, 8), windows);
        const left = await correlated(add);
        const leftOff = 100 * (left.flux / sky.flux - 1);
        const name = `${kind} ${db} dB, ${percent(duty)}`;
        const off = check(name, flux, 1);
        const within = 4 * Math.sqrt((alone * (1 - alone)) / (windows * INPUTS)) + 0.08;
        if (
          found < Math.max(alone, together > 0.99 ? 0.9 : 0) - within ||
          found > Math.max(alone, together) + within + 0.1
        )
          failures.push(
            `${name}: ${percent(found)} found where theory says ${percent(alone)} to ${percent(together)}`,
          );
        if (Math.abs(falseAlarms - FALSE_ALARMS) > 0.0025)
          failures.push(`${name}: ${percent(falseAlarms)} false alarms`);
        row(
          ...[kind, String(db), percent(duty), theory(10 ** (db / 10), part).toFixed(2), percent(alone)],
          ...[percent(together), percent(found), percent(falseAlarms), off, signed(leftOff)],
        );
      }

  console.log('');
  row('kind', 'dB', 'reported', 'flux, flagged');
  row(...Array.from({ length: 4 }, () => '---'));
  for (const db of isAsked('drifting') ? [1, 3, 10, 20, 40] : []) {
    const drift = tone(
      db,
      (t) => (t / SAMPLES - 0.5) * 0.9 * CHANNELS,
      () => true,
    );
    const { reported: given, flux } = await correlated(drift, '--kurtosis');
    const reported = need(given);
    const swept = reported.episodes.filter(({ kind }) => kind === 'sweep');
    if (db >= 10 && swept.length === 0) failures.push(`a drifting tone of ${db} dB is not reported`);
    const where = swept.map(({ fromChannel, toChannel }) => `${fromChannel} to ${toChannel}`).join(', ');
    const sweeps = swept.length === 0 ? 'nothing' : `${swept.length} sweep: channels ${where}`;
    row('drifting tone', String(db), sweeps, check(`drifting tone ${db} dB`, flux, 1));
  }
  for (const db of isAsked('burst') ? [3, 10, 20, 40] : [])
    for (const fate of /** @type {const} */ (['keep', 'take'])) {
      const bursts = 6;
      const add = pulse(db, (_, k) => k % (12 * WINDOW) >= 40 && k % (12 * WINDOW) < 60);
      const { reported: given, flux } = await correlated(add, '--kurtosis', '--kurtosis-bursts', fate);
      const reported = need(given);
      const everywhere = reported.episodes.filter(({ kind }) => kind === 'everywhere');
      if (everywhere.length < bursts)
        failures.push(`${everywhere.length} of ${bursts} bursts of ${db} dB are reported`);
      if (everywhere.some((one) => one.fate !== (fate === 'keep' ? 'kept' : 'flagged')))
        failures.push('a burst met another fate than was reported');
      const off = check(`burst of ${db} dB`, flux, fate === 'take' ? 1 : Infinity);
      const fates = `${everywhere.length} of ${bursts}, ${fate === 'keep' ? 'kept' : 'flagged'}`;
      row('wideband burst', String(db), fates, off);
    }
  for (const db of isAsked('pulse') ? [6, 10, 20] : []) {
    // Two windows per channel, from the highest down, a quarter of a window each.
    const add = pulse(db, (c, k) => {
      const from = WINDOW * (10 + 2 * (CHANNELS - 1 - c));
      return k >= from && k < from + WINDOW / 4;
    });
    const reported = need((await correlated(add, '--kurtosis')).reported);
    const swept = reported.episodes.filter(({ kind }) => kind === 'sweep');
    if (swept.length === 0) failures.push(`a dispersed pulse of ${db} dB is not reported`);
    const where = swept
      .map(({ fromChannel, toChannel, fate }) => `${fromChannel} to ${toChannel}, ${fate}`)
      .join('; ');
    row('dispersed pulse', String(db), `${swept.length} sweep: channels ${where}`, '');
  }
  return failures;
}

/** A line of a table in the form of docs/interference.md. @param {string[]} cells */
const row = (...cells) => {
  console.log(`| ${cells.join(' | ')} |`);
};
const signed = (/** @type {number} */ value) => `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(2)} %`;
/** Both sides of 3 σ. */
const FALSE_ALARMS = 0.0027;
const percent = (/** @type {number} */ part) => `${Number((100 * part).toPrecision(3))} %`;

/** @param {Report | undefined} reported */
function need(reported) {
  if (!reported) throw new Error('nothing was reported of interference');
  return reported;
}

/** Mean product of all pairs and channels, weighted by the counts. @param {string} path */
async function fluxOf(path) {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities') throw new Error('visibilities were written');
    let [sum, count] = [0, 0];
    for await (const { visibilities, counts, channels, stations } of file.integrations())
      for (let c = 0, b = 0; c < channels; c++)
        for (let i = 0; i < stations; i++)
          for (let j = 0; j <= i; j++, b++)
            if (i !== j) [sum, count] = [sum + visibilities[2 * b], count + counts[b]];
    return sum / count;
  } finally {
    await file.close();
  }
}

/** @param {string} folder @param {Float32Array} data */
function record(folder, data) {
  const bytes = new Int16Array(data.length);
  for (let a = 0; a < INPUTS; a++)
    for (let t = 0; t < SAMPLES; t++)
      for (let part = 0; part < 2; part++) {
        const value = Math.round(data[2 * (a * SAMPLES + t) + part]);
        bytes[2 * (t * INPUTS + a) + part] = Math.max(-32767, Math.min(32767, value));
      }
  writeFileSync(join(folder, 'noise.sigmf-data'), bytes);
}

/** @param {string} folder */
function describeArray(folder) {
  const global = {
    ...{ 'core:datatype': 'ci16_le', 'core:sample_rate': 1e5, 'core:version': '1.0.0' },
    'core:num_channels': INPUTS,
  };
  const captures = [
    { 'core:sample_start': 0, 'core:frequency': 58e6, 'core:datetime': '2026-06-01T04:00:00Z' },
  ];
  writeFileSync(join(folder, 'noise.sigmf-meta'), JSON.stringify({ global, captures, annotations: [] }));
  const rows = Array.from({ length: INPUTS }, (_, n) => `s${n},${n},0,0`);
  writeFileSync(join(folder, 'array.csv'), `name,east_m,north_m,up_m\n${rows.join('\n')}\n`);
  const description = {
    ...{ name: 'four', title: 'four in a row', positions: 'array.csv', polarisations: 1, beamExponent: 0 },
    site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1000 },
    band: { lowHz: 30e6, highHz: 88e6 },
    recording: { centreFrequencyHz: 58e6, sampleRateHz: 1e5, channels: CHANNELS, bits: 8 },
  };
  writeFileSync(join(folder, 'array.json'), JSON.stringify(description));
}
