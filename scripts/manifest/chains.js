// Chains of command lines for scripts/manifest.js, each in a separate folder, ordered so that inputs exist. Small, so
// that all of them take some minutes on two cores. `write` gives files that the lines read.

const START = '2026-06-21T04:00:00Z';
/** The second half of a recording of 200 ms. */
const SECOND_HALF = '2026-06-21T04:00:00.1Z..2026-06-21T04:00:00.2Z';
const delays = JSON.stringify({
  fixed: [
    { input: 3, delayS: 1.25e-6 },
    { input: 8, cableM: 61.4 },
  ],
});

/** @typedef {{ name: string, lines: readonly string[], write?: Readonly<Record<string, string>> }} Chain */

/**
 * The field that 64 pixels hold for an array of that size.
 * @param {string} telescope
 */
const fieldDeg = (telescope) =>
  /^(?:vla|meerkat)/.test(telescope) ? 0.02 : /^(?:mwa|ovro)/.test(telescope) ? 1 : 20;

/**
 * For every telescope: a recording, its visibilities, and an image.
 * @param {readonly string[]} names
 * @returns {Chain[]}
 */
const telescopes = (names) =>
  names.map((name) => ({
    name: `telescope-${name}`,
    lines: [
      `simulate --telescope ${name} --stations 8 --rate 200kHz --duration 40ms --time ${START} --sources spot@60:90:5000 -o v`,
      'correlate v.sigmf-meta --channels 8 --integration 20ms -o v.uvh5',
      `image --direct v.sigmf-meta --channels 8 --pixels 64 --field ${fieldDeg(name)} --no-picture -o direct.fits`,
    ],
  }));

const SKY = `simulate --stations 12 --rate 400kHz --duration 200ms --time ${START} --drop 0.02 --tone 58.05MHz:3000 -o sky`;
/** @type {readonly (readonly [name: string, options: string])[]} */
const fronts = [
  ['plain', ''],
  ['kurtosis', '--kurtosis'],
  ['kurtosis-inputs', '--kurtosis 4 --kurtosis-spectra 128 --kurtosis-over inputs --kurtosis-bursts take'],
  ['delays', '--delays delays.json'],
  ['tracked', '--track CygA'],
  ['tracked-delays', '--track CygA --delays delays.json --kurtosis'],
  ['four', '--bits 4'],
  ['four-van-vleck', '--bits 4 --van-vleck'],
  ['float', '--bits float'],
  ['levels', '--bits 4 --equaliser measured --equaliser-out levels.json'],
  ['filter', '--filter sharp'],
  ['flags', `--flag 5,8-9 --flag stand129:Y --flag channels=4-5 --flag times=${SECOND_HALF}`],
  ['times', `--times ${SECOND_HALF} --keep-channels 2-13`],
  ['all', `--kurtosis --delays delays.json --track CygA --bits 4 --van-vleck --flag 5 --flag channels=4-5`],
];
/** `--values sums` applies only to these: no tracking, no corrections. */
const summed = new Set(['plain', 'kurtosis', 'delays', 'four', 'flags']);

/** @type {Chain} */
const batch = {
  name: 'correlate',
  write: { 'delays.json': delays },
  lines: [
    SKY,
    ...fronts.flatMap(([name, options]) => [
      `correlate sky.sigmf-meta --channels 16 --integration 50ms ${options} -o ${name}.uvh5`,
      ...(summed.has(name)
        ? [
            `correlate sky.sigmf-meta --channels 16 --integration 50ms --align utc --values sums ${options.replace(/--equaliser-out \S+/, '')} -o ${name}-sums.uvh5`,
          ]
        : []),
    ]),
    'correlate sky.sigmf-meta --channels 16 --integration 50ms -o plain.uvfits',
    'correlate sky.sigmf-meta --channels 16 --phase-centre CygA --integration 50ms -o centre.uvfits',
  ],
};

/** @type {Chain} */
const channelised = {
  name: 'channelise',
  write: { 'delays.json': delays },
  lines: [
    SKY,
    'channelise sky.sigmf-meta --channels 8 -o eight',
    'channelise sky.sigmf-meta --channels 8 --bits 4 -o four',
    'channelise sky.sigmf-meta --channels 8 --bits float -o float',
    'channelise sky.sigmf-meta --channels 8 --bits 4 --equaliser measured -o levelled',
    'channelise sky.sigmf-meta --channels 8 --kurtosis -o kurtosis',
    'channelise eight.sigmf-meta --fine-channels 4 -o fine',
    ...['eight', 'four', 'float', 'levelled'].map(
      (name) => `correlate ${name}.sigmf-meta --integration 50ms -o ${name}.uvh5`,
    ),
    'correlate four.sigmf-meta --integration 50ms --van-vleck -o four-van-vleck.uvh5',
    'correlate eight.sigmf-meta --integration 50ms --fine-channels 4 -o eight-fine.uvh5',
    'correlate four.sigmf-meta --integration 50ms --fine-channels 4 --bits float --kurtosis -o four-fine.uvh5',
    'correlate eight.sigmf-meta --integration 50ms --delays delays.json -o eight-delays.uvh5',
    'correlate eight.sigmf-meta --integration 50ms --track CygA -o eight-tracked.uvh5',
    'correlate eight.sigmf-meta --integration 50ms --kurtosis -o eight-kurtosis.uvh5',
    `correlate eight.sigmf-meta --integration 50ms --flag 5,8-9 --flag channels=4-5 --flag times=${SECOND_HALF} -o eight-flags.uvh5`,
    'image --direct eight.sigmf-meta --pixels 64 --no-picture -o eight.fits',
    'image --direct four.sigmf-meta --pixels 64 --every 50ms -o four-series.fits',
    'image --direct levelled.sigmf-meta --pixels 64 --no-picture -o levelled.fits',
  ],
};

/** @type {Chain} */
const imaging = {
  name: 'image',
  write: { 'delays.json': delays },
  lines: [
    `simulate --stations 24 --rate 200kHz --duration 120ms --time ${START} --noise 2000 -o sky`,
    'correlate sky.sigmf-meta --channels 8 --integration 40ms -o sky.uvh5',
    'calibrate sky.uvh5 -o gains.json',
    'calibrate sky.uvh5 --polarisation full -o full.json',
    'apply sky.uvh5 gains.json applied.uvh5',
    'image sky.uvh5 --gains gains.json --centre zenith -o kernel.fits',
    'image sky.uvh5 --gains gains.json --cube --no-picture -o cube.fits',
    'image sky.uvh5 --gains gains.json --centre zenith --field 60 --pixels 96 --weights uniform --beam --no-picture -o wide.fits',
    'image sky.uvh5 --gains gains.json --centre CygA --field 20 --pixels 64 --clean 20 --no-picture -o clean.fits',
    'image sky.uvh5 --gains gains.json --centre zenith --field 60 --pixels 64 --every 40ms -o series.fits',
    'image --direct sky.sigmf-meta --channels 8 --gains gains.json -o direct.fits',
    'image --direct sky.sigmf-meta --channels 8 --gains gains.json --no-autos --pixels 64 --no-picture -o no-autos.fits',
    'image --direct sky.sigmf-meta --channels 8 --gains gains.json --every 40ms -o direct-series.fits',
    'image --direct sky.sigmf-meta --channels 8 --cube --kurtosis --pixels 64 --no-picture -o direct-cube.fits',
    'image --direct sky.sigmf-meta --channels 8 --delays delays.json --track CygA --pixels 64 --no-picture -o direct-tracked.fits',
    'convert sky.uvh5 sky.uvfits',
    'convert sky.uvh5 part.uvfits --keep-channels 2-5 --average-time 0.08 --phase-centre CygA',
    'convert sky.uvh5 flagged.uvh5 --flag channels=2-3 --flag stand1',
    'convert sky.sigmf-meta copy.sigmf-meta',
    'inspect sky.uvh5 --picture baselines.png',
  ],
};

/** @type {Chain} */
const dishes = {
  name: 'dishes',
  lines: [
    'sample dishes',
    ...[
      ['plain', ''],
      ['tracked', '--track 15h38m00s_+22d15m00s'],
      ['four', '--track 15h38m00s_+22d15m00s --bits 4 --van-vleck'],
    ].map(
      ([name, options]) =>
        `correlate recording.sigmf-meta --telescope dishes.json --channels 64 --integration 5ms ${options} -o ${name}.uvh5`,
    ),
  ],
};

const FAULTS = '--lose 2% --duplicate 1% --reorder 2% --corrupt 1% --seed 5';
const LWASV = '--telescope lwasv --stations 16';
const FEW = '--telescope lwasv --stations 4';
const DIGITISERS = `--epoch ${START} --rate 200kHz --frequency 58MHz`;
const FOUR = '--channels 4 --gain 1';
/** Format, recording, options of live; the last of each: integration time. */
const packets = /** @type {const} */ ([
  ['chips', 'nibbles', `--epoch ${START} ${LWASV}`, '100ms'],
  ['snap2', 'nibbles', `--rate 25kHz ${LWASV}`, '100ms'],
  ['spead-feng', 'bytes', `${DIGITISERS} ${LWASV}`, '100ms'],
  ['vdif', 'sky', `--rate 100kHz --frequency 58MHz ${LWASV} ${FOUR}`, '100ms'],
  ['vdif-vtp', 'sky', `--rate 100kHz --frequency 58MHz ${LWASV} ${FOUR}`, '100ms'],
  ['spead-digitiser', 'real', `${DIGITISERS} ${FEW} ${FOUR}`, '100ms'],
  ['mwa', 'coarse', `${FEW} ${FOUR}`, '40ms'],
]);

/** @type {Chain} */
const live = {
  name: 'live',
  lines: [
    `simulate --duration 320ms --stations 16 --rate 100kHz --time ${START} -o sky`,
    `simulate --stations 4 --time ${START} --duration 320ms --rate 200kHz --type i8 -o real`,
    `simulate --stations 4 --time ${START} --duration 130ms --rate 1.28MHz --frequency 58.88MHz -o coarse`,
    'channelise sky.sigmf-meta --channels 4 --bits 4 -o nibbles',
    'channelise sky.sigmf-meta --channels 4 -o bytes',
    ...packets.flatMap(([format, recording, given, every]) => [
      `send ${recording}.sigmf-meta --format ${format} --to ${format}.pcap --truth ${format}-truth ${FAULTS}`,
      `live --from ${format}.pcap --format ${format} ${given} --integration ${every} -o ${format}.uvh5 --no-page`,
      `live --from ${format}.pcap --format ${format} ${given} --integration ${every} --values sums -o ${format}-sums.uvh5 --no-page`,
    ]),
    `live --from chips.pcap --epoch ${START} ${LWASV} --integration 100ms --file-every 200ms -o files.uvfits --no-page`,
    `live --from chips.pcap --epoch ${START} ${LWASV} --integration 100ms --kurtosis --kurtosis-spectra 128 --flag 3,8-9 -o kurtosis.uvh5 --no-page`,
    `live --from vdif.pcap --format vdif --rate 100kHz --frequency 58MHz ${LWASV} --channels 8 --bits 4 --integration 100ms --kurtosis -o vdif-kurtosis.uvh5 --no-page`,
    `live --from snap2.pcap --rate 25kHz ${LWASV} --receive-channels 1-2 --integration 100ms -o part.uvh5 --no-page`,
    `live bytes.sigmf-meta --align first-sample --integration 320ms --image 320ms --picture visibilities.png -o bytes.uvh5 --no-page`,
    `live bytes.sigmf-meta --align first-sample --image 320ms --integration 320ms --picture direct.png --direct -o bytes-direct.uvh5 --no-page`,
    `live sky.sigmf-meta --channels 4 --integration 100ms -o sky.uvh5 --no-page`,
  ],
};

/**
 * @param {readonly string[]} names Of the telescopes of the registry.
 * @returns {Chain[]}
 */
export const chainsOf = (names) => [live, batch, channelised, imaging, dishes, ...telescopes(names)];
