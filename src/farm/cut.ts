/** Where a recording is cut: pure arithmetic over spectra and channels. */
import type { SampleRange } from '../core/sources.js';
import type { Cut } from './job.js';

/** A result stays below this where it can: it is held in memory by worker and collector. */
export const MOST_RESULT_BYTES = 64 * 2 ** 20;

interface CorrelationCut {
  readonly channels: number;
  /** The recording's integrations, one after the other. */
  readonly integrations: readonly SampleRange[];
  /** About so many spectra a job. */
  readonly spectraPerJob: number;
  readonly channelsPerJob?: number;
  /** Of an integration's result, sums and counts. */
  readonly bytesPerChannel: number;
  /** Sums of whole numbers may be cut anywhere; floats keep their integrations whole, or rounding would differ. */
  readonly sums: 'whole-numbers' | 'floats';
}

/** Whole integrations to a job where they are short, several jobs to an integration where they are long. */
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
    // What is gathered already goes before one that would make it too long.
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
  /** The blocks that one process would work in: it lists gaps by them, so jobs are whole blocks. */
  readonly blockSamples: number;
  readonly samplesPerSpectrum: number;
  readonly taps: number;
  readonly bytesPerSpectrum: number;
  readonly spectraPerJob?: number;
}

/** All channels, some blocks of time. */
export function cutChannelising(wanted: ChannelisingCut): Cut {
  const { channels, spectra, blockSamples, samplesPerSpectrum, taps, bytesPerSpectrum } = wanted;
  const perJob = wanted.spectraPerJob ?? MOST_RESULT_BYTES / bytesPerSpectrum;
  const blocks = Math.max(1, Math.floor((perJob * samplesPerSpectrum) / blockSamples));
  const cuts = [0];
  for (let n = blocks; ; n += blocks) {
    // Spectra that are complete when so many blocks have been read.
    const at = Math.floor((n * blockSamples) / samplesPerSpectrum) - taps + 1;
    if (at >= spectra) break;
    if (at > 0) cuts.push(at);
  }
  return { spectra: [...cuts, spectra], channels: [0, channels] };
}

/** 0, then ends of ranges of at most `most`, as even as they can be. */
function evenly(of: number, most: number): number[] {
  const parts = Math.ceil(of / most);
  return Array.from({ length: parts + 1 }, (_, n) => Math.round((of * n) / parts));
}
