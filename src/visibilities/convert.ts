/** Converts data to another format: visibilities by an observation; recordings to SigMF, block by block. */
import { refuse } from '../core/errors.js';
import type { OnProgress } from '../core/progress.js';
import { channelSamplesIn, samplesIn } from '../core/gaps.js';
import {
  checkOutputs,
  createSigmf,
  createSigmfSpectra,
  isUnknown,
  sigmfPaths,
  type Recording,
} from '../formats/index.js';
import { readLine, type Observation } from '../observation/index.js';
import { BLOCK_BYTES, writtenBlocks, type Copied } from '../stages/index.js';
import { openSource } from './from-visibilities.js';
import { begin, runOpened, type VisibilitiesOutcome, type VisibilitiesSettings } from './run.js';

/** Result: visibilities, or a copied recording. */
export type Converted =
  | { readonly visibilities: VisibilitiesOutcome }
  | {
      readonly recording: Recording;
      readonly copied: Copied;
      readonly seconds: number;
    };

/** An observation with one product, visibilities. If its source is a recording, that is copied. */
export async function convertFile(
  observation: Observation,
  settings: VisibilitiesSettings,
): Promise<Converted> {
  await begin(observation);
  const source = await openSource(observation);
  const { opened, paths } = source;
  try {
    if (opened.kind === 'visibilities')
      return { visibilities: await runOpened(observation, source, settings) };
    refuseOfVisibilities(observation, opened);
    const [product] = observation.products;
    const to = String('visibilities' in product ? product.visibilities : '');
    if (!/\.sigmf(-meta|-data)?$/i.test(to))
      refuse(
        to,
        `${opened.kind} are written as SigMF alone`,
        'end the name in .sigmf-meta; corella correlate makes visibilities of them',
      );
    await checkOutputs({ paths: sigmfPaths(to), from: opened.path, overwrite: observation.overwrite });
    const reads = await Promise.all(paths.map(readLine));
    const stage = settings.stage('convert');
    const copied = await copyRecording(opened, to, {
      history: [...(opened.history ?? []), `corella ${settings.version}`, ...reads],
      onProgress: stage.update,
    });
    return { recording: opened, copied, seconds: stage.done() };
  } finally {
    await opened.close();
  }
}

/** A recording is copied whole and unchanged. */
function refuseOfVisibilities(
  { source, flags = {}, products }: Observation,
  { path, kind }: Recording,
): void {
  const [product] = products;
  const given = [
    ...(['from', 'to', 'integration'] as const)
      .filter((name) => source[name] !== undefined)
      .map((name) => `source.${name}`),
    ...Object.keys(flags).map((name) => `flags.${name}`),
    ...Object.keys(product)
      .filter((name) => name !== 'visibilities')
      .map((name) => `products.visibilities.${name}`),
  ];
  if (given.length > 0) refuse(given[0], `is for visibilities, and ${path} holds ${kind}`, 'leave it out');
}

interface CopyOptions {
  readonly history: readonly string[];
  readonly onProgress?: OnProgress;
}

export async function copyRecording(
  from: Recording,
  path: string,
  { history, onProgress }: CopyOptions,
): Promise<Copied> {
  const common = {
    telescope: from.telescope,
    inputs: from.inputs,
    polarisations: from.polarisations,
    bits: from.bits,
    start: from.start,
    unknownFacts: from.unknownFacts,
    description: `${from.path} (${from.format})`,
    history,
  };
  const length = { path, of: from.samples, onProgress };
  if (from.kind === 'voltages') {
    const { type, sampleRateHz, centreFrequencyHz } = from;
    const create = () => createSigmf(path, { ...common, type, sampleRateHz, centreFrequencyHz });
    const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / (8 * from.inputs)));
    return writtenBlocks(create, from.blocks(perBlock), ({ gaps }) => samplesIn(gaps), length);
  }
  const { type, channels, spectrumRateHz, frequenciesHz, channelWidthHz, levels, gainRatio, realChannels } =
    from;
  const create = () =>
    createSigmfSpectra(path, {
      ...common,
      type,
      channels,
      spectrumRateHz,
      frequenciesHz,
      channelWidthHz,
      levels: levels && Array.from(levels),
      gainRatio,
      realChannels,
      // A band of unknown frequency is already relative to its centre.
      centreFrequencyHz: isUnknown(from, 'frequency')
        ? 0
        : (frequenciesHz[0] + frequenciesHz[channels - 1]) / 2,
    });
  const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / (8 * channels * from.inputs)));
  return writtenBlocks(create, from.blocks(perBlock), ({ gaps }) => channelSamplesIn(gaps), length);
}
