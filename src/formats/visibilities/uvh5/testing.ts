/** Three stations in a field, and their files in a temporary folder. */
import { join } from 'node:path';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { addSeconds, parseInstant } from '../../../core/instant.js';
import { randomStream } from '../../../core/random.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import type { Telescope } from '../../../telescope/telescope.js';
import type { OpenOptions, VisibilityHeader } from '../../format.js';
import { reals } from '../../hdf5/items.js';
import { createHdf5, type GroupPlan } from '../../hdf5/write.js';
import { openOutput } from '../../io/output.js';
import { planUvh5 } from './plan.js';
import { openUvh5 } from './read.js';

export const folder = temporaryFolder('uvh5');
let files = 0;
export const nextPath = (): string => join(folder, `${files++}.uvh5`);

export const telescope: Telescope = {
  name: 'trio',
  title: 'three in a field',
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 },
  stations: [
    { name: 'one', eastM: 0, northM: 0, upM: 0 },
    { name: 'two', eastM: 12, northM: -3, upM: 0.5 },
    { name: 'three', eastM: -7, northM: 20, upM: -1 },
  ],
  polarisations: 2,
  band: { lowHz: 50e6, highHz: 350e6 },
  recording: { centreFrequencyHz: 160e6, sampleRateHz: 1e6, channels: 2, bits: 8 },
  beamExponent: 1,
};
export const start = parseInstant('2021-12-11T04:00:00');
export const header: VisibilityHeader = {
  telescope,
  polarisations: 2,
  frequenciesHz: Float64Array.of(159e6, 160e6),
  channelWidthHz: 1e6,
  phaseCentre: { raDeg: 250, decDeg: -30 },
  object: 'a place',
  history: ['first line', 'second line'],
};
export const baselines = baselineCount(3);

/** Integers, with real, positive autocorrelations and conjugate products. */
export function integration(k: number): Integration {
  const random = randomStream(7, 'uvh5', k);
  const values = new Float64Array(2 * baselines * 4 * 2);
  const counts = new Float64Array(2 * baselines);
  for (let c = 0; c < 2; c++) {
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j <= i; j++) {
        const cell = c * baselines + baselineIndex(i, j);
        counts[cell] = 1000 - random.below(10);
        for (let pair = 0; pair < 4; pair++) {
          values[2 * (cell * 4 + pair)] = random.below(20_001) - 10_000;
          values[2 * (cell * 4 + pair) + 1] = random.below(20_001) - 10_000;
        }
        if (i === j) {
          values[8 * cell + 1] = values[8 * cell + 7] = 0;
          values[8 * cell + 4] = values[8 * cell + 2];
          values[8 * cell + 5] = -values[8 * cell + 3];
        }
      }
    }
  }
  return {
    start: addSeconds(start, 2 * k),
    durationS: 2,
    channels: 2,
    stations: 3,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, 2, baselines, 2),
    counts: countsCB(counts, 2, baselines),
    flaggedInputs: new Uint8Array(6),
  };
}

export async function readAll(path: string, options?: OpenOptions) {
  const file = await openUvh5(path, options);
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return { file, all };
}

/** The same with many channels: an integration longer than the tables after it. */
const WIDER = 24;
export const wideHeader: VisibilityHeader = {
  ...header,
  frequenciesHz: Float64Array.from({ length: 2 * WIDER }, (_, c) => 150e6 + 1e6 * c),
};
export function wideIntegration(k: number): Integration {
  const one = integration(k);
  const repeat = (values: Float64Array): Float64Array =>
    Float64Array.from({ length: values.length * WIDER }, (_, n) => values[n % values.length]);
  return {
    ...one,
    channels: 2 * WIDER,
    visibilities: visibilitiesCBPP(repeat(one.visibilities), 2 * WIDER, baselines, 2),
    counts: countsCB(repeat(one.counts), 2 * WIDER, baselines),
  };
}

/** Stations so close together that their uvw are practically 0. */
export const together: Telescope = {
  ...telescope,
  stations: telescope.stations.map((one) => ({
    ...one,
    eastM: one.eastM / 1000,
    northM: one.northM / 1000,
    upM: one.upM / 1000,
  })),
};

/** A file like ours with some items changed. */
export async function altered(
  change: (items: Record<string, GroupPlan['items'][string]>) => void,
  of: Telescope = together,
): Promise<string> {
  const path = nextPath();
  const plan = planUvh5(
    { ...header, telescope: of },
    { values: 'complex64' },
    { count: () => 2, first: () => undefined, rows: () => 12, pairs: () => 6 },
  );
  const grow = (group: string): Record<string, GroupPlan['items'][string]> => ({
    ...(plan.items[group] as GroupPlan).items,
  });
  const headerItems = grow('Header');
  const pairs = [0, 1].flatMap(() => [
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 1],
    [1, 2],
    [2, 2],
  ]);
  const twelve = (value: (row: number) => number) => reals(pairs.map((_, row) => value(row)));
  Object.assign(headerItems, {
    ant_1_array: twelve((row) => pairs[row][0]),
    ant_2_array: twelve((row) => pairs[row][1]),
    time_array: twelve((row) => 2_459_559.5 + Math.floor(row / 6) / 43_200),
    integration_time: twelve(() => 2),
    lst_array: twelve(() => 0),
    uvw_array: reals(new Array<number>(36).fill(0), [12, 3]),
    phase_center_app_ra: twelve(() => 0),
    phase_center_app_dec: twelve(() => 0),
    phase_center_frame_pa: twelve(() => 0),
    phase_center_id_array: twelve(() => 0),
  });
  const cells = 12 * 2 * 4;
  const dataItems: Record<string, GroupPlan['items'][string]> = {
    visdata: {
      kind: 'fixed',
      type: 'complex64',
      dims: [12, 2, 4],
      bytes: new Uint8Array(Float32Array.from({ length: 2 * cells }, (_, k) => k % 7).buffer),
    },
    flags: { kind: 'fixed', type: 'boolean', dims: [12, 2, 4], bytes: new Uint8Array(cells) },
    nsamples: {
      kind: 'fixed',
      type: 'float32',
      dims: [12, 2, 4],
      bytes: new Uint8Array(Float32Array.from({ length: cells }, () => 5).buffer),
    },
  };
  const all = {
    ...headerItems,
    ...Object.fromEntries(Object.entries(dataItems).map(([name, item]) => [`Data/${name}`, item])),
  };
  change(all);
  const pick = (isData: 'data' | 'header') =>
    Object.fromEntries(
      Object.entries(all)
        .filter(([name]) => name.startsWith('Data/') === (isData === 'data'))
        .map(([name, item]) => [name.replace('Data/', ''), item]),
    );
  const output = await openOutput(path);
  const file = await createHdf5(output, {
    kind: 'group',
    items: {
      Header: { kind: 'group', items: pick('header') },
      Data: { kind: 'group', items: pick('data') },
    },
  });
  await file.commit();
  await output.finish();
  return path;
}
