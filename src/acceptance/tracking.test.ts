/**
 * Eight dishes over 2 km at 1.4 GHz track a source for an hour, 47° to 35° off the zenith; its fringes give its
 * position. The signals are made from ERFA's positions.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { openBackend } from '../backend/select.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { dot } from '../core/vector.js';
import { openFile } from '../formats/index.js';
import { channelsOf, planChannels, mostDelaySamples, requestDelays } from '../stages/index.js';
import { correlateVoltages } from '../compose/index.js';
import { skyFrame } from '../sky/frame.js';
import { parsePhaseCentre } from '../sky/phase-centre.js';
import { brightestIn, separationDeg } from './brightest.js';
import { corellaHere, withFolder } from './corella.js';
import { recordDishes, type Dishes } from './dishes.js';
import { directions, source } from './erfa-tracking.js';
import { stopped, type Correlated } from './fringes.js';

const wide: Dishes = { centreFrequencyHz: 1.4e9, sampleRateHz: 16e6, samples: 40_000 };

async function correlated(
  folder: string,
  index: number,
  dishes: Dishes,
  how: { readonly track: boolean; readonly channels?: number },
): Promise<Correlated> {
  const path = await recordDishes(folder, index, dishes);
  const recording = await openFile(path);
  assert.ok(recording.kind === 'voltages' && recording.telescope);
  const { telescope } = recording;
  const backend = await openBackend('auto');
  try {
    const towards = parsePhaseCentre(`${source.raDeg} ${source.decDeg}`, 'test');
    const delays = requestDelays(how.track ? { track: towards } : {}, telescope, {
      start: recording.start,
      tickRateHz: recording.sampleRateHz,
      lastsS: 1,
    });
    const plan = planChannels(recording, {
      channels: how.channels ?? 64,
      taps: 4,
      outputType: 'cf32',
      mostDelaySamples: delays && mostDelaySamples(delays),
    });
    const made: Integration[] = [];
    await correlateVoltages(recording, plan, { backend, delays }, (integration) => {
      made.push(integration);
      return Promise.resolve();
    });
    assert.equal(made.length, 1);
    return { telescope, ...channelsOf(recording, plan), integration: made[0] };
  } finally {
    await recording.close();
    await backend.close();
  }
}

it('an hour: amplitudes within 1 %, phases flat within 1° on every baseline', (test) =>
  withFolder(async (folder) => {
    let worst = { amplitude: 1, phaseDeg: 0 };
    for (const [index, direction] of directions.entries()) {
      for (const { amplitude, phaseDeg } of stopped(
        await correlated(folder, index, wide, { track: true }),
        direction.slice(1),
      )) {
        assert.ok(Math.abs(amplitude - 1) < 0.01, `${index}: amplitude ${amplitude}`);
        assert.ok(Math.abs(phaseDeg) < 1, `${index}: ${phaseDeg}°`);
        worst = {
          amplitude: Math.min(worst.amplitude, amplitude),
          phaseDeg: Math.max(worst.phaseDeg, Math.abs(phaseDeg)),
        };
      }
    }
    test.diagnostic(
      `worst amplitude ${worst.amplitude.toFixed(5)}, worst phase ${worst.phaseDeg.toFixed(3)}°`,
    );
    // Without tracking, the longest baselines lose nearly all correlation.
    const lost = stopped(await correlated(folder, 6, wide, { track: false }), directions[6].slice(1));
    assert.ok(Math.min(...lost.map(({ amplitude }) => amplitude)) < 0.3);
  }));

it('a second of integration: fringes that would turn once stand still', () =>
  withFolder(async (folder) => {
    const long: Dishes = { centreFrequencyHz: 1.4e9, sampleRateHz: 100e3, samples: 150_000 };
    for (const { amplitude, phaseDeg } of stopped(
      await correlated(folder, 6, long, { track: true, channels: 16 }),
      directions[6].slice(1),
    )) {
      assert.ok(Math.abs(amplitude - 1) < 0.01, `amplitude ${amplitude}`);
      assert.ok(Math.abs(phaseDeg) < 1, `${phaseDeg}°`);
    }
    const lost = stopped(
      await correlated(folder, 6, long, { track: false, channels: 16 }),
      directions[6].slice(1),
    );
    assert.ok(Math.min(...lost.map(({ amplitude }) => amplitude)) < 0.6);
  }));

/** Offset of the position given by the fringes from ours, in beams. */
function offsetInBeams({ telescope, frequenciesHz, integration }: Correlated, lengthM: number): number {
  const middle = addSeconds(integration.start, integration.durationS / 2);
  const { l, m, n } = skyFrame(telescope.site, middle).tangentAxes(source);
  const { stations, channels, visibilities } = integration;
  const baselines = (stations * (stations + 1)) / 2;
  // Residual phases after stopping our own fringes, fitted by u·l + v·m.
  let [uu, uv, vv, up, vp] = [0, 0, 0, 0, 0];
  for (let i = 0; i < stations; i++) {
    for (let j = 0; j < i; j++) {
      const r = {
        x: telescope.stations[i].eastM - telescope.stations[j].eastM,
        y: telescope.stations[i].northM - telescope.stations[j].northM,
        z: telescope.stations[i].upM - telescope.stations[j].upM,
      };
      let [re, im] = [0, 0];
      for (let c = 2; c < channels - 2; c++) {
        const at = 2 * (c * baselines + (i * (i + 1)) / 2 + j);
        const angle =
          (-2 * Math.PI * ((frequenciesHz[c] * dot(r, n)) / SPEED_OF_LIGHT_M_PER_S)) % (2 * Math.PI);
        re += visibilities[at] * Math.cos(angle) - visibilities[at + 1] * Math.sin(angle);
        im += visibilities[at] * Math.sin(angle) + visibilities[at + 1] * Math.cos(angle);
      }
      const middleHz = frequenciesHz[channels / 2];
      const [u, v] = [dot(r, l), dot(r, m)].map((metres) => (metres * middleHz) / SPEED_OF_LIGHT_M_PER_S);
      const turns = Math.atan2(im, re) / (2 * Math.PI);
      [uu, uv, vv, up, vp] = [uu + u * u, uv + u * v, vv + v * v, up + u * turns, vp + v * turns];
    }
  }
  const determinant = uu * vv - uv * uv;
  const east = (up * vv - vp * uv) / determinant;
  const north = (vp * uu - up * uv) / determinant;
  return Math.hypot(east, north) / (SPEED_OF_LIGHT_M_PER_S / frequenciesHz[channels / 2] / lengthM);
}

for (const [title, dishes, lengthM] of [
  ['2 km at 1.4 GHz', wide, 2000],
  ['3 km at 150 MHz', { ...wide, centreFrequencyHz: 150e6, scale: 1.5 }, 3000],
] as const) {
  it(`a source at ERFA's place is found by its fringes within 0.05 beam, ${title}`, (test) =>
    withFolder(async (folder) => {
      for (const index of [0, 6, 12]) {
        const beams = offsetInBeams(await correlated(folder, index, dishes, { track: true }), lengthM);
        test.diagnostic(`${title}: ${beams.toFixed(5)} beam`);
        assert.ok(beams < 0.05, `${beams} beams`);
      }
    }));
}

// 25 m at 150 MHz: across a channel of 16 MHz the source's delay, up to 0.06 µs, is nearly one turn.
const level: Dishes = { centreFrequencyHz: 150e6, sampleRateHz: 128e6, samples: 2000, scale: 0.0125 };
const towards = `${source.raDeg} ${source.decDeg}`;

interface Imaged {
  readonly peak: number;
  readonly awayDeg: number;
  readonly tracked?: { readonly towards: string };
}

async function imaged(folder: string, out: string, ...words: readonly string[]): Promise<Imaged> {
  const common = ['--pixels', '128', '--no-picture', '--json', '-o', out];
  const { code, stdout, stderr } = await corellaHere(folder, 'image', ...words, ...common);
  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout) as Pick<Imaged, 'peak' | 'tracked'>;
  return { ...report, awayDeg: separationDeg(await brightestIn(join(folder, out)), source) };
}

/** The mean power of a dish. */
async function powerIn(path: string): Promise<number> {
  const file = await openFile(path);
  assert.ok(file.kind === 'visibilities');
  let [sum, count] = [0, 0];
  for await (const { visibilities, counts, channels, stations } of file.integrations()) {
    const baselines = (stations * (stations + 1)) / 2;
    for (let c = 0; c < channels; c++) {
      for (let i = 0; i < stations; i++) {
        const at = c * baselines + (i * (i + 1)) / 2 + i;
        sum += visibilities[2 * at] / counts[at];
        count++;
      }
    }
  }
  await file.close();
  return sum / count;
}

it('image --direct --track: a source far off the zenith is where ERFA has it and keeps its power', (test) =>
  withFolder(async (folder) => {
    const recording = await recordDishes(folder, 6, level);
    const channels = ['--channels', '8', '--taps', '4', '--bits', 'float'];
    const direct = ['--direct', recording, ...channels];
    const followed = await imaged(folder, 'direct.fits', ...direct, '--track', towards);
    const left = await imaged(folder, 'left.fits', ...direct);
    const correlate = [
      'correlate',
      recording,
      ...channels,
      '--track',
      towards,
      '-o',
      'tracked.uvh5',
      '--json',
    ];
    assert.equal((await corellaHere(folder, ...correlate)).code, 0);
    const visibilities = await imaged(folder, 'visibilities.fits', 'tracked.uvh5');
    const power = await powerIn(join(folder, 'tracked.uvh5'));
    test.diagnostic(
      `power ${power.toFixed(1)}: ${followed.peak.toFixed(1)} tracked, ${visibilities.peak.toFixed(1)} by ` +
        `visibilities, ${left.peak.toFixed(1)} untracked; ${followed.awayDeg.toFixed(2)}° from its place`,
    );
    // Within a pixel, for a beam of 4.6°, whose centre may be half a pixel off.
    assert.ok(followed.awayDeg < 1, `${followed.awayDeg}° away`);
    // Half of the lowest channel comes from above the band's upper end and is lost: a sixteenth.
    const kept = followed.peak / power / (15 / 16);
    assert.ok(kept > 0.95 && kept < 1.01, `${followed.peak} of ${power}`);
    assert.ok(Math.abs(followed.peak / visibilities.peak - 1) < 0.02, `${visibilities.peak} by visibilities`);
    assert.ok(left.peak < 0.85 * followed.peak, `${left.peak} untracked`);
    assert.equal(followed.tracked?.towards, `${source.raDeg} ${source.decDeg}`);
  }));
