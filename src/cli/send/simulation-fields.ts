/** Options of a simulated sky to send. */
import type { z } from 'zod';
import { variant } from '../../fields/index.js';
import type { Options } from '../options/own.js';
import * as shared from '../options/shared.js';

const group = 'A simulated sky';
/** Without --for and --seed, which also belong to sending. */
export const simulationFields = {
  telescope: variant(shared.skyTelescope, { group }),
  stations: variant(shared.stations, { group }),
  sources: variant(shared.sources, { group }),
  time: variant(shared.time, { group, otherwise: 'now' }),
  frequency: variant(shared.frequency, { group, otherwise: "the telescope's own" }),
  rate: variant(shared.rate, { group, otherwise: "the telescope's own" }),
  type: variant(shared.type, { group }),
  duration: variant(shared.duration, { group, otherwise: '--for, or 1s' }),
  noise: variant(shared.noise, { group }),
  perfect: variant(shared.perfect, { group }),
};
export type SimulationOptions = Options<
  z.ZodObject<typeof simulationFields & { seed: typeof shared.seed }>
> & { readonly for?: number };
