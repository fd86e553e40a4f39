/** A raw recording of a TART with true C/A codes: satellites in known directions, antennas with unknown phases, one bit. */
import { parseInstant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { writeTartRaw } from '../../formats/index.js';
import { caCode, CHIP_RATE_HZ, CHIPS, L1_HZ } from '../../gnss/index.js';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { elementsOf } from './orbits.js';
import { loadTelescope } from '../../telescope/load.js';

const TART_SKY = {
  telescope: 'tart-mg-tana',
  start: '2026-06-12T11:20:40Z',
  durationS: 20e-3,
  /** Relative to a sample's noise; real satellites are half as strong. */
  amplitude: 0.2,
  satellites: [
    { prn: 5, altitudeDeg: 72, azimuthDeg: 40, dopplerHz: 310 },
    { prn: 11, altitudeDeg: 48, azimuthDeg: 130, dopplerHz: -1240 },
    { prn: 14, altitudeDeg: 35, azimuthDeg: 215, dopplerHz: 2105 },
    { prn: 20, altitudeDeg: 60, azimuthDeg: 290, dopplerHz: -480 },
    { prn: 24, altitudeDeg: 25, azimuthDeg: 345, dopplerHz: 2890 },
    { prn: 30, altitudeDeg: 41, azimuthDeg: 80, dopplerHz: -2660 },
  ],
} as const;
const OSCILLATOR_HZ = 1571.328e6;
const RATE_HZ = 16.368e6;

export async function recordTart(path: string): Promise<void> {
  const telescope = await loadTelescope(TART_SKY.telescope);
  const antennas = telescope.stations.length;
  const samples = 8 * Math.floor((TART_SKY.durationS * RATE_HZ) / 8);
  const packed = new Uint8Array((antennas * samples) / 8);
  const random = randomStream(44, 'tart');
  const phases = telescope.stations.map((_, a) => (a === 0 ? 0 : 2 * Math.PI * random.uniform()));
  const satellites = TART_SKY.satellites.map(({ prn, altitudeDeg, azimuthDeg, dopplerHz }) => {
    const [altitude, azimuth] = [altitudeDeg * RADIANS_PER_DEGREE, azimuthDeg * RADIANS_PER_DEGREE];
    const l = Math.cos(altitude) * Math.sin(azimuth);
    const m = Math.cos(altitude) * Math.cos(azimuth);
    const codeStart = (RATE_HZ / 1000) * random.uniform();
    // cos and sin of the carrier, with the code.
    const [re, im] = [new Float32Array(samples), new Float32Array(samples)];
    const chips = caCode(prn);
    const perSample = (CHIP_RATE_HZ * (1 + dopplerHz / L1_HZ)) / RATE_HZ;
    for (let t = 0; t < samples; t++) {
      const chip = Math.floor((t - codeStart) * perSample) % CHIPS;
      const turns = ((L1_HZ - OSCILLATOR_HZ + dopplerHz) / RATE_HZ) * t;
      const phase = 2 * Math.PI * (turns - Math.floor(turns));
      re[t] = chips[(chip + CHIPS) % CHIPS] * Math.cos(phase);
      im[t] = chips[(chip + CHIPS) % CHIPS] * Math.sin(phase);
    }
    return { l, m, re, im };
  });
  const wave = (2 * Math.PI * L1_HZ) / SPEED_OF_LIGHT_M_PER_S;
  const sum = new Float32Array(samples);
  telescope.stations.forEach(({ eastM, northM }, a) => {
    for (let t = 0; t < samples; t++) sum[t] = random.gaussian();
    for (const { l, m, re, im } of satellites) {
      const phase = phases[a] + wave * (eastM * l + northM * m);
      const [c, s] = [TART_SKY.amplitude * Math.cos(phase), TART_SKY.amplitude * Math.sin(phase)];
      for (let t = 0; t < samples; t++) sum[t] += re[t] * c - im[t] * s;
    }
    for (let t = 0; t < samples; t++) if (sum[t] > 0) packed[(a * samples + t) >> 3] |= 0x80 >> (t % 8);
  });
  const orbits = TART_SKY.satellites.map(({ prn, altitudeDeg, azimuthDeg }) => ({
    name: `SAMPLE ${prn} (PRN ${String(prn).padStart(2, '0')})`,
    number: 90_000 + prn,
    altitudeDeg,
    azimuthDeg,
  }));
  await writeFile(
    join(dirname(path), 'tart.tle'),
    elementsOf(telescope.site, parseInstant(TART_SKY.start), orbits),
  );
  await writeTartRaw(path, {
    telescope,
    oscillatorHz: OSCILLATOR_HZ,
    sampleRateHz: RATE_HZ,
    start: parseInstant(TART_SKY.start),
    packed,
  });
}
