/** Where a recording is cut into jobs: pure arithmetic over spectra and channels. */
import type { SampleRange } from '../core/sources.js';
import type { Cut } from './job.js';

/** Results stay below this size where possible: worker and collector hold them in memory. */
export const MOST_RESULT_BYTES = 64 * 2 ** 20;

interface CorrelationCut {
  readonly channels: number;
  /** The recording's integrations, in order. */
  readonly integrations: readonly SampleRange[];
  /** Approximate number of spectra per job. */
  readonly spectraPerJob: number;
  readonly channelsPerJob?: number;
  /** Size of an integration's result per channel. */
  readonly bytesPerChannel: number;
  /** Sums of integers may be cut anywhere. Floats keep their integrations whole, or rounding would differ. */
  readonly sums: 'whole-numbers' | 'floats';
}

/** Several whole integrations per job if they are short, several jobs per integration if they are long. */
export function cutCorrelation(wanted: CorrelationCut): Cut {
  const { channels, integrations, spectraPerJob, bytesPerChannel, sums } = wanted;
  const channelsPerJob = Math.min(
    channels,
    wanted.channelsPerJob ?? Math.max(1, Math.floor(MOST_RESULT_BYTES / bytesPerChannel)),
  );
  const mostIntegrations = Math.max(1, Math.floor(MOST_RESULT_BYTES / (bytesPerChannel * channelsPerJob)));
  const spectra = [0];
  let inJob = 0;
  for (const { first, end } of integrations) {
    const begun = spectra[spectra.length - 1];
    // Close the job before an integration that would make it too long.
    if (inJob > 0 && (end - begun > spectraPerJob || inJob === mostIntegrations)) {
      spectra.push(first);
      inJob = 0;
    }
    inJob++;
    const pieces = sums === 'whole-numbers' ? Math.ceil((end - first) / spectraPerJob) : 1;
    for (let piece = 1; piece < pieces; piece++)
      spectra.push(first + Math.round(((end - first) * piece) / pieces));
    if (pieces > 1) {
      spectra.push(end);
      inJob = 0;
    }
  }
  const last = integrations.at(-1)?.end ?? 0;
  if (spectra[spectra.length - 1] !== last) spectra.push(last);
  return { spectra, channels: evenly(channels, channelsPerJob) };
}

interface ChannelisingCut {
  readonly channels: number;
  readonly spectra: number;
  /** The block length that a single process would use. Gaps are listed by block, so jobs are whole blocks. */
  readonly blockSamples: number;
  readonly samplesPerSpectrum: number;
  readonly taps: number;
  readonly bytesPerSpectrum: number;
  readonly spectraPerJob?: number;
}

/** All channels, some blocks of time per job. */
export function cutChannelising(wanted: ChannelisingCut): Cut {
  const { channels, spectra, blockSamples, samplesPerSpectrum, taps, bytesPerSpectrum } = wanted;
  const perJob = wanted.spectraPerJob ?? MOST_RESULT_BYTES / bytesPerSpectrum;
  const blocks = Math.max(1, Math.floor((perJob * samplesPerSpectrum) / blockSamples));
  const cuts = [0];
  for (let n = blocks; ; n += blocks) {
    // Spectra that are complete after this many blocks.
    const at = Math.floor((n * blockSamples) / samplesPerSpectrum) - taps + 1;
    if (at >= spectra) break;
    if (at > 0) cuts.push(at);
  }
  return { spectra: [...cuts, spectra], channels: [0, channels] };
}

/** 0, then the ends of ranges of at most `most`, as even as possible. */
function evenly(of: number, most: number): number[] {
  const parts = Math.ceil(of / most);
  return Array.from({ length: parts + 1 }, (_, n) => Math.round((of * n) / parts));
}
