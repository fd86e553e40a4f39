/** A model of another sky is detected: by the power it explains, and by sources that are not in it. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { altitudeDeg, azimuthDeg, skyFrame } from '../sky/frame.js';
import { findSources } from '../sky/sources.js';
import { corellaHere } from './corella.js';
import { knownTelescope, randomGains, writeKnownSky, type KnownSource } from './known-sky.js';

const STATIONS = 24;
const FREQUENCY = 150e6;
const sky = (sources: readonly KnownSource[]) => ({
  stations: STATIONS,
  radiusM: 20,
  frequenciesHz: [FREQUENCY],
  sources,
  noiseJy: 1,
  jones: randomGains(9, STATIONS, 1),
});
/** The sky alone produces these powers, with little noise. */
const reportSchema = z.looseObject({
  minimumBaselineM: z.number(),
  model: z.object({
    unexplained: z.number(),
    noiseResidual: z.number(),
    outside: z.array(z.looseObject({ name: z.string(), offsetDeg: z.number(), overFlux: z.number() })),
  }),
});

describe('a wrong model', () => {
  const folder = temporaryFolder('wrong-model');
  const file = (name: string): string => join(folder, name);
  const corella = (...words: string[]) => corellaHere(folder, ...words, '--quiet');
  const spots = [
    { altDeg: 70, azDeg: 20, jy: 100 },
    { altDeg: 50, azDeg: 130, jy: 80 },
    { altDeg: 60, azDeg: 250, jy: 60 },
  ];
  const model = (turnDeg: number): string =>
    spots.map(({ altDeg, azDeg, jy }, n) => `s${n}@${altDeg}:${azDeg + turnDeg}:${jy}`).join(',');
  const calibrate = (name: string, sources: string, ...more: string[]) =>
    corella('calibrate', name, '--sources', sources, '-o', 'gains.json', '--overwrite', ...more);

  it('of azimuths turned by 60° is refused, and the right one is not', async () => {
    const sources = spots.map(({ altDeg, azDeg, jy }) => ({
      altDeg,
      azDeg,
      stokes: [jy, 0, 0, 0] as const,
    }));
    await writeKnownSky(file('three.uvfits'), sky(sources));
    const turned = await calibrate('three.uvfits', model(60));
    assert.equal(turned.code, 1, turned.stdout);
    assert.match(turned.stderr, /calibrate: the model explains \d+ % of the sky's power without noise: its gains would misplace the sky/); // prettier-ignore
    assert.ok(!(await readdir(folder)).includes('gains.json'));
    const right = await calibrate('three.uvfits', model(0), '--json');
    assert.equal(right.code, 0, right.stderr);
    assert.ok(reportSchema.parse(JSON.parse(right.stdout)).model.unexplained < 0.01, right.stdout);
  });

  it('of one source under a crowded sky is refused, or gives a warning where it is accepted', async () => {
    const crowd = Array.from({ length: 40 }, (_, n) => ({
      altDeg: 25 + ((37 * n) % 60),
      azDeg: (77 * n) % 360,
      stokes: [20, 0, 0, 0] as const,
    }));
    const sun = { altDeg: 80, azDeg: 40, stokes: [60, 0, 0, 0] as const };
    await writeKnownSky(file('crowd.uvfits'), sky([...crowd, sun]));
    const ran = await calibrate('crowd.uvfits', 'sun@80:40:60');
    assert.equal(ran.code, 1, ran.stdout);
    assert.match(ran.stderr, /the model explains .* --accept-model writes them all the same/);
    const accepted = await calibrate('crowd.uvfits', 'sun@80:40:60', '--accept-model');
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.match(accepted.stdout, /\[calibrate\.model-poor\]/);
  });

  it('at another place shows sources that are not in it', async () => {
    const start = parseInstant('2026-03-01T12:00:01Z', 'wrong model');
    const frame = skyFrame(knownTelescope(sky([])).site, start);
    const [forA, picA] = findSources(['For A', 'Pic A']).map((source) => {
      const direction = frame.directionEnu(source.position(frame));
      const [alt, az] = [altitudeDeg(direction), azimuthDeg(direction)];
      return { altDeg: alt, azDeg: az, stokes: [source.fluxJy(FREQUENCY), 0, 0, 0] as const };
    });
    await writeKnownSky(file('two.uvfits'), sky([forA, picA]));
    const right = await calibrate('two.uvfits', 'ForA', '--accept-model', '--json');
    assert.equal(right.code, 0, right.stderr);
    const found = reportSchema
      .parse(JSON.parse(right.stdout))
      .model.outside.find(({ name }) => name === 'Pic A');
    assert.ok(found && found.offsetDeg < 1.5, right.stdout);
    const off = `decoy@${(forA.altDeg - 4).toFixed(2)}:${forA.azDeg.toFixed(2)}:${forA.stokes[0].toFixed(0)}`;
    const wrong = await calibrate('two.uvfits', off, '--accept-model');
    assert.equal(wrong.code, 0, wrong.stderr);
    assert.match(wrong.stdout, /check: Pic A, not in the model, is [2-9]\.\d° from its catalogue position.*displaced.*\[calibrate\.source-outside-model\]/); // prettier-ignore
  });

  it('is kept from short baselines by their length in metres or wavelengths', async () => {
    const words = ['three.uvfits', model(0), '--json'] as const;
    const metres = await calibrate(...words, '--min-baseline', '10m');
    const waves = await calibrate(...words, '--min-baseline', '5wl');
    const [m, wl] = [metres, waves].map(
      ({ stdout }) => reportSchema.parse(JSON.parse(stdout)).minimumBaselineM,
    );
    assert.equal(m, 10);
    // 5 · c / 150 MHz
    assert.ok(Math.abs(wl - 9.99308) < 1e-4, String(wl));
    const strange = await calibrate('three.uvfits', model(0), '--min-baseline', '5 miles');
    assert.match(
      strange.stderr,
      /--min-baseline: "5 miles" is not a length; give a length in metres or wavelengths/,
    );
  });
});
