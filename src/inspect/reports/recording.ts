/** Report of inspect for a recording. */
import { addSamples, formatInstant, type Instant } from '../../core/instant.js';
import type { Picture } from '../../draw/index.js';
import { type Recording, sampleRateOf } from '../../formats/index.js';
import type { SourcePart } from '../../observation/index.js';
import { NO_TELESCOPE } from '../../telescope/unplaced.js';
import { fringesOfRecording } from '../fringes/of-recording.js';
import { fringesOf, type Fringes } from '../fringes/numbers.js';
import { antennaPicture } from '../pictures/antenna.js';
import { fringePicture } from '../pictures/fringes.js';
import { recordingPicture } from '../pictures/voltage.js';
import { lookAt } from '../voltages.js';
import { inputSpectra, meanSpectrum } from '../waterfall.js';
import { fringeJson, fringeLines, wantsFringes } from './fringes.js';
import type { Report, ReportOptions } from './report.js';
import { spectrumPicture, type Spectrum } from './spectrum.js';
import { lookLines, rowLines } from './text.js';

/** Facts that a recording may lack, as an observation gives them. */
export interface RecordingFacts {
  readonly source: SourcePart;
  readonly telescope?: string;
}

export async function recordingReport(
  file: Recording,
  facts: RecordingFacts,
  options: ReportOptions,
): Promise<Report & { readonly start?: Instant; readonly spectrum: Spectrum }> {
  const { draw = [] } = options;
  let spectrum: Spectrum = { frequenciesHz: new Float64Array(), powerDb: new Float64Array() };
  let picture: Picture | undefined;
  const look = await lookAt(file, {
    extent: options.whole ? 'whole' : undefined,
    onProgress: options.onProgress,
    onFirst: (block) => {
      const spectra = inputSpectra(file, block);
      spectrum = { frequenciesHz: spectra.frequenciesHz, powerDb: meanSpectrum(spectra) };
      if (draw.includes('picture')) picture = recordingPicture(file, block, file.path);
    },
  });
  const rateHz = sampleRateOf(file);
  const utc = (sample: number): string => formatInstant(addSamples(file.start, sample, rateHz), 9);
  const { rows, missing, ...read } = look;
  const fringes = wantsFringes(options) ? await correlated(file, facts, options) : undefined;
  return {
    start: file.start,
    json: {
      fringes: fringes && fringeJson(fringes),
      first: rows,
      read: {
        ...read,
        missing: { ...missing, first: missing.first.map((gap) => ({ ...gap, utc: utc(gap.firstSample) })) },
      },
    },
    lines: [
      ...lookLines(file, look, utc),
      ...rowLines(
        'first samples',
        rows.map(({ channel, input, values }) => [
          `${channel === undefined ? '' : `channel ${channel}, `}input ${input}`,
          values,
        ]),
      ),
      ...(fringes ? fringeLines(fringes) : []),
    ],
    spectrum,
    pictures: {
      ...(picture && { picture: { picture } }),
      ...(draw.includes('spectrum') && { spectrum: spectrumPicture(spectrum, file.path) }),
      ...(draw.includes('map') &&
        file.telescope && { map: { picture: antennaPicture(file.telescope, file.path) } }),
      ...(fringes && { fringes: { picture: fringePicture(fringes, file.path) } }),
    },
  };
}

/** The recording is correlated for its fringes. */
async function correlated(
  file: Recording,
  { source, telescope = file.telescope ? undefined : NO_TELESCOPE }: RecordingFacts,
  options: ReportOptions,
): Promise<Fringes> {
  const channels = file.kind === 'voltages' ? file.telescope?.recording.channels : undefined;
  const series = await fringesOfRecording(
    { source: { recording: file.path, ...source }, telescope },
    file.path,
    {
      channels,
      onProgress: options.onProgress,
    },
  );
  return fringesOf(series, options.fringeOf);
}
