/** Chunks of every input: the sky's signals are made here, the stations' on the given number of threads. */
import { allocateVoltages, type VoltagesAT } from '../../core/axes.js';
import { startChunkTeam } from './team.js';
import type { SimulationPlan } from '../simulation-plan.js';
import { prepareSkySignals } from '../sky-signals.js';
import { prepareStations, stationPlan } from './station.js';

export interface ChunkMaker {
  /** voltages : [a][t], chunkSamples samples each; valid until the next call of make. */
  readonly voltages: VoltagesAT;
  /** Makes chunk `chunk` of the recording; returns how many numbers of the recording were clipped. */
  make(chunk: number): Promise<number>;
  close(): Promise<void>;
}

/** The same bytes for any number of threads: a station's signal depends only on its chunk. */
export function prepareChunks(plan: SimulationPlan, threads: number): ChunkMaker {
  const { type, inputs, grid } = plan;
  const stations = plan.telescope.stations.length;
  const memory = threads === 1 ? 'own' : 'shared';
  const sky = prepareSkySignals(plan, memory);
  const voltages = allocateVoltages(type, inputs, grid.chunkSamples, memory);
  const own = stationPlan(plan);
  const makeStation = prepareStations(own, sky.signals, voltages);
  const team = threads === 1 ? undefined : startChunkTeam(threads - 1, own, sky.signals, voltages);
  return {
    voltages,
    make: async (chunk) => {
      sky.fill(chunk);
      const others = team?.start(chunk);
      others?.catch(() => undefined); // reported below; avoids an unhandled rejection if the work here fails first
      const nextStation = team === undefined ? counter() : team.nextStation;
      let clipped = 0;
      for (let s = nextStation(); s < stations; s = nextStation()) clipped += makeStation(chunk, s);
      return clipped + ((await others) ?? 0);
    },
    close: async () => {
      await team?.close();
    },
  };
}

function counter(): () => number {
  let next = 0;
  return () => next++;
}
