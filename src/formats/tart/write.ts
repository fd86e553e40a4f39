/** Writes raw recordings in TART's format: for tests and experiments. */
import { refuse } from '../../core/errors.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import type { Telescope } from '../../telescope/telescope.js';
import { text } from '../hdf5/items.js';
import { createHdf5 } from '../hdf5/write.js';
import { writeFileWhole, writeOutput } from '../io/output.js';

export interface TartRecording {
  readonly telescope: Telescope;
  readonly oscillatorHz: number;
  readonly sampleRateHz: number;
  readonly start: Instant;
  /** [antenna][byte]: eight samples, the first in the highest bit, 1 for +1. */
  readonly packed: Uint8Array;
}

/** NAME.hdf, and NAME-antenna_positions.json beside it. */
export async function writeTartRaw(path: string, recording: TartRecording): Promise<readonly string[]> {
  const { telescope, oscillatorHz, sampleRateHz, start, packed } = recording;
  const antennas = telescope.stations.length;
  if (packed.length % antennas !== 0)
    refuse(path, `${packed.length} bytes do not divide among ${antennas} antennas`, 'give whole rows');
  const { latitudeDeg, longitudeDeg, heightM } = telescope.site;
  const intermediateHz = sampleRateHz / 4;
  const config = {
    name: telescope.title,
    frequency: oscillatorHz + intermediateHz,
    L0_frequency: oscillatorHz,
    baseband_frequency: intermediateHz,
    sampling_frequency: sampleRateHz,
    bandwidth: 2.5e6,
    lat: latitudeDeg,
    lon: longitudeDeg,
    alt: heightM,
    num_antenna: antennas,
    orientation: 0,
    axes: ['East', 'North', 'Up'],
  };
  await writeOutput(path, async (output) => {
    const file = await createHdf5(output, {
      kind: 'group',
      items: {
        config: text(JSON.stringify(config)),
        timestamp: text(formatInstant(start, 6).replace('Z', '+00:00')),
        data: { kind: 'fixed', type: 'uint8', dims: [antennas, packed.length / antennas], bytes: packed },
      },
    });
    await file.commit();
  });
  const positions = path.replace(/\.hdf5?$/i, '') + '-antenna_positions.json';
  const rows = telescope.stations.map(({ eastM, northM, upM }) => [eastM, northM, upM]);
  await writeFileWhole(positions, `${JSON.stringify({ antenna_positions: rows })}\n`);
  return [path, positions];
}
