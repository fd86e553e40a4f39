/** The samples of `corella sample`: each is a few ordinary command lines, and the page it is for. */

import type { Sample, Step } from '../../skies/index.js';

const command = (line: string): Step => ({ kind: 'command', words: line.split(' ') });
const recording = (name: string): readonly string[] => [`${name}.sigmf-meta`, `${name}.sigmf-data`];

const DISHES = `{ "name": "dishes", "title": "eight dishes", "polarisations": 1, "positions": "dishes.csv",
  "site": { "latitudeDeg": 34.348358, "longitudeDeg": -106.885783, "heightM": 1477.8 },
  "band": { "lowHz": 1.2e9, "highHz": 1.6e9 }, "beamExponent": 0,
  "recording": { "centreFrequencyHz": 1.4e9, "sampleRateHz": 16e6, "channels": 64, "bits": 8 } }
`;
/** Within 2 km of each other. */
const DISH_PLACES = `name,east_m,north_m,up_m
dish0,0,0,0
dish1,120,60,1.5
dish2,-310,240,-2
dish3,480,-390,3
dish4,-700,-420,4.5
dish5,850,380,-1
dish6,-950,300,2.5
dish7,1010,-120,0.5
`;

const ROOF = `{ "name": "roof", "title": "two dishes on a roof", "polarisations": 1, "positions": "roof.csv",
  "site": { "latitudeDeg": 52.37, "longitudeDeg": 4.9, "heightM": 12 },
  "band": { "lowHz": 1.3e9, "highHz": 1.5e9 }, "beamExponent": 0,
  "recording": { "centreFrequencyHz": 1.42e9, "sampleRateHz": 2.4e6, "channels": 128, "bits": 8 } }
`;
/** Measured by tape. */
const ROOF_PLACES = `name,east_m,north_m,up_m
east,0,0,0
west,-9.35,1.2,0
`;

/** 64 stands of LWA-SV, the small station on most pages. */
const station = (out: string): Step => command(`simulate --stations 64 --duration 10ms -o ${out}`);

export const samples: readonly Sample[] = [
  {
    name: 'station',
    what: 'raw voltages: 64 stands of LWA-SV, 10 ms, gains and cables unknown',
    page: 'docs/first-steps.md',
    files: recording('voltages'),
    steps: [station('voltages.sigmf-meta')],
    next: 'correlate voltages.sigmf-meta -o visibilities.uvfits',
  },
  {
    name: 'products',
    what: 'one file of each kind: a VDIF recording of two inputs; visibilities, gains, an image and its beam of 32 stands',
    page: 'docs/formats.md',
    files: ['night.vdif', 'visibilities.uvh5', 'gains.json', 'image.fits', 'image-beam.fits'],
    steps: [
      command(
        'simulate --stations 1 --rate 4MHz --duration 50ms --perfect --sources CygA -o night.sigmf-meta',
      ),
      command('send night.sigmf-meta --format vdif --to night.pcap --speed max'),
      { kind: 'payloads', capture: 'night.pcap', path: 'night.vdif' },
      command('simulate --stations 32 --duration 10ms -o voltages.sigmf-meta'),
      command('correlate voltages.sigmf-meta --channels 16 --integration 2ms -o visibilities.uvh5'),
      command('calibrate visibilities.uvh5 -o gains.json'),
      command('image visibilities.uvh5 --gains gains.json --beam --no-picture -o image.fits'),
    ],
    next: 'inspect visibilities.uvh5 --picture baselines.png',
  },
  {
    name: 'dishes',
    what: 'eight dishes over 2 km at 1.4 GHz, one source 45° up, cables of unknown length; 20 ms of voltages',
    page: 'docs/telescope.md',
    files: ['dishes.json', 'dishes.csv', ...recording('recording')],
    steps: [
      { kind: 'text', path: 'dishes.json', text: DISHES },
      { kind: 'text', path: 'dishes.csv', text: DISH_PLACES },
      command(
        'simulate --telescope dishes.json --sources there:234.5:22.25:100 --noise 100 --time 2026-06-21T01:30:00Z --duration 20ms -o recording.sigmf-meta',
      ),
    ],
    next: 'correlate recording.sigmf-meta --track "15h38m00s +22d15m00s" -o visibilities.uvh5',
  },
  {
    name: 'hour',
    what: 'calibrated visibilities: 48 tiles of the MWA for an hour, five sources in 4° of sky, noise',
    page: 'docs/imaging.md, docs/interference.md',
    files: ['hour.uvfits'],
    steps: [{ kind: 'hour', path: 'hour.uvfits' }],
    next: 'image hour.uvfits --cell 30arcsec --pixels 512 --weights briggs:0 --clean',
  },
  {
    name: 'channels',
    what: 'channelised data of 4 + 4 bits, as F-engines send them: 32 flat stations of EDA2, 40 ms, perfect antennas, the Sun',
    page: 'docs/imaging.md',
    files: recording('channels'),
    steps: [
      command(
        'simulate --telescope eda2 --stations 32 --time 2026-01-15T04:00:00Z --sources Sun --rate 400kHz --duration 40ms --perfect -o voltages.sigmf-meta',
      ),
      command('channelise voltages.sigmf-meta --channels 16 --bits 4 -o channels.sigmf-meta'),
    ],
    next: 'image --direct channels.sigmf-meta',
  },
  {
    name: 'sky',
    what: 'two seconds of sky to send as packets: 32 stands of LWA-SV, perfect antennas',
    page: 'docs/live.md',
    files: recording('sky'),
    steps: [command('simulate --stations 32 --rate 50kHz --duration 2s --perfect -o sky.sigmf-meta')],
    next: 'send sky.sigmf-meta --format snap2 --channels 4 --to 127.0.0.1:4016 --loop',
  },
  {
    name: 'capture',
    what: 'captured packets (CHIPS) of 32 stands of LWA-SV, some lost, doubled and out of order; and what arrives of them',
    page: 'docs/packets.md, docs/operate.md',
    files: ['capture.pcap', ...recording('arrived')],
    steps: [
      command('simulate --stations 32 --rate 400kHz --duration 60ms --perfect -o voltages.sigmf-meta'),
      command(
        'send voltages.sigmf-meta --format chips --channels 16 --to capture.pcap --speed max --lose 2% --duplicate 1% --reorder 1% --truth arrived.sigmf-meta',
      ),
    ],
    next: 'inspect capture.pcap',
  },
  {
    name: 'eda2',
    what: 'uncalibrated visibilities: all 256 antennas of EDA2 under the Sun, three inputs dead',
    page: 'docs/imaging.md',
    files: ['eda2-simulated.uvh5'],
    steps: [
      command(
        'simulate --telescope eda2 --time 2021-12-11T03:59:33Z --sources Sun --rate 20kHz --duration 400ms --noise 100000 --dead Ant086:X,Ant167 -o voltages.sigmf-meta',
      ),
      command('correlate voltages.sigmf-meta --channels 2 -o eda2-simulated.uvh5'),
    ],
    next: 'calibrate eda2-simulated.uvh5 --sources Sun --min-baseline 5 -o eda2.json',
  },
  {
    name: 'roof',
    what: 'two dishes at 21 cm: a tenth of a second of voltages, and three hours of the Sun drifting through, correlated',
    page: 'docs/roof.md',
    files: ['roof.json', 'roof.csv', ...recording('both'), 'drift.uvh5'],
    steps: [
      { kind: 'text', path: 'roof.json', text: ROOF },
      { kind: 'text', path: 'roof.csv', text: ROOF_PLACES },
      command(
        'simulate --telescope roof.json --sources Sun --noise 4000000 --time 2026-06-21T11:40:00Z --duration 100ms --perfect -o both.sigmf-meta',
      ),
      { kind: 'drift', path: 'drift.uvh5', telescope: 'roof.json' },
    ],
    next: 'inspect drift.uvh5 --fringes fringes.png --fringe-of Sun',
  },
  {
    name: 'tart',
    what: 'raw samples of a TART, 20 ms of one bit: six GPS satellites with true codes, antennas of unknown phase',
    page: 'docs/tart.md',
    files: ['tart-raw.hdf', 'tart-raw-antenna_positions.json', 'tart.tle'],
    steps: [{ kind: 'satellites', path: 'tart-raw.hdf' }],
    next: 'calibrate tart-raw.hdf --gnss --orbits tart.tle',
  },
];
