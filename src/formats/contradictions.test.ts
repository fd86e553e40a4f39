import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';

import { openFile, type OpenFileOptions } from './registry.js';
import { encodeDada, encodeDrx, encodeMark5b, encodeTbn, encodeVdif } from './testing/encoders.js';
import { writeSample } from './testing/reading.js';

const code = (): number => 1;
const refused = (bytes: Uint8Array, options: OpenFileOptions, words: RegExp): Promise<void> =>
  assert.rejects(async () => openFile(writeSample(bytes), options), words);
const taken = async (bytes: Uint8Array, options: OpenFileOptions): Promise<void> => {
  await (await openFile(writeSample(bytes), options)).close();
};

describe('what the user states against a recording', () => {
  const vdif = {
    bits: 2,
    parts: 1,
    threads: [0],
    channels: 1,
    samplesPerFrame: 32,
    framesPerSecond: 1000,
    frames: 6,
    epoch: 28,
    seconds: 14_363_767,
    firstFrame: 998,
    code,
  } as const;

  it('VDIF: its header, or its frame numbers, give the rate', async () => {
    const named = encodeVdif({ ...vdif, extension: 3 });
    await taken(named, { sampleRateHz: 32e3 });
    await refused(named, { sampleRateHz: 64e3 }, /states that it has 32 kHz; leave out source\.rate/);
    // Only its name gives the format.
    const format = 'vdif';
    const counted = encodeVdif({ ...vdif, extension: 0 });
    await taken(counted, { format, sampleRateHz: 32e3 });
    for (const sampleRateHz of [16e3, 64e3]) {
      await refused(
        counted,
        { format, sampleRateHz },
        /make 1000 frames a second, 32 kHz; leave out source\.rate/,
      );
    }
    // The last frames of the second may be lost.
    await taken(counted, { format, sampleRateHz: 32 * 1050 });
    // No contradiction within a second.
    await taken(encodeVdif({ ...vdif, extension: 0, firstFrame: 2 }), { format, sampleRateHz: 64e3 });
  });

  it('Mark 5B: its time stamps fit one rate', async () => {
    const frames = [6398, 6399, 6400, 6402];
    const bytes = encodeMark5b({ inputs: 8, frames, framesPerSecond: 6400, day: 821, second: 19_801, code });
    const near = parseInstant('2014-01-01');
    await taken(bytes, { inputs: 8, near, sampleRateHz: 32e6 });
    await refused(
      bytes,
      { inputs: 8, near, sampleRateHz: 64e6 },
      /time stamps do not fit 64 MHz; leave out source\.rate/,
    );
  });

  it('plain binary: unsigned bytes are what was stated, though they are read as signed ones', async () => {
    const format = 'raw';
    const options = { format, inputs: 1, sampleRateHz: 1e6 } as const;
    for (const type of ['u8', 'cu8', 'i8', 'ci8'] as const)
      await taken(Uint8Array.of(128, 129), { ...options, type });
  });

  it('PSRDADA: FREQ is where its band is', async () => {
    const bytes = encodeDada({
      channels: 1,
      polarisations: 2,
      samples: 64,
      bandwidthMhz: 16,
      instrument: 'x',
      offsetBytes: 0,
      code,
    });
    await taken(bytes, { centreFrequencyHz: 320e6 });
    await refused(
      bytes,
      { centreFrequencyHz: 321e6 },
      /its band is around 320 MHz; leave out source\.frequency/,
    );
  });

  it('LWA: the tuning word, the time tags, and what frames of a kind have no use for', async () => {
    const tag = 283_685_766_952_000_000n;
    const tbn = encodeTbn({ tag, frames: 3, inputs: 2, code });
    await taken(tbn, { centreFrequencyHz: 49e6, sampleRateHz: 100e3 });
    await refused(tbn, { centreFrequencyHz: 50e6 }, /its band is around 49 MHz; leave out source\.frequency/);
    await refused(tbn, { sampleRateHz: 70e3 }, /its time tags state 100 kHz; leave out source\.rate/);
    await refused(
      tbn,
      { tuning: 1 },
      /source\.tuning means nothing for LWA TBN; leave it out: it is for LWA DRX, LWA DRX8, LWA DR spectrometer$/,
    );
    const drx = encodeDrx({ tag, frames: 2, offset: 0, code });
    await taken(drx, { tuning: 2 });
    await refused(
      drx,
      { sampleRateHz: 19.6e6 },
      /source\.rate means nothing for LWA DRX; leave it out: it is for LWA TBN$/,
    );
    await refused(
      drx,
      { inputs: 2 },
      /source\.inputs means nothing for LWA TBN, LWA TBW, LWA DRX, .*: it is for Mark 5B, plain binary$/,
    );
  });
});
