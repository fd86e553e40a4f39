/** Small complete files for the readers of the rarer formats, of several files as one, and of Measurement Sets. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTemporaryFolder, temporaryFolder } from '../../core/testing/temporary-folder.js';
import type { Format, VisibilityHeader } from '../format.js';
import type { Integration } from '../../core/blocks.js';
import { gsb } from '../recordings/gsb/gsb.js';
import { lwa } from '../recordings/lwa/lwa.js';
import { sigmfCollection } from '../recordings/sigmf/collection.js';
import { vdif } from '../recordings/vdif.js';
import { encodeWav } from './encode-wav.js';
import { wav } from '../recordings/wav.js';
import { openFile } from '../registry.js';
import { isCasacoreBuilt } from '../visibilities/ms/library.js';
import { ms } from '../visibilities/ms/ms.js';
import { uvh5 } from '../visibilities/uvh5/uvh5.js';
import { encodeVdif } from './encoders.js';
import { encodeDrSpectra, encodeDrx8, encodeNewerTbf, encodeTbw } from './lwa-frames.js';
import { writeSample } from './reading.js';
import type { Subject } from './trial.js';

const small = (sender: number, input: number, t: number, part: number): number =>
  ((sender * 5 + input * 3 + t * 7 + part) % 15) - 7;
const tag = 283_685_766_952_000_000n;

export interface Made {
  readonly header: VisibilityHeader;
  readonly integration: (k: number) => Integration;
}

export async function newerSubjects(made: Made): Promise<Subject[]> {
  const plain = { format: lwa, extension: '.dat', options: {} };
  return [
    { ...plain, name: 'tbw', bytes: encodeTbw({ tag, frames: 4, stands: [3, 1], bits: 12, code: small }) },
    { ...plain, name: 'tbw4', bytes: encodeTbw({ tag, frames: 4, stands: [3, 1], bits: 4, code: small }) },
    { ...plain, name: 'drx8', bytes: encodeDrx8({ tag, frames: 2, offset: 6440, code: small }) },
    {
      ...plain,
      name: 'tbf64',
      bytes: encodeNewerTbf({ tag, frames: 4, stands: 64, groups: 2, code: small }),
    },
    {
      ...plain,
      name: 'drspec',
      bytes: encodeDrSpectra({
        tag,
        offset: 0,
        channels: 16,
        transforms: 196,
        products: 0xf0,
        integrations: [0, 1, 2, 4],
        words: [2 ** 30, 2 ** 29],
        fills: [196, 196, 196, 196],
        value: (tuning, channel, k, part) => tuning + channel + k + part,
      }),
    },
    ...gsbSubjects(),
    collectionSubject(),
    {
      name: 'wav',
      format: wav,
      extension: '.wav',
      options: {},
      bytes: encodeWav({ code: 1, bits: 16, channels: 2, rateHz: 1e6, data: Buffer.alloc(400, 7) }),
    },
    ...(await severalSubjects(made)),
    ...(await setSubjects(made)),
  ];
}

/** Damaged time stamps beside valid samples, and the reverse. */
function gsbSubjects(): Subject[] {
  const lines = ['00 0.000000240', '00 0.251658480', '00 0.503316720', '01 0.006633200'];
  const stamps = Buffer.from(lines.map((time) => `2015 04 27 18 45 ${time} \n`).join(''));
  const samples = Buffer.alloc(4 * 64, 0x1f);
  const options = { sampleRateHz: 128 / 0.25165824 };
  const beside = (which: 'stamps' | 'samples'): Format => ({
    ...gsb,
    open: (path, given) => {
      const stem = path.replace(/\.[^.]*$/, '');
      if (which === 'stamps') writeFileSync(`${stem}.dat`, samples);
      else writeFileSync(`${stem}.timestamp`, stamps);
      return gsb.open(`${stem}.timestamp`, given);
    },
  });
  return [
    { name: 'gsb', format: beside('stamps'), extension: '.timestamp', options, bytes: stamps },
    { name: 'gsbdata', format: beside('samples'), extension: '.dat', options, bytes: samples },
  ];
}

/** A damaged list of two valid recordings. */
function collectionSubject(): Subject {
  const folder = mkdtempSync(join(temporaryFolder('collection'), 'collection-'));
  const names = ['a', 'b'];
  for (const name of names) {
    const meta = {
      global: { 'core:datatype': 'ci8', 'core:sample_rate': 1e6 },
      captures: [{ 'core:sample_start': 0, 'core:frequency': 1e8, 'core:datetime': '2026-01-01T00:00:00Z' }],
    };
    writeFileSync(join(folder, `${name}.sigmf-meta`), JSON.stringify(meta));
    writeFileSync(join(folder, `${name}.sigmf-data`), Buffer.alloc(128, 3));
  }
  const streams = names.map((name) => ({ name }));
  return {
    name: 'collection',
    extension: '.sigmf-collection',
    options: {},
    bytes: Buffer.from(JSON.stringify({ collection: { 'core:version': '1.2.0', 'core:streams': streams } })),
    format: {
      ...sigmfCollection,
      open: (path, given) => {
        const beside = join(folder, 'x.sigmf-collection');
        cpSync(path, beside);
        return sigmfCollection.open(beside, given);
      },
    },
  };
}

/** A damaged file after a valid one. */
async function severalSubjects({ header, integration }: Made): Promise<Subject[]> {
  const at = (seconds: number): Uint8Array =>
    encodeVdif({
      bits: 2,
      parts: 1,
      threads: [0, 1],
      channels: 1,
      samplesPerFrame: 128,
      framesPerSecond: 4,
      frames: 8,
      epoch: 28,
      seconds,
      firstFrame: 0,
      extension: 3,
      code: small,
    });
  const [early, late] = await inTemporaryFolder('several', async (folder) => {
    const files: Uint8Array[] = [];
    for (const first of [0, 3]) {
      const path = join(folder, `${first}.uvh5`);
      const writer = await uvh5.createVisibilities?.(path, header);
      for (let k = first; k < first + 2; k++) await writer?.append(integration(k));
      await writer?.finish();
      files.push(readFileSync(path));
    }
    return files;
  });
  const after = (sound: string, format: Format): Format => ({
    ...format,
    open: (path, options) => openFile(`${sound},${path}`, options),
  });
  return [
    {
      name: 'several',
      extension: '.vdif',
      options: {},
      bytes: at(103),
      format: after(writeSample(at(100), '.vdif'), vdif),
    },
    {
      name: 'severalvis',
      extension: '.uvh5',
      options: {},
      bytes: late,
      format: after(writeSample(early, '.uvh5'), uvh5),
    },
  ];
}

/** All files of a set concatenated, damaged anywhere, and split again; only where casacore's module has been built. */
async function setSubjects({ header, integration }: Made): Promise<Subject[]> {
  if (!isCasacoreBuilt()) return [];
  const sound = join(mkdtempSync(join(temporaryFolder('set'), 'set-')), 'sound.ms');
  const writer = await ms.createVisibilities?.(sound, header);
  for (let k = 0; k < 3; k++) await writer?.append(integration(k));
  await writer?.finish();
  const names = (readdirSync(sound, { recursive: true }) as string[])
    .filter((name) => !name.endsWith('table.lock') && statSync(join(sound, name)).isFile())
    .sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1));
  const sizes = names.map((name) => statSync(join(sound, name)).size);
  return [
    {
      name: 'ms',
      extension: '.parts',
      options: {},
      bytes: Buffer.concat(names.map((name) => readFileSync(join(sound, name)))),
      format: {
        ...ms,
        open: (path) => {
          const set = `${path}.ms`;
          if (!existsSync(set)) cpSync(sound, set, { recursive: true });
          const damaged = readFileSync(path);
          let from = 0;
          for (const [k, name] of names.entries()) {
            writeFileSync(join(set, name), damaged.subarray(from, from + sizes[k]));
            from += sizes[k];
          }
          return ms.open(set);
        },
      },
    },
  ];
}
