/** Options of a simulated sky to send. */
import type { z } from 'zod';
import { again } from '../../fields/index.js';
import type { Options } from '../options/own.js';
import * as shared from '../options/shared.js';

const group = 'A simulated sky';
/** Without --for and --seed, which also belong to sending. */
export const simulationFields = {
  telescope: again(shared.skyTelescope, { group }),
  stations: again(shared.stations, { group }),
  sources: again(shared.sources, { group }),
  time: again(shared.time, { group, otherwise: 'now' }),
  frequency: again(shared.frequency, { group, otherwise: "the telescope's own" }),
  rate: again(shared.rate, { group, otherwise: "the telescope's own" }),
  type: again(shared.type, { group }),
  duration: again(shared.duration, { group, otherwise: '--for, or 1s' }),
  noise: again(shared.noise, { group }),
  perfect: again(shared.perfect, { group }),
};
export type SimulationOptions = Options<
  z.ZodObject<typeof simulationFields & { seed: typeof shared.seed }>
> & { readonly for?: number };
