/** Report of inspect for a recording. */
import { refuse } from '../../core/errors.js';
import { addSamples, formatInstant, type Instant } from '../../core/instant.js';
import { version } from '../../core/program/version.js';
import type { Picture } from '../../draw/index.js';
import { type Recording, sampleRateOf } from '../../formats/index.js';
import { checkObservation, runObservation, type SourcePart } from '../../observation/index.js';
import { NO_TELESCOPE } from '../../telescope/unplaced.js';
import { fringeCollector, type FringeCollector } from '../fringes/collect.js';
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

/** If the telescope gives no number of channels. */
const CHANNELS = 128;

/** The recording is correlated in memory for its fringes, with the defaults of corella correlate. */
async function correlated(
  { kind, path, telescope: own }: Recording,
  { source, telescope = own ? undefined : NO_TELESCOPE }: RecordingFacts,
  { fringeOf, onProgress }: ReportOptions,
): Promise<Fringes> {
  let collector: FringeCollector | undefined;
  const channels = (kind === 'voltages' ? own?.recording.channels : undefined) ?? CHANNELS;
  const observation = checkObservation({
    corella: 1,
    source: { recording: path, ...source },
    front: { channels },
    telescope,
    products: [{ visibilities: null }],
  });
  await runObservation(observation, {
    version: version(),
    onProgress,
    onItem: (item) => {
      if (item.kind !== 'visibilities') return Promise.resolve();
      const { telescope: of, polarisations, feeds, frequenciesHz, channelWidthHz } = item.header;
      collector ??= fringeCollector(
        { telescope: of, polarisations, feeds, frequenciesHz, channelWidthHz },
        path,
      );
      collector.add(item.integration);
      return Promise.resolve();
    },
  });
  const series =
    collector?.series() ??
    refuse(path, 'is too short for an integration', 'record for longer, or correlate it yourself');
  return fringesOf(series, fringeOf);
}
