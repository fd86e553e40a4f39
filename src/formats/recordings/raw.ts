/** Plain binary: interleaved samples of all inputs, [t][a], little-endian; the user gives everything else. */
import { elementsPerVoltage, voltageSizeBytes } from '../../core/axes.js';
import { realNumber, refuse, wholeNumber } from '../../core/errors.js';
import { instant } from '../../core/instant.js';
import type { Format, OpenOptions, VoltageRecording } from '../format.js';
import { emptyTally } from './frames.js';
import { openOn, type InputFile } from '../io/input.js';
import type { SampleBytes } from '../io/interleave.js';
import { interleavedReader, polarisationsFor, segmentedVoltages } from './recording.js';
import { isUnsigned, signedType } from './unsigned.js';
import { unknownFactsOf } from '../unknown-facts.js';

/** For formats with a full header; `dataBytes` may be more than the file holds. */
export function openPlain(
  file: InputFile,
  options: OpenOptions,
  header?: { readonly format: string; readonly dataBytes: number },
): VoltageRecording {
  const { path } = file;
  const { type: givenType, sampleRateHz } = options;
  const givenInputs =
    options.inputs ??
    (options.telescope && options.telescope.stations.length * options.telescope.polarisations);
  if (givenType === undefined || sampleRateHz === undefined || givenInputs === undefined) {
    refuse(
      path,
      'plain binary data have no header',
      'describe it with source.sample-type (i8, ci8, u8, cu8, i16, ci16, f32 or cf32), source.inputs and source.rate',
    );
  }
  const type = signedType(givenType);
  const inputs = wholeNumber(path, 'the number of inputs', givenInputs, 1, 65_536);
  realNumber(path, 'the sample rate in hertz', sampleRateHz, Number.MIN_VALUE, 1e12);
  const parts = elementsPerVoltage(type);
  const sampleBytes = voltageSizeBytes(type) * inputs;
  const skipBytes = wholeNumber(
    path,
    'the number of bytes to skip',
    options.skipBytes ?? 0,
    0,
    file.sizeBytes,
  );
  const held = file.sizeBytes - skipBytes;
  const promised = header?.dataBytes ?? held;
  const dataBytes = Math.min(held, promised);
  const samples = Math.floor(dataBytes / sampleBytes);
  if (samples === 0)
    refuse(path, `holds no whole sample of ${inputs} inputs`, 'check the number of inputs and the type');
  return segmentedVoltages(
    {
      path,
      format: header?.format ?? 'raw',
      ...(promised > held && {
        endsEarly: {
          said: 'data',
          promisedBytes: promised,
          heldBytes: held,
          missingSamples: Math.floor(promised / sampleBytes) - samples,
        },
      }),
      telescope: options.telescope,
      details: { skipBytes },
      ...unknownFactsOf({
        frequency: options.centreFrequencyHz === undefined,
        start: options.start === undefined,
      }),
      type,
      inputs,
      polarisations: polarisationsFor(path, inputs, 1, options),
      samples,
      sampleRateHz,
      centreFrequencyHz: options.centreFrequencyHz ?? (parts === 2 ? 0 : sampleRateHz / 4),
      start: options.start ?? instant(0),
    },
    {
      file,
      segments: [{ firstSample: 0, samples, offsetBytes: skipBytes }],
      spareBytes: dataBytes - samples * sampleBytes,
      tally: emptyTally(),
      read: interleavedReader(file, {
        streams: inputs,
        sampleBytes: voltageSizeBytes(type) as SampleBytes,
        isUnsigned: isUnsigned(givenType),
      }),
    },
  );
}

export const raw: Format = {
  name: 'raw',
  title: 'plain binary',
  extensions: ['.bin'],
  kinds: [
    {
      title: 'plain binary',
      holds: 'recordings',
      reads: [
        'sampleRateHz',
        'centreFrequencyHz',
        'inputs',
        'polarisations',
        'type',
        'skipBytes',
        'start',
        'sideband',
      ],
    },
  ],
  // Any file could be plain binary, so it is never recognised: it is opened by format name.
  recognise: () => false,
  open: (path, options) =>
    openOn(path, (file) => Promise.resolve().then(() => openPlain(file, options ?? {}))),
};
