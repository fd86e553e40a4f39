/** Options of a calibration by navigation satellites. */
import { z } from 'zod';
import { field, frequencyHz, timeS, words } from '../fields/index.js';

const group = 'Satellites';
const changes = 'never';

export const gnssFields = {
  direction: field(z.array(words('PRN@ALTITUDE:AZIMUTH, like 31@62.5:120')), {
    flag: '--direction <PRN@ALT:AZ>',
    group,
    changes,
    default: [],
    help: 'where a satellite is, in degrees; may be repeated. Without one a common tilt of the sky stays open',
  }),
  despread: field(timeS, {
    flag: '--despread <time>',
    group,
    changes,
    unit: 's',
    range: { least: 1e-3, most: 10 },
    default: 0.06,
    help: 'how much of the recording is used',
  }),
  doppler: field(frequencyHz, {
    flag: '--doppler <frequency>',
    group,
    changes,
    unit: 'Hz',
    range: { least: 500, most: 100e3 },
    default: 7000,
    help: "largest Doppler shift searched, the receiver's own error included",
  }),
};
