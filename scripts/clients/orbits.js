// Satellite positions compared with python3-sgp4 and python3-skyfield: 1,000 element sets made here, low, navigation,
// stationary and eccentric orbits, each seen from its own site at its own time. Missing software is skipped and
// reported.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;
const SETS = 1000;
const python = '/usr/bin/python3';

if (spawnSync(python, ['-c', 'import sgp4, skyfield']).status !== 0) {
  console.log('passed over: python3-sgp4 and python3-skyfield are not installed');
  process.exit(0);
}
/** A small generator (mulberry32): the same sets in every run. */
let state = 20261;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
/** @param {number} low @param {number} high */
const between = (low, high) => low + (high - low) * random();

/** @param {string} line 68 characters */
const summed = (line) =>
  line + String(Array.from(line).reduce((sum, one) => sum + (one === '-' ? 1 : Number(one) || 0), 0) % 10);
/** @param {number} value @param {number} decimals @param {number} width */
const padded = (value, decimals, width) => value.toFixed(decimals).padStart(width);

/** Revolutions per day and eccentricity of each kind. @type {(() => readonly [number, number])[]} */
const kinds = [
  () => [between(13, 15.6), between(0, 0.01)],
  () => [between(1.98, 2.12), between(0, 0.02)],
  () => [between(1.0, 1.005), between(0, 0.001)],
  () => [between(2.0, 2.02), between(0.6, 0.72)],
];

/** @param {number} k */
function elements(k) {
  const [revolutions, eccentricity] = kinds[k % kinds.length]();
  const number = String(10_001 + k);
  const epoch = `${19 + Math.floor(random() * 7)}${padded(between(1, 360), 8, 12).replaceAll(' ', '0')}`;
  const drag = k % kinds.length === 0 ? ` ${String(Math.floor(between(10_000, 99_999)))}-4` : ' 00000+0';
  const one = summed(`1 ${number}U 90001A   ${epoch}  .00000000  00000+0 ${drag} 0  999`);
  const two = summed(
    `2 ${number} ${padded(between(0.1, 110), 4, 8)} ${padded(between(0, 359), 4, 8)} ` +
      `${String(Math.floor(eccentricity * 1e7)).padStart(7, '0')} ${padded(between(0, 359), 4, 8)} ` +
      `${padded(between(0, 359), 4, 8)} ${padded(revolutions, 8, 11)}    1`,
  );
  return { number, one, two };
}

const { parseElements } = await import('../../dist/sky/orbits/elements.js');
const { useOrbits } = await import('../../dist/sky/orbits/orbits.js');
const { findSources } = await import('../../dist/sky/sources.js');
const { altitudeDeg, azimuthDeg, skyFrame } = await import('../../dist/sky/frame.js');
const { addSeconds, formatInstant, parseInstant } = await import('../../dist/core/instant.js');

const folder = mkdtempSync(join(tmpdir(), 'corella-orbits-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
const sets = Array.from({ length: SETS }, (_, k) => elements(k));
const lines = sets.map(({ one, two }) => `${one}\n${two}\n`).join('');
writeFileSync(join(folder, 'all.tle'), lines);
await useOrbits([join(folder, 'all.tle')]);
const places = parseElements(lines, 'all.tle').map((set, k) => {
  const site = {
    latitudeDeg: between(-89, 89),
    longitudeDeg: between(-180, 180),
    heightM: between(0, 4000),
  };
  // To the millisecond, as written.
  const utc = formatInstant(addSeconds(set.epoch, between(-2, 2) * 86_400), 3);
  const frame = skyFrame(site, parseInstant(utc));
  const [satellite] = findSources([set.number]);
  const direction = frame.directionEnu(satellite.position(frame));
  const { one, two } = sets[k];
  return { one, two, ...site, utc, altitudeDeg: altitudeDeg(direction), azimuthDeg: azimuthDeg(direction) };
});
writeFileSync(join(folder, 'places.json'), JSON.stringify(places));
const ran = spawnSync(python, [join(root, 'scripts/clients/orbits.py'), join(folder, 'places.json')], {
  stdio: 'inherit',
});
console.log(ran.status === 0 ? 'ok    orbits' : 'FAIL  orbits');
process.exit(ran.status === 0 ? 0 : 1);
