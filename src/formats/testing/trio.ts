/** Three stations in a field: the smallest telescope with a triangle. */
import type { Telescope } from '../../telescope/telescope.js';

export const trio: Telescope = {
  name: 'trio',
  title: 'three in a field',
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 },
  stations: [0, 1, 2].map((s) => ({ name: `s${s}`, eastM: 10 * s, northM: s * s, upM: 0 })),
  polarisations: 2,
  band: { lowHz: 50e6, highHz: 350e6 },
  recording: { centreFrequencyHz: 160e6, sampleRateHz: 1e6, channels: 2, bits: 8 },
  beamExponent: 1,
};
