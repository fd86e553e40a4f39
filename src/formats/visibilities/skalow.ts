/**
 * The correlator dumps of the SKA-Low stations (AAVS, EDA): HDF5 with correlation_matrix/data
 * [channel][time][baseline][product], baselines (0,0), (0,1) … (1,1) …, products XX, XY, YX, YY. The antenna order is
 * that of the telescope's preset, which comes from the file name or the user.
 */
import { basename } from 'node:path';
import type { Integration } from '../../core/blocks.js';
import { preparing } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { addSeconds, instant } from '../../core/instant.js';
import { skyFrame } from '../../sky/frame.js';
import { loadTelescope } from '../../telescope/load.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { Format, OpenOptions, VisibilityFile } from '../format.js';
import { gather, noFaults, storedProducts, type StoredProduct } from '../io/gather.js';
import { namesInHead, openHdf5, type Hdf5File } from '../hdf5/read.js';

const CHANNEL_SPACING_HZ = 781_250;
/** The station's filterbank oversamples by 32/27. */
const CHANNEL_WIDTH_HZ = (CHANNEL_SPACING_HZ * 32) / 27;
const DATA = 'correlation_matrix/data';
/** Stations that may appear in a file name. */
const stations = ['eda2', 'aavs2', 'aavs3'] as const;
/**
 * What the matrix holds for the pair (1, 2): not in the file, but found on the sky. EDA2's values, conjugated, show the
 * Sun and the Galactic centre at their positions of 2021-12-11; those of AAVS2, AAVS3 and the stations s8-…, unchanged,
 * the Sun and the Galaxy of their days. The reverse mirrors all of them through the zenith. So V₁₂ is the default and
 * EDA2 the exception, unless the user chooses.
 */
const storedByDefault = (name: string): 'V12' | 'V21' => (name.toLowerCase() === 'eda2' ? 'V21' : 'V12');

async function telescopeFor(path: string, options: OpenOptions): Promise<Telescope> {
  if (options.telescope) return options.telescope;
  const name = stations.find((one) => basename(path).toLowerCase().includes(one));
  if (name === undefined)
    refuse(
      path,
      'neither it nor its name states its station',
      'name it with telescope: NAME, like eda2, aavs3 or s8-6',
    );
  return loadTelescope(name);
}

/** Products in file order as polarisations of V₁₂; with V₂₁, XY and YX are exchanged. */
const productsHeldAs = {
  V12: [-5, -7, -8, -6].map((code) => storedProducts[code]) as readonly StoredProduct[],
  V21: [-5, -8, -7, -6].map((code) => storedProducts[code]) as readonly StoredProduct[],
};

function opened(file: Hdf5File, telescope: Telescope, { storedPair }: OpenOptions): VisibilityFile {
  const { path } = file;
  const fact = (name: string): number => {
    const value = file.attribute('root', name);
    if (typeof value !== 'number' || !Number.isFinite(value))
      refuse(path, `lacks the attribute ${name}`, 'it is damaged, or no correlator dump');
    return value;
  };
  const antennas = fact('n_antennas');
  const data = file.dataset(DATA);
  const [channels, times, baselines, products] = data.shape;
  if (
    data.shape.length !== 4 ||
    baselines !== (antennas * (antennas + 1)) / 2 ||
    products !== 4 ||
    data.parts !== 2
  ) {
    refuse(
      path,
      `${DATA} is [${data.shape.join('][')}] where ${antennas} antennas need [channel][time][baseline][4]`,
      'it is damaged',
    );
  }
  if (telescope.stations.length !== antennas) {
    refuse(
      path,
      `holds ${antennas} antennas where ${telescope.name} has ${telescope.stations.length}`,
      'name the telescope that made it with telescope: NAME',
    );
  }
  const durationS = fact('tsamp');
  const startS = fact('ts_start');
  if (!(durationS > 0) || channels < 1 || times < 1)
    refuse(path, `an integration lasts ${durationS} s`, 'it is damaged');
  const channelId = fact('channel_id');
  const samples = Math.round(durationS * CHANNEL_WIDTH_HZ);
  const first = instant(startS);
  const frequenciesHz = Float64Array.from(
    { length: channels },
    (_, c) => (channelId + c) * CHANNEL_SPACING_HZ,
  );

  const pair = storedPair ?? storedByDefault(telescope.name);
  const order = productsHeldAs[pair];
  const sign = pair === 'V21' ? -1 : 1;
  const faults = noFaults();
  const integrationOf = (t: number): Integration => {
    const gathering = gather({
      channels,
      stations: antennas,
      polarisations: 2,
      products: order,
      values: 'mean',
      faults,
    });
    for (let c = 0; c < channels; c++) {
      const matrix = data.box([c, t, 0, 0], [1, 1, baselines, 4]);
      let at = 0;
      for (let s1 = 0; s1 < antennas; s1++) {
        for (let s2 = s1; s2 < antennas; s2++) {
          gathering.row(s1, s2);
          for (const product of order) {
            const re = matrix[at++];
            const im = matrix[at++];
            gathering.add(c, product, re, sign * im, samples);
          }
        }
      }
    }
    return gathering.finish({ start: addSeconds(first, t * durationS), durationS });
  };
  return {
    kind: 'visibilities',
    path,
    format: 'skalow',
    telescope,
    details: {
      antennas,
      channelId,
      integrationS: durationS,
      integrations: times,
      storage: data.storage,
      channelSpacingHz: CHANNEL_SPACING_HZ,
      pair,
      pairFrom: storedPair ? 'options' : 'station name',
      // XX, XY, YX, YY of the pairs (0, 0) and (0, 1), as in the file.
      firstValues: [...data.box([0, 0, 0, 0], [1, 1, Math.min(2, baselines), 4])],
    },
    header: {
      telescope,
      polarisations: 2,
      frequenciesHz,
      channelWidthHz: CHANNEL_WIDTH_HZ,
      phaseCentre: skyFrame(telescope.site, first).zenith,
      object: 'zenith',
      feedFrame: 'feeds',
      // SKA-Low stations are rotated, with their antennas: X's direction depends on the station.
      ...(/^s\d+-\d+$/.test(telescope.name) && { xOrientation: 'unknown' as const }),
      history: [`${basename(path)}: SKA-Low station correlator, channel ${channelId}`],
    },
    integrationCount: times,
    faults,
    integrations: async function* () {
      Object.assign(faults, noFaults());
      for (let t = 0; t < times; t++) {
        await Promise.resolve();
        yield integrationOf(t);
      }
    },
    close: () => file.close(),
  };
}

export const skalow: Format = {
  name: 'skalow',
  title: 'SKA-Low station correlator (HDF5)',
  extensions: ['.hdf5'],
  kinds: [{ title: 'SKA-Low HDF5', holds: 'visibilities', reads: ['storedPair'] }],
  recognise: (_path, head, names) =>
    names === undefined || names === 'damaged'
      ? namesInHead(head, 'correlation_matrix')
      : names.has('correlation_matrix'),
  open: async (path, options = {}) => {
    const telescope = await telescopeFor(path, options);
    return preparing(async (closers) => opened(closers.keep(await openHdf5(path)), telescope, options));
  },
};
