/**
 * A series of images with one prepared composition, compared with the imager alone and with planning every image anew.
 */
import type { HostBackend } from '../backend/backend.js';
import type { Integration } from '../core/blocks.js';
import type { Closers } from '../core/closing.js';
import { addSeconds, parseInstant } from '../core/instant.js';
import { prepareVisibilityImager, type VisibilityImage } from '../image/index.js';
import { imageIntegration } from '../compose/index.js';
import { frameAtMiddle, planSky, type ImageSettings, prepareImage } from '../stages/index.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import type { BenchCase, KernelBench, PreparedCase } from './bench.js';
import { noiseIntegration } from './noise.js';

const CADENCE_S = 0.04;
const CHANNELS = 4;
const settings: ImageSettings = { pixels: 128, field: { kind: 'all-sky' }, kernelSize: 5 };

const stationsFor = { reference: 16, cpu: 256 } satisfies Record<HostBackend['kind'], number>;

export const seriesBench: KernelBench = {
  kernel: 'series',
  cases: (backend) => (backend.kind === 'cuda' ? [] : [seriesCase(backend)]),
};

const seriesCase = (backend: HostBackend): BenchCase => {
  const stations = stationsFor[backend.kind];
  return {
    parameters: { stations, pixels: settings.pixels ?? 0, channels: CHANNELS },
    unit: 'images/s',
    scale: 1,
    prepare: (closers) => prepare(stations, backend, closers),
  };
};

async function prepare(stations: number, backend: HostBackend, closers: Closers): Promise<PreparedCase> {
  const telescope = selectStations(await loadTelescope('lwasv'), stations);
  const { polarisations } = telescope;
  const frequenciesHz = Float64Array.from({ length: CHANNELS }, (_, c) => 40e6 + 25e3 * c);
  let integration: Integration = {
    ...noiseIntegration(stations, polarisations, CHANNELS),
    start: parseInstant('2026-06-21T04:00:00Z'),
    durationS: CADENCE_S,
  };
  const next = (): Integration =>
    (integration = { ...integration, start: addSeconds(integration.start, CADENCE_S) });
  const setup = { backend, telescope, frequenciesHz, weight: 'natural', autos: 'leave-out' } as const;
  const stage = closers.keep(prepareImage({ ...setup, image: settings }));
  const plan = planSky(telescope, frameAtMiddle(telescope, integration), frequenciesHz, settings);
  const imager = closers.keep(await prepareVisibilityImager(plan, backend));
  let into: VisibilityImage | undefined;
  return {
    ours: {
      run: async () => {
        await stage.push(next(), () => Promise.resolve());
        return 1;
      },
    },
    ceiling: {
      title: 'the imager alone',
      run: async () => {
        into = await imager.image([integration], setup, into);
        return 1;
      },
    },
    peer: {
      name: 'planned and prepared for every image',
      run: async () => {
        await imageIntegration(next(), setup, settings);
        return 1;
      },
    },
  };
}
