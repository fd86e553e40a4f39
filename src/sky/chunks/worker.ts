/** A thread of a chunk team (team.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import type { TeamChunk, TeamWork } from './team.js';
import type { SkySignal } from '../sky-signals.js';
import { prepareStations } from './station.js';

const { plan, spectra, voltages, counter } = workerData as TeamWork;
const signals = spectra.map((own): SkySignal => ({ spectra: own, directionEnu: undefined, isUp: false }));
const makeStation = prepareStations(plan, signals, voltages);

parentPort?.on('message', ({ chunk, sky }: TeamChunk) => {
  for (const [n, signal] of signals.entries()) Object.assign(signal, sky[n]);
  let clipped = 0;
  for (let s = Atomics.add(counter, 0, 1); s < plan.stations.length; s = Atomics.add(counter, 0, 1)) {
    clipped += makeStation(chunk, s);
  }
  parentPort?.postMessage(clipped);
});
