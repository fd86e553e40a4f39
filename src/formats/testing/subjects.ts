/** A small complete file for every reader, made here. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allocateVoltages, baselineCount, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSamples, addSeconds, parseInstant } from '../../core/instant.js';
import { inTemporaryFolder } from '../../core/testing/temporary-folder.js';
import { dada } from '../recordings/dada.js';
import { fitsidi } from '../visibilities/fitsidi.js';
import type { VisibilityHeader } from '../format.js';
import { guppi } from '../recordings/guppi.js';
import { lwa } from '../recordings/lwa/lwa.js';
import { mark5b } from '../recordings/mark5b.js';
import { mwa } from '../visibilities/mwa/mwa.js';
import { raw } from '../recordings/raw.js';
import { createSigmf, sigmf } from '../recordings/sigmf/sigmf.js';
import { skalow } from '../visibilities/skalow.js';
import { uvfits } from '../visibilities/uvfits/uvfits.js';
import { uvh5 } from '../visibilities/uvh5/uvh5.js';
import { vdif } from '../recordings/vdif.js';
import {
  encodeCor,
  encodeDada,
  encodeDrx,
  encodeGuppi,
  encodeLwaSpectra,
  encodeMark5b,
  encodeTbn,
  encodeVdif,
} from './encoders.js';
import { encodeIdi, smallIdi } from './idi-file.js';
import { encodeGpubox, encodeMetafits, encodeMwax, smallMwa } from './mwa-files.js';
import { writeSample } from './reading.js';
import { encodeSkalow } from './skalow-dump.js';
import { gainSubjects } from './gain-subjects.js';
import { newerSubjects } from './newer-subjects.js';
import type { AnySubject, Subject } from './trial.js';
import { trio } from './trio.js';

const small = (sender: number, input: number, t: number, part: number): number =>
  ((sender * 5 + input * 3 + t * 7 + part) % 15) - 7;
const code2 = (sender: number, input: number, t: number): number => (sender + input + t) % 4;

const header: VisibilityHeader = {
  telescope: trio,
  polarisations: 2,
  frequenciesHz: Float64Array.of(159e6, 160e6),
  channelWidthHz: 1e6,
  phaseCentre: { raDeg: 250, decDeg: -30 },
  object: 'a place',
  history: ['made for the fuzzer'],
};

function integration(k: number): Integration {
  const baselines = baselineCount(3);
  return {
    start: addSeconds(parseInstant('2021-12-11T04:00:00'), 2 * k),
    durationS: 2,
    channels: 2,
    stations: 3,
    polarisations: 2,
    visibilities: visibilitiesCBPP(new Float64Array(2 * baselines * 8).fill(5), 2, baselines, 2),
    counts: countsCB(new Float64Array(2 * baselines).fill(10), 2, baselines),
    flaggedInputs: new Uint8Array(6),
  };
}

function written(format: typeof uvh5, name: string): Promise<Uint8Array> {
  return inTemporaryFolder('subject', async (folder) => {
    const path = join(folder, name);
    const writer = await format.createVisibilities?.(path, header);
    for (let k = 0; k < 3; k++) await writer?.append(integration(k));
    await writer?.finish();
    return readFileSync(path);
  });
}

const tag = 283_685_766_952_000_000n;
const vdifPlain = {
  bits: 2,
  parts: 1,
  threads: [0, 1],
  channels: 1,
  samplesPerFrame: 128,
  framesPerSecond: 4,
  frames: 10,
  epoch: 28,
  seconds: 100,
  firstFrame: 2,
  code: code2,
} as const;

export async function subjects(): Promise<AnySubject[]> {
  const spectra = { tag, frames: 6, stands: 4, groups: 2, code: small };
  return [
    {
      name: 'vdif',
      format: vdif,
      extension: '.vdif',
      options: {},
      bytes: encodeVdif({ ...vdifPlain, extension: 3 }),
    },
    {
      name: 'vdif0',
      format: vdif,
      extension: '.vdif',
      options: {},
      bytes: encodeVdif({ ...vdifPlain, bits: 8, parts: 2, channels: 2, extension: 0 }),
    },
    {
      name: 'mark5b',
      format: mark5b,
      extension: '.m5b',
      options: { inputs: 8, near: parseInstant('2014-01-01') },
      bytes: encodeMark5b({
        inputs: 8,
        frames: [6398, 6399, 6400],
        framesPerSecond: 6400,
        day: 821,
        second: 19_801,
        code: code2,
      }),
    },
    {
      name: 'guppi',
      format: guppi,
      extension: '.raw',
      options: {},
      bytes: encodeGuppi({
        antennas: 2,
        channels: 3,
        polarisations: 2,
        blockSamples: 40,
        overlap: 4,
        blocks: [0, 1, 2, 4],
        bandwidthMhz: 0.001,
        directIo: 'yes',
        code: small,
      }),
    },
    {
      name: 'dada',
      format: dada,
      extension: '.dada',
      options: {},
      bytes: encodeDada({
        channels: 1,
        polarisations: 2,
        samples: 700,
        bandwidthMhz: 16,
        instrument: 'x',
        offsetBytes: 0,
        code: small,
      }),
    },
    {
      name: 'meerkat',
      format: dada,
      extension: '.dada',
      options: {},
      bytes: encodeDada({
        channels: 3,
        polarisations: 2,
        samples: 512,
        bandwidthMhz: 3,
        instrument: 'MKBF',
        offsetBytes: 0,
        code: small,
      }),
    },
    {
      name: 'raw',
      format: raw,
      extension: '.bin',
      options: { type: 'ci8', inputs: 3, sampleRateHz: 1e6 },
      bytes: Buffer.alloc(3000, 7),
    },
    {
      name: 'tbn',
      format: lwa,
      extension: '.dat',
      options: {},
      bytes: encodeTbn({ tag, frames: 3, inputs: 4, code: small }),
    },
    {
      name: 'drx',
      format: lwa,
      extension: '.dat',
      options: {},
      bytes: encodeDrx({ tag, frames: 2, offset: 6440, code: small }),
    },
    {
      name: 'tbf',
      format: lwa,
      extension: '.dat',
      options: {},
      bytes: encodeLwaSpectra({ kind: 'tbf', ...spectra }),
    },
    {
      name: 'tbx',
      format: lwa,
      extension: '.dat',
      options: {},
      bytes: encodeLwaSpectra({ kind: 'tbx', ...spectra }),
    },
    {
      name: 'cor',
      format: lwa,
      extension: '.dat',
      options: { telescope: trio },
      bytes: encodeCor({ tag, frames: 3, stands: 3, code: small }),
    },
    {
      name: 'uvfits',
      format: uvfits,
      extension: '.uvfits',
      options: {},
      bytes: await written(uvfits, 'x.uvfits'),
    },
    { name: 'uvh5', format: uvh5, extension: '.uvh5', options: {}, bytes: await written(uvh5, 'x.uvh5') },
    {
      name: 'skalow',
      format: skalow,
      extension: '.hdf5',
      options: { telescope: trio },
      bytes: await encodeSkalow(3),
    },
    { name: 'fitsidi', format: fitsidi, extension: '.idifits', options: {}, bytes: encodeIdi(smallIdi()) },
    ...mwaSubjects(),
    ...(await sigmfSubjects()),
    ...(await gainSubjects()),
    ...(await newerSubjects({ header, integration })),
  ];
}

/** Two blocks of a recording, with a gap inside and a gap between them. */
async function sigmfParts(folder: string): Promise<{ part: string; bytes: Uint8Array }[]> {
  const path = join(folder, 'x.sigmf-meta');
  const shape = { type: 'ci8', inputs: 6 } as const;
  const start = parseInstant('2021-12-11T04:00:00');
  const writer = await createSigmf(path, {
    ...shape,
    telescope: trio,
    polarisations: 2,
    sampleRateHz: 1e6,
    centreFrequencyHz: 160e6,
    start,
    description: 'made for the fuzzer',
    history: ['by hand'],
  });
  for (const first of [0, 500]) {
    const samples = 400;
    const voltages = allocateVoltages(shape.type, shape.inputs, samples);
    voltages.forEach((_, k) => (voltages[k] = small(0, 0, k, 0)));
    voltages.fill(0, 2 * samples, 2 * samples + 20);
    const gaps = [{ firstInput: 1, endInput: 2, firstSample: 0, endSample: 10 }];
    await writer.append({ ...shape, samples, voltages, gaps, start: addSamples(start, first, 1e6) });
  }
  await writer.finish();
  return ['meta', 'data'].map((part) => ({ part, bytes: readFileSync(join(folder, `x.sigmf-${part}`)) }));
}

/** SigMF is two files: each is damaged beside a valid other. */
async function sigmfSubjects(): Promise<Subject[]> {
  const parts = await inTemporaryFolder('subject', sigmfParts);
  return parts.map(({ part, bytes }, k) => {
    const other = parts[1 - k];
    return {
      name: k === 0 ? 'sigmf' : 'sigmfdata',
      extension: `.sigmf-${part}`,
      options: {},
      bytes,
      format: {
        ...sigmf,
        open: (from, options) => {
          const beside = from.replace(/(meta|data)$/, other.part);
          if (!existsSync(beside)) writeFileSync(beside, other.bytes);
          return sigmf.open(from, options);
        },
      },
    };
  });
}

/** Files of either correlator beside a valid metafits, and a metafits beside a valid file. */
function mwaSubjects(): Subject[] {
  const [old, now] = [smallMwa(32), smallMwa(3)];
  const times = [1_377_280_290, 1_377_280_290.5, 1_377_280_291];
  const gpubox = encodeGpubox(old, { channels: 1, times });
  const mwax = encodeMwax(now, { channels: 2, times });
  // The file name gives the coarse channel; the fuzzer's files have no such name.
  const centreFrequencyHz = 128 * 1.28e6;
  const sound = writeSample(mwax, '_ch128_000.fits');
  const shared = { format: mwa, extension: '.fits' };
  return [
    {
      ...shared,
      name: 'gpubox',
      options: { metafits: writeSample(encodeMetafits(old), '.metafits'), centreFrequencyHz },
      bytes: gpubox,
    },
    {
      ...shared,
      name: 'mwax',
      options: { metafits: writeSample(encodeMetafits(now), '.metafits'), centreFrequencyHz },
      bytes: mwax,
    },
    {
      name: 'metafits',
      format: { ...mwa, open: (path) => mwa.open(sound, { metafits: path, cables: 'remove' }) },
      extension: '.metafits',
      options: {},
      bytes: encodeMetafits(now),
    },
  ];
}
