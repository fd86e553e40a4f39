/** The front end of an observation: reads and measures in advance, then plans. */
import type { Backend } from '../backend/backend.js';
import { namedFilters } from '../channelise/index.js';
import type { SpectraType } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { sampleRateOf } from '../core/sources.js';
import { fixedDelaysS, readDelayFile, type DelayFile } from '../delay/index.js';
import type { Recording, VoltageRecording } from '../formats/index.js';
import {
  readCoefficients,
  planChannels,
  nominalSpectra,
  type ChannelSettings,
  planFineChannels,
  streamsOf,
  type FineChannels,
  chooseLevel,
  type Level,
  readEqualiser,
  measureEqualiser,
  type EqualiserGains,
  leastSpectraOf,
  type RequestedKurtosis,
  mostDelaySamples,
  requestDelays,
  type DelayRequest,
  type RequestedDelays,
} from '../stages/index.js';
import {
  type SpectraRange,
  spectraOfFront,
  spectraOfSource,
  type Front,
  type FrontSpectra,
} from '../compose/index.js';
import { parsePhaseCentre, type PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { refuseUnplaced } from '../telescope/unplaced.js';
import { windowOf, type FrontPart } from './parts/front.js';

/** Inputs of the plan besides the observation and the source. */
export interface GatheredFront {
  /** For voltages, or for channels divided into finer ones. */
  readonly settings?: ChannelSettings;
  /** The input gain measured on the first samples. */
  readonly level?: Level;
  readonly equaliser?: EqualiserGains;
  readonly delays: DelayRequest & { readonly centre?: PhaseCentre };
}

const spectraTypes = { 8: 'ci8', 4: 'ci4', float: 'cf32' } as const satisfies Record<
  NonNullable<FrontPart['bits']>,
  SpectraType
>;

/** Reads files and the first samples. `recording` is the part that is used. */
export async function gatherFront(
  part: FrontPart,
  recording: Recording,
  telescope: Telescope,
  backend: () => Promise<Backend>,
  {
    ofSky = true,
    level: known,
    readsAhead = true,
  }: { readonly ofSky?: boolean; readonly level?: Level; readonly readsAhead?: boolean } = {},
): Promise<GatheredFront> {
  // Channelised output keeps the telescope's delays: a later correlation removes them.
  const delays = await gatherDelays(part.delays ?? {}, ofSky ? telescope : { ...telescope, delays: [] });
  if (recording.kind === 'spectra' && part.finer === undefined) return { delays };
  const source = recording.kind === 'spectra' ? streamsOf(recording) : recording;
  const channels = part.finer ?? part.channels ?? recording.telescope?.recording.channels;
  const settings: ChannelSettings = {
    channels:
      channels ??
      refuse(recording.path, 'names no telescope, so its channels are unknown', 'give front.channels'),
    ...(await filterOf(part)),
    outputType: part.bits === undefined ? nominalSpectra(source) : spectraTypes[part.bits],
    gain: part.gain,
  };
  if (part.equaliser !== undefined) return { delays, ...(await equalised(part, source, settings, backend)) };
  const level = known ?? (readsAhead ? await chooseLevel(source, settings) : undefined);
  return { delays, level, settings: level ? { ...settings, gain: level.gain } : settings };
}

async function equalised(
  { equaliser: asked = '' }: FrontPart,
  source: VoltageRecording,
  settings: ChannelSettings,
  backend: () => Promise<Backend>,
): Promise<Pick<GatheredFront, 'settings' | 'equaliser'>> {
  if (settings.outputType === 'cf32')
    refuse('front.equaliser', 'these channels are floats, and are not rounded', 'give front.bits 8 or 4 too');
  const equaliser =
    asked === 'measured'
      ? await measureEqualiser(source, settings, await backend())
      : await readEqualiser(asked, source.inputs, settings.channels);
  return { equaliser, settings: { ...settings, levels: equaliser.factors } };
}

/** The filter; the channeliser's plan refuses contradictory settings. */
export async function filterOf({ filter, taps, window, passband, coefficients }: FrontPart) {
  if (filter !== undefined) return { ...namedFilters[filter], ...(taps === undefined ? {} : { taps }) };
  return {
    taps: taps ?? namedFilters.usual.taps,
    window: window === undefined ? undefined : windowOf(window),
    passbandChannels: passband,
    coefficients: coefficients === undefined ? undefined : await readCoefficients(coefficients),
  };
}

/** Fixed delays of the telescope and of a file, and the tracked position. */
export async function gatherDelays(
  { track, fixed }: NonNullable<FrontPart['delays']>,
  telescope: Telescope,
): Promise<GatheredFront['delays']> {
  const fixedS = fixedDelaysS(telescope.delays ?? [], telescope.name, telescope);
  if (fixed !== undefined) {
    const file = await readDelayFile(fixed, telescope);
    if (file.pieces.length > 0)
      refuse(
        'front.delays.fixed',
        `${fixed} has pieces, which change in time`,
        'give it as front.delays.track',
      );
    file.fixedS.forEach((delayS, a) => (fixedS[a] += delayS));
  }
  if (track !== undefined)
    refuseUnplaced('front.delays.track', telescope, 'there are no positions to track a source with');
  const followed: PhaseCentre | DelayFile | undefined =
    track === undefined
      ? undefined
      : /\.json$/i.test(track.trim())
        ? await readDelayFile(track, telescope)
        : parsePhaseCentre(track, 'front.delays.track');
  const centre = followed && 'directionEnu' in followed ? followed : undefined;
  return { fixedS, track: followed, centre };
}

export interface PlannedFront {
  readonly front: Front;
  /** The part of the recording that is used. */
  readonly used: Recording;
  readonly spectra: FrontSpectra;
  readonly delays?: RequestedDelays;
  readonly level?: Level;
  readonly equaliser?: EqualiserGains;
  /** Requantisation gain ratio, of all filters together. */
  readonly gainRatio: number;
  readonly settings?: ChannelSettings;
  /** For finer channels: this many, starting with the first, are below the band and mirror those above its edge. */
  readonly mirrored: number;
}

/** The spectra of `durationS`, from the first on; refused if shorter than one spectrum. */
function firstOf(
  front: Front,
  recording: Recording,
  durationS: number | undefined,
): { readonly range?: SpectraRange; readonly used: Recording } {
  const all = spectraOfSource(front);
  if (durationS === undefined) return { used: recording };
  const { grid, channels } = spectraOfFront(front);
  const endSpectrum = Math.min(all, Math.round(durationS * grid.spectrumRateHz));
  if (endSpectrum < 1)
    refuse(
      'source.duration',
      `${durationS} s is shorter than one spectrum`,
      `give at least ${1 / grid.spectrumRateHz} s`,
    );
  if (endSpectrum === all) return { used: recording };
  const samples = Math.round((endSpectrum / grid.spectrumRateHz) * sampleRateOf(recording));
  return {
    range: { firstSpectrum: 0, endSpectrum, firstChannel: 0, endChannel: channels },
    used: { ...recording, samples: Math.min(recording.samples, samples) },
  };
}

/** Pure: the channeliser's plan, the delays as a function of the source's own ticks, the gains. */
export function planFront(
  { finer: fineChannels }: FrontPart,
  recording: Recording,
  telescope: Telescope,
  { settings, level, equaliser, delays: request }: GatheredFront,
  {
    kurtosis,
    flaggedInputs,
    durationS,
  }: {
    readonly kurtosis?: RequestedKurtosis;
    readonly flaggedInputs?: Uint8Array;
    /** Use only this much of the recording. */
    readonly durationS?: number;
  },
): PlannedFront {
  const tickRateHz = sampleRateOf(recording);
  const lastsS = recording.samples / tickRateHz;
  const delays = requestDelays(request, telescope, { start: recording.start, tickRateHz, lastsS });
  const common = { kurtosis, flaggedInputs };
  const made = (front: Front, gainRatio: number, mirrored = 0): PlannedFront => {
    const { range, used } = firstOf(front, recording, durationS);
    return {
      front: { ...front, range },
      used,
      spectra: spectraOfFront(front),
      delays,
      level,
      equaliser,
      gainRatio,
      settings,
      mirrored,
    };
  };
  if (recording.kind === 'spectra' && fineChannels === undefined)
    return made({ ...common, source: recording, delays }, recording.gainRatio ?? 1);
  if (!settings) throw new Error('voltages need settings of their channels');
  if (recording.kind === 'spectra') {
    if (recording.levels)
      refuse(
        'front.finer',
        `${recording.path} has equaliser gains of its own for each input and channel`,
        'channelise it without them first',
      );
    const fine: FineChannels = planFineChannels(recording, fineChannels ?? 0);
    const source = streamsOf(recording);
    const least = leastSpectraOf(kurtosis, { inputs: source.inputs, channels: settings.channels });
    const channels = planChannels(source, { ...settings, ...least });
    const gainRatio = (recording.gainRatio ?? 1) * (level?.gainRatio ?? 1);
    const finer = { inputs: recording.inputs, channels: fine };
    const mirrored =
      recording.realChannels === 1 ? Math.max(0, Math.floor((fineChannels ?? 0) / 2) - fine.first) : 0;
    return made({ ...common, source, channels, finer, gain: { gainRatio } }, gainRatio, mirrored);
  }
  const channels = planChannels(recording, {
    ...settings,
    ...leastSpectraOf(kurtosis, { ...recording, channels: settings.channels }),
    mostDelaySamples: delays && mostDelaySamples(delays),
  });
  const gainRatio = level?.gainRatio ?? 1;
  const gain = { gainRatio, levels: equaliser };
  return made({ ...common, source: recording, channels, delays, gain }, gainRatio);
}
